/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "builtin_control.h"

#include "sa_model.h"

#include <acmite/transport.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SA_LATENCY (20 * ACM_NSEC_PER_USEC)
#define SA_WINDOW  4096

/* A request under way. All take the same time, so the first to come is the first to be served. */
struct builtin_request {
	uint64_t due;
	uint64_t cookie;
	struct sim_port_ref port;
	bool cancelled;
	bool to_agent; /* at `dlid`; else to the SA */
	uint16_t dlid;
	uint8_t mad[ACM_MAD_LENGTH];
};

struct builtin_event {
	struct sim_control_event event;
	uint8_t *mad; /* ours */
};

struct builtin_control {
	struct sim_control base;
	struct sim_builtin_options options;
	struct sim_subnet *subnet;
	uint64_t now;
	struct sim_sa_answer answer;
	struct sim_traffic_source traffic;

	uint32_t request_count, request_room, request_first;
	struct builtin_request *requests; /* a ring */

	uint32_t event_count, event_room, event_first;
	struct builtin_event *events;
	uint8_t *told_mad; /* of the event told last */
	bool failed;       /* there was no memory for an event */

	uint32_t membership_room;
	struct sim_group_membership *memberships; /* those told last */
};

static struct builtin_control *builtin_of(struct sim_control *control)
{
	return (struct builtin_control *)control;
}

/* ---- events ---- */

static bool make_event_room(struct builtin_control *control)
{
	uint32_t room = control->event_room ? 2 * control->event_room : 64;
	struct builtin_event *events;

	if (control->event_count < control->event_room)
		return true;
	events = calloc(room, sizeof(*events));
	if (!events)
		return false;
	for (uint32_t i = 0; i < control->event_count; i++)
		events[i] = control->events[(control->event_first + i) % control->event_room];
	free(control->events);
	control->events = events;
	control->event_room = room;
	control->event_first = 0;
	return true;
}

/* Takes over `mad`. */
static void push_event(struct builtin_control *control, const struct sim_control_event *event,
		       uint8_t *mad)
{
	struct builtin_event *queued;

	if (!make_event_room(control)) {
		control->failed = true;
		free(mad);
		return;
	}
	queued = &control->events[(control->event_first + control->event_count++) %
				  control->event_room];
	*queued = (struct builtin_event){.event = *event, .mad = mad};
	queued->event.mad = mad;
}

static void collect_changes(struct builtin_control *control)
{
	static const enum sim_control_event_type types[] = {
		[SIM_SUBNET_PORT] = SIM_CONTROL_PORT,
		[SIM_SUBNET_REREGISTER] = SIM_CONTROL_REREGISTER,
		[SIM_SUBNET_TABLES] = SIM_CONTROL_TABLES,
	};
	struct sim_subnet_change change;

	while (sim_subnet_next_change(control->subnet, &change)) {
		struct sim_control_event event = {.type = types[change.type], .port = change.port};

		push_event(control, &event, NULL);
	}
}

static int next_event(struct sim_control *base, struct sim_control_event *event)
{
	struct builtin_control *control = builtin_of(base);
	struct builtin_event *first;

	if (!control->event_count)
		return 0;
	first = &control->events[control->event_first];
	control->event_first = (control->event_first + 1) % control->event_room;
	control->event_count--;
	free(control->told_mad);
	control->told_mad = first->mad;
	*event = first->event;
	return 1;
}

/* ---- requests ---- */

static struct builtin_request *request_at(const struct builtin_control *control, uint32_t n)
{
	return &control->requests[(control->request_first + n) % control->request_room];
}

static bool make_request_room(struct builtin_control *control)
{
	uint32_t room = control->request_room ? 2 * control->request_room : 64;
	struct builtin_request *requests;

	if (control->request_count < control->request_room)
		return true;
	requests = calloc(room, sizeof(*requests));
	if (!requests)
		return false;
	for (uint32_t i = 0; i < control->request_count; i++)
		requests[i] = *request_at(control, i);
	free(control->requests);
	control->requests = requests;
	control->request_room = room;
	control->request_first = 0;
	return true;
}

