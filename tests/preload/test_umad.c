/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libibumad's calls: ports, agents, and MADs with the kernel's time-outs and retries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include "fake_server.h"

#define CLASS_SA       0x03
#define CLASS_PERF     0x04
#define CLASS_DIRECTED 0x81
#define SM_LID         3
#define FOREVER_MS     60000
#define LONG_ANSWER    40000u

struct rig {
	struct fake_server *server;
	int port;
	int agent;
};

struct buffer {
	struct ib_user_mad umad;
	uint8_t mad[256];
};

static int set_up(void **state)
{
	static struct rig rig;

	rig.server = fake_server_start();
	assert_int_equal(umad_init(), 0);
	rig.port = umad_open_port(NULL, 0);
	assert_true(rig.port >= 0);
	rig.agent = umad_register(rig.port, CLASS_SA, 2, 1, NULL);
	assert_true(rig.agent >= 0);
	*state = &rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	if (rig->server)
		fake_server_stop(rig->server);
	assert_int_equal(umad_close_port(rig->port), 0);
	return 0;
}

/* ---- ports ---- */

static void ports_are_as_the_server_says(void **state)
{
	char names[2][UMAD_CA_NAME_LEN];
	umad_ca_t ca;
	umad_port_t port;
	__be64 guids[UMAD_CA_MAX_PORTS];

	(void)state;
	assert_int_equal(umad_get_cas_names(names, 2), 1);
	assert_string_equal(names[0], "fake_0");
	assert_int_equal(umad_get_ca("fake_0", &ca), 0);
	assert_int_equal(ca.numports, FAKE_PORTS);
	assert_int_equal(ca.node_type, 1);
	assert_int_equal(be64toh(ca.node_guid), 0x1122334455667788);
	assert_null(ca.ports[0]);
	assert_int_equal(ca.ports[2]->state, ACM_PORT_DOWN);
	assert_int_equal(umad_release_ca(&ca), 0);
	assert_int_equal(umad_get_port(NULL, 0, &port), 0);
	assert_int_equal(port.portnum, 1); /* the active one */
	assert_int_equal(port.base_lid, 17);
	assert_int_equal(port.sm_lid, SM_LID);
	assert_int_equal(port.rate, 100);
	assert_int_equal(be64toh(port.port_guid), 0x0102030405060708);
	assert_int_equal(be64toh(port.gid_prefix), 0xfe80000000000000);
	assert_int_equal(port.pkeys[1], 0x8001);
	assert_string_equal(port.link_layer, "InfiniBand");
	assert_int_equal(umad_release_port(&port), 0);
	assert_int_equal(umad_get_port("fake_0", 3, &port), -ENODEV);
	assert_int_equal(umad_open_port("fake_0", 3), -ENODEV);
	errno = 0;
	assert_int_equal(umad_get_port("other_0", 1, &port), -ENODEV);
	assert_int_equal(errno, ENODEV);
	errno = 0;
	assert_int_equal(umad_open_port("other_0", 1), -ENODEV);
	assert_int_equal(errno, ENODEV);
	errno = 0;
	assert_int_equal(umad_get_ca("other_0", &ca), -ENODEV);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(umad_get_ca_portguids(NULL, guids, UMAD_CA_MAX_PORTS), FAKE_PORTS + 1);
	assert_int_equal(be64toh(guids[2]), 0x0102030405060709);
	assert_int_equal(umad_get_ca_portguids(NULL, guids, FAKE_PORTS), -ENOMEM);
}

