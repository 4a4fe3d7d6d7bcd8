/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dataplane.h"

#include <acmite/wire.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define QPN_MULTICAST 0xffffffu
/* A Q_Key with this bit stands for the sending queue pair's own (IBA vol. 1, 10.2.5). */
#define QKEY_OWN 0x80000000u

int sim_dataplane_init(struct sim_dataplane *plane, const struct sim_topology *topology,
		       uint64_t seed, const struct sim_dataplane_hooks *hooks)
{
	int error;

	*plane = (struct sim_dataplane){.hooks = *hooks};
	error = sim_wiring_init(&plane->wiring, topology);
	if (error)
		return error;
	sim_walk_init(&plane->walk, &plane->wiring);
	plane->ports = calloc((size_t)plane->wiring.port_count + 1, sizeof(*plane->ports));
	error = plane->ports ? sim_queue_pairs_init(&plane->pairs, plane->wiring.port_count, seed)
			     : -ENOMEM;
	if (error)
		sim_dataplane_free(plane);
	return error;
}

void sim_dataplane_free(struct sim_dataplane *plane)
{
	struct sim_arrival arrival;

	while (sim_packet_queue_pop(&plane->queue, ACM_NEVER, &arrival))
		sim_packets_release(&plane->packets, arrival.packet);
	sim_packet_queue_free(&plane->queue);
	sim_packets_free(&plane->packets);
	sim_queue_pairs_free(&plane->pairs);
	sim_walk_free(&plane->walk);
	sim_wiring_free(&plane->wiring);
	free(plane->ports);
	plane->ports = NULL;
}

void sim_dataplane_set_tables(struct sim_dataplane *plane, const struct sim_tables *tables)
{
	plane->walk.tables = tables;
}

/* ---- sending ---- */

static bool is_multicast(uint16_t lid)
{
	return lid >= ACM_LID_MULTICAST;
}

static bool is_lid_of(const struct sim_port_state *port, uint16_t lid)
{
	return port->lid && lid >= port->lid && lid < port->lid + (1u << port->lmc);
}

static void fill_in(struct sim_packet *packet, const struct sim_queue_pair *from,
		    const struct acm_datagram *datagram)
{
	const struct sim_queue_pair_options *options = &from->options;

	packet->dlid = datagram->dlid;
	packet->slid = (uint16_t)(options->facts->lid + datagram->path_bits);
	packet->pkey = options->facts->pkeys[options->pkey_index];
	packet->qkey = datagram->qkey & QKEY_OWN ? options->qkey : datagram->qkey;
	packet->qpn = datagram->qpn;
	packet->source_qpn = from->number;
	packet->sl = datagram->sl;
	packet->flow_label = datagram->flow_label;
	packet->hop_limit = datagram->hop_limit;
	packet->traffic_class = datagram->traffic_class;
	packet->sgid = options->facts->gids[0];
	packet->dgid = datagram->dgid;
	packet->length = datagram->length;
	if (datagram->length)
		memcpy(packet->payload, datagram->payload, datagram->length);
}

static void put_on_way(struct sim_dataplane *plane, struct sim_packet *packet, uint32_t port,
		       uint64_t now, uint64_t delay)
{
	if (delay > plane->stats.longest)
		plane->stats.longest = delay;
	sim_packet_queue_push(&plane->queue, now + delay, packet, port);
	packet->references++;
	packet->in_flight++;
	plane->stats.in_flight++;
}

/* The others of the packet's copies stay as they are. NULL: no memory. */
static struct sim_packet *alter(struct sim_dataplane *plane, const struct sim_packet *packet,
				const struct sim_meddling *meddling)
{
	struct sim_packet *altered = sim_packets_take(&plane->packets);

	if (!altered)
		return NULL;
	*altered = *packet;
	altered->references = 1;
	altered->in_flight = 0;
	altered->altered = true;
	altered->payload[meddling->offset] ^= meddling->flipped;
	return altered;
}

