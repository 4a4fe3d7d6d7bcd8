/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A node of a fabric server that goes, comes, stops nodes and carries MADs. What the conformance
 * suite asks of every transport is not asked again. One thread runs both sides in turn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach_channel.h"
#include "attached_transport.h"
#include "fabric_server.h"
#include "fake_control.h"
#include "queue_pair.h"
#include "small_topology.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rounds in which nothing more may happen before it is said that nothing will. */
#define ROUNDS 200

struct rig {
	char folder[64];
	char path[80];
	struct sim_topology *topology;
	struct fake_control *control;
	struct sim_fabric *fabric;
	struct sim_fabric_server *server;
	struct acm_transport *transport;
	struct acm_event event;
	uint64_t now;
	bool frozen;       /* time stands still */
	uint16_t peer_lid; /* node2's */
};

static void start_server(struct rig *rig)
{
	struct sim_fabric_server_options options;
	char why[256];

	rig->control = fake_control_create(rig->topology);
	assert_int_equal(sim_fabric_create(rig->topology, &rig->control->base, 1, &rig->fabric), 0);
	sim_fabric_server_options_default(&options);
	options.path = rig->path;
	if (sim_fabric_server_create(rig->topology, rig->fabric, &options, &rig->server, why,
				     sizeof(why)))
		fail_msg("%s", why);
}

static void stop_server(struct rig *rig)
{
	sim_fabric_server_destroy(rig->server);
	sim_fabric_destroy(rig->fabric);
	rig->server = NULL;
}

static void turn(struct rig *rig)
{
	if (!rig->frozen)
		rig->now += ACM_NSEC_PER_MSEC;
	if (rig->server)
		assert_int_equal(sim_fabric_server_process(rig->server, rig->now), 0);
}

/* The next event. False: none comes. */
static bool pull(struct rig *rig)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (rig->transport->ops->next_event(rig->transport, &rig->event))
			return true;
		turn(rig);
	}
	return false;
}

static void expect(struct rig *rig, enum acm_event_type type)
{
	assert_true(pull(rig));
	assert_int_equal(rig->event.type, type);
}

static enum sim_attached_state greet(struct rig *rig)
{
	sim_attached_connect(rig->transport);
	for (int i = 0; i < ROUNDS; i++) {
		if (sim_attached_state(rig->transport) != SIM_ATTACHED_GREETING)
			break;
		turn(rig);
		sim_attached_await(rig->transport, 1, -1);
	}
	return sim_attached_state(rig->transport);
}

static int set_up(void **state)
{
	static struct rig rig;

	rig = (struct rig){.folder = "/tmp/acmite-attached-XXXXXX"};
	assert_non_null(mkdtemp(rig.folder));
	snprintf(rig.path, sizeof(rig.path), "%s/socket", rig.folder);
	rig.topology = small_topology_star(2);
	start_server(&rig);
	assert_int_equal(sim_attached_create(rig.path, SIM_ATTACH_OWNER, "node1", &rig.transport),
			 0);
	*state = &rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	if (rig->transport)
		rig->transport->ops->destroy(rig->transport);
	if (rig->server)
		stop_server(rig);
	sim_topology_free(rig->topology);
	rmdir(rig->folder);
	return 0;
}

