/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets that the data plane delivers, without engines: one queue pair on each host of a topology,
 * all in one group. In virtual time, of one thread's CPU time, taking them out of the transports
 * included.
 */
#include "clock.h"
#include "figures.h"
#include "virtual_fabric.h"

#include <acmite/engine.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS_MAX 100
#define ENDPOINT   1
#define DEPTH      1024
#define BURST      64  /* unicasts of each host in a round */
#define MULTICASTS 256 /* in a round, each from another host */

struct host {
	struct plane *plane;
	struct acm_transport *transport;
	struct acm_port_facts facts;
	uint32_t qpn;
	bool woken;
};

struct plane {
	struct virtual_fabric virtual;
	struct host *hosts;
	uint32_t *woken;
	uint32_t woken_count;
	uint32_t count;
	struct acm_gid mgid;
	uint16_t mlid;
	uint64_t received;
};

static void check(bool good, const char *what)
{
	virtual_fabric_check(good, what);
}

/* ---- running ---- */

static void wake(void *context)
{
	struct host *host = context;
	struct plane *plane = host->plane;

	if (host->woken)
		return;
	host->woken = true;
	plane->woken[plane->woken_count++] = (uint32_t)(host - plane->hosts);
}

static void take(struct plane *plane, struct host *host, const struct acm_event *event)
{
	struct acm_mcmember member;

	switch (event->type) {
	case ACM_EVENT_DATAGRAM:
		plane->received++;
		break;
	case ACM_EVENT_PORT_CHANGED:
		host->facts = *event->port_facts;
		break;
	case ACM_EVENT_ENDPOINT_OPENED:
		host->qpn = event->opened.qpn;
		break;
	case ACM_EVENT_SA_ANSWER:
		check(!acm_sa_decode_mcmember(event->sa.mad, event->sa.length, &member),
		      "a join is refused");
		plane->mgid = member.mgid;
		plane->mlid = member.mlid;
		break;
	default:
		break;
	}
}

/* From one arrival to the next, until nothing is under way. */
static void run(struct plane *plane)
{
	struct virtual_fabric *virtual = &plane->virtual;
	struct acm_event event;

	for (;;) {
		while (plane->woken_count) {
			struct host *host = &plane->hosts[plane->woken[--plane->woken_count]];

			host->woken = false;
			while (host->transport->ops->next_event(host->transport, &event) == 1)
				take(plane, host, &event);
		}
		if (sim_fabric_deadline(virtual->fabric) == ACM_NEVER)
			return;
		virtual->now = sim_fabric_deadline(virtual->fabric);
		check(!sim_fabric_process(virtual->fabric, virtual->now), "the fabric is gone");
	}
}

/* ---- coming up ---- */

static void join(struct host *host)
{
	struct acm_mcmember member = {.port_gid = host->facts.gids[0],
				      .qkey = ACM_QKEY,
				      .mtu = host->facts.mtu,
				      .rate = host->facts.rate,
				      .pkey = ACM_PKEY_DEFAULT,
				      .scope = 5,
				      .join_state = 1};
	uint8_t mad[ACM_MAD_LENGTH];

	acm_group_mgid(&member.mgid, ACM_PKEY_DEFAULT, member.rate, member.mtu);
	acm_sa_encode_join(&member, 1, mad);
	check(!host->transport->ops->sa_send(host->transport, host->facts.port, 0, mad, 1),
	      "a join is not taken");
}

static void bring_up(struct plane *plane)
{
	const struct sim_topology *topology = plane->virtual.topology;

	for (uint32_t i = 0; i < plane->count; i++) {
		struct host *host = &plane->hosts[i];
		const char *name = topology->nodes[topology->switch_count + i].name;

		host->plane = plane;
		check(!sim_fabric_attach(plane->virtual.fabric, name, &host->transport),
		      "a host cannot be used");
		host->transport->ops->set_wake(host->transport, wake, host);
		check(!host->transport->ops->start(host->transport), "a host does not start");
	}
	run(plane);
	for (uint32_t i = 0; i < plane->count; i++) {
		struct host *host = &plane->hosts[i];

		check(!host->transport->ops->open_endpoint(host->transport, ENDPOINT,
							   host->facts.port, ACM_PKEY_DEFAULT,
							   ACM_QKEY, DEPTH),
		      "a queue pair cannot be made");
		join(host);
	}
	run(plane);
	for (uint32_t i = 0; i < plane->count; i++) {
		struct host *host = &plane->hosts[i];

		check(!host->transport->ops->attach(host->transport, ENDPOINT, &plane->mgid,
						    plane->mlid, 2),
		      "a group is not attached");
	}
	run(plane);
}