/* As libibumad: the first that is active, then the first with a link, then the first. */
static void any_port_is_the_best(void **state)
{
	struct rig *rig = *state;
	static const enum acm_port_state states[][FAKE_PORTS] = {
		{ACM_PORT_DOWN, ACM_PORT_ACTIVE}, {ACM_PORT_INIT, ACM_PORT_ACTIVE},
		{ACM_PORT_DOWN, ACM_PORT_INIT},   {ACM_PORT_ACTIVE, ACM_PORT_ACTIVE},
		{ACM_PORT_DOWN, ACM_PORT_DOWN},
	};
	static const int best[] = {2, 2, 2, 1, 1};
	umad_port_t port;

	for (size_t i = 0; i < sizeof(best) / sizeof(*best); i++) {
		for (uint32_t index = 0; index < FAKE_PORTS; index++) {
			struct sim_attach_port message = {.header.type = SIM_ATTACH_PORT,
							  .port = index};

			fake_server_facts(index, &message.facts);
			message.facts.state = states[i][index];
			message.facts.sm_lid = (uint16_t)(100 + i);
			fake_server_say(rig->server, &message);
		}
		do { /* until the last has been heard */
			assert_int_equal(umad_get_port(NULL, 2, &port), 0);
			umad_release_port(&port);
		} while (port.sm_lid != 100 + i);
		assert_int_equal(umad_get_port(NULL, 0, &port), 0);
		umad_release_port(&port);
		assert_int_equal(port.portnum, best[i]);
	}
}

static void device_list_has_one(void **state)
{
	struct umad_device_node *list = umad_get_ca_device_list();

	(void)state;
	assert_non_null(list);
	assert_string_equal(list->ca_name, "fake_0");
	assert_null(list->next);
	umad_free_ca_device_list(list);
}

/* ---- agents ---- */

static void fill(struct buffer *buffer, uint8_t class, uint16_t lid, uint64_t tid)
{
	__be64 wire = htobe64(tid);

	memset(buffer, 0, sizeof(*buffer));
	buffer->umad.addr.qpn = htobe32(class == CLASS_DIRECTED ? 0 : 1);
	buffer->umad.addr.qkey = htobe32(0x80010000);
	buffer->umad.addr.lid = htobe16(lid);
	buffer->umad.addr.pkey_index = 1;
	buffer->mad[0] = 1;
	buffer->mad[1] = class;
	buffer->mad[3] = 1; /* Get */
	memcpy(buffer->mad + 8, &wire, sizeof(wire));
}

static int send_mad(struct rig *rig, struct buffer *buffer, int timeout_ms, int retries)
{
	return umad_send(rig->port, rig->agent, buffer, sizeof(buffer->mad), timeout_ms, retries);
}

static void agents_are_32_for_each_port(void **state)
{
	struct rig *rig = *state;
	uint32_t id;
	struct umad_reg_attr wanted = {.mgmt_class = CLASS_PERF, .mgmt_class_version = 1};

	for (int i = 1; i < UMAD_CA_MAX_AGENTS; i++)
		assert_true(umad_register(rig->port, CLASS_PERF, 1, 0, NULL) >= 0);
	assert_int_equal(umad_register(rig->port, CLASS_PERF, 1, 0, NULL), -EPERM);
	assert_int_equal(umad_register2(rig->port, &wanted, &id), ENOMEM);
	assert_int_equal(umad_unregister(rig->port, 7), 0);
	assert_int_equal(umad_register2(rig->port, &wanted, &id), 0);
	assert_int_equal(id, 7);
	assert_int_equal(umad_unregister(rig->port, UMAD_CA_MAX_AGENTS), -1);
	assert_int_equal(errno, EINVAL);
}

