/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_show.h"

#include "sim_transport.h"

#include <acmite/wire.h>
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LFT_DROP 0xff

int sim_show_begin(const struct sim_fabric *fabric, struct sim_show_cursor *cursor, uint32_t table)
{
	if (table < SIM_ATTACH_NODES || table > SIM_ATTACH_MEMBERS)
		return -EINVAL;
	*cursor = (struct sim_show_cursor){.table = (enum sim_attach_table)table,
					   .since = sim_fabric_core(fabric)->now};
	return 0;
}

void sim_show_end(struct sim_show_cursor *cursor)
{
	free(cursor->members.all);
	*cursor = (struct sim_show_cursor){0};
}

/* ---- rows ---- */

static void begin_row(struct sim_attach_row *row)
{
	row->header = (struct sim_attach_header){.type = SIM_ATTACH_ROW};
	row->columns = 0;
	row->length = 0;
}

/* Appends a column; a row that is full has it cut short. */
__attribute__((format(printf, 2, 3))) static void add(struct sim_attach_row *row,
						      const char *format, ...)
{
	size_t room = sizeof(row->text) - row->length;
	va_list arguments;
	int length;

	if (!room)
		return;
	va_start(arguments, format);
	length = vsnprintf(row->text + row->length, room, format, arguments);
	va_end(arguments);
	row->length += (uint32_t)((size_t)length < room ? (size_t)length + 1 : room);
	row->columns++;
}

static void add_gid(struct sim_attach_row *row, const struct acm_gid *gid)
{
	char text[INET6_ADDRSTRLEN];

	add(row, "%s", inet_ntop(AF_INET6, gid->raw, text, sizeof(text)) ? text : "?");
}

/* ---- nodes ---- */

static const char *state_name(uint8_t state)
{
	static const char *const names[] = {[ACM_PORT_DOWN] = "down",
					    [ACM_PORT_INIT] = "init",
					    [ACM_PORT_ARMED] = "armed",
					    [ACM_PORT_ACTIVE] = "active"};

	return state >= ACM_PORT_DOWN && state <= ACM_PORT_ACTIVE ? names[state] : "?";
}

static void add_peer(struct sim_attach_row *row, const struct sim_topology *topology,
		     const struct sim_port *port)
{
	if (port->peer == SIM_NONE)
		add(row, "-");
	else
		add(row, "%s:%u", topology->nodes[port->peer].name, port->peer_port);
}

static void add_users(struct sim_attach_row *row, const struct sim_tenants *tenants)
{
	uint32_t programs = sim_tenants_count(tenants) - (tenants->owner != NULL);

	if (tenants->owner && programs)
		add(row, "service, %" PRIu32 " program%s", programs, programs == 1 ? "" : "s");
	else if (programs)
		add(row, "%" PRIu32 " program%s", programs, programs == 1 ? "" : "s");
	else
		add(row, "%s", tenants->owner ? "service" : "-");
}

static void show_switch(const struct sim_fabric_core *core, uint32_t node,
			struct sim_attach_row *row)
{
	const struct sim_node *shown = &core->topology->nodes[node];
	const struct sim_tables *tables = core->plane.walk.tables;

	add(row, "%s", shown->name);
	add(row, "switch");
	add(row, "0");
	add(row, "-");
	add(row, "%u", tables && node < tables->switch_count ? tables->switches[node].lid : 0u);
	add(row, "0x%016" PRIx64, shown->guid);
	add(row, "-");
	add(row, "-");
}

static void show_host_port(const struct sim_fabric_core *core, uint32_t node, uint32_t port,
			   struct sim_attach_row *row)
{
	const struct sim_node *shown = &core->topology->nodes[node];
	uint32_t index = sim_wiring_index(&core->plane.wiring, node, port);
	const struct sim_port_state *state = &core->plane.ports[index];

	add(row, "%s", shown->name);
	add(row, "host");
	add(row, "%" PRIu32, port);
	add(row, "%s", state_name(state->state));
	add(row, "%u", state->lid);
	add(row, "0x%016" PRIx64, shown->guid);
	add_peer(row, core->topology, &shown->ports[port]);
	add_users(row, &core->tenants[node]);
}

static bool next_node(const struct sim_fabric_core *core, struct sim_show_cursor *cursor,
		      struct sim_attach_row *row)
{
	const struct sim_topology *topology = core->topology;

	for (; cursor->node < topology->node_count; cursor->node++, cursor->place = 0) {
		const struct sim_node *node = &topology->nodes[cursor->node];

		if (node->kind == SIM_SWITCH && !cursor->place) {
			cursor->place++;
			show_switch(core, cursor->node, row);
			return true;
		}
		if (node->kind == SIM_HOST && cursor->place < node->port_count) {
			show_host_port(core, cursor->node, ++cursor->place, row);
			return true;
		}
	}
	return false;
}

/* ---- groups ---- */

