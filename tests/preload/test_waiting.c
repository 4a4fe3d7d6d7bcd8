/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls that wait: how the server's end, signals, other threads and children reach them; and
 * events, which are counted and acknowledged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fake_server.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#define DEPTH   4
#define QKEY    1
#define THREADS 2

struct rig {
	struct fake_server *server;
	struct ibv_context *context;
	struct ibv_pd *domain;
	struct ibv_comp_channel *channel;
	struct ibv_cq *queue;
	struct ibv_qp *pair;
	int umad;
};

static const union ibv_gid group = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 1}};

/* ---- the rig ---- */

static int set_up(void **state)
{
	static struct rig rig;
	struct ibv_device **list;
	struct ibv_qp_init_attr wishes = {.cap = {DEPTH, DEPTH, 1, 1, 0}, .qp_type = IBV_QPT_UD};

	memset(&rig, 0, sizeof(rig));
	rig.server = fake_server_start();
	list = ibv_get_device_list(NULL);
	assert_non_null(list);
	rig.context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	rig.domain = ibv_alloc_pd(rig.context);
	rig.channel = ibv_create_comp_channel(rig.context);
	rig.queue = ibv_create_cq(rig.context, 2 * DEPTH, NULL, rig.channel, 0);
	wishes.send_cq = wishes.recv_cq = rig.queue;
	rig.pair = ibv_create_qp(rig.domain, &wishes);
	assert_non_null(rig.pair);
	rig.umad = umad_open_port(NULL, 0);
	assert_true(rig.umad >= 0);
	*state = &rig;
	return 0;
}

static void close_all(struct rig *rig)
{
	assert_int_equal(umad_close_port(rig->umad), 0);
	assert_int_equal(ibv_destroy_qp(rig->pair), 0);
	assert_int_equal(ibv_destroy_cq(rig->queue), 0);
	assert_int_equal(ibv_destroy_comp_channel(rig->channel), 0);
	assert_int_equal(ibv_dealloc_pd(rig->domain), 0);
	assert_int_equal(ibv_close_device(rig->context), 0);
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	if (rig->server)
		fake_server_stop(rig->server);
	close_all(rig);
	return 0;
}

static void lose_server(struct rig *rig)
{
	fake_server_stop(rig->server);
	rig->server = NULL;
}

static int to_init(struct rig *rig)
{
	struct ibv_qp_attr wanted = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

	return ibv_modify_qp(rig->pair, &wanted,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

static int to_error(struct rig *rig)
{
	struct ibv_qp_attr wanted = {.qp_state = IBV_QPS_ERR};

	return ibv_modify_qp(rig->pair, &wanted, IBV_QP_STATE);
}

/* One completion, of a receive that is posted to a queue pair in error. */
static void complete_one(struct rig *rig)
{
	struct ibv_recv_wr request = {.wr_id = 1}, *bad;

	if (rig->pair->state != IBV_QPS_ERR) {
		assert_int_equal(to_init(rig), 0);
		assert_int_equal(to_error(rig), 0);
	}
	assert_int_equal(ibv_post_recv(rig->pair, &request, &bad), 0);
}

static void say_reregister(struct rig *rig)
{
	struct sim_attach_port message = {.header.type = SIM_ATTACH_REREGISTER};

	fake_server_say(rig->server, &message);
}

/* ---- threads that wait ---- */

struct waiter {
	struct rig *rig;
	int (*call)(struct rig *rig); /* 0, or the errno it ended with */
	int result;
	_Atomic pid_t thread;
	pthread_t handle;
};

static int wait_for_async_event(struct rig *rig)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(rig->context, &event))
		ibv_ack_async_event(&event);
	return errno;
}

static int wait_for_completion_event(struct rig *rig)
{
	struct ibv_cq *queue;
	void *context;

	while (!ibv_get_cq_event(rig->channel, &queue, &context))
		ibv_ack_cq_events(queue, 1);
	return errno;
}

static int wait_for_mad(struct rig *rig)
{
	struct {
		struct ib_user_mad umad;
		uint8_t mad[256];
	} buffer;
	int length = sizeof(buffer.mad);

	return -umad_recv(rig->umad, &buffer, &length, -1);
}

static int wait_for_descriptor(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};

	return poll(&polled, 1, -1) == 1 ? 0 : errno;
}

static int poll_channel(struct rig *rig)
{
	return wait_for_descriptor(rig->channel->fd);
}

static int poll_mads(struct rig *rig)
{
	return -umad_poll(rig->umad, -1);
}

static int wait_for_number(struct rig *rig)
{
	return to_init(rig);
}

