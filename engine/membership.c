/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memberships in the multicast groups that carry address requests. Whatever the order of port, SM,
 * re-register and reply events, each group ends in one live membership or keeps trying: a failed
 * join is repeated with back-off, one that holds is checked now and then.
 */
#include "core.h"
#include "memory.h"
#include "partition.h"

#include <assert.h>

/* Far longer than any transport takes to say whether it has attached. */
#define ATTACH_TIME (10 * ACM_NSEC_PER_SEC)

#define JOIN_STATE_FULL  1u
#define SCOPE_SITE_LOCAL 5u

int acm_group_init(struct acm_engine *engine, struct acm_group *group,
		   struct acm_endpoint *endpoint, uint8_t rate, uint8_t mtu)
{
	int error;

	memset(group, 0, sizeof(*group));
	group->endpoint = endpoint;
	group->rate = rate;
	group->mtu = mtu;
	group->backoff = engine->config.join_backoff_min;
	acm_group_mgid(&group->mgid, endpoint->pkey, rate, mtu);
	error = acm_deadlines_register(&engine->deadlines, &group->timer, ACM_TIMER_GROUP);
	if (error)
		return error;
	error = acm_sa_exchange_init(engine, &group->sa, endpoint->port);
	if (error)
		acm_deadlines_unregister(&engine->deadlines, &group->timer);
	return error;
}

/* An attach under way stays so: whether it holds has to be known, whatever comes of the join. */
static void stop(struct acm_engine *engine, struct acm_group *group)
{
	acm_sa_exchange_stop(engine, &group->sa);
	acm_deadlines_disarm(&engine->deadlines, &group->timer);
	group->state = ACM_GROUP_OFF;
}

static void forget_attach(struct acm_engine *engine, struct acm_group *group)
{
	acm_slot_table_remove(&engine->slots, group->attach_cookie);
	group->attach_cookie = 0;
	group->attached = false;
}

static void detach(struct acm_engine *engine, struct acm_group *group)
{
	struct acm_queued_action *queued;

	if (!group->attached)
		return;
	queued = acm_action_queue_push_promised(&engine->actions, ACM_ACTION_DETACH);
	queued->action.group.cookie = 0;
	queued->action.group.endpoint = group->endpoint->id;
	queued->action.group.mlid = group->record.mlid;
	queued->action.group.mgid = group->mgid;
	forget_attach(engine, group);
}

void acm_group_detached(struct acm_engine *engine, struct acm_group *group)
{
	if (!group->attached)
		return;
	acm_action_queue_release(&engine->actions);
	forget_attach(engine, group);
}

void acm_group_fini(struct acm_engine *engine, struct acm_group *group)
{
	stop(engine, group);
	acm_group_detached(engine, group);
	acm_sa_exchange_fini(engine, &group->sa);
	acm_deadlines_unregister(&engine->deadlines, &group->timer);
}

static struct acm_trace *trace_group(struct acm_engine *engine, const struct acm_group *group,
				     enum acm_trace_type type)
{
	struct acm_trace *trace = acm_engine_trace(engine, type);

	if (!trace)
		return NULL;
	trace->endpoint = group->endpoint->id;
	trace->port = group->endpoint->port->facts.port;
	trace->pkey = group->endpoint->pkey;
	trace->gid = group->mgid;
	if (type == ACM_TRACE_JOINED)
		trace->lid = group->record.mlid;
	return trace;
}

void acm_group_join(struct acm_engine *engine, struct acm_group *group)
{
	stop(engine, group);
	group->state = ACM_GROUP_JOINING;
	acm_engine_count(engine, NULL, ACM_COUNTER_JOINS);
	trace_group(engine, group, ACM_TRACE_JOIN);
	acm_sa_exchange_begin(engine, &group->sa, ACM_SA_JOIN);
}

void acm_group_lost(struct acm_engine *engine, struct acm_group *group)
{
	stop(engine, group);
}

void acm_group_leave(struct acm_engine *engine, struct acm_group *group)
{
	/* A join without an answer may have reached the SM: it is taken back too. */
	bool asked = group->state == ACM_GROUP_JOINING;
	bool joined = group->state == ACM_GROUP_LIVE || group->state == ACM_GROUP_ATTACHING;
	struct acm_leave *leave;

	stop(engine, group);
	detach(engine, group);
	trace_group(engine, group, ACM_TRACE_LEFT);
	if ((!joined && !asked) || !acm_port_active(group->endpoint->port))
		return;
	leave = acm_memory_new(&engine->allocator, sizeof(*leave));
	if (!leave)
		return; /* the SM drops members whose port goes down; no more can be done */
	if (acm_sa_exchange_init(engine, &leave->sa, group->endpoint->port)) {
		acm_memory_free(&engine->allocator, leave, sizeof(*leave));
		return;
	}
	leave->record = group->record;
	if (asked) {
		leave->record.mgid = group->mgid;
		leave->record.port_gid = group->endpoint->port->facts.gids[0];
	}
	leave->record.join_state = JOIN_STATE_FULL;
	leave->next = engine->leaves;
	engine->leaves = leave;
	acm_sa_exchange_begin(engine, &leave->sa, ACM_SA_LEAVE);
}

