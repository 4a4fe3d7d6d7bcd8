/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_pool.h"
#include "ibsim_requests.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define NONE UINT32_MAX
/* Client ids must differ from those of outside programs, which use their process ids. */
#define FIRST_CLIENT_ID 0x40000000u
/* How long a node keeps its attachment while others wait: busy, or without an answer. */
#define TURN     (20 * ACM_NSEC_PER_MSEC)
#define PATIENCE ACM_NSEC_PER_SEC
/* When an unanswered request counts as lost, given that later ones were answered. */
#define LOST_AFTER  (2 * ACM_NSEC_PER_SEC)
#define RETRY_AFTER (50 * ACM_NSEC_PER_MSEC)
/* Of reading and sending in one call: the caller has other things to do as well. */
#define ROUNDS_MAX 64
struct node {
	struct ibsim_request_list queue;
	uint32_t attachment;
	bool waits; /* is in the ring of nodes that wait for an attachment */
	uint32_t next;
};

enum attachment_state { UNATTACHED, DETACHING, ATTACHING, ATTACHED };

struct attachment {
	enum attachment_state state;
	uint32_t id;
	uint32_t slot;
	uint32_t node;      /* NONE: lent to nobody */
	uint32_t in_flight; /* answers that are waited for */
	int control_fd;
	int fd;
	bool blocked;   /* ibsim's queue is full: waits to become writable */
	uint64_t since; /* of the node's turn */
	uint64_t used;  /* last packet either way */
	uint64_t retry; /* not before this */
};

struct ibsim_pool {
	const char *socket_name;
	const char (*names)[IBSIM_NAME_SIZE];
	uint32_t node_count;
	struct node *nodes;
	uint32_t first_waiting, last_waiting;
	struct ibsim_requests requests;
	struct ibsim_request_list sent; /* oldest first; as many as `window` tells */
	uint32_t window;
	uint64_t last_sent;
	uint64_t last_answer; /* of an SM, not of ibsim itself */
	uint64_t now;
	bool refused;
	int epoll_fd;
	struct attachment attachments[IBSIM_POOL_ATTACHMENTS];
};

static void push_waiting(struct ibsim_pool *pool, uint32_t node)
{
	struct node *n = &pool->nodes[node];

	if (n->waits || n->attachment != NONE)
		return;
	n->waits = true;
	n->next = NONE;
	if (pool->last_waiting == NONE)
		pool->first_waiting = node;
	else
		pool->nodes[pool->last_waiting].next = node;
	pool->last_waiting = node;
}

static uint32_t pop_waiting(struct ibsim_pool *pool)
{
	uint32_t node = pool->first_waiting;

	pool->first_waiting = pool->nodes[node].next;
	if (pool->first_waiting == NONE)
		pool->last_waiting = NONE;
	pool->nodes[node].waits = false;
	return node;
}

int ibsim_pool_send(struct ibsim_pool *pool, uint32_t node, const struct ibsim_address *to,
		    const uint8_t *mad, ibsim_answer *answer, void *context, uint64_t cookie)
{
	struct ibsim_request *request;
	int error;

	assert(node < pool->node_count && answer);
	error = ibsim_requests_take(&pool->requests, &request);
	if (error)
		return error;
	request->state = IBSIM_REQUEST_WAITING;
	request->node = node;
	request->attachment = NONE;
	request->to = *to;
	request->answer = answer;
	request->context = context;
	request->cookie = cookie;
	request->tid = ibsim_mad_tid(mad);
	memcpy(request->mad, mad, ACM_MAD_LENGTH);
	ibsim_mad_set_tid(request->mad, ibsim_request_wire_tid(request));
	ibsim_request_list_append(&pool->nodes[node].queue, request);
	push_waiting(pool, node);
	return 0;
}

/* Nobody waits for its answer any more; ibsim may still have it. */
static void release_attachment(struct ibsim_pool *pool, struct ibsim_request *request)
{
	if (request->attachment == NONE)
		return;
	pool->attachments[request->attachment].in_flight--;
	request->attachment = NONE;
}

static void finish(struct ibsim_pool *pool, struct ibsim_request *request, int status,
		   const uint8_t *mad)
{
	ibsim_answer *answer = request->answer;
	void *context = request->context;
	uint64_t cookie = request->cookie;

	release_attachment(pool, request);
	ibsim_request_list_remove(&pool->sent, request);
	pool->window--;
	ibsim_requests_give_back(&pool->requests, request);
	if (answer)
		answer(context, cookie, status, mad);
}

