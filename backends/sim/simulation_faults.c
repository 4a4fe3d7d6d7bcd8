/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Brings faults about, and undoes them. */
#include "simulation_state.h"

#include <acmite/sa.h>
#include <acmite/wire.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ibsim_control.h"

#define MAD_STATUS_BUSY 0x0001
#define TWICE_GAP       (20 * ACM_NSEC_PER_USEC)

/* What the steps and the invariants look at; the rest is many times as much. */
#define TRACE_BIT(type) (UINT64_C(1) << (type))
#define TRACES_NEEDED                                                                              \
	(TRACE_BIT(ACM_TRACE_SA_QUERY) | TRACE_BIT(ACM_TRACE_MULTICAST) |                          \
	 TRACE_BIT(ACM_TRACE_ADDRESS) | TRACE_BIT(ACM_TRACE_ROUTE) |                               \
	 TRACE_BIT(ACM_TRACE_SA_STATUS) | TRACE_BIT(ACM_TRACE_FAILED) |                            \
	 TRACE_BIT(ACM_TRACE_PORT) | TRACE_BIT(ACM_TRACE_ENDPOINT) | TRACE_BIT(ACM_TRACE_JOIN) |   \
	 TRACE_BIT(ACM_TRACE_JOINED) | TRACE_BIT(ACM_TRACE_LEARNED))

static const struct acm_driver_hooks *hooks_of(struct sim_host *host,
					       struct acm_driver_hooks *hooks)
{
	*hooks = (struct acm_driver_hooks){.reply = simulation_reply,
					   .trace = simulation_trace,
					   .find_source = simulation_find_source,
					   .context = host};
	return hooks;
}

int simulation_add_host(struct simulation *simulation, uint32_t node)
{
	struct acm_engine_config config = *sim_scenario_config(simulation->scenario, node);
	struct acm_driver_hooks hooks;
	struct sim_resident *resident;
	int error;

	config.seed = simulation->options->seed;
	if (!simulation->options->trace && !simulation->options->hash)
		config.trace_mask = TRACES_NEEDED;
	error = sim_population_add(simulation->population, simulation->topology->nodes[node].name,
				   &config, hooks_of(&simulation->hosts[node], &hooks),
				   simulation->now, &resident);
	return error ? error : sim_resident_add_addresses(resident, simulation->now);
}

/* ---- nodes ---- */

static void stop(struct simulation *simulation, uint32_t node)
{
	struct sim_resident *resident = sim_population_resident(simulation->population, node);

	if (!resident)
		return;
	simulation->hosts[node].ever_stopped = true;
	sim_population_remove(resident);
	simulation_deliver_deferred(simulation, node); /* to nobody */
	sim_invariants_forget(&simulation->invariants, node);
	simulation_excuse(simulation, node);
}

static void start(struct simulation *simulation, uint32_t node)
{
	if (!sim_population_resident(simulation->population, node))
		simulation->error = simulation_add_host(simulation, node);
}

static void set_address(struct simulation *simulation, uint32_t node,
			const struct acm_address *address, enum acm_event_type type)
{
	struct sim_resident *resident = sim_population_resident(simulation->population, node);
	struct acm_local_address local = {.address = *address};
	struct acm_event event = {.type = type, .time = simulation->now, .address = &local};
	char text[65];
	bool noted = type == ACM_EVENT_ADDRESS_ADDED
			     ? sim_invariants_address_came(&simulation->invariants, node, address,
							   simulation->now)
			     : sim_invariants_address_left(&simulation->invariants, node, address,
							   simulation->now);

	if (!noted) {
		simulation->error = -ENOMEM;
		return;
	}
	acm_address_format(address, text, sizeof(text));
	memcpy(local.text, text, strnlen(text, sizeof(local.text) - 1));
	if (resident)
		simulation->error = sim_resident_step(resident, &event);
}