void acm_group_encode(struct acm_engine *engine, struct acm_sa_exchange *sa, uint8_t *mad)
{
	struct acm_group *group = ACM_CONTAINER(sa, struct acm_group, sa);
	struct acm_mcmember member = {0};

	(void)engine;
	if (sa->kind == ACM_SA_LEAVE) {
		acm_sa_encode_leave(&ACM_CONTAINER(sa, struct acm_leave, sa)->record, sa->tid, mad);
		return;
	}
	if (sa->kind == ACM_SA_EXPLAIN) {
		acm_sa_encode_group_get(&group->mgid, sa->tid, mad);
		return;
	}
	member.mgid = group->mgid;
	member.port_gid = sa->port->facts.gids[0];
	member.qkey = ACM_QKEY;
	member.mtu = group->mtu;
	member.rate = group->rate;
	/* As in the MGID: a group that a limited member made with its own would shut out the
	 * limited, itself among them. */
	member.pkey = group->endpoint->pkey | ACM_PKEY_FULL;
	member.scope = SCOPE_SITE_LOCAL;
	member.join_state = JOIN_STATE_FULL;
	acm_sa_encode_join(&member, sa->tid, mad);
}

static void leave_free(struct acm_engine *engine, struct acm_leave *leave)
{
	struct acm_leave **at = &engine->leaves;

	while (*at != leave)
		at = &(*at)->next;
	*at = leave->next;
	acm_sa_exchange_fini(engine, &leave->sa);
	acm_memory_free(&engine->allocator, leave, sizeof(*leave));
}

void acm_leaves_forget(struct acm_engine *engine, const struct acm_port *port)
{
	struct acm_leave *next;

	for (struct acm_leave *leave = engine->leaves; leave; leave = next) {
		next = leave->next;
		if (leave->sa.port == port)
			leave_free(engine, leave);
	}
}

static void arm_back_off(struct acm_engine *engine, struct acm_group *group)
{
	acm_deadlines_arm(&engine->deadlines, &group->timer,
			  engine->now + acm_random_jitter(&engine->random, group->backoff));
	group->backoff *= 2;
	if (group->backoff > engine->config.join_backoff_max)
		group->backoff = engine->config.join_backoff_max;
}

/* Why a join failed. */
struct failure {
	const char *reason;  /* static */
	uint16_t mad_status; /* 0: no answer came, or it was no good */
	int error;           /* the transport's, 0: none */
};

static void trace_failure(struct acm_engine *engine, const struct acm_group *group,
			  const struct failure *failure)
{
	struct acm_trace *trace = trace_group(engine, group, ACM_TRACE_JOIN_FAILED);

	if (!trace)
		return;
	trace->value = failure->mad_status;
	trace->status = (enum acm_status)failure->error;
	trace->reason = failure->reason;
}

static void fail(struct acm_engine *engine, struct acm_group *group, struct failure failure)
{
	acm_engine_count(engine, NULL, ACM_COUNTER_JOIN_FAILURES);
	trace_failure(engine, group, &failure);
	group->state = ACM_GROUP_BACKOFF;
	arm_back_off(engine, group);
	/* Every refused join looks the same; the group's own record tells what did not fit. */
	if (failure.mad_status)
		acm_sa_exchange_begin(engine, &group->sa, ACM_SA_EXPLAIN);
	acm_endpoint_membership_changed(engine, group->endpoint);
}

static void live(struct acm_engine *engine, struct acm_group *group)
{
	group->state = ACM_GROUP_LIVE;
	group->backoff = engine->config.join_backoff_min;
	acm_deadlines_disarm(&engine->deadlines, &group->timer);
	if (engine->config.join_verify)
		acm_deadlines_arm(&engine->deadlines, &group->timer,
				  engine->now + acm_random_jitter(&engine->random,
								  engine->config.join_verify));
	trace_group(engine, group, ACM_TRACE_JOINED);
	acm_endpoint_membership_changed(engine, group->endpoint);
}

static void await_attach(struct acm_engine *engine, struct acm_group *group)
{
	group->state = ACM_GROUP_ATTACHING;
	acm_deadlines_arm(&engine->deadlines, &group->timer, engine->now + ATTACH_TIME);
}

static void attach(struct acm_engine *engine, struct acm_group *group)
{
	struct acm_queued_action *queued = NULL;

	if (!acm_action_queue_promise(&engine->actions)) {
		group->attach_cookie = acm_slot_table_add(&engine->slots, group, ACM_SLOT_GROUP);
		if (group->attach_cookie)
			queued = acm_action_queue_push(&engine->actions, ACM_ACTION_ATTACH);
		if (!queued) {
			acm_slot_table_remove(&engine->slots, group->attach_cookie);
			group->attach_cookie = 0;
			acm_action_queue_release(&engine->actions);
		}
	}
	if (!queued) {
		fail(engine, group, (struct failure){.reason = "no memory"});
		return;
	}
	group->attached = true;
	await_attach(engine, group);
	queued->action.group.cookie = group->attach_cookie;
	queued->action.group.endpoint = group->endpoint->id;
	queued->action.group.mlid = group->record.mlid;
	queued->action.group.mgid = group->mgid;
}