/* One agent serves a method of a class, however many send it. */
static void methods_have_one_server(void **state)
{
	struct rig *rig = *state;
	long get[16 / sizeof(long)] = {1 << 1}, set[16 / sizeof(long)] = {1 << 2};
	uint8_t oui[] = {0, 0, 1}, other[] = {0, 0, 2};
	int agent = umad_register(rig->port, CLASS_PERF, 1, 0, get);

	assert_true(agent >= 0);
	assert_int_equal(umad_register(rig->port, CLASS_PERF, 1, 0, get), -EPERM);
	assert_int_equal(errno, EINVAL);
	assert_true(umad_register(rig->port, CLASS_PERF, 1, 0, set) >= 0);
	assert_true(umad_register(rig->port, CLASS_PERF, 1, 0, NULL) >= 0);
	assert_true(umad_register(rig->port, CLASS_PERF, 2, 0, get) >= 0);
	assert_int_equal(umad_unregister(rig->port, agent), 0);
	assert_true(umad_register(rig->port, CLASS_PERF, 1, 0, get) >= 0);
	assert_true(umad_register_oui(rig->port, 0x30, 0, oui, get) >= 0);
	assert_true(umad_register_oui(rig->port, 0x30, 0, other, get) >= 0);
	assert_int_equal(umad_register_oui(rig->port, 0x30, 0, oui, get), -EPERM);
	assert_int_equal(umad_register_oui(rig->port, CLASS_PERF, 0, oui, get), -EINVAL);
	assert_int_equal(umad_register(rig->port, 0x50, 1, 0, NULL), -EPERM); /* no such class */
	assert_true(umad_register(rig->port, CLASS_DIRECTED, 1, 0, NULL) >= 0);
	assert_int_equal(umad_register(rig->port, CLASS_PERF, 0x83, 0, NULL), -EPERM);
}

static void unknown_agents_cannot_send(void **state)
{
	struct rig *rig = *state;
	struct buffer buffer;

	fill(&buffer, CLASS_SA, SM_LID, 1);
	assert_int_equal(umad_send(rig->port, rig->agent + 1, &buffer, 256, 10, 0), -EIO);
	assert_int_equal(errno, EIO);
	assert_int_equal(umad_send(rig->port, UMAD_CA_MAX_AGENTS, &buffer, 256, 10, 0), -EIO);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(umad_send(rig->port, rig->agent, &buffer, 35, 10, 0), -EIO);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(umad_send(99999, rig->agent, &buffer, 256, 10, 0), -EIO);
	assert_int_equal(errno, EBADF);
}

/* ---- answers ---- */

static void answer(struct rig *rig, const struct sim_attach_mad *request, uint32_t total)
{
	struct sim_attach_answer chunk = {
		.header.type = SIM_ATTACH_ANSWER, .cookie = request->cookie, .total = total};

	while (chunk.offset < total) {
		uint32_t left = total - chunk.offset;

		chunk.length = left < SIM_ATTACH_CHUNK ? left : SIM_ATTACH_CHUNK;
		memset(chunk.bytes, (int)(1 + chunk.offset / SIM_ATTACH_CHUNK), chunk.length);
		if (!chunk.offset) {
			memcpy(chunk.bytes, request->mad, 24);
			chunk.bytes[3] = 0x81;
			chunk.bytes[8] ^= 0xff; /* the high bits are rewritten on the way */
		}
		fake_server_say(rig->server, &chunk);
		chunk.offset += chunk.length;
	}
}

static uint64_t tid_of(const uint8_t *mad)
{
	__be64 wire;

	memcpy(&wire, mad + 8, sizeof(wire));
	return be64toh(wire);
}