static void on_node(struct simulation *simulation, const struct sim_fault_plan *plan, uint32_t node)
{
	struct sim_resident *resident = sim_population_resident(simulation->population, node);
	struct acm_event reload = {.type = ACM_EVENT_RELOAD, .time = simulation->now};

	switch (plan->kind) {
	case SIM_FAULT_STOP:
		stop(simulation, node);
		break;
	case SIM_FAULT_START:
		start(simulation, node);
		break;
	case SIM_FAULT_RESTART:
		stop(simulation, node);
		start(simulation, node);
		break;
	case SIM_FAULT_PAUSE:
		simulation->hosts[node].ever_stopped = true;
		if (resident)
			sim_resident_pause(resident);
		simulation_excuse(simulation, node);
		break;
	case SIM_FAULT_RESUME:
		if (resident)
			sim_resident_resume(resident);
		simulation_deliver_deferred(simulation, node);
		break;
	case SIM_FAULT_RELOAD:
		sim_invariants_forget(&simulation->invariants, node);
		if (resident)
			simulation->error = sim_resident_step(resident, &reload);
		break;
	case SIM_FAULT_CLAIM:
		set_address(simulation, node, &plan->address, ACM_EVENT_ADDRESS_ADDED);
		break;
	case SIM_FAULT_DISCLAIM:
		set_address(simulation, node, &plan->address, ACM_EVENT_ADDRESS_REMOVED);
		break;
	default:
		break;
	}
}

/* ---- links ---- */

static void set_link(struct simulation *simulation, uint32_t index, bool up)
{
	const struct sim_link *link = &simulation->topology->links[index];
	bool ibsim = simulation->options->control == SIM_UNDER_IBSIM;
	uint32_t node = link->node[0];
	uint8_t port = link->port[0];

	if (up)
		simulation->error = sim_fabric_mend_link(simulation->fabric, node, port);
	else
		simulation->error = sim_fabric_cut_link(simulation->fabric, node, port);
	if (simulation->error)
		return;
	simulation->link_down[index] = !up;
	if (ibsim)
		simulation->error = up ? sim_ibsim_relink(simulation->control, node, port)
				       : sim_ibsim_unlink(simulation->control, node, port);
	else
		simulation->error = up ? sim_builtin_mend_link(simulation->control, node, port)
				       : sim_builtin_cut_link(simulation->control, node, port);
}

static void set_link_loss(struct simulation *simulation, const struct sim_fault_plan *plan,
			  uint32_t index, double rate)
{
	const struct sim_link *link = &simulation->topology->links[index];
	struct sim_loss loss = {.mask = rate > 0 ? plan->packets : 0,
				.rate = plan->packets ? 0 : rate};

	for (int end = 0; end < 2 && !simulation->error; end++)
		simulation->error = sim_fabric_set_loss(simulation->fabric, link->node[end],
							link->port[end], &loss);
}

/* ---- the SA ---- */

static bool is_from(const struct sim_fault_plan *plan, uint32_t node)
{
	for (uint32_t i = 0; i < plan->nodes.count; i++) {
		if (plan->nodes.nodes[i] == node)
			return true;
	}
	return !plan->nodes.count;
}

static bool is_join(const struct sim_sa_query *query)
{
	struct acm_sa_request request;

	return !acm_sa_decode_request(query->mad, ACM_MAD_LENGTH, &request) &&
	       request.attribute == ACM_SA_ATTRIBUTE_MCMEMBER &&
	       request.method == ACM_SA_METHOD_SET;
}

static void refuse(struct sim_sa_verdict *verdict, uint16_t status)
{
	verdict->fate = SIM_SA_REFUSED;
	verdict->status = status;
}

void simulation_judge(void *context, const struct sim_sa_query *query,
		      struct sim_sa_verdict *verdict)
{
	struct simulation *simulation = context;

	for (uint32_t i = 0; i < simulation->sa_fault_count; i++) {
		const struct sim_fault_plan *plan = simulation->sa_faults[i];

		if (!is_from(plan, query->port.node))
			continue;
		if (plan->kind == SIM_FAULT_SA_SILENT) {
			verdict->fate = SIM_SA_LOST;
			return;
		}
		if (plan->kind == SIM_FAULT_SA_SLOW) {
			verdict->delay += plan->delay;
		} else if (plan->kind == SIM_FAULT_SA_BUSY) {
			refuse(verdict, MAD_STATUS_BUSY);
		} else if (plan->kind == SIM_FAULT_SA_TWICE) {
			verdict->twice = true;
			verdict->twice_gap = TWICE_GAP;
		} else if (is_join(query) == (plan->kind == SIM_FAULT_JOIN_REFUSED)) {
			refuse(verdict, plan->status);
		}
	}
}