/* Tells its owner, but keeps it: ibsim has it, so it counts in the window. */
static void disown(struct ibsim_pool *pool, struct ibsim_request *request, int status)
{
	ibsim_answer *answer = request->answer;

	release_attachment(pool, request);
	request->answer = NULL;
	if (answer)
		answer(request->context, request->cookie, status, NULL);
}

void ibsim_pool_cancel(struct ibsim_pool *pool, ibsim_answer *answer, uint64_t cookie)
{
	for (uint32_t i = 0; i < pool->requests.count; i++) {
		struct ibsim_request *request = pool->requests.all[i];

		if (request->answer != answer || request->cookie != cookie)
			continue;
		if (request->state == IBSIM_REQUEST_SENT) {
			release_attachment(pool, request);
			request->answer = NULL;
		} else {
			ibsim_request_list_remove(&pool->nodes[request->node].queue, request);
			ibsim_requests_give_back(&pool->requests, request);
		}
		return;
	}
}

void ibsim_pool_fail(struct ibsim_pool *pool, ibsim_answer *answer, int status)
{
	struct ibsim_request *next;

	for (struct ibsim_request *request = pool->sent.first; request; request = next) {
		next = request->next;
		if (request->answer == answer)
			finish(pool, request, status, NULL);
	}
}

static void watch(struct ibsim_pool *pool, uint32_t index)
{
	struct attachment *a = &pool->attachments[index];
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};

	if (a->blocked)
		event.events |= EPOLLOUT;
	epoll_ctl(pool->epoll_fd, EPOLL_CTL_MOD, a->fd, &event);
}

/* True when one more may go out now. */
static bool window_is_open(const struct ibsim_pool *pool)
{
	if (pool->window < IBSIM_POOL_WINDOW)
		return true;
	/* All are unanswered: one now and then finds out whether the SM is back. */
	return pool->now >= pool->last_sent + ACM_NSEC_PER_SEC &&
	       pool->window < 2 * IBSIM_POOL_WINDOW;
}

static bool others_wait(const struct ibsim_pool *pool, const struct attachment *a)
{
	return pool->first_waiting != NONE && pool->now >= a->since + TURN;
}

static void set_blocked(struct ibsim_pool *pool, uint32_t index, bool blocked)
{
	struct attachment *a = &pool->attachments[index];

	if (a->blocked == blocked)
		return;
	a->blocked = blocked;
	watch(pool, index);
}

static void send_waiting(struct ibsim_pool *pool, uint32_t index)
{
	struct attachment *a = &pool->attachments[index];
	struct node *node = &pool->nodes[a->node];

	while (node->queue.first && window_is_open(pool) && !others_wait(pool, a)) {
		struct ibsim_request *request = node->queue.first;
		int error = ibsim_send_packet(a->fd, &request->to, request->mad);

		if (error == -EAGAIN) {
			set_blocked(pool, index, true);
			return;
		}
		ibsim_request_list_remove(&node->queue, request);
		ibsim_request_list_append(&pool->sent, request);
		request->state = IBSIM_REQUEST_SENT;
		request->attachment = index;
		request->sent = pool->now;
		pool->window++;
		pool->last_sent = pool->now;
		a->in_flight++;
		a->used = pool->now;
		if (error)
			finish(pool, request, -EHOSTUNREACH, NULL);
	}
	set_blocked(pool, index, false);
}

static void lend(struct ibsim_pool *pool, uint32_t index, uint32_t node)
{
	struct attachment *a = &pool->attachments[index];
	int error;

	if (a->node != NONE && a->node != node) {
		pool->nodes[a->node].attachment = NONE;
		if (pool->nodes[a->node].queue.first)
			push_waiting(pool, a->node);
	}
	a->node = node;
	a->since = a->used = pool->now;
	pool->nodes[node].attachment = index;
	if (a->state == ATTACHED) {
		a->state = DETACHING;
		error = ibsim_send_detach(a->control_fd, a->slot);
	} else {
		a->state = ATTACHING;
		error = ibsim_send_attach(a->control_fd, a->id, pool->names[node]);
	}
	if (error) { /* ibsim is busy: from the beginning, later */
		a->state = a->state == DETACHING ? ATTACHED : UNATTACHED;
		a->retry = pool->now + RETRY_AFTER;
		a->node = NONE;
		pool->nodes[node].attachment = NONE;
		push_waiting(pool, node);
	}
}

