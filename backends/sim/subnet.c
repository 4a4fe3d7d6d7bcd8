/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "subnet_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LMC_RANGE      "0 to 7"
#define SUBNET_TIMEOUT 18 /* OpenSM's default: 1 s */
#define MLIDS          1024
#define MLIDS_MAX      16383u

void sim_subnet_options_default(struct sim_subnet_options *options)
{
	*options = (struct sim_subnet_options){
		.subnet_timeout = SUBNET_TIMEOUT,
		.mlid_count = MLIDS,
		.trap_delay = ACM_NSEC_PER_MSEC,
		.sweep_time = 10 * ACM_NSEC_PER_MSEC,
		.tree_delay = ACM_NSEC_PER_MSEC,
	};
}

/* ---- making and ending ---- */

void sim_subnet_destroy(struct sim_subnet *subnet)
{
	if (!subnet)
		return;
	subnet_groups_free(subnet);
	subnet_routing_free(subnet);
	for (uint32_t i = 0; subnet->tables.switches && i < subnet->tables.switch_count; i++) {
		free(subnet->tables.switches[i].lft);
		free(subnet->tables.switches[i].mft);
	}
	free(subnet->tables.switches);
	for (uint32_t i = 0; subnet->ports && i < subnet->port_count; i++)
		free(subnet->ports[i].pkeys);
	free(subnet->ports);
	free(subnet->first);
	free(subnet->end_ports);
	free(subnet->guid_switches);
	free(subnet->by_lid);
	free(subnet->link_cut);
	free(subnet->node_stopped);
	free(subnet->link_seen);
	free(subnet);
}

static void number_ports(struct sim_subnet *subnet)
{
	const struct sim_topology *topology = subnet->topology;

	for (uint32_t node = 0; node < topology->node_count; node++) {
		subnet->first[node] = subnet->port_count;
		subnet->port_count += topology->nodes[node].port_count + 1u;
	}
}

static void describe_ports(struct sim_subnet *subnet)
{
	const struct sim_topology *topology = subnet->topology;

	for (uint32_t node = 0; node < topology->node_count; node++) {
		const struct sim_node *of = &topology->nodes[node];
		bool host = of->kind == SIM_HOST;

		for (uint32_t i = 0; i <= of->port_count; i++) {
			uint32_t index = subnet->first[node] + i;

			subnet->ports[index] = (struct subnet_port){
				.guid = host ? of->ports[i].guid : of->guid,
				.node = node,
				.number = (uint8_t)i,
				.state = host && of->ports[i].peer != SIM_NONE ? ACM_PORT_INIT
									       : ACM_PORT_DOWN};
			if (host ? i > 0 : i == 0)
				subnet->end_ports[subnet->end_port_count++] = index;
			if (!host && i == 0)
				subnet->guid_switches[node] = node;
		}
	}
}

struct guid_key {
	uint64_t order;
	uint32_t index;
};

