/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A topology as a topology file that says everything: each node and each link by itself, with its
 * ports, so that it is the same fabric again whatever it was made from.
 */
#include "topology_names.h"

#include <acmite/trace.h>
#include <acmite/wire.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Double quotes with YAML's escapes hold any text. */
static void write_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte < ' ' || byte == 0x7f)
			fprintf(out, "\\x%02x", byte);
		else
			fputc(byte, out);
	}
	fputc('"', out);
}

static void write_guid(const struct sim_node *node, FILE *out)
{
	if (node->guid != sim_guid_of_name(node->name))
		fprintf(out, ", guid: 0x%016" PRIx64, node->guid);
}

static void write_port_guids(const struct sim_node *node, FILE *out)
{
	bool derived = true;

	for (uint8_t port = 1; port <= node->port_count; port++)
		derived &= node->ports[port].guid == sim_guid_of_port(node->guid, port);
	if (derived)
		return;
	fputs(", port_guids: [", out);
	for (uint8_t port = 1; port <= node->port_count; port++)
		fprintf(out, "%s 0x%016" PRIx64, port > 1 ? "," : "", node->ports[port].guid);
	fputs(" ]", out);
}

static void write_addresses(const struct sim_node *node, FILE *out)
{
	fputs(", addresses: [", out);
	for (uint32_t i = 0; i < node->address_count; i++) {
		char text[ACM_ADDRESS_MAX + 1] = "";

		acm_address_format(&node->addresses[i], text, sizeof(text));
		fputs(i ? ", " : " ", out);
		write_text(text, out);
	}
	fputs(" ]", out);
}

static void write_nodes(const struct sim_topology *topology, FILE *out)
{
	if (topology->switch_count)
		fputs("switches:\n", out);
	for (uint32_t i = 0; i < topology->node_count; i++) {
		const struct sim_node *node = &topology->nodes[i];

		if (i == topology->switch_count)
			fputs("hosts:\n", out);
		fputs("  - { name: ", out);
		write_text(node->name, out);
		fprintf(out, ", ports: %u", node->port_count);
		write_guid(node, out);
		if (node->kind == SIM_HOST) {
			fprintf(out, ", device: %s", node->device);
			write_port_guids(node, out);
			write_addresses(node, out);
		}
		fputs(" }\n", out);
	}
}

static void write_links(const struct sim_topology *topology, FILE *out)
{
	if (topology->link_count)
		fputs("links:\n", out);
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct sim_link *link = &topology->links[i];

		fprintf(out,
			"  - { join: \"%s -- %s\", ports: [ %u, %u ], width: %ux, speed: %s, "
			"mtu: %u, latency: %" PRIu64 "ns }\n",
			topology->nodes[link->node[0]].name, topology->nodes[link->node[1]].name,
			link->port[0], link->port[1], link->width,
			sim_speed_name((enum sim_speed)link->speed), acm_mtu_bytes(link->mtu),
			link->latency);
	}
}

/* Nothing when there are none of that kind. */
static void write_members(const struct sim_topology *topology,
			  const struct sim_partition *partition, bool full, FILE *out)
{
	const char *before = full ? ", full: [ " : ", limited: [ ";
	bool any = false;

	for (uint32_t i = 0; i < partition->member_count; i++) {
		if (partition->members[i].full != full)
			continue;
		fputs(any ? ", " : before, out);
		write_text(topology->nodes[partition->members[i].node].name, out);
		any = true;
	}
	if (any)
		fputs(" ]", out);
}

static void write_partitions(const struct sim_topology *topology, FILE *out)
{
	if (topology->partition_count)
		fputs("partitions:\n", out);
	for (uint32_t i = 0; i < topology->partition_count; i++) {
		const struct sim_partition *partition = &topology->partitions[i];

		fputs("  - { name: ", out);
		write_text(partition->name, out);
		fprintf(out, ", pkey: 0x%04x", partition->pkey);
		write_members(topology, partition, true, out);
		write_members(topology, partition, false, out);
		fputs(" }\n", out);
	}
}

int sim_topology_write_yaml(const struct sim_topology *topology, FILE *out)
{
	fputs("fabric: ", out);
	write_text(topology->name, out);
	fputs("\nsm: { node: ", out);
	write_text(topology->nodes[topology->sm].name, out);
	fprintf(out, ", routing: %s }\n",
		topology->routing == SIM_ROUTING_UPDN ? "updn" : "minhop");
	write_nodes(topology, out);
	write_links(topology, out);
	write_partitions(topology, out);
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
