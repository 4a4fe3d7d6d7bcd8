/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sa_faults.h"

#include "sa_model.h"

#include <acmite/sa.h>
#include <acmite/transport.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A control that takes nothing now is asked again after that. */
#define RETRY_AFTER ACM_NSEC_PER_MSEC
#define CLASS_SA    0x03

/* A request that waits to be sent, one that is sent and has a fault to come, or a second answer. */
struct judged {
	uint64_t due;
	uint64_t sequence; /* decides between equal times */
	uint64_t cookie;
	struct sim_port_ref port;
	uint16_t pkey_index;
	bool has_route; /* it came by mad_send() */
	struct sim_mad_route route;
	struct sim_sa_verdict verdict;
	bool is_answer;
	uint32_t length;
	uint8_t mad[]; /* the request, or the answer */
};

struct judged_list {
	uint32_t count, room;
	struct judged **all;
};

struct sa_faults {
	struct sim_control base; /* first */
	struct sim_control_ops ops;
	struct sim_control *inner;
	sim_sa_judge *judge;
	void *context;
	uint64_t now;
	uint64_t sequence;
	struct judged_list waiting; /* a heap by due: each is before those at 2n+1 and 2n+2 */
	struct judged_list sent;
	struct judged_list answers; /* second ones that are due */
	struct judged *told;        /* the event told last points into it */
	struct sim_sa_answer refusal;
	uint8_t *altered; /* the answer told last, when it was changed */
	bool failed;      /* there was no memory for what was to come */
};

static struct sa_faults *faults_of(struct sim_control *control)
{
	return (struct sa_faults *)control;
}

/* ---- lists ---- */

static bool append(struct judged_list *list, struct judged *judged)
{
	uint32_t room = list->room ? 2 * list->room : 64;
	struct judged **grown;

	if (list->count == list->room) {
		grown = reallocarray(list->all, room, sizeof(*grown));
		if (!grown)
			return false;
		list->all = grown;
		list->room = room;
	}
	list->all[list->count++] = judged;
	return true;
}

static struct judged *take_sent(struct sa_faults *faults, uint64_t cookie)
{
	struct judged_list *sent = &faults->sent;

	for (uint32_t i = 0; i < sent->count; i++) {
		struct judged *found = sent->all[i];

		if (found->cookie != cookie)
			continue;
		sent->all[i] = sent->all[--sent->count];
		return found;
	}
	return NULL;
}

static void free_list(struct judged_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->all[i]);
	free(list->all);
}

/* ---- the heap ---- */

static bool is_before(const struct judged *a, const struct judged *b)
{
	return a->due != b->due ? a->due < b->due : a->sequence < b->sequence;
}

static void swap(struct judged **a, struct judged **b)
{
	struct judged *kept = *a;

	*a = *b;
	*b = kept;
}

static bool push_waiting(struct sa_faults *faults, struct judged *judged)
{
	struct judged **all;
	uint32_t place = faults->waiting.count;

	if (!append(&faults->waiting, judged))
		return false;
	judged->sequence = faults->sequence++;
	all = faults->waiting.all;
	for (; place > 0 && is_before(all[place], all[(place - 1) / 2]); place = (place - 1) / 2)
		swap(&all[place], &all[(place - 1) / 2]);
	return true;
}

static void sift_down(struct judged_list *heap, uint32_t place)
{
	for (;;) {
		uint32_t least = place;

		for (uint32_t child = 2 * place + 1; child <= 2 * place + 2; child++)
			if (child < heap->count && is_before(heap->all[child], heap->all[least]))
				least = child;
		if (least == place)
			return;
		swap(&heap->all[place], &heap->all[least]);
		place = least;
	}
}

static struct judged *pop_waiting(struct sa_faults *faults)
{
	struct judged_list *heap = &faults->waiting;
	struct judged *first = heap->all[0];

	heap->all[0] = heap->all[--heap->count];
	sift_down(heap, 0);
	return first;
}