/* A copy for a port, which `stats.copies` counts already; room for two has been reserved. */
static void launch_copy(struct sim_dataplane *plane, struct sim_packet *packet,
			const struct sim_end *end, uint64_t now)
{
	const struct sim_meddler *meddler = &plane->walk.meddler;
	struct sim_meddling meddling = end->meddling;
	struct sim_packet *altered = NULL;

	if (meddler->to_node)
		meddler->to_node(meddler->context, packet, plane->walk.from,
				 plane->wiring.exits[end->port].owner, &meddling);
	if (meddling.flipped) {
		altered = alter(plane, packet, &meddling);
		meddling.lost |= !altered;
	}
	if (meddling.lost) {
		plane->stats.dropped[SIM_DROP_LOSS]++;
		return;
	}
	put_on_way(plane, altered ? altered : packet, end->port, now, end->delay + meddling.delay);
	if (meddling.twice) {
		plane->stats.copies++;
		put_on_way(plane, packet, end->port, now, end->delay + meddling.twice_delay);
	}
	if (altered)
		sim_packets_release(&plane->packets, altered);
}

/* The walk's result. */
static void launch(struct sim_dataplane *plane, struct sim_packet *packet, uint64_t now)
{
	const struct sim_walk *walk = &plane->walk;

	plane->stats.copies += walk->count;
	for (uint32_t i = 0; i < walk->count; i++) {
		const struct sim_end *end = &walk->ends[i];

		if (end->arrived)
			launch_copy(plane, packet, end, now);
		else
			plane->stats.dropped[end->cause]++;
	}
}

static int route(struct sim_dataplane *plane, struct sim_packet *packet, uint32_t port,
		 uint64_t now)
{
	bool multicast = is_multicast(packet->dlid), local;
	int error = 0;

	/* Others at this port that are attached get the port's own copy as the sender does. */
	local = multicast ? sim_attachment_match(plane->pairs.attachments[port], &packet->dgid) !=
				    NULL
			  : is_lid_of(&plane->ports[port], packet->dlid);
	plane->walk.count = 0;
	plane->walk.packet = packet;
	if (multicast)
		error = sim_walk_multicast(&plane->walk, port, packet->dlid, packet->length);
	else if (!local)
		error = sim_walk_unicast(&plane->walk, port, packet->dlid, packet->length);
	if (!error)
		error = sim_packet_queue_reserve(&plane->queue, 2 * (plane->walk.count + 1));
	if (error)
		return error;
	if (local) { /* does not leave the port, so no fault meets it */
		plane->stats.copies++;
		put_on_way(plane, packet, port, now, 0);
	}
	launch(plane, packet, now);
	return 0;
}

int sim_dataplane_send(struct sim_dataplane *plane, struct sim_queue_pair *from,
		       const struct acm_datagram *datagram, uint64_t now)
{
	struct sim_packet *packet;
	const struct sim_port_state *port = &plane->ports[from->options.port];
	int error = sim_datagram_check(datagram, port->lmc, port->state);

	if (error)
		return error;
	if (from->sending == SIM_SEND_DEPTH) {
		from->blocked = true;
		return -EAGAIN;
	}
	packet = sim_packets_take(&plane->packets);
	if (!packet)
		return -ENOMEM;
	fill_in(packet, from, datagram);
	error = route(plane, packet, from->options.port, now);
	if (!error) {
		plane->stats.sent++;
		plane->stats.multicasts += packet->qpn == QPN_MULTICAST;
		from->sending += packet->in_flight != 0;
	}
	sim_packets_release(&plane->packets, packet);
	return error;
}

/* ---- what nobody asked for ---- */

static void aim_at_group(struct sim_packet *packet, const struct sim_attachment *at)
{
	packet->dlid = at->mlid;
	packet->dgid = at->mgid;
	packet->qpn = QPN_MULTICAST;
}

static void aim_at_queue_pair(const struct sim_dataplane *plane, struct sim_packet *packet,
			      const struct sim_queue_pair *to)
{
	packet->dlid = plane->ports[to->options.port].lid;
	packet->dgid = to->options.facts->gids[0];
	packet->qpn = to->number;
}

/* False: there is nobody to be sent to. */
static bool aim(struct sim_dataplane *plane, struct sim_packet *packet, uint32_t port,
		uint64_t draw)
{
	const struct sim_attachment *group = plane->pairs.attachments[port];
	const struct sim_queue_pair *to = sim_queue_pairs_pick(&plane->pairs, draw >> 1);

	if (group && (draw & 1))
		aim_at_group(packet, group);
	else if (to)
		aim_at_queue_pair(plane, packet, to);
	return (group && (draw & 1)) || to;
}