static int compare_keys(const void *a, const void *b)
{
	const struct guid_key *left = a, *right = b;

	if (left->order != right->order)
		return left->order < right->order ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

/* `first`: index of the port whose GUID stands for an element, NULL: the element itself. */
static int sort_by_guid(const struct sim_subnet *subnet, uint32_t *list, uint32_t count,
			const uint32_t *first)
{
	struct guid_key *keys = calloc((size_t)count + 1, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t port = first ? first[list[i]] : list[i];

		keys[i] = (struct guid_key){.order = subnet_guid_order(subnet->ports[port].guid),
					    .index = list[i]};
	}
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (uint32_t i = 0; i < count; i++)
		list[i] = keys[i].index;
	free(keys);
	return 0;
}

static int make_tables(struct sim_subnet *subnet)
{
	struct sim_tables *tables = &subnet->tables;

	tables->switch_count = subnet->topology->switch_count;
	tables->switches = calloc((size_t)tables->switch_count + 1, sizeof(*tables->switches));
	if (!tables->switches)
		return -ENOMEM;
	for (uint32_t i = 0; i < tables->switch_count; i++) {
		tables->switches[i].lft = malloc(subnet->lid_count);
		if (!tables->switches[i].lft)
			return -ENOMEM;
		tables->switches[i].lft_size =
			(uint32_t)subnet_lids_needed(subnet->topology, subnet->options.lmc) + 1;
		memset(tables->switches[i].lft, SUBNET_NO_PATH, subnet->lid_count);
	}
	return 0;
}

static int make_ports(struct sim_subnet *subnet)
{
	const struct sim_topology *topology = subnet->topology;
	size_t nodes = (size_t)topology->node_count + 1, links = (size_t)topology->link_count + 1;
	int error;

	subnet->first = calloc(nodes, sizeof(uint32_t));
	subnet->guid_switches = calloc((size_t)topology->switch_count + 1, sizeof(uint32_t));
	subnet->by_lid = malloc(subnet->lid_count * sizeof(uint32_t));
	subnet->link_cut = calloc(links, sizeof(bool));
	subnet->link_seen = calloc(links, sizeof(bool));
	subnet->node_stopped = calloc(nodes, sizeof(bool));
	if (!subnet->first || !subnet->guid_switches || !subnet->by_lid || !subnet->link_cut ||
	    !subnet->link_seen || !subnet->node_stopped)
		return -ENOMEM;
	memset(subnet->by_lid, 0xff, subnet->lid_count * sizeof(uint32_t)); /* SIM_NONE */
	number_ports(subnet);
	subnet->ports = calloc((size_t)subnet->port_count + 1, sizeof(struct subnet_port));
	subnet->end_ports = calloc((size_t)subnet->port_count + 1, sizeof(uint32_t));
	if (!subnet->ports || !subnet->end_ports)
		return -ENOMEM;
	describe_ports(subnet);
	error = sort_by_guid(subnet, subnet->end_ports, subnet->end_port_count, NULL);
	return error ? error
		     : sort_by_guid(subnet, subnet->guid_switches, topology->switch_count,
				    subnet->first);
}

static int check(const struct sim_topology *topology, const struct sim_subnet_options *options,
		 char *why, size_t size)
{
	uint64_t needed;

	if (options->lmc > SIM_LMC_MAX || options->mlid_count < 1 ||
	    options->mlid_count > MLIDS_MAX || options->subnet_timeout > 31) {
		snprintf(why, size,
			 "an LMC is " LMC_RANGE ", a number of MLIDs 1 to %u, a subnet timeout 0 "
			 "to 31",
			 MLIDS_MAX);
		return -EINVAL;
	}
	needed = subnet_lids_needed(topology, options->lmc);
	if (needed <= SIM_LID_MAX)
		return 0;
	snprintf(why, size,
		 "%s needs %" PRIu64
		 " unicast LIDs, one subnet has %u: leave out hosts, or set the "
		 "LMC to 0 where it is not",
		 topology->name, needed, SIM_LID_MAX);
	return -E2BIG;
}

static void sweep(struct sim_subnet *subnet);
static void see_links(struct sim_subnet *subnet);

static int bring_up(struct sim_subnet *subnet, char *why, size_t size)
{
	int error = make_ports(subnet);

	if (!error)
		error = make_tables(subnet);
	if (!error)
		error = subnet_routing_init(subnet);
	if (!error)
		error = subnet_pkeys_init(subnet);
	if (error == -E2BIG)
		snprintf(why, size, "a port is in more than %d partitions: use fewer",
			 ACM_PORT_PKEYS_MAX);
	if (!error)
		error = subnet_groups_init(subnet);
	if (error == -ENOMEM)
		snprintf(why, size, "%s", strerror(ENOMEM));
	if (error)
		return error;
	see_links(subnet);
	sweep(subnet);
	for (uint32_t i = 0; i < subnet->port_count; i++)
		subnet->ports[i].changed = subnet->ports[i].reregister = false;
	subnet->tables_changed = false;
	return 0;
}

/* With room for a port that is given another LID, as long as there are LIDs at all. */
static uint32_t lid_count_of(const struct sim_topology *topology, uint8_t lmc)
{
	uint64_t count = subnet_lids_needed(topology, lmc) + (UINT64_C(2) << lmc);

	return (uint32_t)(count > SIM_LID_MAX ? SIM_LID_MAX : count) + 1;
}

int sim_subnet_create(const struct sim_topology *topology, const struct sim_subnet_options *options,
		      struct sim_subnet **subnet, char *why, size_t size)
{
	struct sim_subnet *made;
	int error = check(topology, options, why, size);

	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	made->topology = topology;
	made->options = *options;
	made->lid_count = lid_count_of(topology, options->lmc);
	made->prefix = made->next_prefix = SIM_PREFIX_DEFAULT;
	made->sm = topology->sm;
	made->rebalance = true;
	made->trees_at = ACM_NEVER;
	error = bring_up(made, why, size);
	if (error) {
		sim_subnet_destroy(made);
		return error;
	}
	*subnet = made;
	return 0;
}

/* ---- a sweep ---- */

static void see_links(struct sim_subnet *subnet)
{
	for (uint32_t i = 0; i < subnet->topology->link_count; i++) {
		bool up = subnet_link_is_up(subnet, i);

		subnet->rebalance |= up && !subnet->link_seen[i];
		subnet->link_seen[i] = up;
	}
}

static bool is_seen(const struct sim_subnet *subnet, const struct sim_port *port)
{
	return port->peer != SIM_NONE && subnet->link_seen[port->link];
}

/* Whatever is at the other end of a port comes to be known; a switch goes on the list. */
static void discover(struct sim_subnet *subnet, const struct sim_port *port, uint32_t *count)
{
	struct subnet_port *far;
	bool is_switch;

	if (!is_seen(subnet, port))
		return;
	is_switch = subnet->topology->nodes[port->peer].kind == SIM_SWITCH;
	far = &subnet->ports[subnet->first[port->peer] + (is_switch ? 0 : port->peer_port)];
	if (is_switch && !far->known)
		subnet->routing.queue[(*count)++] = port->peer;
	far->known = true;
}

static void discover_all(struct sim_subnet *subnet)
{
	const struct sim_topology *topology = subnet->topology;
	uint32_t count = 0;

	for (uint32_t i = 0; i < subnet->port_count; i++) {
		subnet->ports[i].was_known = subnet->ports[i].known;
		subnet->ports[i].known = false;
	}
	subnet->ports[subnet->first[subnet->sm] + 1].known = true;
	discover(subnet, &topology->nodes[subnet->sm].ports[1], &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct sim_node *node = &topology->nodes[subnet->routing.queue[i]];

		for (uint32_t port = 1; port <= node->port_count; port++)
			discover(subnet, &node->ports[port], &count);
	}
}

/* The manager makes a port active, and has it register with a manager that is new to it. Ports
 * that have been out of its reach have lost their memberships, whether their own link was down or
 * not. */
static void set_up_port(struct sim_subnet *subnet, uint32_t index, uint16_t sm_lid)
{
	struct subnet_port *port = &subnet->ports[index];
	const struct sim_port *at = &subnet->topology->nodes[port->node].ports[port->number];

	if (at->peer == SIM_NONE || !subnet_link_is_up(subnet, at->link))
		return;
	if (port->state == ACM_PORT_ACTIVE && port->sm_lid == sm_lid && subnet->managed &&
	    port->was_known)
		return;
	port->state = ACM_PORT_ACTIVE;
	port->sm_lid = sm_lid;
	port->reregister = true;
	subnet_port_changed(subnet, index);
}

static void set_up_ports(struct sim_subnet *subnet)
{
	uint16_t sm_lid = subnet->ports[subnet->first[subnet->sm] + 1].lid;

	for (uint32_t i = 0; i < subnet->end_port_count; i++) {
		uint32_t index = subnet->end_ports[i];

		if (subnet->ports[index].known && subnet->ports[index].number > 0)
			set_up_port(subnet, index, sm_lid);
	}
}

static void forget_lids(struct sim_subnet *subnet)
{
	for (uint32_t i = 0; i < subnet->port_count; i++)
		subnet->ports[i].lid = 0;
	memset(subnet->by_lid, 0xff, subnet->lid_count * sizeof(uint32_t)); /* SIM_NONE */
}

/* What the manager does with what it saw. Without a link of its own, it sees and does nothing. */
static void sweep(struct sim_subnet *subnet)
{
	if (!is_seen(subnet, &subnet->topology->nodes[subnet->sm].ports[1]))
		return;
	discover_all(subnet);
	if (subnet->reassign)
		forget_lids(subnet);
	subnet->reassign = false;
	subnet_assign_lids(subnet);
	subnet_set_prefix(subnet);
	subnet_survey_switches(subnet);
	subnet_route(subnet);
	subnet_groups_prune(subnet);
	for (uint32_t i = 0; i < subnet->options.mlid_count; i++)
		subnet->mlid_stale[i] = subnet->mlid_stale[i] || subnet->mlid_groups[i];
	subnet_plant_trees(subnet);
	subnet->trees_at = ACM_NEVER;
	set_up_ports(subnet);
	subnet->rebalance = false;
	subnet->managed = true;
}

/* ---- time ---- */

uint64_t sim_subnet_deadline(const struct sim_subnet *subnet)
{
	uint64_t due = subnet->sweep == SUBNET_IDLE ? ACM_NEVER : subnet->sweep_at;

	return subnet->trees_at < due ? subnet->trees_at : due;
}

static void advance_sweep(struct sim_subnet *subnet)
{
	if (subnet->sweep == SUBNET_WAITING) {
		see_links(subnet);
		subnet->changed_since = false;
		subnet->sweep = SUBNET_SWEEPING;
		subnet->sweep_at += subnet->options.sweep_time;
		return;
	}
	sweep(subnet);
	subnet->sweep = subnet->changed_since ? SUBNET_WAITING : SUBNET_IDLE;
	subnet->sweep_at += subnet->options.trap_delay;
}

void sim_subnet_advance(struct sim_subnet *subnet, uint64_t now)
{
	while (sim_subnet_deadline(subnet) <= now) {
		if (subnet->sweep != SUBNET_IDLE && subnet->sweep_at <= subnet->trees_at) {
			advance_sweep(subnet);
		} else {
			subnet->trees_at = ACM_NEVER;
			/* Nobody is there to do it: the next manager's sweep will. */
			if (subnet->managed)
				subnet_plant_trees(subnet);
		}
	}
	if (subnet->tables_changed)
		subnet->tables.generation++;
}

bool sim_subnet_next_change(struct sim_subnet *subnet, struct sim_subnet_change *change)
{
	for (; subnet->next_told < subnet->port_count; subnet->next_told++) {
		struct subnet_port *port = &subnet->ports[subnet->next_told];

		if (port->number == 0 || (!port->changed && !port->reregister))
			continue;
		change->type = port->changed ? SIM_SUBNET_PORT : SIM_SUBNET_REREGISTER;
		change->port = sim_subnet_port_ref(subnet, subnet->next_told);
		if (!port->changed)
			port->reregister = false;
		port->changed = false;
		return true;
	}
	change->type = SIM_SUBNET_TABLES;
	if (!subnet->tables_changed)
		return false;
	subnet->tables_changed = false;
	return true;
}

/* ---- changes ---- */

void subnet_note_change(struct sim_subnet *subnet, uint64_t now)
{
	subnet->changed_since = true;
	if (subnet->sweep != SUBNET_IDLE)
		return;
	subnet->sweep = SUBNET_WAITING;
	subnet->sweep_at = now + subnet->options.trap_delay;
}

/* Hosts' ports see at once whether their link is there. */
static void update_port(struct sim_subnet *subnet, uint32_t node, uint8_t number)
{
	uint32_t index = subnet->first[node] + number;
	struct subnet_port *port = &subnet->ports[index];
	uint32_t link = subnet->topology->nodes[node].ports[number].link;
	bool up = subnet_link_is_up(subnet, link);

	if (subnet->topology->nodes[node].kind == SIM_SWITCH ||
	    up == (port->state != ACM_PORT_DOWN))
		return;
	port->state = up ? ACM_PORT_INIT : ACM_PORT_DOWN;
	subnet_port_changed(subnet, index);
}

static void update_link(struct sim_subnet *subnet, uint32_t link)
{
	const struct sim_link *of = &subnet->topology->links[link];

	for (int i = 0; i < 2; i++)
		update_port(subnet, of->node[i], of->port[i]);
}

static int set_link(struct sim_subnet *subnet, uint32_t node, uint8_t port, bool cut, uint64_t now)
{
	const struct sim_topology *topology = subnet->topology;
	uint32_t link;

	if (node >= topology->node_count || port < 1 || port > topology->nodes[node].port_count ||
	    topology->nodes[node].ports[port].peer == SIM_NONE)
		return -ENODEV;
	link = topology->nodes[node].ports[port].link;
	if (subnet->link_cut[link] == cut)
		return 0;
	subnet->link_cut[link] = cut;
	update_link(subnet, link);
	subnet_note_change(subnet, now);
	return 0;
}

int sim_subnet_cut_link(struct sim_subnet *subnet, uint32_t node, uint8_t port, uint64_t now)
{
	return set_link(subnet, node, port, true, now);
}

int sim_subnet_mend_link(struct sim_subnet *subnet, uint32_t node, uint8_t port, uint64_t now)
{
	return set_link(subnet, node, port, false, now);
}

static int set_node(struct sim_subnet *subnet, uint32_t node, bool stopped, uint64_t now)
{
	const struct sim_topology *topology = subnet->topology;

	if (node >= topology->node_count)
		return -ENODEV;
	if (subnet->node_stopped[node] == stopped)
		return 0;
	subnet->node_stopped[node] = stopped;
	for (uint32_t i = 1; i <= topology->nodes[node].port_count; i++)
		if (topology->nodes[node].ports[i].peer != SIM_NONE)
			update_link(subnet, topology->nodes[node].ports[i].link);
	subnet_note_change(subnet, now);
	return 0;
}

int sim_subnet_stop_node(struct sim_subnet *subnet, uint32_t node, uint64_t now)
{
	return set_node(subnet, node, true, now);
}

int sim_subnet_start_node(struct sim_subnet *subnet, uint32_t node, uint64_t now)
{
	return set_node(subnet, node, false, now);
}

int sim_subnet_fail_over(struct sim_subnet *subnet, uint32_t node, enum sim_lids lids, uint64_t now)
{
	int error;

	if (node >= subnet->topology->node_count || subnet->topology->nodes[node].kind != SIM_HOST)
		return -EINVAL;
	error = subnet_groups_restart(subnet);
	if (error)
		return error;
	subnet->sm = node;
	subnet->managed = false;
	subnet->rebalance = true;
	subnet->reassign = lids == SIM_LIDS_REASSIGNED;
	subnet->sweep = SUBNET_IDLE; /* the old one's ended with it */
	subnet_note_change(subnet, now);
	return 0;
}

bool sim_subnet_is_managed(const struct sim_subnet *subnet)
{
	return subnet->managed;
}

void sim_subnet_set_sweep_time(struct sim_subnet *subnet, uint64_t duration)
{
	subnet->options.sweep_time = duration;
}

void sim_subnet_set_tree_delay(struct sim_subnet *subnet, uint64_t delay)
{
	subnet->options.tree_delay = delay;
}