static uint64_t next_due(const struct sa_faults *faults)
{
	return faults->waiting.count ? faults->waiting.all[0]->due : ACM_NEVER;
}

/* ---- requests ---- */

static struct judged *make_judged(const uint8_t *mad, uint32_t length)
{
	struct judged *made = calloc(1, sizeof(*made) + length);

	if (!made)
		return NULL;
	made->length = length;
	memcpy(made->mad, mad, length);
	return made;
}

/* What a control says of a request that cannot be sent at all. */
static int check_port(struct sa_faults *faults, struct sim_port_ref port, uint16_t pkey_index)
{
	struct acm_port_facts facts;
	int error = faults->inner->ops->port_facts(faults->inner, port, &facts);

	if (error)
		return error;
	if (facts.state != ACM_PORT_ACTIVE || facts.sm_lid == 0)
		return -ENETDOWN;
	if (pkey_index >= facts.pkey_count || facts.pkeys[pkey_index] == 0)
		return -EINVAL;
	return 0;
}

/* True when something is to be done about the answer. */
static bool concerns_answer(const struct sim_sa_verdict *verdict)
{
	return verdict->fate == SIM_SA_REFUSED || verdict->lost_answer || verdict->twice ||
	       verdict->alter;
}

static int send_inner(struct sa_faults *faults, const struct judged *judged, const uint8_t *mad)
{
	struct sim_control *inner = faults->inner;

	if (judged->has_route)
		return inner->ops->mad_send(inner, judged->port, &judged->route, mad,
					    judged->cookie);
	return inner->ops->sa_send(inner, judged->port, judged->pkey_index, mad, judged->cookie);
}

/* Takes over `judged`, but not on errors. */
static int forward(struct sa_faults *faults, struct judged *judged)
{
	uint8_t ping[ACM_MAD_LENGTH];
	const uint8_t *mad = judged->mad;
	struct acm_sa_request request;
	int error;

	if (judged->verdict.fate == SIM_SA_REFUSED) {
		/* What is no request is dropped by an SA, not refused. */
		if (acm_sa_decode_request(mad, judged->length, &request)) {
			free(judged);
			return 0;
		}
		acm_sa_encode_ping(request.tid, ping);
		mad = ping;
	}
	if (!append(&faults->sent, judged))
		return -ENOMEM;
	error = send_inner(faults, judged, mad);
	if (error || !concerns_answer(&judged->verdict))
		faults->sent.count--;
	if (!error && !concerns_answer(&judged->verdict))
		free(judged);
	return error;
}

/* `request` has where it is to go to. */
static int take_request(struct sa_faults *faults, const struct judged *request, const uint8_t *mad)
{
	struct sim_sa_query query = {.port = request->port, .time = faults->now, .mad = mad};
	struct sim_sa_verdict verdict = {0};
	struct judged *judged;
	int error = 0;

	faults->judge(faults->context, &query, &verdict);
	if (verdict.fate == SIM_SA_LOST)
		return 0;
	if (!verdict.delay && !concerns_answer(&verdict))
		return send_inner(faults, request, mad);
	judged = make_judged(mad, ACM_MAD_LENGTH);
	if (!judged)
		return -ENOMEM;
	judged->due = faults->now + verdict.delay;
	judged->cookie = request->cookie;
	judged->port = request->port;
	judged->pkey_index = request->pkey_index;
	judged->has_route = request->has_route;
	judged->route = request->route;
	judged->verdict = verdict;
	if (!verdict.delay)
		error = forward(faults, judged);
	else if (!push_waiting(faults, judged))
		error = -ENOMEM;
	if (error)
		free(judged);
	return error;
}

static int sa_send(struct sim_control *base, struct sim_port_ref port, uint16_t pkey_index,
		   const uint8_t *mad, uint64_t cookie)
{
	struct sa_faults *faults = faults_of(base);
	struct judged request = {.port = port, .pkey_index = pkey_index, .cookie = cookie};
	int error = check_port(faults, port, pkey_index);

	return error ? error : take_request(faults, &request, mad);
}