static const char *tree_word(const struct sim_fabric_core *core, const struct sim_port *port,
			     uint16_t mlid)
{
	const struct sim_tables *tables = core->plane.walk.tables;
	uint32_t entry = mlid - ACM_LID_MULTICAST;

	if (!tables || port->peer == SIM_NONE || port->peer >= tables->switch_count)
		return "-"; /* no switch there */
	if (entry >= tables->switches[port->peer].mft_size)
		return "no";
	return tables->switches[port->peer].mft[entry][port->peer_port / 64] >>
				       port->peer_port % 64 &
			       1
		       ? "yes"
		       : "no";
}

static void show_attachment(const struct sim_fabric_core *core,
			    const struct sim_attachment *attachment, uint32_t node, uint32_t port,
			    struct sim_attach_row *row)
{
	const struct sim_node *shown = &core->topology->nodes[node];

	add(row, "0x%04x", attachment->mlid);
	add_gid(row, &attachment->mgid);
	add(row, "%s", shown->name);
	add(row, "%" PRIu32, port);
	add(row, "0x%06" PRIx32, attachment->queue_pair->number);
	add(row, "%s", tree_word(core, &shown->ports[port], attachment->mlid));
}

/* Of all ports of a node in turn; NULL: it has no so many. */
static const struct sim_attachment *find_attachment(const struct sim_fabric_core *core,
						    uint32_t node, uint32_t place, uint32_t *port)
{
	for (*port = 1; *port <= core->topology->nodes[node].port_count; ++*port) {
		uint32_t index = sim_wiring_index(&core->plane.wiring, node, *port);
		const struct sim_attachment *at = core->plane.pairs.attachments[index];

		for (; at; at = at->next)
			if (!place--)
				return at;
	}
	return NULL;
}

static bool next_attachment(const struct sim_fabric_core *core, struct sim_show_cursor *cursor,
			    struct sim_attach_row *row)
{
	for (; cursor->node < core->topology->node_count; cursor->node++, cursor->place = 0) {
		const struct sim_attachment *found;
		uint32_t port;

		if (core->topology->nodes[cursor->node].kind != SIM_HOST)
			continue;
		found = find_attachment(core, cursor->node, cursor->place, &port);
		if (!found)
			continue;
		cursor->place++;
		show_attachment(core, found, cursor->node, port, row);
		return true;
	}
	return false;
}

/* ---- members ---- */

static void add_join_state(struct sim_attach_row *row, const struct sim_group_entry *entry)
{
	static const char *const names[] = {"full", "non-member", "send-only", "send-only-full"};
	char text[64] = "";
	size_t length = 0;

	for (unsigned int bit = 0; bit < sizeof(names) / sizeof(names[0]); bit++)
		if (entry->record.join_state >> bit & 1)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
						   length ? "+" : "", names[bit]);
	if (entry->standing == SIM_GROUP_UNTOLD)
		add(row, "unknown");
	else
		add(row, "%s", length ? text : "none");
}

static void add_rate(struct sim_attach_row *row, uint8_t code)
{
	uint32_t tenths = acm_rate_tenths_gbps(code);

	if (tenths % 10)
		add(row, "%" PRIu32 ".%" PRIu32, tenths / 10, tenths % 10);
	else
		add(row, "%" PRIu32, tenths / 10);
}

/* Of the group: the SA's word only. */
static void add_qualities(struct sim_attach_row *row, const struct sim_group_entry *entry)
{
	if (entry->standing != SIM_GROUP_JOINED) {
		for (int column = 0; column < 5; column++)
			add(row, "-");
		return;
	}
	add(row, "0x%04x", entry->record.pkey);
	add(row, "0x%08" PRIx32, entry->record.qkey);
	add(row, "%" PRIu32, acm_mtu_bytes(entry->record.mtu));
	add_rate(row, entry->record.rate);
	add(row, "%u", entry->record.sl);
}

static void show_member(const struct sim_fabric_core *core, const struct sim_group_entry *entry,
			struct sim_attach_row *row)
{
	const struct sim_node *shown = &core->topology->nodes[entry->port.node];
	uint16_t mlid = entry->record.mlid;

	add_gid(row, &entry->record.mgid);
	if (mlid)
		add(row, "0x%04x", mlid);
	else
		add(row, "-");
	add(row, "%s", shown->name);
	add(row, "%u", entry->port.port);
	add_join_state(row, entry);
	add_qualities(row, entry);
	add(row, "%" PRIu32, entry->queue_pairs);
	add(row, "%s", mlid ? tree_word(core, &shown->ports[entry->port.port], mlid) : "-");
}

static int next_member(const struct sim_fabric_core *core, struct sim_show_cursor *cursor,
		       struct sim_attach_row *row)
{
	int error;

	if (!cursor->collected) {
		error = sim_group_members_collect(core, cursor->since, &cursor->members);
		if (error)
			return error;
		cursor->collected = true;
	}
	if (cursor->place == cursor->members.count)
		return 0;
	show_member(core, &cursor->members.all[cursor->place++], row);
	return 1;
}

