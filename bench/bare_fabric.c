/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bare_fabric.h"
#include "clock.h"

#include <acmite/engine.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE  (60 * ACM_NSEC_PER_SEC)
#define PAUSE     (10 * ACM_NSEC_PER_MSEC)
#define NEAR      (30 * ACM_NSEC_PER_USEC)
#define ENDPOINT  1
#define DEPTH     1024
#define MULTICAST 0xff

struct bare_host {
	struct acm_transport *transport; /* NULL: not used */
	struct acm_port_facts facts;
	uint32_t qpn;
};

struct bare_fabric {
	const struct sim_topology *topology;
	struct sim_fabric *fabric;
	struct acm_gid mgid;
	uint16_t mlid;
	uint64_t cookie;
	struct bare_host *hosts; /* by node */
};

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench_cold_latency: %s\n", what);
	exit(EXIT_FAILURE);
}

struct sim_fabric *bare_fabric_start(const struct sim_topology *topology)
{
	struct sim_ibsim_options options;
	struct sim_control *control;
	struct sim_fabric *fabric;
	char why[1024];

	sim_ibsim_options_default(&options);
	options.ready_timeout_ms = (uint32_t)(PATIENCE / ACM_NSEC_PER_MSEC);
	check(!sim_ibsim_control_create(topology, &options, &control, why, sizeof(why)), why);
	check(!sim_fabric_create(topology, control, 1, &fabric), "the fabric cannot be made");
	return fabric;
}

void bare_fabric_wait(struct sim_fabric *fabric, uint64_t deadline)
{
	struct pollfd fd = {.fd = sim_fabric_fd(fabric), .events = POLLIN};
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	struct timespec left = {0};

	/* As acmited does: what is that near is waited for by looking again. */
	if (deadline <= now + NEAR)
		return;
	left.tv_sec = (time_t)((deadline - now) / ACM_NSEC_PER_SEC % 3600);
	left.tv_nsec = (long)((deadline - now) % ACM_NSEC_PER_SEC);
	ppoll(&fd, 1, &left, NULL);
}

static void process(struct bare_fabric *bare)
{
	check(!sim_fabric_process(bare->fabric, clock_now(CLOCK_MONOTONIC)), "the fabric is gone");
}

/* Until the host has an event of that type; others are passed over. False: not by `deadline`. */
static bool await(struct bare_fabric *bare, uint32_t node, enum acm_event_type type,
		  uint64_t deadline, struct acm_event *event)
{
	struct acm_transport *transport = bare->hosts[node].transport;

	for (;;) {
		uint64_t next = sim_fabric_deadline(bare->fabric);

		while (transport->ops->next_event(transport, event) == 1) {
			if (event->type == type)
				return true;
		}
		if (clock_now(CLOCK_MONOTONIC) >= deadline)
			return false;
		bare_fabric_wait(bare->fabric, next < deadline ? next : deadline);
		process(bare);
	}
}

static void must_await(struct bare_fabric *bare, uint32_t node, enum acm_event_type type,
		       struct acm_event *event)
{
	check(await(bare, node, type, clock_now(CLOCK_MONOTONIC) + PATIENCE, event),
	      "the fabric does not answer");
}

static void send_to(struct bare_fabric *bare, uint32_t from, const struct acm_gid *dgid,
		    uint16_t dlid, uint32_t qpn)
{
	struct acm_transport *transport = bare->hosts[from].transport;
	static const uint8_t payload[ACM_DATAGRAM_MAX];
	struct acm_datagram datagram = {.endpoint = ENDPOINT,
					.dlid = dlid,
					.qpn = qpn,
					.qkey = ACM_QKEY,
					.dgid = *dgid,
					.payload = payload,
					.length = sizeof(payload)};

	check(!transport->ops->send(transport, &datagram, ++bare->cookie), "a packet is not taken");
}

static void multicast(struct bare_fabric *bare, uint32_t from)
{
	send_to(bare, from, &bare->mgid, bare->mlid, 0xffffff);
}

/* ---- coming up ---- */

static void join(struct bare_fabric *bare, uint32_t node)
{
	struct bare_host *host = &bare->hosts[node];
	struct acm_transport *transport = host->transport;
	struct acm_mcmember member = {.port_gid = host->facts.gids[0],
				      .qkey = ACM_QKEY,
				      .mtu = host->facts.mtu,
				      .rate = host->facts.rate,
				      .pkey = ACM_PKEY_DEFAULT,
				      .scope = 5,
				      .join_state = 1};
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_event event;

	acm_group_mgid(&member.mgid, ACM_PKEY_DEFAULT, member.rate, member.mtu);
	acm_sa_encode_join(&member, 1, mad);
	check(!transport->ops->sa_send(transport, host->facts.port, 0, mad, ++bare->cookie),
	      "a join is not taken");
	must_await(bare, node, ACM_EVENT_SA_ANSWER, &event);
	check(!acm_sa_decode_mcmember(event.sa.mad, event.sa.length, &member), "a join is refused");
	bare->mgid = member.mgid;
	bare->mlid = member.mlid;
	check(!transport->ops->attach(transport, ENDPOINT, &member.mgid, member.mlid,
				      ++bare->cookie),
	      "a group is not attached");
	must_await(bare, node, ACM_EVENT_ATTACHED, &event);
}