static void add_sa_fault(struct simulation *simulation, const struct sim_fault_plan *plan)
{
	if (simulation->options->control == SIM_UNDER_IBSIM)
		simulation->error = sim_ibsim_suspend_opensm(simulation->control);
	else if (simulation_grow(simulation, &simulation->sa_faults, simulation->sa_fault_count,
				 &simulation->sa_fault_room, sizeof(struct sim_fault_plan *)))
		simulation->sa_faults[simulation->sa_fault_count++] = plan;
}

static void remove_sa_fault(struct simulation *simulation, const struct sim_fault_plan *plan)
{
	uint32_t kept = 0;

	if (simulation->options->control == SIM_UNDER_IBSIM)
		simulation->error = sim_ibsim_resume_opensm(simulation->control);
	for (uint32_t i = 0; i < simulation->sa_fault_count; i++) {
		if (simulation->sa_faults[i] != plan)
			simulation->sa_faults[kept++] = simulation->sa_faults[i];
	}
	simulation->sa_fault_count = kept;
}

/* ---- the subnet ---- */

static void lose_groups(struct simulation *simulation)
{
	const struct sim_subnet *subnet = sim_builtin_subnet(simulation->control);
	uint8_t rate, mtu;

	for (uint32_t i = sim_subnet_group_count(subnet); i-- > 0;) {
		struct acm_mcmember record = sim_subnet_group(subnet, i)->record;

		if (acm_group_parse(&record.mgid, record.pkey, &rate, &mtu))
			simulation->error =
				sim_builtin_drop_group(simulation->control, &record.mgid);
	}
}

/* The first two ACM groups, of those that there are, become one for the switches. */
static void share_mlid(struct simulation *simulation)
{
	const struct sim_subnet *subnet = sim_builtin_subnet(simulation->control);
	struct acm_gid first = {0};
	bool have_first = false;
	uint8_t rate, mtu;

	for (uint32_t i = 0; i < sim_subnet_group_count(subnet); i++) {
		struct acm_mcmember record = sim_subnet_group(subnet, i)->record;

		if (!acm_group_parse(&record.mgid, record.pkey, &rate, &mtu))
			continue;
		if (have_first) {
			simulation->error =
				sim_builtin_share_mlid(simulation->control, &first, &record.mgid);
			return;
		}
		first = record.mgid;
		have_first = true;
	}
	simulation_broken(simulation, "the scenario makes sense",
			  "there are no two ACM groups that could share an MLID");
}

static void apply_to_subnet(struct simulation *simulation, const struct sim_fault_plan *plan)
{
	if (plan->kind == SIM_FAULT_SM_FAIL_OVER) {
		simulation->invariants.lids_changed |= plan->lids_reassigned;
		simulation->sm = plan->nodes.nodes[0];
		simulation->error = sim_builtin_fail_over(
			simulation->control, plan->nodes.nodes[0],
			plan->lids_reassigned ? SIM_LIDS_REASSIGNED : SIM_LIDS_KEPT);
	} else if (plan->kind == SIM_FAULT_GROUPS_LOST) {
		lose_groups(simulation);
	} else if (plan->kind == SIM_FAULT_MLID_SHARED) {
		share_mlid(simulation);
	} else if (plan->kind == SIM_FAULT_TREE_DELAY) {
		sim_builtin_set_tree_delay(simulation->control, plan->delay);
	}
	for (uint32_t i = 0; plan->kind == SIM_FAULT_PKEY && i < plan->nodes.count; i++) {
		struct sim_port_ref port = {.node = plan->nodes.nodes[i], .port = 1};

		if (!simulation->error)
			simulation->error =
				sim_builtin_set_membership(simulation->control, port, plan->pkey,
							   (enum sim_membership)plan->membership);
	}
}

/* ---- all ---- */

static bool is_of_packets(enum sim_fault_kind kind)
{
	return kind >= SIM_FAULT_LOSS && kind <= SIM_FAULT_CORRUPTION;
}

static bool is_of_sa(enum sim_fault_kind kind)
{
	return kind >= SIM_FAULT_SA_SILENT && kind <= SIM_FAULT_JOIN_REFUSED;
}

/* What ibsim's console, OpenSM's process and this data plane can bring about. */
static bool is_under_ibsim(const struct sim_fault_plan *plan)
{
	return plan->kind <= SIM_FAULT_CORRUPTION ||
	       (plan->kind == SIM_FAULT_SA_SILENT && !plan->nodes.count);
}