static void answer_comes_to_its_agent(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;
	struct buffer buffer;
	int length = sizeof(buffer.mad);

	fill(&buffer, CLASS_SA, SM_LID, 0x1111111122222222);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
	fake_server_take(rig->server, SIM_ATTACH_SA_SEND, &message);
	assert_int_equal(message.mad.port, 0);
	assert_int_equal(message.mad.pkey_index, 1);
	assert_int_equal(message.mad.qkey, 0x80010000);
	assert_int_equal(message.mad.mad[1], CLASS_SA);
	assert_int_equal(tid_of(message.mad.mad) & UINT32_MAX, 0x22222222);
	assert_int_not_equal(tid_of(message.mad.mad) >> 32, 0x11111111); /* the agent's own */
	answer(rig, &message.mad, 256);
	memset(&buffer, 0, sizeof(buffer));
	assert_int_equal(umad_recv(rig->port, &buffer, &length, FOREVER_MS), rig->agent);
	assert_int_equal(length, 256);
	assert_int_equal(umad_status(&buffer), 0);
	assert_int_equal(buffer.umad.agent_id, rig->agent);
	assert_int_equal(buffer.mad[3], 0x81);
	assert_int_equal(tid_of(buffer.mad), tid_of(message.mad.mad));
	assert_int_equal(be16toh(buffer.umad.addr.lid), SM_LID);
	assert_int_equal(umad_recv(rig->port, &buffer, &length, 0), -EAGAIN);
	assert_int_equal(umad_poll(rig->port, 1), -ETIMEDOUT);
	/* Nobody waits for what was answered: there is nothing to be cancelled. */
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
	fake_server_take(rig->server, SIM_ATTACH_SA_SEND, &message);
	assert_int_equal(fake_server_count(rig->server, SIM_ATTACH_MAD_CANCEL), 0);
}

static void only_the_sm_gets_sa_mads(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;
	struct buffer buffer;

	fill(&buffer, CLASS_SA, 5, 1);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
	fake_server_take(rig->server, SIM_ATTACH_MAD_SEND, &message);
	assert_int_equal(message.mad.dlid, 5);
	assert_int_equal(message.mad.qpn, 1);
	fill(&buffer, CLASS_DIRECTED, 0xffff, 2);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
	fake_server_take(rig->server, SIM_ATTACH_MAD_SEND, &message);
	assert_int_equal(message.mad.dlid, 0xffff);
	assert_int_equal(message.mad.qpn, 0);
	assert_int_equal(message.mad.mad[1], CLASS_DIRECTED);
	assert_int_equal(fake_server_count(rig->server, SIM_ATTACH_SA_SEND), 0);
}

static void long_answers_are_joined(void **state)
{
	struct rig *rig = *state;
	static struct {
		struct ib_user_mad umad;
		uint8_t mad[LONG_ANSWER];
	} large;
	union sim_attach_message message;
	struct buffer buffer;
	int length = sizeof(buffer.mad);

	fill(&buffer, CLASS_SA, SM_LID, 1);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
	fake_server_take(rig->server, SIM_ATTACH_SA_SEND, &message);
	answer(rig, &message.mad, LONG_ANSWER);
	/* What does not fit is told and stays. */
	assert_int_equal(umad_recv(rig->port, &buffer, &length, FOREVER_MS), -ENOSPC);
	assert_int_equal(length, LONG_ANSWER);
	assert_int_equal(buffer.mad[3], 0x81);
	assert_int_equal(buffer.mad[255], 1);
	assert_int_equal(umad_recv(rig->port, &large, &length, 0), rig->agent);
	assert_int_equal(length, LONG_ANSWER);
	assert_int_equal(large.mad[3], 0x81);
	assert_int_equal(large.mad[SIM_ATTACH_CHUNK - 1], 1);
	assert_int_equal(large.mad[SIM_ATTACH_CHUNK], 2);
	assert_int_equal(large.mad[LONG_ANSWER - 1], 3);
}

/* A single MAD has one length, which every program knows. */
static void too_little_room_is_a_mistake(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;
	struct buffer buffer;
	int length = 255;

	fill(&buffer, CLASS_SA, SM_LID, 1);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
	fake_server_take(rig->server, SIM_ATTACH_SA_SEND, &message);
	answer(rig, &message.mad, 256);
	assert_int_equal(umad_recv(rig->port, &buffer, &length, FOREVER_MS), -EINVAL);
	assert_int_equal(errno, EINVAL);
	length = 256;
	assert_int_equal(umad_recv(rig->port, &buffer, &length, 0), rig->agent);
	assert_int_equal(length, 256);
	assert_int_equal(umad_recv(rig->port, NULL, &length, 0), -EINVAL);
	assert_int_equal(umad_recv(rig->port, &buffer, NULL, 0), -EINVAL);
	assert_int_equal(umad_recv(99999, &buffer, &length, 0), -EBADF);
}

