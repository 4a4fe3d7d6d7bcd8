/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pair.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define PATIENCE      (20 * ACM_NSEC_PER_SEC)
#define COOKIE_JOIN   0x10
#define COOKIE_ATTACH 0x11

static uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

void pair_wait(struct pair *pair, uint64_t *begin)
{
	if (!*begin)
		*begin = monotonic_now();
	if (monotonic_now() - *begin > PATIENCE)
		fail_msg("what was waited for did not come in time");
	if (!pair->fixture->wait(pair->fabric))
		fail_msg("what was waited for does not come: nothing goes on any more");
}

static bool is_port_event(enum acm_event_type type)
{
	return type == ACM_EVENT_PORT_CHANGED || type == ACM_EVENT_REREGISTER;
}

bool pair_pull(struct node *node)
{
	int result;

	do
		result = node->transport->ops->next_event(node->transport, &node->event);
	while (result == 1 && is_port_event(node->event.type));
	assert_in_range(result, 0, 1);
	return result == 1;
}

void pair_await(struct pair *pair, struct node *node, enum acm_event_type type)
{
	uint64_t begin = 0;

	while (!pair_pull(node))
		pair_wait(pair, &begin);
	assert_int_equal(node->event.type, type);
}

static int fd_of(const struct node *node)
{
	struct acm_transport_caps caps;

	node->transport->ops->capabilities(node->transport, &caps);
	return caps.fd;
}

bool pair_has_fd(const struct node *node)
{
	return fd_of(node) >= 0;
}

bool pair_is_told(const struct node *node)
{
	struct pollfd fd = {.fd = fd_of(node), .events = POLLIN};

	return node->woken || (fd.fd >= 0 && poll(&fd, 1, 0) == 1);
}

void pair_await_told(struct pair *pair, const struct node *node)
{
	uint64_t begin = 0;

	while (!pair_is_told(node))
		pair_wait(pair, &begin);
}

static void count_wake(void *context)
{
	struct node *node = context;

	node->wake_count++;
	node->woken = true;
}

void pair_count_wakes(struct node *node)
{
	node->wake_count = 0;
	node->woken = false;
	node->transport->ops->set_wake(node->transport, count_wake, node);
}

/* ---- coming up ---- */

void pair_attach(struct pair *pair)
{
	struct acm_transport *transports[2] = {0};

	pair->fixture->attach(pair->fabric, transports);
	for (int i = 0; i < 2; i++)
		pair->nodes[i] = (struct node){.transport = transports[i]};
}

void pair_detach(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		struct acm_transport *transport = pair->nodes[i].transport;

		if (transport)
			transport->ops->destroy(transport);
		pair->nodes[i].transport = NULL;
	}
}

void pair_start(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		struct node *node = &pair->nodes[i];
		struct acm_transport *transport = node->transport;
		uint64_t begin = 0;

		assert_int_equal(transport->ops->start(transport), 0);
		while (!transport->ops->next_event(transport, &node->event))
			pair_wait(pair, &begin);
		assert_int_equal(node->event.type, ACM_EVENT_PORT_CHANGED);
		node->facts = *node->event.port_facts;
	}
}

void pair_open(struct pair *pair)
{
	pair_start(pair);
	for (int i = 0; i < 2; i++) {
		struct node *node = &pair->nodes[i];

		assert_int_equal(node->transport->ops->open_endpoint(
					 node->transport, ENDPOINT, node->facts.port,
					 ACM_PKEY_DEFAULT, ACM_QKEY, DEPTH),
				 0);
		pair_await(pair, node, ACM_EVENT_ENDPOINT_OPENED);
		assert_int_equal(node->event.opened.status, 0);
		assert_int_equal(node->event.opened.endpoint, ENDPOINT);
		node->qpn = node->event.opened.qpn;
	}
}

/* ---- datagrams ---- */

struct acm_datagram pair_datagram(const struct node *to)
{
	return (struct acm_datagram){
		.endpoint = ENDPOINT,
		.dlid = to->facts.lid,
		.qpn = to->qpn,
		.qkey = ACM_QKEY,
		.dgid = to->facts.gids[0],
	};
}

void pair_send(const struct node *from, const struct acm_datagram *datagram)
{
	assert_int_equal(from->transport->ops->send(from->transport, datagram, 1), 0);
}

/* False: cannot be taken now. */
static bool try_send(const struct node *from, const struct acm_datagram *datagram)
{
	int error = from->transport->ops->send(from->transport, datagram, 1);

	assert_true(error == 0 || error == -EAGAIN);
	return !error;
}

/* Everything that it has now. */
static void discard(struct node *node)
{
	while (pair_pull(node))
		;
}