/* ---- forwarding tables ---- */

static void show_unicast(const struct sim_topology *topology, uint32_t node, uint32_t lid,
			 uint8_t port, struct sim_attach_row *row)
{
	const struct sim_node *shown = &topology->nodes[node];

	add(row, "%s", shown->name);
	add(row, "%" PRIu32, lid);
	add(row, "%u", port);
	if (!port)
		add(row, "itself");
	else if (port <= shown->port_count)
		add_peer(row, topology, &shown->ports[port]);
	else
		add(row, "-");
}

static size_t append(char *text, size_t size, size_t length, const char *word)
{
	int more = snprintf(text + length, size - length, "%s%s", length ? "," : "", word);

	return (size_t)more < size - length ? length + (size_t)more : length;
}

static void show_multicast(const struct sim_topology *topology, uint32_t node, uint32_t entry,
			   const uint64_t mask[4], struct sim_attach_row *row)
{
	const struct sim_node *shown = &topology->nodes[node];
	char ports[1024] = "", peers[2048] = "";
	size_t port_length = 0, peer_length = 0;

	for (uint32_t port = 0; port <= shown->port_count; port++) {
		uint32_t peer = port ? shown->ports[port].peer : SIM_NONE;
		char number[12];

		if (!(mask[port / 64] >> port % 64 & 1))
			continue;
		snprintf(number, sizeof(number), "%" PRIu32, port);
		port_length = append(ports, sizeof(ports), port_length, number);
		peer_length = append(peers, sizeof(peers), peer_length,
				     peer == SIM_NONE ? "-" : topology->nodes[peer].name);
	}
	add(row, "%s", shown->name);
	add(row, "0x%04x", ACM_LID_MULTICAST + entry);
	add(row, "%s", ports);
	add(row, "%s", peers);
}

static bool is_empty(const uint64_t mask[4])
{
	return !(mask[0] | mask[1] | mask[2] | mask[3]);
}

/* Entries of the one table, then of the other. */
static bool next_entry(const struct sim_topology *topology, uint32_t node,
		       const struct sim_switch_tables *tables, uint32_t *place,
		       struct sim_attach_row *row)
{
	while (*place < tables->lft_size) {
		uint32_t lid = (*place)++;

		if (tables->lft[lid] != LFT_DROP) {
			show_unicast(topology, node, lid, tables->lft[lid], row);
			return true;
		}
	}
	while (*place - tables->lft_size < tables->mft_size) {
		uint32_t entry = (*place)++ - tables->lft_size;

		if (!is_empty(tables->mft[entry])) {
			show_multicast(topology, node, entry, tables->mft[entry], row);
			return true;
		}
	}
	return false;
}

static bool next_table_row(const struct sim_fabric_core *core, struct sim_show_cursor *cursor,
			   struct sim_attach_row *row)
{
	const struct sim_tables *tables = core->plane.walk.tables;

	for (; tables && cursor->node < tables->switch_count; cursor->node++, cursor->place = 0) {
		if (next_entry(core->topology, cursor->node, &tables->switches[cursor->node],
			       &cursor->place, row))
			return true;
	}
	return false;
}

/* ---- drops ---- */

/* What became of datagrams first, then what they were lost for. */
static bool next_drop(const struct sim_fabric_core *core, struct sim_show_cursor *cursor,
		      struct sim_attach_row *row)
{
	const struct sim_fabric_stats *stats = &core->plane.stats;
	const struct {
		const char *name;
		uint64_t count;
	} counts[] = {{"sent", stats->sent},           {"multicasts", stats->multicasts},
		      {"copies", stats->copies},       {"delivered", stats->delivered},
		      {"in_flight", stats->in_flight}, {"sa_sent", stats->sa_sent}};
	const uint32_t fixed = sizeof(counts) / sizeof(counts[0]);
	uint32_t place = cursor->place++;

	if (place >= fixed + SIM_DROP_COUNT)
		return false;
	if (place < fixed) {
		add(row, "%s", counts[place].name);
		add(row, "%" PRIu64, counts[place].count);
	} else {
		add(row, "dropped_%s", sim_drop_name((enum sim_drop)(place - fixed)));
		add(row, "%" PRIu64, stats->dropped[place - fixed]);
	}
	return true;
}

int sim_show_next(const struct sim_fabric *fabric, struct sim_show_cursor *cursor,
		  struct sim_attach_row *row)
{
	const struct sim_fabric_core *core = sim_fabric_core(fabric);

	begin_row(row);
	switch (cursor->table) {
	case SIM_ATTACH_NODES:
		return next_node(core, cursor, row);
	case SIM_ATTACH_GROUPS:
		return next_attachment(core, cursor, row);
	case SIM_ATTACH_TABLES:
		return next_table_row(core, cursor, row);
	case SIM_ATTACH_DROPS:
		return next_drop(core, cursor, row);
	case SIM_ATTACH_MEMBERS:
		return next_member(core, cursor, row);
	}
	return 0;
}