void acm_group_attached(struct acm_engine *engine, uint64_t cookie, int status)
{
	struct acm_group *group = acm_slot_table_find(&engine->slots, cookie, ACM_SLOT_GROUP);

	if (!group)
		return;
	acm_slot_table_remove(&engine->slots, cookie);
	group->attach_cookie = 0;
	if (status)
		acm_group_detached(engine, group);
	if (group->state != ACM_GROUP_ATTACHING)
		return; /* it joins anew, and attaches again where it has to */
	if (status)
		fail(engine, group,
		     (struct failure){.reason = "not attached to the group", .error = status});
	else
		live(engine, group);
}

static bool record_fits(const struct acm_group *group, const struct acm_mcmember *record)
{
	return !memcmp(&record->mgid, &group->mgid, sizeof(group->mgid)) &&
	       record->qkey == ACM_QKEY && record->rate == group->rate &&
	       record->mtu == group->mtu &&
	       acm_partition_equal(record->pkey, group->endpoint->pkey);
}

static void joined(struct acm_engine *engine, struct acm_group *group, const uint8_t *mad,
		   uint32_t length)
{
	struct acm_mcmember record;

	if (acm_sa_decode_mcmember(mad, length, &record) || !record_fits(group, &record)) {
		acm_engine_trace_dropped(engine, group->endpoint->id, "join answer does not fit");
		fail(engine, group, (struct failure){.reason = "the SA's answer does not fit"});
		return;
	}
	if (group->attached && group->record.mlid != record.mlid)
		detach(engine, group);
	group->record = record;
	if (!group->attached)
		attach(engine, group);
	else if (group->attach_cookie)
		await_attach(engine, group);
	else
		live(engine, group);
}

static void explained(struct acm_engine *engine, const struct acm_group *group, const uint8_t *mad,
		      uint32_t length, uint16_t status)
{
	struct acm_mcmember record;
	struct acm_trace *trace;

	if (!mad || status || acm_sa_decode_mcmember(mad, length, &record) ||
	    memcmp(&record.mgid, &group->mgid, sizeof(record.mgid)))
		return;
	trace = acm_engine_trace(engine, ACM_TRACE_GROUP_RECORD);
	if (!trace)
		return;
	trace->endpoint = group->endpoint->id;
	trace->gid = group->mgid;
	trace->lid = record.mlid;
	trace->pkey = record.pkey;
	trace->value = (uint64_t)record.mtu << 8 | record.rate;
	trace->reason = record.mtu != group->mtu     ? "the group's MTU is another"
			: record.rate != group->rate ? "the group's rate is another"
			: !acm_partition_equal(record.pkey, group->endpoint->pkey)
				? "the group's P_Key is another"
			: record.qkey != ACM_QKEY
				? "the group's Q_Key is another"
				: "the group would fit: the port may not be allowed in";
}

/* `status` of the answer, 0: none came. */
static struct failure failure_of(const struct acm_sa_exchange *sa, uint16_t status)
{
	if (status)
		return (struct failure){.reason = acm_sa_status_text(status), .mad_status = status};
	if (sa->error)
		return (struct failure){.reason = "the SA could not be asked", .error = sa->error};
	return (struct failure){.reason = "the SA did not answer"};
}

void acm_group_sa_done(struct acm_engine *engine, struct acm_sa_exchange *sa, const uint8_t *mad,
		       uint32_t length, uint16_t status)
{
	struct acm_group *group = ACM_CONTAINER(sa, struct acm_group, sa);

	switch ((enum acm_sa_kind)sa->kind) {
	case ACM_SA_LEAVE:
		leave_free(engine, ACM_CONTAINER(sa, struct acm_leave, sa));
		break;
	case ACM_SA_EXPLAIN:
		explained(engine, group, mad, length, status);
		break;
	case ACM_SA_JOIN:
		if (mad && !status)
			joined(engine, group, mad, length);
		else if (!mad && group->state == ACM_GROUP_LIVE)
			arm_back_off(engine,
				     group); /* silence says nothing of a membership that held */
		else
			fail(engine, group, failure_of(sa, status));
		break;
	case ACM_SA_PATH:
		assert(sa->kind != ACM_SA_PATH);
	}
}

void acm_group_expired(struct acm_engine *engine, struct acm_group *group)
{
	if (group->state == ACM_GROUP_ATTACHING) {
		/* Whether it was attached will never be known: detached it is certainly not. */
		detach(engine, group);
		fail(engine, group,
		     (struct failure){.reason = "whether it is attached to the group is not told"});
		return;
	}
	if (group->state == ACM_GROUP_LIVE) {
		/* A check: joining again is what a member may do at any time, and it tells the
		 * MLID. */
		acm_engine_count(engine, NULL, ACM_COUNTER_JOINS);
		trace_group(engine, group, ACM_TRACE_JOIN);
		acm_sa_exchange_begin(engine, &group->sa, ACM_SA_JOIN);
		return;
	}
	acm_group_join(engine, group);
}