/* Greeted, started, with endpoint 7. */
static void begin(struct rig *rig)
{
	uint32_t peer = sim_topology_find(rig->topology, "node2");

	rig->peer_lid = fake_control_port(rig->control, peer, 1)->lid;
	assert_int_equal(greet(rig), SIM_ATTACHED_READY);
	assert_int_equal(rig->transport->ops->start(rig->transport), 0);
	expect(rig, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(rig->transport->ops->open_endpoint(rig->transport, 7, 0, ACM_PKEY_DEFAULT,
							    ACM_QKEY, 4),
			 0);
	expect(rig, ACM_EVENT_ENDPOINT_OPENED);
}

static int ask(struct rig *rig, uint64_t cookie)
{
	uint8_t mad[ACM_MAD_LENGTH] = {1, 3, 2, 1};

	return rig->transport->ops->sa_send(rig->transport, 0, 0, mad, cookie);
}

static int send_by(struct rig *rig, struct acm_transport *transport)
{
	struct acm_datagram datagram = {.endpoint = 7,
					.dlid = rig->peer_lid,
					.qpn = 5,
					.payload = (const uint8_t *)"x",
					.length = 1};

	return transport->ops->send(transport, &datagram, 1);
}

static int send_something(struct rig *rig)
{
	return send_by(rig, rig->transport);
}

/* ---- greeting ---- */

static void an_owner_learns_its_node(void **state)
{
	const struct acm_address *addresses;
	const struct sim_attach_welcome *welcome;
	struct rig *rig = *state;
	const struct sim_node *node;

	assert_int_equal(sim_attached_state(rig->transport), SIM_ATTACHED_GONE);
	assert_null(sim_attached_welcome(rig->transport, NULL));
	assert_int_equal(greet(rig), SIM_ATTACHED_READY);
	welcome = sim_attached_welcome(rig->transport, &addresses);
	node = &rig->topology->nodes[sim_topology_find(rig->topology, "node1")];
	assert_string_equal(welcome->device, node->device);
	assert_int_equal(welcome->port_count, 1);
	assert_int_equal(welcome->node_guid, node->guid);
	assert_int_equal(welcome->address_count, node->address_count);
	assert_memory_equal(addresses, node->addresses, node->address_count * sizeof(*addresses));
}

static void refusals_say_why(void **state)
{
	struct rig *rig = *state;
	struct acm_transport *other;
	int error;

	begin(rig);
	other = rig->transport;
	assert_int_equal(sim_attached_create(rig->path, SIM_ATTACH_OWNER, "node1", &rig->transport),
			 0);
	assert_int_equal(greet(rig), SIM_ATTACHED_GONE);
	assert_non_null(strstr(sim_attached_failure(rig->transport, &error), "node1 is taken"));
	assert_int_equal(error, -EBUSY);
	/* The one who had it goes, with more to be read of it than is read in a turn: it does not
	 * stand in the way. */
	for (int i = 0; i < 200; i++)
		assert_int_equal(send_by(rig, other), 0);
	other->ops->destroy(other);
	assert_int_equal(greet(rig), SIM_ATTACHED_READY);
}

/* ---- a server that goes and comes ---- */

static void a_server_that_goes_takes_all_with_it(void **state)
{
	struct rig *rig = *state;
	bool failed[2] = {false}, removed = false;
	int error;

	begin(rig);
	rig->control->event_limit = 0; /* no answer comes */
	assert_int_equal(ask(rig, 10), 0);
	assert_int_equal(ask(rig, 11), 0);
	turn(rig);
	stop_server(rig);
	while (pull(rig)) {
		if (rig->event.type == ACM_EVENT_SA_FAILED) {
			assert_in_range(rig->event.failed.cookie, 10, 11);
			failed[rig->event.failed.cookie - 10] = true;
			assert_int_equal(rig->event.failed.status, -EHOSTUNREACH);
		} else {
			assert_int_equal(rig->event.type, ACM_EVENT_PORT_REMOVED);
			assert_int_equal(rig->event.port, 0);
			assert_false(removed);
			removed = true;
		}
	}
	assert_true(failed[0] && failed[1] && removed);
	assert_int_equal(sim_attached_state(rig->transport), SIM_ATTACHED_GONE);
	assert_non_null(strstr(sim_attached_failure(rig->transport, &error), "is gone"));
	assert_int_equal(error, -EPIPE);
	assert_int_equal(ask(rig, 12), -ENODEV);
	assert_int_equal(send_something(rig), -ENODEV);
	assert_int_equal(rig->transport->ops->open_endpoint(rig->transport, 8, 0, ACM_PKEY_DEFAULT,
							    ACM_QKEY, 4),
			 -ENODEV);
	/* Nobody is there. */
	assert_int_equal(greet(rig), SIM_ATTACHED_GONE);
	assert_non_null(strstr(sim_attached_failure(rig->transport, &error),
			       "no fabric server can be reached"));
}

static void the_next_server_has_the_ports_again(void **state)
{
	struct rig *rig = *state;

	begin(rig);
	stop_server(rig);
	expect(rig, ACM_EVENT_PORT_REMOVED);
	start_server(rig);
	assert_int_equal(greet(rig), SIM_ATTACHED_READY);
	expect(rig, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(rig->event.port_facts->state, ACM_PORT_ACTIVE);
	/* The old endpoint is dead until it is closed. */
	assert_int_equal(send_something(rig), -ENODEV);
	assert_int_equal(rig->transport->ops->open_endpoint(rig->transport, 7, 0, ACM_PKEY_DEFAULT,
							    ACM_QKEY, 4),
			 -EEXIST);
	rig->transport->ops->close_endpoint(rig->transport, 7);
	assert_int_equal(rig->transport->ops->open_endpoint(rig->transport, 7, 0, ACM_PKEY_DEFAULT,
							    ACM_QKEY, 4),
			 0);
	expect(rig, ACM_EVENT_ENDPOINT_OPENED);
	assert_int_equal(ask(rig, 20), 0);
	expect(rig, ACM_EVENT_SA_ANSWER);
	assert_int_equal(rig->event.sa.cookie, 20);
}

/* ---- what happens to nodes ---- */

static void a_stopped_node_lets_nobody_in(void **state)
{
	struct rig *rig = *state;
	uint32_t node = sim_topology_find(rig->topology, "node1");
	int error;

	begin(rig);
	sim_fabric_server_stop_node(rig->server, node);
	expect(rig, ACM_EVENT_PORT_REMOVED);
	sim_attached_failure(rig->transport, &error);
	assert_int_equal(error, -EHOSTDOWN);
	assert_int_equal(greet(rig), SIM_ATTACHED_GONE);
	assert_non_null(strstr(sim_attached_failure(rig->transport, &error), "is stopped"));
	sim_fabric_server_start_node(rig->server, node);
	assert_int_equal(greet(rig), SIM_ATTACHED_READY);
	expect(rig, ACM_EVENT_PORT_CHANGED);
}

static void a_paused_node_hears_nothing_for_a_while(void **state)
{
	struct rig *rig = *state;
	uint32_t node = sim_topology_find(rig->topology, "node1");

	begin(rig);
	sim_fabric_server_pause_node(rig->server, node);
	assert_int_equal(ask(rig, 1), 0);
	assert_false(pull(rig));
	sim_fabric_server_resume_node(rig->server, node);
	expect(rig, ACM_EVENT_SA_ANSWER);
}

static void changes_of_the_port_are_told(void **state)
{
	struct rig *rig = *state;
	uint32_t node = sim_topology_find(rig->topology, "node1");

	begin(rig);
	fake_control_port(rig->control, node, 1)->lid = 33;
	fake_control_tell(rig->control, SIM_CONTROL_PORT, node, 1);
	fake_control_tell(rig->control, SIM_CONTROL_REREGISTER, node, 1);
	expect(rig, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(rig->event.port_facts->lid, 33);
	expect(rig, ACM_EVENT_REREGISTER);
	fake_control_port(rig->control, node, 1)->state = ACM_PORT_DOWN;
	fake_control_tell(rig->control, SIM_CONTROL_PORT, node, 1);
	expect(rig, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(send_something(rig), -ENETDOWN);
	assert_int_equal(ask(rig, 1), -ENETDOWN);
}

/* ---- datagrams ---- */

static bool has_room(const struct rig *rig)
{
	struct acm_transport_caps caps;
	struct pollfd fd = {.events = POLLIN};

	rig->transport->ops->capabilities(rig->transport, &caps);
	fd.fd = caps.fd;
	return poll(&fd, 1, 0) == 1;
}

/* What the data plane has no room for waits in the sender's socket, and nothing of it is lost. */
static void datagrams_wait_for_the_data_plane(void **state)
{
	struct sim_fabric_stats stats;
	struct rig *rig = *state;
	uint64_t sent = 0;

	begin(rig);
	rig->frozen = true; /* so that nothing arrives */
	for (int i = 0; i < ROUNDS; i++) {
		while (!send_something(rig))
			sent++;
		turn(rig);
	}
	sim_fabric_stats(rig->fabric, &stats);
	assert_int_equal(stats.sent, SIM_SEND_DEPTH);
	assert_true(sent > SIM_SEND_DEPTH + 20);
	assert_false(has_room(rig));
	rig->frozen = false;
	expect(rig, ACM_EVENT_WRITABLE);
	assert_int_equal(send_something(rig), 0);
	assert_false(pull(rig));
	sim_fabric_stats(rig->fabric, &stats);
	assert_int_equal(stats.sent, sent + 1);
}

/* ---- MADs ---- */

static void too_many_requests_are_held_back(void **state)
{
	struct rig *rig = *state;
	uint64_t cookie = 0;

	begin(rig);
	rig->control->event_limit = 0;
	while (!ask(rig, cookie))
		cookie++;
	assert_true(cookie <= SIM_ATTACH_MADS && cookie > 50);
	rig->control->event_limit = UINT32_MAX;
	for (uint64_t i = 0; i < cookie;) {
		assert_true(pull(rig));
		if (rig->event.type == ACM_EVENT_WRITABLE)
			continue;
		assert_int_equal(rig->event.type, ACM_EVENT_SA_ANSWER);
		i++;
	}
	assert_int_equal(ask(rig, cookie), 0);
	do
		assert_true(pull(rig));
	while (rig->event.type == ACM_EVENT_WRITABLE);
	assert_int_equal(rig->event.sa.cookie, cookie);
}

static void await_message(struct rig *rig, int fd, union sim_attach_message *message,
			  enum sim_attach_type type)
{
	int received = 0;

	for (int i = 0; i < ROUNDS && !received; i++) {
		turn(rig);
		received = sim_channel_receive(fd, message);
	}
	assert_int_equal(received, 1);
	assert_int_equal(message->header.type, type);
}

static int attach_program(struct rig *rig)
{
	static union sim_attach_message message;
	int fd = sim_channel_connect(rig->path);

	assert_true(fd >= 0);
	assert_int_equal(sim_channel_hello(fd, SIM_ATTACH_PROGRAM, "node2"), 0);
	await_message(rig, fd, &message, SIM_ATTACH_WELCOME);
	assert_int_equal(message.welcome.address_count, 0);
	return fd;
}

static void programs_send_mads_anywhere(void **state)
{
	static union sim_attach_message message;
	struct rig *rig = *state;
	struct sim_attach_mad mad = {.header.type = SIM_ATTACH_MAD_SEND,
				     .cookie = 77,
				     .qpn = 1,
				     .dlid = 9,
				     .sl = 3,
				     .mad = {1, 4, 1, 1}};
	struct sim_attach_status cancel = {.header.type = SIM_ATTACH_MAD_CANCEL, .cookie = 78};
	int fd = attach_program(rig);

	assert_int_equal(sim_channel_send(fd, &mad), 0);
	await_message(rig, fd, &message, SIM_ATTACH_ANSWER);
	assert_int_equal(message.answer.cookie, 77);
	assert_int_equal(message.answer.total, ACM_MAD_LENGTH);
	assert_int_equal(message.answer.bytes[3], 0x81);
	assert_int_equal(rig->control->mad_route.dlid, 9);
	assert_int_equal(rig->control->mad_route.qpn, 1);
	assert_int_equal(rig->control->mad_route.sl, 3);
	rig->control->sa_failure = -EHOSTUNREACH;
	assert_int_equal(sim_channel_send(fd, &mad), 0);
	await_message(rig, fd, &message, SIM_ATTACH_FAILED);
	assert_int_equal(message.status.status, -EHOSTUNREACH);
	mad.port = 5;
	assert_int_equal(sim_channel_send(fd, &mad), 0);
	await_message(rig, fd, &message, SIM_ATTACH_FAILED);
	assert_int_equal(message.status.status, -ENODEV);
	/* Cancelled: FORGOTTEN, and nothing more. */
	mad.port = 0;
	mad.cookie = 78;
	rig->control->event_limit = 0;
	assert_int_equal(sim_channel_send(fd, &mad), 0);
	assert_int_equal(sim_channel_send(fd, &cancel), 0);
	await_message(rig, fd, &message, SIM_ATTACH_FORGOTTEN);
	assert_int_equal(message.status.status, 0);
	rig->control->event_limit = UINT32_MAX;
	for (int i = 0; i < 5; i++)
		turn(rig);
	assert_int_equal(sim_channel_receive(fd, &message), 0);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_owner_learns_its_node),
		TEST(refusals_say_why),
		TEST(a_server_that_goes_takes_all_with_it),
		TEST(the_next_server_has_the_ports_again),
		TEST(a_stopped_node_lets_nobody_in),
		TEST(a_paused_node_hears_nothing_for_a_while),
		TEST(changes_of_the_port_are_told),
		TEST(datagrams_wait_for_the_data_plane),
		TEST(too_many_requests_are_held_back),
		TEST(programs_send_mads_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