static int wait_for_group(struct rig *rig)
{
	return ibv_attach_mcast(rig->pair, &group, 0xc001);
}

/* The sanitizer does not know of frames that cancellation has left. */
static void forget_frames(void *argument)
{
	(void)argument;
#ifdef __SANITIZE_ADDRESS__
	pthread_attr_t attributes;
	void *stack;
	size_t size;

	assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
	assert_int_equal(pthread_attr_getstack(&attributes, &stack, &size), 0);
	__asan_unpoison_memory_region(stack, size);
	pthread_attr_destroy(&attributes);
#endif
}

static void *run_waiter(void *argument)
{
	struct waiter *waiter = argument;

	waiter->thread = gettid();
	pthread_cleanup_push(forget_frames, NULL);
	waiter->result = waiter->call(waiter->rig);
	pthread_cleanup_pop(0);
	return NULL;
}

static void start(struct waiter *waiter, struct rig *rig, int (*call)(struct rig *rig))
{
	*waiter = (struct waiter){.rig = rig, .call = call};
	assert_int_equal(pthread_create(&waiter->handle, NULL, run_waiter, waiter), 0);
}

/* Until the kernel has put the thread to sleep in one of these system calls. */
static void await_sleep(struct waiter *waiter)
{
	char path[64], text[64];

	while (!waiter->thread)
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", waiter->thread);
	for (;;) {
		FILE *file = fopen(path, "re");
		long number = -1;

		assert_non_null(file);
		if (fgets(text, sizeof(text), file))
			number = strtol(text, NULL, 10);
		fclose(file);
		if (number == SYS_futex || number == SYS_poll || number == SYS_ppoll)
			return;
		sched_yield();
	}
}

static int result_of(struct waiter *waiter)
{
	assert_int_equal(pthread_join(waiter->handle, NULL), 0);
	return waiter->result;
}

/* ---- the server's end ---- */

static void expect_end(struct rig *rig, int (*call)(struct rig *rig), int error)
{
	struct waiter waiters[THREADS];

	for (int i = 0; i < THREADS; i++)
		start(&waiters[i], rig, call);
	for (int i = 0; i < THREADS; i++)
		await_sleep(&waiters[i]);
	lose_server(rig);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(result_of(&waiters[i]), error);
	assert_int_equal(call(rig), error); /* and for those who come later */
}

static void end_reaches_async_events(void **state)
{
	expect_end(*state, wait_for_async_event, EIO);
}

static void end_reaches_completion_events(void **state)
{
	expect_end(*state, wait_for_completion_event, EIO);
}

static void end_reaches_channels_that_are_polled(void **state)
{
	expect_end(*state, poll_channel, 0);
}

static void end_reaches_mads(void **state)
{
	expect_end(*state, wait_for_mad, ENODEV);
}

static void end_reaches_ports_that_are_polled(void **state)
{
	expect_end(*state, poll_mads, 0);
}

static void end_reaches_a_change_of_state(void **state)
{
	struct rig *rig = *state;

	fake_server_silence(rig->server);
	expect_end(rig, wait_for_number, ENODEV);
}

static void end_reaches_an_attachment(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(to_init(rig), 0);
	fake_server_silence(rig->server);
	expect_end(rig, wait_for_group, ENODEV);
}

static void nothing_new_is_made_after_the_end(void **state)
{
	struct rig *rig = *state;

	lose_server(rig);
	assert_int_equal(wait_for_async_event(rig), EIO);
	assert_null(ibv_create_comp_channel(rig->context));
	assert_int_equal(errno, ENODEV);
}

/* ---- signals ---- */

static _Atomic int signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static void send_signal(struct waiter *waiter)
{
	int before = signals;

	await_sleep(waiter);
	assert_int_equal(pthread_kill(waiter->handle, SIGUSR1), 0);
	while (signals == before)
		sched_yield();
}

static void handle_signals(int flags)
{
	struct sigaction action = {.sa_handler = count_signal, .sa_flags = flags};

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
}

/* Again and again, as the first may come before it waits. */
static void interrupt(struct waiter *waiter)
{
	while (pthread_tryjoin_np(waiter->handle, NULL) == EBUSY) {
		assert_int_equal(pthread_kill(waiter->handle, SIGUSR1), 0);
		sched_yield();
	}
}

static void signals_interrupt_those_who_want_it(void **state)
{
	struct rig *rig = *state;
	struct waiter waiter;

	handle_signals(0);
	start(&waiter, rig, wait_for_completion_event);
	interrupt(&waiter);
	assert_int_equal(waiter.result, EINTR);
	start(&waiter, rig, wait_for_async_event);
	interrupt(&waiter);
	assert_int_equal(waiter.result, EINTR);
}