/* Programs ask the SA so, beside much that does not concern it. */
static int mad_send(struct sim_control *base, struct sim_port_ref port,
		    const struct sim_mad_route *route, const uint8_t *mad, uint64_t cookie)
{
	struct sa_faults *faults = faults_of(base);
	struct judged request = {
		.port = port, .has_route = true, .route = *route, .cookie = cookie};
	int error;

	if (route->qpn != 1 || mad[1] != CLASS_SA)
		return send_inner(faults, &request, mad);
	error = check_port(faults, port, route->pkey_index);
	return error ? error : take_request(faults, &request, mad);
}

static void drop(struct judged_list *list, uint64_t cookie)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		if (list->all[i]->cookie == cookie)
			free(list->all[i]);
		else
			list->all[kept++] = list->all[i];
	}
	list->count = kept;
}

static void sa_cancel(struct sim_control *base, uint64_t cookie)
{
	struct sa_faults *faults = faults_of(base);
	uint32_t count = faults->waiting.count;

	drop(&faults->waiting, cookie);
	if (faults->waiting.count < count)
		for (uint32_t place = faults->waiting.count; place-- > 0;)
			sift_down(&faults->waiting, place);
	drop(&faults->sent, cookie);
	drop(&faults->answers, cookie);
	faults->inner->ops->sa_cancel(faults->inner, cookie);
}

/* ---- what is due ---- */

static void handle_due(struct sa_faults *faults)
{
	struct judged *judged = pop_waiting(faults);
	int error;

	if (judged->is_answer) {
		if (append(&faults->answers, judged))
			return;
		error = -ENOMEM;
	} else {
		error = forward(faults, judged);
	}
	if (error == -EAGAIN) {
		judged->due = faults->now + RETRY_AFTER;
		if (push_waiting(faults, judged))
			return;
		error = -ENOMEM;
	}
	/* What cannot be sent any more, as its port went down, is lost. */
	if (error)
		free(judged);
	faults->failed |= error == -ENOMEM;
}

/* In the order of time, so that the inner control's clock shows when a request reaches it. */
static int process(struct sim_control *base, uint64_t now)
{
	struct sa_faults *faults = faults_of(base);
	int error = 0;

	while (!error && !faults->failed && next_due(faults) <= now) {
		if (next_due(faults) > faults->now)
			faults->now = next_due(faults);
		error = faults->inner->ops->process(faults->inner, faults->now);
		if (!error)
			handle_due(faults);
	}
	if (now > faults->now)
		faults->now = now;
	if (!error)
		error = faults->inner->ops->process(faults->inner, faults->now);
	return faults->failed ? -ENOMEM : error;
}

static uint64_t deadline(struct sim_control *base)
{
	struct sa_faults *faults = faults_of(base);
	uint64_t inner = faults->inner->ops->deadline(faults->inner);
	uint64_t own = faults->answers.count ? faults->now : next_due(faults);

	return own < inner ? own : inner;
}

/* ---- answers ---- */

static bool repeat(struct sa_faults *faults, const struct judged *judged,
		   const struct sim_control_event *event)
{
	struct judged *copy = make_judged(event->mad, event->length);

	if (!copy)
		return false;
	copy->is_answer = true;
	copy->cookie = judged->cookie;
	copy->due = faults->now + judged->verdict.twice_gap;
	if (push_waiting(faults, copy))
		return true;
	free(copy);
	return false;
}

static bool alter(struct sa_faults *faults, const struct sim_sa_verdict *verdict,
		  struct sim_control_event *event)
{
	uint32_t room = event->length > ACM_MAD_LENGTH ? event->length : ACM_MAD_LENGTH;
	uint8_t *altered = calloc(1, room);

	if (!altered)
		return false;
	memcpy(altered, event->mad, event->length);
	verdict->alter(verdict->alter_draw, altered, &event->length, room);
	free(faults->altered);
	faults->altered = altered;
	event->mad = altered;
	return true;
}