static int sa_send(struct sim_control *base, struct sim_port_ref port, uint16_t pkey_index,
		   const uint8_t *mad, uint64_t cookie)
{
	struct builtin_control *control = builtin_of(base);
	struct builtin_request *request;
	struct acm_port_facts facts;
	int error = sim_subnet_port_facts(control->subnet, port, &facts);

	if (error)
		return error;
	if (facts.state != ACM_PORT_ACTIVE || facts.sm_lid == 0)
		return -ENETDOWN;
	if (pkey_index >= facts.pkey_count || facts.pkeys[pkey_index] == 0)
		return -EINVAL;
	if (control->request_count >= control->options.sa_window)
		return -EAGAIN;
	if (!sim_subnet_reaches_manager(control->subnet, port))
		return 0;
	if (!make_request_room(control))
		return -ENOMEM;
	request = request_at(control, control->request_count++);
	*request = (struct builtin_request){
		.due = control->now + control->options.sa_latency, .port = port, .cookie = cookie};
	memcpy(request->mad, mad, ACM_MAD_LENGTH);
	return 0;
}

static int mad_send(struct sim_control *base, struct sim_port_ref port,
		    const struct sim_mad_route *route, const uint8_t *mad, uint64_t cookie)
{
	struct builtin_control *control = builtin_of(base);
	struct builtin_request *request;
	struct acm_port_facts facts;
	int error = sim_subnet_port_facts(control->subnet, port, &facts);

	if (error)
		return error;
	if (route->dlid != ACM_LID_PERMISSIVE && facts.state != ACM_PORT_ACTIVE)
		return -ENETDOWN;
	if (control->request_count >= control->options.sa_window)
		return -EAGAIN;
	if (!make_request_room(control))
		return -ENOMEM;
	request = request_at(control, control->request_count++);
	*request = (struct builtin_request){.due = control->now + control->options.sa_latency,
					    .port = port,
					    .cookie = cookie,
					    .to_agent = true,
					    .dlid = route->dlid};
	memcpy(request->mad, mad, ACM_MAD_LENGTH);
	return 0;
}

static void sa_cancel(struct sim_control *base, uint64_t cookie)
{
	struct builtin_control *control = builtin_of(base);

	for (uint32_t i = 0; i < control->request_count; i++)
		if (request_at(control, i)->cookie == cookie)
			request_at(control, i)->cancelled = true;
	for (uint32_t i = 0; i < control->event_count; i++) {
		struct sim_control_event *event =
			&control->events[(control->event_first + i) % control->event_room].event;

		/* What is left of it says nothing that is not so. */
		if (event->type == SIM_CONTROL_SA_ANSWER && event->cookie == cookie)
			event->type = SIM_CONTROL_TABLES;
	}
}

/* ---- answering ---- */

static void push_answer(struct builtin_control *control, uint64_t cookie, const uint8_t *mad,
			uint32_t length)
{
	struct sim_control_event event = {
		.type = SIM_CONTROL_SA_ANSWER, .cookie = cookie, .length = length};
	uint8_t *copy = malloc(length);

	if (!copy) {
		control->failed = true;
		return;
	}
	memcpy(copy, mad, length);
	push_event(control, &event, copy);
}

/* The request is with the SA now: what it does takes effect, whether its answer gets back or not.
 */
static void serve(struct builtin_control *control, const struct builtin_request *request)
{
	int error;

	if (!sim_subnet_is_managed(control->subnet))
		return;
	error = sim_sa_serve(control->subnet, request->port, request->mad, control->now,
			     &control->answer);
	control->failed |= error == -ENOMEM;
	if (error || request->cancelled ||
	    !sim_subnet_reaches_manager(control->subnet, request->port))
		return;
	push_answer(control, request->cookie, control->answer.data, control->answer.length);
}

/* Nobody answers for whom is not there, or not reached. */
static void ask_agent(struct builtin_control *control, const struct builtin_request *request)
{
	uint8_t answer[ACM_MAD_LENGTH];

	if (!request->cancelled &&
	    !sim_node_agents_answer(control->subnet, request->port, request->dlid, request->mad,
				    &control->traffic, answer))
		push_answer(control, request->cookie, answer, sizeof(answer));
}