static void bring_up(struct bare_fabric *bare, uint32_t node)
{
	struct bare_host *host = &bare->hosts[node];
	struct acm_transport *transport;
	struct acm_event event;

	check(!sim_fabric_attach(bare->fabric, bare->topology->nodes[node].name, &transport),
	      "a host cannot be used");
	host->transport = transport;
	check(!transport->ops->start(transport), "a host does not start");
	must_await(bare, node, ACM_EVENT_PORT_CHANGED, &event);
	host->facts = *event.port_facts;
	check(!transport->ops->open_endpoint(transport, ENDPOINT, host->facts.port,
					     ACM_PKEY_DEFAULT, ACM_QKEY, DEPTH),
	      "a queue pair cannot be made");
	must_await(bare, node, ACM_EVENT_ENDPOINT_OPENED, &event);
	host->qpn = event.opened.qpn;
	join(bare, node);
}

/* The subnet manager sets the group's tables some time after the join. */
static void await_group(struct bare_fabric *bare, uint32_t from, uint32_t to)
{
	struct acm_event event;
	int tries = (int)(PATIENCE / PAUSE);

	do {
		check(tries-- > 0, "the group does not reach all hosts");
		multicast(bare, from);
	} while (!await(bare, to, ACM_EVENT_DATAGRAM, clock_now(CLOCK_MONOTONIC) + PAUSE, &event));
}

struct bare_fabric *bare_fabric_create(const struct sim_topology *topology)
{
	struct bare_fabric *bare = calloc(1, sizeof(*bare));
	uint32_t first = SIM_NONE;

	check(bare, "no memory");
	bare->topology = topology;
	bare->fabric = bare_fabric_start(topology);
	bare->hosts = calloc(topology->node_count, sizeof(*bare->hosts));
	check(bare->hosts, "no memory");
	for (uint32_t node = 0; node < topology->node_count; node++) {
		if (topology->nodes[node].address_count)
			bring_up(bare, node);
	}
	for (uint32_t node = 0; node < topology->node_count; node++) {
		if (!bare->hosts[node].transport)
			continue;
		if (first == SIM_NONE)
			first = node;
		else
			await_group(bare, first, node);
	}
	bare_fabric_idle(bare);
	return bare;
}

void bare_fabric_idle(struct bare_fabric *bare)
{
	struct acm_event event;

	process(bare);
	for (uint32_t node = 0; node < bare->topology->node_count; node++) {
		struct acm_transport *transport = bare->hosts[node].transport;

		while (transport && transport->ops->next_event(transport, &event) == 1)
			;
	}
}

void bare_fabric_destroy(struct bare_fabric *bare)
{
	for (uint32_t node = 0; node < bare->topology->node_count; node++) {
		struct acm_transport *transport = bare->hosts[node].transport;

		if (transport)
			transport->ops->destroy(transport);
	}
	sim_fabric_destroy(bare->fabric);
	free(bare->hosts);
	free(bare);
}

/* ---- round trips ---- */

uint64_t bare_fabric_ask_sa(struct bare_fabric *bare, uint32_t from, uint32_t to)
{
	const struct bare_host *host = &bare->hosts[from];
	struct acm_path path = {.sgid = host->facts.gids[0],
				.dgid = bare->hosts[to].facts.gids[0],
				.pkey = ACM_PKEY_DEFAULT,
				.path_count = 1,
				.reversible = true};
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_event event;
	uint64_t begin = clock_now(CLOCK_MONOTONIC);

	acm_sa_encode_path_get(&path, 1, mad);
	check(!host->transport->ops->sa_send(host->transport, host->facts.port, 0, mad,
					     ++bare->cookie),
	      "a query is not taken");
	must_await(bare, from, ACM_EVENT_SA_ANSWER, &event);
	return clock_now(CLOCK_MONOTONIC) - begin;
}

uint64_t bare_fabric_ask_group(struct bare_fabric *bare, uint32_t from, uint32_t to)
{
	const struct bare_host *host = &bare->hosts[from];
	uint64_t begin = clock_now(CLOCK_MONOTONIC);
	struct acm_event event;

	multicast(bare, from);
	must_await(bare, to, ACM_EVENT_DATAGRAM, &event);
	send_to(bare, to, &host->facts.gids[0], host->facts.lid, host->qpn);
	do /* its own multicast comes back to it too */
		must_await(bare, from, ACM_EVENT_DATAGRAM, &event);
	while (event.datagram.dgid.raw[0] == MULTICAST);
	return clock_now(CLOCK_MONOTONIC) - begin;
}