/* The next datagram that it has. That it may send again is of no interest. */
static bool pull_datagram(struct node *node)
{
	while (pair_pull(node)) {
		if (node->event.type == ACM_EVENT_DATAGRAM)
			return true;
		assert_int_equal(node->event.type, ACM_EVENT_WRITABLE);
	}
	return false;
}

static bool is_marker(const struct acm_datagram_received *datagram)
{
	return datagram->length == 6 && !memcmp(datagram->payload, "marker", 6);
}

void pair_flush(struct pair *pair, struct node *from, struct node *to)
{
	struct acm_datagram marker = pair_datagram(to);
	uint64_t begin = 0;

	marker.payload = (const uint8_t *)"marker";
	marker.length = 6;
	discard(to); /* makes room for the marker */
	while (!try_send(from, &marker)) {
		pair_wait(pair, &begin);
		discard(from);
		discard(to);
	}
	while (!pull_datagram(to) || !is_marker(&to->event.datagram))
		pair_wait(pair, &begin);
}

/* ---- groups ---- */

struct acm_gid pair_group(const struct pair *pair)
{
	const struct acm_port_facts *facts = &pair->nodes[0].facts;
	struct acm_gid mgid;

	acm_group_mgid(&mgid, ACM_PKEY_DEFAULT, facts->rate, facts->mtu);
	return mgid;
}

uint16_t pair_join(struct pair *pair, struct node *node)
{
	struct acm_transport *transport = node->transport;
	struct acm_mcmember member = {.mgid = pair_group(pair),
				      .port_gid = node->facts.gids[0],
				      .qkey = ACM_QKEY,
				      .mtu = node->facts.mtu,
				      .rate = node->facts.rate,
				      .pkey = ACM_PKEY_DEFAULT,
				      .scope = 5,
				      .join_state = 1};
	uint8_t mad[ACM_MAD_LENGTH];

	acm_sa_encode_join(&member, 0x77, mad);
	assert_int_equal(transport->ops->sa_send(transport, node->facts.port, 0, mad, COOKIE_JOIN),
			 0);
	pair_await(pair, node, ACM_EVENT_SA_ANSWER);
	assert_int_equal(acm_sa_decode_mcmember(node->event.sa.mad, node->event.sa.length, &member),
			 0);
	assert_int_equal(transport->ops->attach(transport, ENDPOINT, &member.mgid, member.mlid,
						COOKIE_ATTACH),
			 0);
	pair_await(pair, node, ACM_EVENT_ATTACHED);
	assert_int_equal(node->event.attached.cookie, COOKIE_ATTACH);
	assert_int_equal(node->event.attached.status, 0);
	return member.mlid;
}

struct acm_datagram pair_multicast(const struct pair *pair, uint16_t mlid)
{
	return (struct acm_datagram){
		.endpoint = ENDPOINT,
		.dlid = mlid,
		.qpn = 0xffffff,
		.qkey = ACM_QKEY,
		.dgid = pair_group(pair),
	};
}

void pair_await_group(struct pair *pair, struct node *from, struct node *to, uint16_t mlid)
{
	struct acm_datagram datagram = pair_multicast(pair, mlid);
	uint64_t begin = 0;

	do {
		try_send(from, &datagram);
		discard(from); /* its own copies */
		pair_wait(pair, &begin);
	} while (!pull_datagram(to));
}

uint16_t pair_gather(struct pair *pair)
{
	uint16_t mlid;

	pair_open(pair);
	mlid = pair_join(pair, &pair->nodes[0]);
	assert_int_equal(pair_join(pair, &pair->nodes[1]), mlid);
	pair_await_group(pair, &pair->nodes[0], &pair->nodes[1], mlid);
	pair_await_group(pair, &pair->nodes[1], &pair->nodes[0], mlid);
	for (int i = 0; i < 4; i++)
		pair_flush(pair, &pair->nodes[i / 2], &pair->nodes[i % 2]);
	return mlid;
}

/* ---- the SA ---- */

int pair_ask_path(const struct node *from, const struct node *to, uint64_t tid, uint64_t cookie)
{
	struct acm_path path = {.sgid = from->facts.gids[0],
				.dgid = to->facts.gids[0],
				.path_count = 1,
				.reversible = true};
	uint8_t mad[ACM_MAD_LENGTH];
	int error;

	acm_sa_encode_path_get(&path, tid, mad);
	error = from->transport->ops->sa_send(from->transport, from->facts.port, 0, mad, cookie);
	memset(mad, 0xee, sizeof(mad)); /* it must have been read by now */
	return error;
}