static void answer_first(struct builtin_control *control)
{
	struct builtin_request request = *request_at(control, 0);

	control->request_first = (control->request_first + 1) % control->request_room;
	control->request_count--;
	if (request.to_agent)
		ask_agent(control, &request);
	else
		serve(control, &request);
}

/* ---- the operations ---- */

static uint64_t next_due(const struct builtin_control *control)
{
	uint64_t subnet = sim_subnet_deadline(control->subnet);

	if (control->request_count && request_at(control, 0)->due < subnet)
		return request_at(control, 0)->due;
	return subnet;
}

static uint64_t deadline(struct sim_control *base)
{
	const struct builtin_control *control = builtin_of(base);

	return control->event_count ? control->now : next_due(control);
}

/* In the order of time, the subnet before the SA. */
static int process(struct sim_control *base, uint64_t now)
{
	struct builtin_control *control = builtin_of(base);
	uint64_t due;

	while ((due = next_due(control)) <= now && !control->failed) {
		if (due > control->now)
			control->now = due;
		sim_subnet_advance(control->subnet, control->now);
		collect_changes(control);
		while (control->request_count && request_at(control, 0)->due <= control->now)
			answer_first(control);
	}
	if (now > control->now)
		control->now = now;
	return control->failed ? -ENOMEM : 0;
}

static int port_facts(struct sim_control *base, struct sim_port_ref port,
		      struct acm_port_facts *facts)
{
	return sim_subnet_port_facts(builtin_of(base)->subnet, port, facts);
}

static const struct sim_tables *tables(struct sim_control *base)
{
	return sim_subnet_tables(builtin_of(base)->subnet);
}

static uint32_t count_members(const struct sim_subnet *subnet)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < sim_subnet_group_count(subnet); i++)
		count += sim_subnet_group(subnet, i)->member_count;
	return count;
}

static uint32_t list_members(const struct sim_subnet *subnet, const struct sim_group *group,
			     struct sim_group_membership *list)
{
	for (uint32_t i = 0; i < group->member_count; i++) {
		list[i] = (struct sim_group_membership){
			.port = sim_subnet_port_ref(subnet, group->members[i].port),
			.record = group->record};
		list[i].record.join_state = group->members[i].join_state;
	}
	return group->member_count;
}

/* Nobody is asked: it has them, also while its SA is silent. */
static int memberships(struct sim_control *base, const struct sim_membership_query *query,
		       struct sim_group_memberships *all)
{
	struct builtin_control *control = builtin_of(base);
	uint32_t count = count_members(control->subnet);
	struct sim_group_membership *larger;