void simulation_apply(struct simulation *simulation, const struct sim_fault_plan *plan)
{
	if (plan->kind > SIM_FAULT_DISCLAIM)
		simulation->invariants.disturbed = true;
	if (is_of_sa(plan->kind)) {
		add_sa_fault(simulation, plan);
	} else if (is_of_packets(plan->kind) && !plan->links.count) {
		simulation->error = sim_packet_faults_add(&simulation->packet_faults, plan);
	} else if (plan->links.count) {
		for (uint32_t i = 0; i < plan->links.count && !simulation->error; i++) {
			if (plan->kind == SIM_FAULT_LOSS)
				set_link_loss(simulation, plan, plan->links.nodes[i], plan->rate);
			else
				set_link(simulation, plan->links.nodes[i],
					 plan->kind == SIM_FAULT_LINK_UP);
		}
	} else if (plan->kind <= SIM_FAULT_DISCLAIM) {
		for (uint32_t i = 0; i < plan->nodes.count && !simulation->error; i++)
			on_node(simulation, plan, plan->nodes.nodes[i]);
	} else {
		apply_to_subnet(simulation, plan);
	}
	if (plan->duration != ACM_NEVER)
		simulation_schedule(simulation,
				    (struct sim_due){.time = simulation->now + plan->duration,
						     .kind = SIM_DUE_UNDO,
						     .plan = plan});
}

static void undo_on_nodes(struct simulation *simulation, const struct sim_fault_plan *plan)
{
	static const enum sim_fault_kind opposites[] = {
		[SIM_FAULT_STOP] = SIM_FAULT_START,
		[SIM_FAULT_PAUSE] = SIM_FAULT_RESUME,
		[SIM_FAULT_CLAIM] = SIM_FAULT_DISCLAIM,
		[SIM_FAULT_DISCLAIM] = SIM_FAULT_CLAIM,
	};
	struct sim_fault_plan opposite = *plan;

	opposite.kind = opposites[plan->kind];
	for (uint32_t i = 0; i < plan->nodes.count && !simulation->error; i++)
		on_node(simulation, &opposite, plan->nodes.nodes[i]);
}

void simulation_undo(struct simulation *simulation, const struct sim_fault_plan *plan)
{
	struct sim_subnet_options defaults;

	if (is_of_sa(plan->kind)) {
		remove_sa_fault(simulation, plan);
	} else if (is_of_packets(plan->kind) && !plan->links.count) {
		sim_packet_faults_remove(&simulation->packet_faults, plan);
	} else if (plan->kind == SIM_FAULT_TREE_DELAY) {
		sim_subnet_options_default(&defaults);
		sim_builtin_set_tree_delay(simulation->control, defaults.tree_delay);
	} else if (plan->links.count) {
		for (uint32_t i = 0; i < plan->links.count && !simulation->error; i++) {
			if (plan->kind == SIM_FAULT_LOSS)
				set_link_loss(simulation, plan, plan->links.nodes[i], 0);
			else
				set_link(simulation, plan->links.nodes[i], true);
		}
	} else {
		undo_on_nodes(simulation, plan);
	}
}

static void describe(const struct simulation *simulation, const struct sim_fault_plan *plan,
		     char *what)
{
	const char *name = sim_fault_kind_name(plan->kind);

	if (plan->nodes.count == 1)
		snprintf(what, SIM_WHAT_SIZE, "fault %s: %.100s", name,
			 simulation_node_name(simulation, plan->nodes.nodes[0]));
	else if (plan->nodes.count)
		snprintf(what, SIM_WHAT_SIZE, "fault %s: %u nodes", name, plan->nodes.count);
	else if (plan->links.count)
		snprintf(what, SIM_WHAT_SIZE, "fault %s: %u link%s", name, plan->links.count,
			 plan->links.count == 1 ? "" : "s");
	else
		snprintf(what, SIM_WHAT_SIZE, "fault %s", name);
}

void simulation_fault_step(struct simulation *simulation, uint32_t step)
{
	const struct sim_fault_plan *plan = &simulation->scenario->steps[step].fault;
	struct sim_outcome *outcome = &simulation->result->outcomes[step];

	simulation->progress[step].done = true;
	outcome->at = simulation_time(simulation);
	describe(simulation, plan, outcome->what);
	if (simulation->options->control == SIM_UNDER_IBSIM && !is_under_ibsim(plan)) {
		simulation->fault_skipped = true;
		outcome->verdict = SIM_SKIPPED;
		snprintf(outcome->came, sizeof(outcome->came), "not under ibsim");
		return;
	}
	simulation_apply(simulation, plan);
}