static void less_than_no_time_out_is_for_ever(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;
	struct buffer buffer;
	int length = sizeof(buffer.mad);

	fill(&buffer, CLASS_SA, SM_LID, 1);
	assert_int_equal(send_mad(rig, &buffer, -1, 0), 0);
	fake_server_take(rig->server, SIM_ATTACH_SA_SEND, &message);
	answer(rig, &message.mad, 256);
	assert_int_equal(umad_recv(rig->port, &buffer, &length, FOREVER_MS), rig->agent);
	assert_int_equal(umad_status(&buffer), 0);
}

static void silence_is_a_time_out_after_the_retries(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message tries[3], message;
	struct buffer buffer;
	int length = sizeof(buffer.mad);

	fill(&buffer, CLASS_PERF, 9, 0x77);
	assert_int_equal(send_mad(rig, &buffer, 5, 2), 0);
	memset(&buffer, 0, sizeof(buffer));
	assert_int_equal(umad_recv(rig->port, &buffer, &length, FOREVER_MS), rig->agent);
	assert_int_equal(umad_status(&buffer), ETIMEDOUT);
	assert_int_equal(length, 24);
	assert_int_equal(tid_of(buffer.mad) & UINT32_MAX, 0x77);
	assert_int_equal(buffer.mad[3], 1);
	for (int i = 0; i < 3; i++)
		fake_server_take(rig->server, SIM_ATTACH_MAD_SEND, &tries[i]);
	assert_memory_equal(tries[0].mad.mad, tries[2].mad.mad, 256);
	/* The server need not wait for any of them. */
	for (int i = 0; i < 3; i++) {
		fake_server_take(rig->server, SIM_ATTACH_MAD_CANCEL, &message);
		assert_int_equal(message.status.cookie, tries[i].mad.cookie);
	}
	assert_int_equal(fake_server_count(rig->server, SIM_ATTACH_MAD_SEND), 0);
}

static void late_answer_to_an_earlier_try_counts(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message first, second;
	struct buffer buffer;
	int length = sizeof(buffer.mad);

	fill(&buffer, CLASS_SA, SM_LID, 1);
	assert_int_equal(send_mad(rig, &buffer, 300, 200), 0);
	fake_server_take(rig->server, SIM_ATTACH_SA_SEND, &first);
	fake_server_take(rig->server, SIM_ATTACH_SA_SEND, &second);
	assert_int_not_equal(first.mad.cookie, second.mad.cookie);
	answer(rig, &first.mad, 256);
	assert_int_equal(umad_recv(rig->port, &buffer, &length, FOREVER_MS), rig->agent);
	assert_int_equal(umad_status(&buffer), 0);
	answer(rig, &second.mad, 256); /* and only one does */
	assert_int_equal(umad_unregister(rig->port, rig->agent), 0);
	assert_int_equal(umad_recv(rig->port, &buffer, &length, 0), -EAGAIN);
}

static void failure_at_the_server_is_silence(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;
	struct sim_attach_status failed = {.header.type = SIM_ATTACH_FAILED,
					   .status = -EHOSTUNREACH};
	struct buffer buffer;
	int length = sizeof(buffer.mad);

	fill(&buffer, CLASS_PERF, 9, 1);
	assert_int_equal(send_mad(rig, &buffer, 5, 0), 0);
	fake_server_take(rig->server, SIM_ATTACH_MAD_SEND, &message);
	failed.cookie = message.mad.cookie;
	fake_server_say(rig->server, &failed);
	assert_int_equal(umad_recv(rig->port, &buffer, &length, FOREVER_MS), rig->agent);
	assert_int_equal(umad_status(&buffer), ETIMEDOUT);
}