	(void)query;
	if (count > control->membership_room) {
		larger = reallocarray(control->memberships, count, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		control->memberships = larger;
		control->membership_room = count;
	}
	*all = (struct sim_group_memberships){.all = control->memberships};
	for (uint32_t i = 0; i < sim_subnet_group_count(control->subnet); i++)
		all->count += list_members(control->subnet, sim_subnet_group(control->subnet, i),
					   control->memberships + all->count);
	return 0;
}

/* Its tables are always what they are said to be. */
static void refresh(struct sim_control *base)
{
	(void)base;
}

static int no_fd(struct sim_control *base)
{
	(void)base;
	return -1;
}

static void destroy(struct sim_control *base)
{
	struct builtin_control *control = builtin_of(base);

	for (uint32_t i = 0; i < control->event_count; i++)
		free(control->events[(control->event_first + i) % control->event_room].mad);
	free(control->requests);
	free(control->events);
	free(control->told_mad);
	free(control->memberships);
	free(control->answer.data);
	sim_subnet_destroy(control->subnet);
	free(control);
}

static const struct sim_control_ops operations = {
	.port_facts = port_facts,
	.tables = tables,
	.sa_send = sa_send,
	.sa_cancel = sa_cancel,
	.mad_send = mad_send,
	.memberships = memberships,
	.refresh = refresh,
	.fd = no_fd,
	.deadline = deadline,
	.process = process,
	.next_event = next_event,
	.destroy = destroy,
};

void sim_builtin_options_default(struct sim_builtin_options *options)
{
	*options = (struct sim_builtin_options){.sa_latency = SA_LATENCY, .sa_window = SA_WINDOW};
	sim_subnet_options_default(&options->subnet);
}

int sim_builtin_control_create(const struct sim_topology *topology,
			       const struct sim_builtin_options *options,
			       struct sim_control **control, char *why, size_t size)
{
	struct sim_subnet *subnet;
	struct builtin_control *made;
	int error = sim_subnet_create(topology, &options->subnet, &subnet, why, size);

	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made) {
		sim_subnet_destroy(subnet);
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	made->base.ops = &operations;
	made->options = *options;
	made->subnet = subnet;
	*control = &made->base;
	return 0;
}

const struct sim_subnet *sim_builtin_subnet(const struct sim_control *control)
{
	return ((const struct builtin_control *)control)->subnet;
}

void sim_builtin_set_traffic(struct sim_control *base, const struct sim_traffic_source *traffic)
{
	builtin_of(base)->traffic = *traffic;
}

/* ---- faults ---- */

static int changed(struct builtin_control *control, int error)
{
	collect_changes(control);
	return error;
}

int sim_builtin_cut_link(struct sim_control *base, uint32_t node, uint8_t port)
{
	struct builtin_control *control = builtin_of(base);

	return changed(control, sim_subnet_cut_link(control->subnet, node, port, control->now));
}

int sim_builtin_mend_link(struct sim_control *base, uint32_t node, uint8_t port)
{
	struct builtin_control *control = builtin_of(base);

	return changed(control, sim_subnet_mend_link(control->subnet, node, port, control->now));
}

int sim_builtin_stop_node(struct sim_control *base, uint32_t node)
{
	struct builtin_control *control = builtin_of(base);

	return changed(control, sim_subnet_stop_node(control->subnet, node, control->now));
}

int sim_builtin_start_node(struct sim_control *base, uint32_t node)
{
	struct builtin_control *control = builtin_of(base);

	return changed(control, sim_subnet_start_node(control->subnet, node, control->now));
}

int sim_builtin_fail_over(struct sim_control *base, uint32_t node, enum sim_lids lids)
{
	struct builtin_control *control = builtin_of(base);

	return changed(control, sim_subnet_fail_over(control->subnet, node, lids, control->now));
}

int sim_builtin_set_membership(struct sim_control *base, struct sim_port_ref port, uint16_t pkey,
			       enum sim_membership membership)
{
	struct builtin_control *control = builtin_of(base);

	return changed(control, sim_subnet_set_membership(control->subnet, port, pkey, membership));
}

int sim_builtin_drop_group(struct sim_control *base, const struct acm_gid *mgid)
{
	struct builtin_control *control = builtin_of(base);

	return sim_subnet_drop_group(control->subnet, mgid, control->now);
}

int sim_builtin_share_mlid(struct sim_control *base, const struct acm_gid *first,
			   const struct acm_gid *second)
{
	struct builtin_control *control = builtin_of(base);

	return sim_subnet_share_mlid(control->subnet, first, second, control->now);
}

void sim_builtin_set_sweep_time(struct sim_control *base, uint64_t duration)
{
	sim_subnet_set_sweep_time(builtin_of(base)->subnet, duration);
}

void sim_builtin_set_tree_delay(struct sim_control *base, uint64_t delay)
{
	sim_subnet_set_tree_delay(builtin_of(base)->subnet, delay);
}

int sim_builtin_change_lid(struct sim_control *base, struct sim_port_ref port)
{
	struct builtin_control *control = builtin_of(base);

	return sim_subnet_change_lid(control->subnet, port, control->now);
}

void sim_builtin_change_prefix(struct sim_control *base, uint64_t prefix)
{
	struct builtin_control *control = builtin_of(base);

	sim_subnet_change_prefix(control->subnet, prefix, control->now);
}
