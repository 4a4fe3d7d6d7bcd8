/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "groups.h"

#include "pair.h"

#include <errno.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static bool delivers_to_self(const struct node *node)
{
	struct acm_transport_caps caps;

	node->transport->ops->capabilities(node->transport, &caps);
	return caps.flags & ACM_TRANSPORT_SELF_DELIVERY;
}

void multicasts_reach_the_group(void **state)
{
	struct pair *pair = *state;
	struct node *from = &pair->nodes[0], *to = &pair->nodes[1];
	uint16_t mlid = pair_gather(pair);
	struct acm_gid mgid = pair_group(pair);
	struct acm_datagram datagram = pair_multicast(pair, mlid);

	datagram.payload = (const uint8_t *)"to all";
	datagram.length = 6;
	pair_send(from, &datagram);
	pair_await(pair, to, ACM_EVENT_DATAGRAM);
	assert_int_equal(to->event.datagram.endpoint, ENDPOINT);
	assert_int_equal(to->event.datagram.slid, from->facts.lid);
	assert_int_equal(to->event.datagram.source_qpn, from->qpn);
	assert_int_equal(to->event.datagram.dlid_path_bits, 0);
	assert_memory_equal(&to->event.datagram.dgid, &mgid, sizeof(mgid));
	assert_memory_equal(&to->event.datagram.sgid, &from->facts.gids[0], sizeof(mgid));
	assert_int_equal(to->event.datagram.length, 6);
	assert_memory_equal(to->event.datagram.payload, "to all", 6);
	/* Once: the marker is next. */
	pair_send(from, &(struct acm_datagram){.endpoint = ENDPOINT,
					       .dlid = to->facts.lid,
					       .qpn = to->qpn,
					       .qkey = ACM_QKEY,
					       .dgid = to->facts.gids[0],
					       .payload = (const uint8_t *)"x",
					       .length = 1});
	pair_await(pair, to, ACM_EVENT_DATAGRAM);
	assert_int_equal(to->event.datagram.length, 1);
}

void own_multicasts_come_back_as_promised(void **state)
{
	struct pair *pair = *state;
	struct node *node = &pair->nodes[0];
	uint16_t mlid = pair_gather(pair);
	struct acm_datagram datagram = pair_multicast(pair, mlid), marker = pair_datagram(node);

	datagram.payload = (const uint8_t *)"to all";
	datagram.length = 6;
	marker.payload = (const uint8_t *)"x";
	marker.length = 1;
	pair_send(node, &datagram);
	pair_send(node, &marker);
	pair_await(pair, node, ACM_EVENT_DATAGRAM);
	if (delivers_to_self(node)) {
		assert_int_equal(node->event.datagram.length, 6);
		assert_int_equal(node->event.datagram.source_qpn, node->qpn);
		pair_await(pair, node, ACM_EVENT_DATAGRAM);
	}
	assert_int_equal(node->event.datagram.length, 1);
}

void detached_endpoints_hear_nothing(void **state)
{
	struct pair *pair = *state;
	struct node *from = &pair->nodes[0], *to = &pair->nodes[1];
	uint16_t mlid = pair_gather(pair);
	struct acm_gid mgid = pair_group(pair);
	struct acm_datagram datagram = pair_multicast(pair, mlid), marker = pair_datagram(to);

	assert_int_equal(to->transport->ops->detach(to->transport, ENDPOINT, &mgid, mlid), 0);
	pair_send(from, &datagram);
	marker.payload = (const uint8_t *)"x";
	marker.length = 1;
	pair_send(from, &marker);
	pair_await(pair, to, ACM_EVENT_DATAGRAM);
	assert_int_equal(to->event.datagram.length, 1);
	assert_true(to->transport->ops->detach(to->transport, ENDPOINT, &mgid, mlid) < 0);
	assert_int_equal(to->transport->ops->attach(to->transport, ENDPOINT, &mgid, mlid, 3), 0);
	pair_await(pair, to, ACM_EVENT_ATTACHED);
	assert_int_equal(to->event.attached.cookie, 3);
	pair_await_group(pair, from, to, mlid);
	assert_int_equal(to->transport->ops->attach(to->transport, 99, &mgid, mlid, 4), -ENOENT);
	assert_int_equal(to->transport->ops->detach(to->transport, 99, &mgid, mlid), -ENOENT);
}

void closing_ends_attachments(void **state)
{
	struct pair *pair = *state;
	struct node *from = &pair->nodes[0], *to = &pair->nodes[1];
	uint16_t mlid = pair_gather(pair);
	struct acm_datagram datagram = pair_multicast(pair, mlid);

	to->transport->ops->close_endpoint(to->transport, ENDPOINT);
	assert_int_equal(to->transport->ops->open_endpoint(to->transport, ENDPOINT, to->facts.port,
							   ACM_PKEY_DEFAULT, ACM_QKEY, DEPTH),
			 0);
	pair_await(pair, to, ACM_EVENT_ENDPOINT_OPENED);
	to->qpn = to->event.opened.qpn;
	pair_send(from, &datagram);
	datagram = pair_datagram(to);
	datagram.payload = (const uint8_t *)"x";
	datagram.length = 1;
	pair_send(from, &datagram);
	pair_await(pair, to, ACM_EVENT_DATAGRAM);
	assert_int_equal(to->event.datagram.length, 1);
}