static void same_id_twice_is_refused(void **state)
{
	struct rig *rig = *state;
	struct buffer buffer;

	fill(&buffer, CLASS_SA, SM_LID, 1);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), -EIO);
	assert_int_equal(errno, EINVAL);
	fill(&buffer, CLASS_PERF, SM_LID, 1);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
}

static void without_a_time_out_nothing_comes_back(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message silent, message;
	struct buffer buffer;
	int length = sizeof(buffer.mad);

	fill(&buffer, CLASS_SA, SM_LID, 1);
	assert_int_equal(send_mad(rig, &buffer, 0, 5), 0);
	fill(&buffer, CLASS_SA, SM_LID, 2);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
	fake_server_take(rig->server, SIM_ATTACH_SA_SEND, &silent);
	fake_server_take(rig->server, SIM_ATTACH_SA_SEND, &message);
	answer(rig, &silent.mad, 256);
	answer(rig, &message.mad, 256);
	assert_int_equal(umad_recv(rig->port, &buffer, &length, FOREVER_MS), rig->agent);
	assert_int_equal(tid_of(buffer.mad) & UINT32_MAX, 2);
	assert_int_equal(umad_recv(rig->port, &buffer, &length, 0), -EAGAIN);
}

static void descriptor_tells_of_answers(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;
	struct buffer buffer;
	int length = sizeof(buffer.mad);
	struct pollfd polled = {.fd = umad_get_fd(rig->port), .events = POLLIN};

	assert_int_equal(poll(&polled, 1, 0), 0);
	fill(&buffer, CLASS_SA, SM_LID, 1);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
	fake_server_take(rig->server, SIM_ATTACH_SA_SEND, &message);
	answer(rig, &message.mad, 256);
	assert_int_equal(poll(&polled, 1, FOREVER_MS), 1);
	assert_int_equal(umad_recv(rig->port, &buffer, &length, 0), rig->agent);
	assert_int_equal(poll(&polled, 1, 0), 0);
}

/* ---- the server's end ---- */

static void *wait_for_mad(void *argument)
{
	struct rig *rig = argument;
	struct buffer buffer;
	int length = sizeof(buffer.mad);

	return (void *)(intptr_t)umad_recv(rig->port, &buffer, &length, -1);
}

static void lost_server_is_no_device(void **state)
{
	struct rig *rig = *state;
	struct buffer buffer;
	int length = sizeof(buffer.mad);
	pthread_t thread;
	void *result;

	fill(&buffer, CLASS_SA, SM_LID, 1);
	assert_int_equal(send_mad(rig, &buffer, FOREVER_MS, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_mad, rig), 0);
	fake_server_stop(rig->server);
	rig->server = NULL;
	pthread_join(thread, &result);
	assert_int_equal((int)(intptr_t)result, -ENODEV);
	assert_int_equal(umad_recv(rig->port, &buffer, &length, -1), -ENODEV);
	assert_int_equal(send_mad(rig, &buffer, 10, 0), -EIO);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(umad_register(rig->port, CLASS_SA, 2, 1, NULL), -EPERM);
	assert_int_equal(umad_open_port(NULL, 0), -ENODEV);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ports_are_as_the_server_says),
		TEST(any_port_is_the_best),
		TEST(device_list_has_one),
		TEST(agents_are_32_for_each_port),
		TEST(methods_have_one_server),
		TEST(unknown_agents_cannot_send),
		TEST(answer_comes_to_its_agent),
		TEST(only_the_sm_gets_sa_mads),
		TEST(long_answers_are_joined),
		TEST(too_little_room_is_a_mistake),
		TEST(less_than_no_time_out_is_for_ever),
		TEST(silence_is_a_time_out_after_the_retries),
		TEST(late_answer_to_an_earlier_try_counts),
		TEST(failure_at_the_server_is_silence),
		TEST(same_id_twice_is_refused),
		TEST(without_a_time_out_nothing_comes_back),
		TEST(descriptor_tells_of_answers),
		TEST(lost_server_is_no_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
