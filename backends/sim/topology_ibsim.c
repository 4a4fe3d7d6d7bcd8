/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A topology as ibsim and OpenSM read it: a netlist and a partitions.conf. */
#include "topology.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define IBSIM_NAME_SIZE 32
#define PKEY_DEFAULT    0x7fffu

static const char *const speed_names[] = {
	[SIM_SDR] = "SDR", [SIM_DDR] = "DDR", [SIM_QDR] = "QDR", [SIM_FDR] = "FDR",
	[SIM_EDR] = "EDR", [SIM_HDR] = "HDR", [SIM_NDR] = "NDR", [SIM_XDR] = "XDR",
};

/* Of a whole stream: what went wrong since it was opened. */
static int stream_status(FILE *out)
{
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

void sim_topology_ibsim_name(const struct sim_topology *topology, uint32_t node, uint8_t port,
			     char *name)
{
	const struct sim_node *of = &topology->nodes[node];
	char text[IBSIM_NAME_SIZE + 4] = {0};

	/* ':' is in no node's name, so no two netlist nodes have one name (of those that fit). */
	memcpy(text, of->name, strnlen(of->name, IBSIM_NAME_SIZE - 1));
	if (of->kind == SIM_HOST && port > 1)
		sprintf(text + strlen(text), ":%u", port);
	memcpy(name, text, IBSIM_NAME_SIZE);
	name[IBSIM_NAME_SIZE - 1] = '\0';
}

/*
 * One end of a link. What follows '#' is the form of ibnetdiscover's output, and the only way to
 * give each port its own width and speed without a warning: active is the most that both ends
 * enable.
 */
static void write_port(const struct sim_topology *topology, const struct sim_port *port,
		       unsigned netlist_port, FILE *out)
{
	const struct sim_link *link;
	char peer[IBSIM_NAME_SIZE];

	if (port->peer == SIM_NONE)
		return;
	link = &topology->links[port->link];
	sim_topology_ibsim_name(topology, port->peer, port->peer_port, peer);
	fprintf(out, "[%u]\t\"%s\"[%u]\t# lid 0 %ux%s\n", netlist_port, peer,
		topology->nodes[port->peer].kind == SIM_SWITCH ? port->peer_port : 1u, link->width,
		speed_names[link->speed]);
}

static void write_switch(const struct sim_topology *topology, uint32_t node, FILE *out)
{
	const struct sim_node *of = &topology->nodes[node];

	fprintf(out, "\nswitchguid=0x%016" PRIx64 "\nSwitch\t%u \"%s\"\n", of->guid, of->port_count,
		of->name);
	for (uint8_t port = 1; port <= of->port_count; port++)
		write_port(topology, &of->ports[port], port, out);
}

/* ibsim numbers the port of a one-port node one above the node. */
static void write_host_port(const struct sim_topology *topology, uint32_t node, uint8_t port,
			    FILE *out)
{
	const struct sim_node *of = &topology->nodes[node];
	char name[IBSIM_NAME_SIZE];

	sim_topology_ibsim_name(topology, node, port, name);
	fprintf(out, "\nsysimgguid=0x%016" PRIx64 "\ncaguid=0x%016" PRIx64 "\nCa\t1 \"%s\"\n",
		of->guid, of->ports[port].guid - 1, name);
	write_port(topology, &of->ports[port], 1, out);
}

int sim_topology_write_ibsim(const struct sim_topology *topology, FILE *out)
{
	fprintf(out, "# %s: %" PRIu32 " switches, %" PRIu32 " hosts, %" PRIu32 " links\n",
		topology->name, topology->switch_count, topology->host_count, topology->link_count);
	for (uint32_t i = 0; i < topology->node_count; i++) {
		if (topology->nodes[i].kind == SIM_SWITCH) {
			write_switch(topology, i, out);
			continue;
		}
		for (uint8_t port = 1; port <= topology->nodes[i].port_count; port++)
			write_host_port(topology, i, port, out);
	}
	return stream_status(out);
}

/* A line for each port: OpenSM takes lines of 4,095 bytes at most. */
static void write_member(const struct sim_topology *topology, const struct sim_member *member,
			 FILE *out)
{
	const struct sim_node *node = &topology->nodes[member->node];

	for (uint8_t port = 1; port <= node->port_count; port++)
		fprintf(out, ",\n\t0x%016" PRIx64 "=%s", node->ports[port].guid,
			member->full ? "full" : "limited");
}

/* NONE stands first in OpenSM's list of members, so that each that follows begins with a comma. */
static void write_partition(const struct sim_topology *topology,
			    const struct sim_partition *partition, FILE *out)
{
	if (partition->pkey == PKEY_DEFAULT)
		fprintf(out, "Default=0x7fff, ipoib :\n\tALL_SWITCHES=full,\n\tSELF=full");
	else
		fprintf(out, "%s=0x%04x :\n\tNONE", partition->name, partition->pkey);
	for (uint32_t i = 0; i < partition->member_count; i++)
		write_member(topology, &partition->members[i], out);
	fprintf(out, " ;\n");
}

int sim_topology_write_partitions(const struct sim_topology *topology, FILE *out)
{
	bool lists_default = false;

	for (uint32_t i = 0; i < topology->partition_count; i++)
		lists_default |= topology->partitions[i].pkey == PKEY_DEFAULT;
	if (!lists_default)
		fprintf(out, "Default=0x7fff, ipoib :\n\tALL=full,\n\tSELF=full ;\n");
	for (uint32_t i = 0; i < topology->partition_count; i++)
		write_partition(topology, &topology->partitions[i], out);
	return stream_status(out);
}