/* ---- random faults ---- */

static uint64_t draw(uint64_t *state, uint64_t below)
{
	return sim_mix(*state += UINT64_C(0x9e3779b97f4a7c15)) % below;
}

static void draw_fault(struct simulation *simulation, uint64_t *state, struct sim_fault_plan *plan)
{
	static const enum sim_fault_kind kinds[] = {
		SIM_FAULT_STOP,         SIM_FAULT_PAUSE,        SIM_FAULT_LINK_DOWN,
		SIM_FAULT_LOSS,         SIM_FAULT_DUPLICATION,  SIM_FAULT_DELAY,
		SIM_FAULT_REORDERING,   SIM_FAULT_SA_SILENT,    SIM_FAULT_SA_SLOW,
		SIM_FAULT_SA_BUSY,      SIM_FAULT_SA_ERROR,     SIM_FAULT_SA_TWICE,
		SIM_FAULT_JOIN_REFUSED, SIM_FAULT_SM_FAIL_OVER, SIM_FAULT_GROUPS_LOST,
		SIM_FAULT_RESTART,      SIM_FAULT_RELOAD,       SIM_FAULT_TREE_DELAY};
	const struct sim_topology *topology = simulation->topology;
	uint64_t within = simulation->scenario->random_within;

	plan->kind = kinds[draw(state, sizeof(kinds) / sizeof(kinds[0]))];
	plan->classes = SIM_CLASS_REQUEST | SIM_CLASS_ANSWER;
	plan->rate = 0.05 + 0.05 * (double)draw(state, 10);
	plan->delay = 1000 + draw(state, 300 * ACM_NSEC_PER_MSEC);
	plan->status = plan->kind == SIM_FAULT_JOIN_REFUSED ? 0x0200 : 0x0700;
	plan->lids_reassigned = draw(state, 2);
	plan->duration = 1 + draw(state, within / 2);
	if (plan->kind <= SIM_FAULT_RELOAD || plan->kind == SIM_FAULT_SM_FAIL_OVER)
		plan->nodes.count = 1;
	else if (plan->kind == SIM_FAULT_LINK_DOWN)
		plan->links.count = 1;
	if (plan->kind == SIM_FAULT_SM_FAIL_OVER || plan->kind == SIM_FAULT_GROUPS_LOST ||
	    plan->kind == SIM_FAULT_RESTART || plan->kind == SIM_FAULT_RELOAD)
		plan->duration = ACM_NEVER;
	plan->nodes.nodes = malloc(sizeof(*plan->nodes.nodes));
	plan->links.nodes = malloc(sizeof(*plan->links.nodes));
	if (!plan->nodes.nodes || !plan->links.nodes) {
		simulation->error = -ENOMEM;
		return;
	}
	plan->nodes.nodes[0] = topology->switch_count + (uint32_t)draw(state, topology->host_count);
	plan->links.nodes[0] = (uint32_t)draw(state, topology->link_count);
}

void simulation_draw_faults(struct simulation *simulation)
{
	uint32_t count = simulation->scenario->random_faults;
	uint64_t state = sim_mix(simulation->options->seed ^ UINT64_C(0xfa017));
	uint64_t within = simulation->scenario->random_within;

	simulation->drawn = calloc(count + 1, sizeof(*simulation->drawn));
	if (!simulation->drawn) {
		simulation->error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < count && !simulation->error; i++) {
		simulation->drawn_count++;
		draw_fault(simulation, &state, &simulation->drawn[i]);
		simulation_schedule(simulation, (struct sim_due){.time = simulation->now +
									 draw(&state, within / 2),
								 .kind = SIM_DUE_FAULT,
								 .plan = &simulation->drawn[i]});
	}
	/* Somebody must ask meanwhile. */
	for (uint32_t i = 0; i < 4 * count && !simulation->error; i++)
		simulation_schedule(simulation,
				    (struct sim_due){.time = simulation->now + draw(&state, within),
						     .kind = SIM_DUE_DRAWN,
						     .index = (uint32_t)draw(&state, UINT32_MAX)});
}
