/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Datagrams from other nodes. A request is answered at once from what the datagram itself carries:
 * who sent it, and in which groups it can be reached. No SA is asked to say hello, unless the
 * policy says so.
 */
#include "core.h"
#include "memory.h"

/* Enough for one subnet. */
#define ANSWER_HOP_LIMIT 1

/* Between two claims to addresses of an endpoint that are told of. */
#define CLAIM_PAUSE (60 * ACM_NSEC_PER_SEC)

/* Also while the SA is asked anew whether it is a member: what comes by the group shows that it is.
 */
static const struct acm_group *attached_group(const struct acm_endpoint *endpoint,
					      const struct acm_gid *mgid)
{
	for (uint8_t i = 0; i < endpoint->group_count; i++) {
		const struct acm_group *group = &endpoint->groups[i];

		if (group->attached && !group->attach_cookie &&
		    !memcmp(&group->mgid, mgid, sizeof(*mgid)))
			return group;
	}
	return NULL;
}

/* The last of the message's groups, which are in order of preference, that this node is in too. */
static const struct acm_group *best_group(const struct acm_endpoint *endpoint,
					  const struct acm_message *message)
{
	const struct acm_group *group = NULL;

	for (uint8_t i = message->gid_count; i > 0 && !group; i--)
		group = attached_group(endpoint, &message->gids[i - 1]);
	return group;
}

/* All but where it goes; NULL: as if it had been lost on the way. */
static struct acm_datagram *new_answer(struct acm_engine *engine, const struct acm_message *answer)
{
	struct acm_queued_action *queued = acm_action_queue_push(&engine->actions, ACM_ACTION_SEND);

	if (!queued)
		return NULL;
	acm_message_encode(answer, queued->bytes);
	queued->action.send.cookie = 0;
	acm_engine_count(engine, NULL, ACM_COUNTER_ANSWERED);
	return &queued->action.send.datagram;
}

static void trace_answered(struct acm_engine *engine, const struct acm_endpoint *endpoint,
			   const struct acm_address *asker, const struct acm_address *asked,
			   uint16_t lid)
{
	struct acm_trace *trace = acm_engine_trace(engine, ACM_TRACE_ANSWERED);

	if (!trace)
		return;
	trace->endpoint = endpoint->id;
	trace->source = *asker;
	trace->destination = *asked;
	trace->lid = lid;
}

static void send_answer(struct acm_engine *engine, const struct acm_endpoint *endpoint,
			const struct acm_datagram_received *from, const struct acm_message *request,
			const struct acm_group *group)
{
	struct acm_message answer = {
		.answer = true, .tid = request->tid, .gid_count = 1, .gids = {group->mgid}};
	struct acm_datagram *datagram;

	if (!engine->policy.bare_answers) {
		answer.destination = request->destination;
		answer.source = request->source;
	}
	datagram = new_answer(engine, &answer);
	if (!datagram)
		return;
	*datagram = (struct acm_datagram){
		.endpoint = endpoint->id,
		.dlid = from->slid,
		.sl = from->sl,
		.path_bits = from->dlid_path_bits,
		.qpn = from->source_qpn,
		.qkey = ACM_QKEY,
		.dgid = from->sgid,
		.hop_limit = ANSWER_HOP_LIMIT,
		.traffic_class = group->record.traffic_class,
		.length = ACM_DATAGRAM_MAX,
	};
	trace_answered(engine, endpoint, &request->source, &request->destination, from->slid);
}

void acm_responder_pay(struct acm_engine *engine, const struct acm_lookup *lookup)
{
	const struct acm_destination *peer = lookup->destination;
	const struct acm_group *group = attached_group(lookup->endpoint, &lookup->owed.mgid);
	struct acm_message answer = {.answer = true,
				     .tid = lookup->owed.tid,
				     .gid_count = 1,
				     .gids = {lookup->owed.mgid}};
	struct acm_address asker = {.type = peer->key_type, .length = peer->key_length};
	struct acm_datagram *datagram;

	if (!group || !acm_local_address_is_of(lookup->endpoint, &lookup->owed.asked))
		return; /* left, or given up, meanwhile */
	datagram = new_answer(engine, &answer);
	if (!datagram)
		return;
	*datagram = (struct acm_datagram){
		.endpoint = lookup->endpoint->id,
		.dlid = peer->dlid,
		.sl = peer->sl,
		.path_bits = (uint8_t)(peer->slid - lookup->endpoint->port->facts.lid),
		.qpn = lookup->owed.qpn,
		.qkey = ACM_QKEY,
		.dgid = peer->gid,
		.hop_limit = ANSWER_HOP_LIMIT,
		.traffic_class = group->record.traffic_class,
		.length = ACM_DATAGRAM_MAX,
	};
	memcpy(asker.data, peer->key, asker.length);
	trace_answered(engine, lookup->endpoint, &asker, &lookup->owed.asked, peer->dlid);
}