/* False: the event is not to be told. */
static bool handle_answer(struct sa_faults *faults, struct sim_control_event *event)
{
	struct judged *judged = take_sent(faults, event->cookie);
	bool told = true;

	if (!judged)
		return true;
	if (judged->verdict.lost_answer) {
		told = false;
	} else if (judged->verdict.fate == SIM_SA_REFUSED) {
		if (sim_sa_refuse(judged->mad, judged->verdict.status, &faults->refusal)) {
			faults->failed = true;
			told = false;
		}
		event->mad = faults->refusal.data;
		event->length = faults->refusal.length;
	}
	if (told && judged->verdict.alter && !alter(faults, &judged->verdict, event))
		faults->failed = true;
	if (told && judged->verdict.twice && !repeat(faults, judged, event))
		faults->failed = true;
	free(judged);
	return told;
}

static int tell_second_answer(struct sa_faults *faults, struct sim_control_event *event)
{
	free(faults->told);
	faults->told = faults->answers.all[0];
	faults->answers.count--;
	memmove(faults->answers.all, faults->answers.all + 1,
		faults->answers.count * sizeof(*faults->answers.all));
	*event = (struct sim_control_event){.type = SIM_CONTROL_SA_ANSWER,
					    .cookie = faults->told->cookie,
					    .mad = faults->told->mad,
					    .length = faults->told->length};
	return 1;
}

static int next_event(struct sim_control *base, struct sim_control_event *event)
{
	struct sa_faults *faults = faults_of(base);
	struct judged *judged;

	if (faults->answers.count)
		return tell_second_answer(faults, event);
	while (faults->inner->ops->next_event(faults->inner, event)) {
		if (event->type == SIM_CONTROL_SA_ANSWER && !handle_answer(faults, event))
			continue;
		if (event->type == SIM_CONTROL_SA_FAILED) {
			judged = take_sent(faults, event->cookie);
			free(judged);
		}
		return 1;
	}
	return 0;
}

/* ---- the inner control's ---- */

static int port_facts(struct sim_control *base, struct sim_port_ref port,
		      struct acm_port_facts *facts)
{
	struct sim_control *inner = faults_of(base)->inner;

	return inner->ops->port_facts(inner, port, facts);
}

static const struct sim_tables *tables(struct sim_control *base)
{
	struct sim_control *inner = faults_of(base)->inner;

	return inner->ops->tables(inner);
}

static int memberships(struct sim_control *base, const struct sim_membership_query *query,
		       struct sim_group_memberships *all)
{
	struct sim_control *inner = faults_of(base)->inner;

	return inner->ops->memberships(inner, query, all);
}

static void refresh(struct sim_control *base)
{
	struct sim_control *inner = faults_of(base)->inner;

	inner->ops->refresh(inner);
}

static int inner_fd(struct sim_control *base)
{
	struct sim_control *inner = faults_of(base)->inner;

	return inner->ops->fd(inner);
}

static void destroy(struct sim_control *base)
{
	struct sa_faults *faults = faults_of(base);

	faults->inner->ops->destroy(faults->inner);
	free_list(&faults->waiting);
	free_list(&faults->sent);
	free_list(&faults->answers);
	free(faults->told);
	free(faults->refusal.data);
	free(faults->altered);
	free(faults);
}

static const struct sim_control_ops operations = {
	.port_facts = port_facts,
	.tables = tables,
	.sa_send = sa_send,
	.sa_cancel = sa_cancel,
	.mad_send = mad_send,
	.memberships = memberships,
	.refresh = refresh,
	.fd = inner_fd,
	.deadline = deadline,
	.process = process,
	.next_event = next_event,
	.destroy = destroy,
};

int sim_sa_faults_create(struct sim_control *inner, sim_sa_judge *judge, void *context,
			 struct sim_control **control)
{
	struct sa_faults *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->ops = operations;
	if (!inner->ops->mad_send) /* which says that there are no such MADs */
		made->ops.mad_send = NULL;
	made->base.ops = &made->ops;
	made->inner = inner;
	made->judge = judge;
	made->context = context;
	*control = &made->base;
	return 0;
}