static void other_signals_do_not(void **state)
{
	struct rig *rig = *state;
	struct waiter waiters[2];

	handle_signals(SA_RESTART);
	start(&waiters[0], rig, wait_for_completion_event);
	start(&waiters[1], rig, wait_for_async_event);
	send_signal(&waiters[0]);
	send_signal(&waiters[1]);
	await_sleep(&waiters[0]);
	await_sleep(&waiters[1]);
	lose_server(rig);
	assert_int_equal(result_of(&waiters[0]), EIO);
	assert_int_equal(result_of(&waiters[1]), EIO);
}

static void waiting_threads_can_be_cancelled(void **state)
{
	struct rig *rig = *state;
	int (*const calls[])(struct rig *) = {wait_for_completion_event, wait_for_async_event,
					      wait_for_mad};
	struct waiter waiter;
	struct ibv_port_attr port;
	void *result;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		start(&waiter, rig, calls[i]);
		await_sleep(&waiter);
		assert_int_equal(pthread_cancel(waiter.handle), 0);
		assert_int_equal(pthread_join(waiter.handle, &result), 0);
		assert_ptr_equal(result, PTHREAD_CANCELED);
		assert_int_equal(ibv_query_port(rig->context, 1, &port), 0); /* no lock is left */
	}
}

/* ---- descriptors ---- */

static void descriptors_are_like_the_kernel_s(void **state)
{
	struct rig *rig = *state;
	int fds[] = {rig->context->async_fd, rig->channel->fd, rig->umad};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		assert_true(fcntl(fds[i], F_GETFD) & FD_CLOEXEC);
}

static void all_ways_to_wait_for_a_descriptor_work(void **state)
{
	struct rig *rig = *state;
	int fd = dup(rig->context->async_fd), epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event interest = {.events = EPOLLIN | EPOLLET};
	struct ibv_async_event event;
	fd_set set;

	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, rig->context->async_fd, &interest), 0);
	assert_int_equal(epoll_wait(epoll, &interest, 1, 0), 0);
	for (int i = 0; i < 3; i++) {
		say_reregister(rig);
		assert_int_equal(epoll_wait(epoll, &interest, 1, -1), 1);
		FD_ZERO(&set);
		FD_SET(fd, &set);
		assert_int_equal(select(fd + 1, &set, NULL, NULL, NULL), 1);
		assert_int_equal(wait_for_descriptor(fd), 0);
		assert_int_equal(ibv_get_async_event(rig->context, &event), 0);
		assert_int_equal(event.event_type, IBV_EVENT_CLIENT_REREGISTER);
	}
	close(epoll);
	close(fd);
}

/* ---- events ---- */