/* ---- measuring ---- */

static void send_to(struct host *from, const struct acm_gid *dgid, uint16_t dlid, uint32_t qpn)
{
	static const uint8_t payload[ACM_DATAGRAM_MAX];
	struct acm_datagram datagram = {.endpoint = ENDPOINT,
					.dlid = dlid,
					.qpn = qpn,
					.qkey = ACM_QKEY,
					.dgid = *dgid,
					.payload = payload,
					.length = sizeof(payload)};

	check(!from->transport->ops->send(from->transport, &datagram, 3), "a packet is not taken");
}

/* Each to BURST others, spread over the fabric. */
static uint64_t send_unicasts(struct plane *plane)
{
	for (uint32_t i = 0; i < plane->count; i++) {
		for (uint32_t j = 1; j <= BURST; j++) {
			const struct host *to =
				&plane->hosts[(i + j * (plane->count / BURST)) % plane->count];

			send_to(&plane->hosts[i], &to->facts.gids[0], to->facts.lid, to->qpn);
		}
	}
	return (uint64_t)plane->count * BURST;
}

/* All at the same time would be the most that can be in flight; one at a time the least. */
static uint64_t send_multicasts(struct plane *plane)
{
	for (uint32_t i = 0; i < MULTICASTS; i++) {
		send_to(&plane->hosts[i % plane->count], &plane->mgid, plane->mlid, 0xffffff);
		if (i % 16 == 15)
			run(plane);
	}
	return (uint64_t)plane->count * MULTICASTS; /* it comes back to its sender too */
}

static void measure(struct plane *plane, const char *name, size_t rounds,
		    uint64_t (*send)(struct plane *plane))
{
	double values[ROUNDS_MAX];

	for (size_t round = 0; round < rounds + 1; round++) {
		uint64_t begin = clock_now(CLOCK_THREAD_CPUTIME_ID), before = plane->received;
		uint64_t expected = send(plane);

		run(plane);
		check(plane->received - before == expected, "not every packet arrives");
		if (round) /* the first warms up */
			values[round - 1] = (double)expected * 1000 /
					    (double)(clock_now(CLOCK_THREAD_CPUTIME_ID) - begin);
	}
	figures_print(name, figures_median(values, rounds), "million/s", ">= 1");
}

int main(int argc, char **argv)
{
	struct plane plane = {0};
	struct sim_errors errors = {0};
	struct sim_topology *topology;
	size_t rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "Usage: bench_packet_rate TOPOLOGY ROUNDS\n");
		return EXIT_FAILURE;
	}
	check(!sim_topology_load(argv[1], &topology, &errors),
	      errors.count ? errors.lines[0] : "no memory");
	check(topology->host_count >= BURST, "a fabric of so few hosts says nothing");
	virtual_fabric_init(&plane.virtual, topology);
	plane.count = topology->host_count;
	plane.hosts = calloc(plane.count, sizeof(*plane.hosts));
	plane.woken = calloc(plane.count, sizeof(uint32_t));
	check(plane.hosts && plane.woken, "no memory");
	bring_up(&plane);
	measure(&plane, "simulated fabric: unicasts delivered", rounds, send_unicasts);
	measure(&plane, "simulated fabric: multicast copies delivered", rounds, send_multicasts);
	for (uint32_t i = 0; i < plane.count; i++)
		plane.hosts[i].transport->ops->destroy(plane.hosts[i].transport);
	virtual_fabric_fini(&plane.virtual);
	free(plane.hosts);
	free(plane.woken);
	return EXIT_SUCCESS;
}