/* The one to lend next, NONE. */
static uint32_t find_idle(const struct ibsim_pool *pool)
{
	uint32_t best = NONE;

	for (uint32_t i = 0; i < IBSIM_POOL_ATTACHMENTS; i++) {
		const struct attachment *a = &pool->attachments[i];

		if (a->state == DETACHING || a->state == ATTACHING || a->in_flight > 0 ||
		    a->retry > pool->now)
			continue;
		if (a->node != NONE && pool->nodes[a->node].queue.first && !others_wait(pool, a))
			continue;
		if (best == NONE || a->used < pool->attachments[best].used)
			best = i;
	}
	return best;
}

static void dispatch(struct ibsim_pool *pool)
{
	uint32_t index;

	for (uint32_t i = 0; i < IBSIM_POOL_ATTACHMENTS; i++)
		if (pool->attachments[i].state == ATTACHED && pool->attachments[i].node != NONE)
			send_waiting(pool, i);
	while (pool->first_waiting != NONE) {
		uint32_t node = pool->first_waiting;

		if (!pool->nodes[node].queue.first) { /* cancelled meanwhile */
			pop_waiting(pool);
			continue;
		}
		index = find_idle(pool);
		if (index == NONE)
			return;
		lend(pool, index, pop_waiting(pool));
	}
}

static void attach_refused(struct ibsim_pool *pool, struct attachment *a)
{
	uint32_t node = a->node;

	a->state = UNATTACHED;
	a->node = NONE;
	a->retry = pool->now + RETRY_AFTER;
	pool->nodes[node].attachment = NONE;
	push_waiting(pool, node);
	pool->refused = true;
}

static void process_control(struct ibsim_pool *pool, struct attachment *a)
{
	uint32_t slot;
	int n;

	while ((n = ibsim_receive_control(a->control_fd, &slot)) != 0) {
		if (a->state == DETACHING) {
			ibsim_socket_disconnect(a->fd);
			a->state = ATTACHING;
			if (n < 0 ||
			    ibsim_send_attach(a->control_fd, a->id, pool->names[a->node]) < 0)
				attach_refused(pool, a);
		} else if (a->state == ATTACHING) {
			if (n < 0 ||
			    ibsim_socket_connect_slot(a->fd, pool->socket_name, slot) < 0) {
				attach_refused(pool, a);
				return;
			}
			a->slot = slot;
			a->state = ATTACHED;
			a->since = a->used = pool->now;
		} else {
			return;
		}
	}
}

static void process_packet(struct ibsim_pool *pool, struct attachment *a,
			   struct ibsim_packet *packet)
{
	struct ibsim_request *request =
		ibsim_requests_find_sent(&pool->requests, ibsim_mad_tid(packet->mad));
	uint64_t tid;

	/* Methods below 0x80 without a status are requests: nothing that this client answers. */
	if (!request || (packet->status == 0 && packet->mad[3] < 0x80))
		return;
	a->used = pool->now;
	if (packet->status != 0) {
		finish(pool, request, -EHOSTUNREACH, NULL);
		return;
	}
	if (request->to.qp == 1)
		pool->last_answer = pool->now;
	tid = request->tid;
	ibsim_mad_set_tid(packet->mad, tid);
	ibsim_finish_segment(packet);
	finish(pool, request, 0, packet->mad);
}

static void process_attachment(struct ibsim_pool *pool, uint32_t index)
{
	struct attachment *a = &pool->attachments[index];
	struct ibsim_packet packet;

	process_control(pool, a);
	while (ibsim_receive_packet(a->fd, &packet) == 1)
		process_packet(pool, a, &packet);
	a->blocked = false;
}

/* Requests that nobody will answer leave the window, and the attachments that wait for them. */
static void expire(struct ibsim_pool *pool)
{
	struct ibsim_request *next;

	for (struct ibsim_request *request = pool->sent.first; request; request = next) {
		next = request->next;
		if (request->sent + PATIENCE > pool->now)
			return;
		if (request->sent + LOST_AFTER <= pool->now && pool->last_answer > request->sent)
			finish(pool, request, -ETIMEDOUT, NULL);
		else if (pool->first_waiting != NONE && request->attachment != NONE)
			disown(pool, request, -ETIMEDOUT);
	}
}