/* Each time a queue was armed is an event, whether the one before was taken or not. */
static void events_are_counted(void **state)
{
	struct rig *rig = *state;
	struct ibv_cq *queue;
	void *context;

	fcntl(rig->channel->fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
		complete_one(rig);
		complete_one(rig);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(ibv_get_cq_event(rig->channel, &queue, &context), 0);
	assert_int_equal(ibv_get_cq_event(rig->channel, &queue, &context), -1);
	assert_int_equal(errno, EAGAIN);
	ibv_ack_cq_events(queue, 2);
}

static int destroy_queue(struct rig *rig)
{
	return ibv_destroy_cq(rig->queue);
}

static void replace_queue(struct rig *rig)
{
	struct ibv_qp_init_attr wishes = {.cap = {DEPTH, DEPTH, 1, 1, 0}, .qp_type = IBV_QPT_UD};

	rig->queue = ibv_create_cq(rig->context, 1, NULL, rig->channel, 0);
	wishes.send_cq = wishes.recv_cq = rig->queue;
	rig->pair = ibv_create_qp(rig->domain, &wishes);
	assert_non_null(rig->pair);
}

static void queues_wait_for_acknowledgements(void **state)
{
	struct rig *rig = *state;
	struct waiter waiter;
	struct ibv_cq *queue;
	void *context;

	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	complete_one(rig);
	assert_int_equal(ibv_get_cq_event(rig->channel, &queue, &context), 0);
	/* One that nobody has taken goes with the queue. */
	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	complete_one(rig);
	assert_int_equal(ibv_destroy_qp(rig->pair), 0);
	start(&waiter, rig, destroy_queue);
	await_sleep(&waiter);
	assert_int_equal(pthread_tryjoin_np(waiter.handle, NULL), EBUSY);
	ibv_ack_cq_events(queue, 1);
	assert_int_equal(result_of(&waiter), 0);
	fcntl(rig->channel->fd, F_SETFL, O_NONBLOCK);
	assert_int_equal(ibv_get_cq_event(rig->channel, &queue, &context), -1);
	replace_queue(rig);
}

static void queues_wait_for_acknowledged_overruns(void **state)
{
	struct rig *rig = *state;
	struct waiter waiter;
	struct ibv_async_event event;

	assert_int_equal(ibv_resize_cq(rig->queue, 1), 0);
	complete_one(rig);
	complete_one(rig);
	assert_int_equal(ibv_get_async_event(rig->context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_CQ_ERR);
	assert_int_equal(ibv_destroy_qp(rig->pair), 0);
	start(&waiter, rig, destroy_queue);
	await_sleep(&waiter);
	assert_int_equal(pthread_tryjoin_np(waiter.handle, NULL), EBUSY);
	ibv_ack_async_event(&event);
	assert_int_equal(result_of(&waiter), 0);
	replace_queue(rig);
}

/* ---- children ---- */

static int status_of(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect_parent_goes_on(struct rig *rig)
{
	struct ibv_async_event event;
	struct ibv_cq *queue;
	void *context;

	assert_int_equal(ibv_get_async_event(rig->context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_CLIENT_REREGISTER);
	assert_int_equal(ibv_get_cq_event(rig->channel, &queue, &context), 0);
	ibv_ack_cq_events(queue, 1);
	say_reregister(rig);
	assert_int_equal(ibv_get_async_event(rig->context, &event), 0);
}

static void make_events_wait(struct rig *rig)
{
	say_reregister(rig);
	assert_int_equal(wait_for_descriptor(rig->context->async_fd), 0);
	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	complete_one(rig);
}

/* What it takes and closes is its own copy. */
static void a_child_that_cleans_up_leaves_its_parent_alone(void **state)
{
	struct rig *rig = *state;
	pid_t child;

	make_events_wait(rig);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (wait_for_async_event(rig) != EIO || wait_for_completion_event(rig) != EIO ||
		    wait_for_mad(rig) != ENODEV || poll_channel(rig) || poll_mads(rig))
			_exit(1);
		close_all(rig);
		_exit(0);
	}
	assert_int_equal(status_of(child), 0);
	expect_parent_goes_on(rig);
}

static void a_child_that_becomes_a_program_leaves_its_parent_alone(void **state)
{
	struct rig *rig = *state;
	pid_t child;

	make_events_wait(rig);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	assert_int_equal(status_of(child), 0);
	assert_int_equal(system("exit 3") >> 8, 3);
	expect_parent_goes_on(rig);
}

/* ---- threads that share ---- */

#define ROUNDS 200

static void *post_and_poll(void *argument)
{
	struct rig *rig = argument;
	struct ibv_recv_wr request = {.wr_id = 1}, *bad;
	struct ibv_wc wc;
	uintptr_t polled = 0;

	for (int i = 0; i < ROUNDS; i++) {
		while (ibv_post_recv(rig->pair, &request, &bad))
			;
		while (!ibv_poll_cq(rig->queue, 1, &wc))
			;
		polled++;
	}
	return (void *)polled;
}

static void one_queue_serves_many_threads(void **state)
{
	struct rig *rig = *state;
	pthread_t threads[4];
	struct ibv_wc wc;
	void *polled;

	assert_int_equal(to_init(rig), 0);
	assert_int_equal(to_error(rig), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_and_poll, rig), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &polled), 0);
		assert_int_equal((uintptr_t)polled, ROUNDS);
	}
	assert_int_equal(ibv_poll_cq(rig->queue, 1, &wc), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(end_reaches_async_events),
		TEST(end_reaches_completion_events),
		TEST(end_reaches_channels_that_are_polled),
		TEST(end_reaches_mads),
		TEST(end_reaches_ports_that_are_polled),
		TEST(end_reaches_a_change_of_state),
		TEST(end_reaches_an_attachment),
		TEST(nothing_new_is_made_after_the_end),
		TEST(signals_interrupt_those_who_want_it),
		TEST(other_signals_do_not),
		TEST(waiting_threads_can_be_cancelled),
		TEST(descriptors_are_like_the_kernel_s),
		TEST(all_ways_to_wait_for_a_descriptor_work),
		TEST(events_are_counted),
		TEST(queues_wait_for_acknowledgements),
		TEST(queues_wait_for_acknowledged_overruns),
		TEST(a_child_that_cleans_up_leaves_its_parent_alone),
		TEST(a_child_that_becomes_a_program_leaves_its_parent_alone),
		TEST(one_queue_serves_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