static struct acm_trace *trace_peer(struct acm_engine *engine, enum acm_trace_type type,
				    const struct acm_endpoint *endpoint,
				    const struct acm_datagram_received *from)
{
	struct acm_trace *trace = acm_engine_trace(engine, type);

	if (!trace)
		return NULL;
	trace->endpoint = endpoint->id;
	trace->lid = from->slid;
	trace->gid = from->sgid;
	trace->qpn = from->source_qpn;
	return trace;
}

static void trace_learned(struct acm_engine *engine, const struct acm_endpoint *endpoint,
			  const struct acm_datagram_received *from,
			  const struct acm_address *source)
{
	struct acm_trace *trace = trace_peer(engine, ACM_TRACE_LEARNED, endpoint, from);

	if (trace)
		trace->source = *source;
}

static void trace_address(struct acm_engine *engine, const struct acm_lookup *lookup,
			  const struct acm_datagram_received *from)
{
	const struct acm_destination *destination = lookup->destination;
	struct acm_trace *trace = trace_peer(engine, ACM_TRACE_ADDRESS, lookup->endpoint, from);

	if (!trace)
		return;
	trace->bypass = destination->key_type & ACM_KEY_BYPASS;
	trace->destination.type = destination->key_type & (uint8_t)~ACM_KEY_BYPASS;
	trace->destination.length = destination->key_length;
	memcpy(trace->destination.data, destination->key, destination->key_length);
}

static bool is_of_this_node(const struct acm_engine *engine, const struct acm_gid *gid)
{
	for (const struct acm_port *port = engine->ports; port; port = port->next) {
		if (acm_port_gid_index(port, gid) >= 0)
			return true;
	}
	return false;
}

/* Others find the one or the other. Whoever claims it may ask a lot: that is told now and then. */
static void tell_claim(struct acm_engine *engine, struct acm_endpoint *endpoint,
		       const struct acm_datagram_received *from, const struct acm_address *source)
{
	struct acm_trace *trace;

	if (engine->now < endpoint->claim_told || is_of_this_node(engine, &from->sgid))
		return;
	endpoint->claim_told = engine->now + CLAIM_PAUSE;
	trace = trace_peer(engine, ACM_TRACE_CLAIMED, endpoint, from);
	if (!trace)
		return;
	trace->source = *source;
	trace->reason = "another node has this address too";
}

/* Whoever asks says where it is: it may be asked for soon, or is being asked for already. */
static void learn_source(struct acm_engine *engine, struct acm_endpoint *endpoint,
			 const struct acm_datagram_received *from, const struct acm_address *source,
			 const struct acm_group *group)
{
	struct acm_key key = {endpoint->id, source->type, source->length, source->data};
	struct acm_destination *destination = acm_destination_cache_find(&engine->cache, &key);
	bool known;

	if (acm_local_address_is_of(endpoint, source)) {
		tell_claim(engine, endpoint, from, source);
		return; /* what is local wins */
	}
	if (!destination)
		destination = acm_destination_cache_add(&engine->cache, &key);
	if (!destination)
		return;
	/* Whoever is being asked for is news, even where it was before. */
	known = (!destination->lookup || destination->lookup->phase == ACM_LOOKUP_ROUTE) &&
		acm_destination_has_address(engine, endpoint, destination) &&
		destination->lid == from->slid &&
		!memcmp(&destination->gid, &from->sgid, sizeof(from->sgid));
	if (!known) {
		acm_engine_count(engine, NULL, ACM_COUNTER_LEARNED);
		trace_learned(engine, endpoint, from, source);
	}
	acm_lookup_overhear(engine, endpoint, destination, from, group);
}