void ibsim_pool_process(struct ibsim_pool *pool, uint64_t now)
{
	struct epoll_event events[2 * IBSIM_POOL_ATTACHMENTS];
	int n, rounds = 0;

	pool->now = now;
	dispatch(pool);
	while (rounds++ < ROUNDS_MAX &&
	       (n = epoll_wait(pool->epoll_fd, events, 2 * IBSIM_POOL_ATTACHMENTS, 0)) > 0) {
		bool progress = false;

		for (int i = 0; i < n; i++) {
			bool was_blocked = pool->attachments[events[i].data.u32].blocked;

			process_attachment(pool, events[i].data.u32);
			progress |= (events[i].events & EPOLLIN) || was_blocked;
			if (was_blocked)
				watch(pool, events[i].data.u32);
		}
		dispatch(pool);
		if (!progress)
			break;
	}
	expire(pool);
	dispatch(pool);
}

int ibsim_pool_fd(const struct ibsim_pool *pool)
{
	return pool->epoll_fd;
}

uint64_t ibsim_pool_deadline(const struct ibsim_pool *pool)
{
	uint64_t deadline = ACM_NEVER;

	if (pool->first_waiting != NONE && find_idle(pool) != NONE)
		return 0;
	if (pool->first_waiting != NONE)
		deadline = pool->now + TURN;
	else if (pool->sent.first)
		deadline = pool->now + PATIENCE;
	for (uint32_t i = 0; i < IBSIM_POOL_ATTACHMENTS; i++) {
		const struct attachment *a = &pool->attachments[i];

		if (a->state == ATTACHED && a->node != NONE && pool->nodes[a->node].queue.first &&
		    !a->blocked && window_is_open(pool))
			return 0;
	}
	return deadline;
}

bool ibsim_pool_was_refused(struct ibsim_pool *pool)
{
	bool refused = pool->refused;

	pool->refused = false;
	return refused;
}

static int open_attachment(struct ibsim_pool *pool, uint32_t index)
{
	struct attachment *a = &pool->attachments[index];
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};
	int error;

	a->id = FIRST_CLIENT_ID + index;
	a->control_fd = ibsim_socket_open(pool->socket_name, "ctl", a->id);
	if (a->control_fd < 0)
		return a->control_fd;
	a->fd = ibsim_socket_open(pool->socket_name, "in", a->id);
	if (a->fd < 0)
		return a->fd;
	error = ibsim_socket_connect(a->control_fd, pool->socket_name, "ctl");
	if (error)
		return error;
	if (epoll_ctl(pool->epoll_fd, EPOLL_CTL_ADD, a->control_fd, &event) < 0 ||
	    epoll_ctl(pool->epoll_fd, EPOLL_CTL_ADD, a->fd, &event) < 0)
		return -errno;
	return 0;
}

int ibsim_pool_create(const char *socket_name, const char (*nodes)[IBSIM_NAME_SIZE], uint32_t count,
		      struct ibsim_pool **result)
{
	struct ibsim_pool *pool = calloc(1, sizeof(*pool));
	int error = 0;

	if (!pool)
		return -ENOMEM;
	pool->socket_name = socket_name;
	pool->names = nodes;
	pool->node_count = count;
	pool->first_waiting = pool->last_waiting = NONE;
	for (uint32_t i = 0; i < IBSIM_POOL_ATTACHMENTS; i++)
		pool->attachments[i] =
			(struct attachment){.node = NONE, .control_fd = -1, .fd = -1};
	pool->nodes = calloc(count, sizeof(struct node));
	pool->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!pool->nodes || pool->epoll_fd < 0)
		error = pool->nodes ? -errno : -ENOMEM;
	for (uint32_t i = 0; i < count && pool->nodes; i++)
		pool->nodes[i].attachment = NONE;
	for (uint32_t i = 0; i < IBSIM_POOL_ATTACHMENTS && error == 0; i++)
		error = open_attachment(pool, i);
	if (error) {
		ibsim_pool_destroy(pool);
		return error;
	}
	*result = pool;
	return 0;
}

void ibsim_pool_destroy(struct ibsim_pool *pool)
{
	if (!pool)
		return;
	for (uint32_t i = 0; i < IBSIM_POOL_ATTACHMENTS; i++) {
		struct attachment *a = &pool->attachments[i];

		if (a->state == ATTACHED)
			ibsim_send_detach(a->control_fd, a->slot);
		if (a->control_fd >= 0)
			close(a->control_fd);
		if (a->fd >= 0)
			close(a->fd);
	}
	ibsim_requests_free(&pool->requests);
	free(pool->nodes);
	if (pool->epoll_fd >= 0)
		close(pool->epoll_fd);
	free(pool);
}