int sim_dataplane_inject(struct sim_dataplane *plane, uint32_t port,
			 const struct acm_port_facts *facts, uint64_t draw, const uint8_t *payload,
			 uint16_t length, uint64_t now)
{
	struct sim_packet *packet = sim_packets_take(&plane->packets);
	int error = 0;

	if (!packet)
		return -ENOMEM;
	*packet = (struct sim_packet){.references = 1,
				      .altered = true, /* takes up no queue pair's place */
				      .slid = facts->lid,
				      .pkey = facts->pkeys[0],
				      .qkey = ACM_QKEY,
				      .source_qpn = (uint32_t)(draw >> 8) & QPN_MULTICAST,
				      .hop_limit = 1,
				      .sgid = facts->gids[0],
				      .length = length};
	memcpy(packet->payload, payload, length);
	if (aim(plane, packet, port, draw))
		error = route(plane, packet, port, now);
	plane->stats.sent += !error;
	sim_packets_release(&plane->packets, packet);
	return error;
}

/* ---- arriving ---- */

uint64_t sim_dataplane_next(const struct sim_dataplane *plane)
{
	return sim_packet_queue_next(&plane->queue);
}

static bool pkeys_match(uint16_t a, uint16_t b)
{
	return ((a ^ b) & ~ACM_PKEY_FULL) == 0 && ((a | b) & ACM_PKEY_FULL) != 0;
}

static void drop(struct sim_dataplane *plane, enum sim_drop cause)
{
	plane->stats.dropped[cause]++;
}

static void accept_copy(struct sim_dataplane *plane, struct sim_queue_pair *to,
			struct sim_packet *packet)
{
	const struct sim_queue_pair_options *options = &to->options;

	if (!pkeys_match(packet->pkey, options->facts->pkeys[options->pkey_index])) {
		drop(plane, SIM_DROP_PKEY);
	} else if (packet->qkey != options->qkey) {
		drop(plane, SIM_DROP_QKEY);
	} else if (to->held == options->recv_depth || plane->ports[options->port].starved ||
		   !plane->hooks.receive(to, packet)) {
		drop(plane, SIM_DROP_NO_BUFFER);
	} else {
		to->held++;
		packet->references++;
		plane->stats.delivered++;
	}
}

static void arrive_at_group(struct sim_dataplane *plane, struct sim_packet *packet, uint32_t port)
{
	const struct sim_attachment *at =
		sim_attachment_match(plane->pairs.attachments[port], &packet->dgid);

	if (!at)
		drop(plane, SIM_DROP_NO_QP);
	while (at) {
		accept_copy(plane, at->queue_pair, packet);
		at = sim_attachment_match(at->next, &packet->dgid);
		plane->stats.copies += at != NULL; /* the port makes one more */
	}
}

static void arrive_at_port(struct sim_dataplane *plane, struct sim_packet *packet, uint32_t port)
{
	const struct sim_port_state *state = &plane->ports[port];
	struct sim_queue_pair *to;

	if (state->state != ACM_PORT_ACTIVE) {
		drop(plane, SIM_DROP_NO_ROUTE);
	} else if (is_multicast(packet->dlid)) {
		arrive_at_group(plane, packet, port);
	} else if (!is_lid_of(state, packet->dlid)) {
		drop(plane, SIM_DROP_NO_ROUTE);
	} else {
		to = sim_queue_pairs_find(&plane->pairs, packet->qpn);
		if (to && to->options.port == port)
			accept_copy(plane, to, packet);
		else
			drop(plane, SIM_DROP_NO_QP);
	}
}

/* The last copy has arrived: the sender, if it is still there, may send one more. */
static void return_slot(struct sim_dataplane *plane, const struct sim_packet *packet)
{
	struct sim_queue_pair *from = sim_queue_pairs_find(&plane->pairs, packet->source_qpn);

	if (!from)
		return;
	from->sending--;
	if (from->blocked && from->sending <= SIM_SEND_DEPTH / 2) {
		from->blocked = false;
		plane->hooks.writable(from);
	}
}

bool sim_dataplane_arrive(struct sim_dataplane *plane, uint64_t now)
{
	struct sim_arrival arrival;

	if (!sim_packet_queue_pop(&plane->queue, now, &arrival))
		return false;
	plane->stats.in_flight--;
	arrive_at_port(plane, arrival.packet, arrival.port);
	if (--arrival.packet->in_flight == 0 && !arrival.packet->altered)
		return_slot(plane, arrival.packet);
	sim_packets_release(&plane->packets, arrival.packet);
	return true;
}