/* As the reference daemon: the SA is asked for the way back first, unless that is known. */
static void answer_by_path(struct acm_engine *engine, struct acm_endpoint *endpoint,
			   const struct acm_datagram_received *from,
			   const struct acm_message *message, const struct acm_group *group)
{
	const struct acm_address *asker = &message->source;
	struct acm_key key = {endpoint->id, asker->type, asker->length, asker->data};
	struct acm_destination *peer = acm_destination_cache_find(&engine->cache, &key);
	const struct acm_path anything = {0};
	struct acm_lookup *lookup;
	bool under_way;

	if (!peer)
		return; /* there was no memory for it */
	if (acm_destination_has_route(engine, endpoint, peer)) {
		send_answer(engine, endpoint, from, message, group);
		return;
	}
	under_way = peer->lookup != NULL;
	lookup = acm_lookup_of(engine, endpoint, peer, &message->destination, &anything);
	if (!lookup)
		return;
	lookup->owed = (struct acm_owed_answer){.tid = message->tid,
						.qpn = from->source_qpn,
						.mgid = group->mgid,
						.asked = message->destination};
	if (!under_way)
		acm_lookup_run(engine, lookup);
}

static void take_request(struct acm_engine *engine, struct acm_endpoint *endpoint,
			 const struct acm_datagram_received *from,
			 const struct acm_message *message)
{
	const struct acm_group *group = best_group(endpoint, message);
	struct acm_trace *trace;

	if (from->source_qpn == endpoint->qpn && acm_port_has_lid(endpoint->port, from->slid))
		return; /* its own, handed back */
	acm_engine_count(engine, NULL, ACM_COUNTER_HEARD);
	acm_multicast_window_hear(&endpoint->window);
	trace = acm_engine_trace(engine, ACM_TRACE_HEARD);
	if (trace) {
		trace->endpoint = endpoint->id;
		trace->source = message->source;
		trace->destination = message->destination;
		trace->lid = from->slid;
	}
	learn_source(engine, endpoint, from, &message->source, group);
	if (!acm_local_address_is_of(endpoint, &message->destination))
		return;
	if (!group)
		acm_engine_trace_dropped(engine, endpoint->id, "no group in common");
	else if (engine->policy.path_before_answer)
		answer_by_path(engine, endpoint, from, message, group);
	else
		send_answer(engine, endpoint, from, message, group);
}

static bool answers(const struct acm_lookup *lookup, const struct acm_message *message)
{
	const struct acm_destination *destination = lookup->destination;
	const struct acm_address *answered = &message->destination;

	/* The reference daemon leaves the addresses of an answer empty. */
	if (answered->type == ACM_ADDRESS_NONE)
		return true;
	return answered->type == (destination->key_type & (uint8_t)~ACM_KEY_BYPASS) &&
	       answered->length == destination->key_length &&
	       !memcmp(answered->data, destination->key, answered->length);
}

static void take_answer(struct acm_engine *engine, struct acm_endpoint *endpoint,
			const struct acm_datagram_received *from, const struct acm_message *message)
{
	struct acm_lookup *lookup = acm_lookup_by_tid(engine, message->tid);

	if (!lookup || lookup->endpoint != endpoint) {
		acm_engine_trace_dropped(engine, endpoint->id, "answer nobody waits for");
	} else if (message->status) {
		acm_engine_trace_dropped(engine, endpoint->id, "answer with an error status");
	} else if (!answers(lookup, message)) {
		acm_engine_trace_dropped(engine, endpoint->id, "answer for another address");
	} else {
		trace_address(engine, lookup, from);
		acm_lookup_learn(engine, lookup, from, best_group(endpoint, message));
	}
}

void acm_datagram_take(struct acm_engine *engine, const struct acm_datagram_received *datagram)
{
	struct acm_endpoint *endpoint = acm_endpoint_find(engine, datagram->endpoint);
	struct acm_message message;

	if (!endpoint || endpoint->state != ACM_ENDPOINT_OPEN)
		return;
	if (acm_message_decode(datagram->payload, datagram->length, &message))
		acm_engine_trace_dropped(engine, endpoint->id, "not an ACM message");
	else if (!datagram->slid || datagram->slid >= ACM_LID_MULTICAST)
		acm_engine_trace_dropped(engine, endpoint->id, "source LID is not a port's");
	else if (message.answer)
		take_answer(engine, endpoint, datagram, &message);
	else
		take_request(engine, endpoint, datagram, &message);
}
