/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A topology as JSON. */
#include "topology_json.h"

#include <acmite/trace.h>
#include <acmite/wire.h>
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static json_t *json_guid(uint64_t guid)
{
	return json_sprintf("0x%016" PRIx64, guid);
}

/* Addresses of a topology are names, IPv4 and IPv6. */
static json_t *json_address(const struct acm_address *address)
{
	char text[INET6_ADDRSTRLEN];

	if (address->type == ACM_ADDRESS_NAME)
		return json_stringn((const char *)address->data, address->length);
	inet_ntop(address->type == ACM_ADDRESS_IP ? AF_INET : AF_INET6, address->data, text,
		  sizeof(text));
	return json_string(text);
}

static json_t *json_end(const struct sim_topology *topology, const struct sim_link *link, int end)
{
	return json_pack("{s:s, s:i}", "node", topology->nodes[link->node[end]].name, "port",
			 link->port[end]);
}

static json_t *json_host_ports(const struct sim_node *node)
{
	json_t *ports = json_array();

	for (uint8_t i = 1; i <= node->port_count; i++)
		json_array_append_new(ports, json_pack("{s:i, s:o}", "port", i, "guid",
						       json_guid(node->ports[i].guid)));
	return ports;
}

static json_t *json_node(const struct sim_node *node)
{
	json_t *object = json_pack("{s:s, s:o}", "name", node->name, "guid", json_guid(node->guid));
	json_t *addresses;

	if (node->kind == SIM_SWITCH) {
		json_object_set_new(object, "ports", json_integer(node->port_count));
		return object;
	}
	json_object_set_new(object, "device", json_string(node->device));
	json_object_set_new(object, "ports", json_host_ports(node));
	addresses = json_array();
	for (uint32_t i = 0; i < node->address_count; i++)
		json_array_append_new(addresses, json_address(&node->addresses[i]));
	json_object_set_new(object, "addresses", addresses);
	return object;
}

static json_t *json_nodes(const struct sim_topology *topology, enum sim_node_kind kind)
{
	json_t *nodes = json_array();

	for (uint32_t i = 0; i < topology->node_count; i++) {
		if (topology->nodes[i].kind == kind)
			json_array_append_new(nodes, json_node(&topology->nodes[i]));
	}
	return nodes;
}

static json_t *json_links(const struct sim_topology *topology)
{
	json_t *links = json_array();

	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct sim_link *link = &topology->links[i];

		json_array_append_new(
			links, json_pack("{s:[o, o], s:i, s:s, s:i, s:f, s:I}", "ends",
					 json_end(topology, link, 0), json_end(topology, link, 1),
					 "width", link->width, "speed", sim_speed_name(link->speed),
					 "mtu", (int)acm_mtu_bytes(link->mtu), "rate_gbps",
					 acm_rate_tenths_gbps(link->rate) / 10.0, "latency_ns",
					 (json_int_t)link->latency));
	}
	return links;
}

static json_t *json_members(const struct sim_topology *topology,
			    const struct sim_partition *partition, bool full)
{
	json_t *members = json_array();

	for (uint32_t i = 0; i < partition->member_count; i++) {
		const struct sim_member *member = &partition->members[i];

		if (member->full == full)
			json_array_append_new(members,
					      json_string(topology->nodes[member->node].name));
	}
	return members;
}

static json_t *json_partitions(const struct sim_topology *topology)
{
	json_t *partitions = json_array();

	for (uint32_t i = 0; i < topology->partition_count; i++) {
		const struct sim_partition *partition = &topology->partitions[i];

		json_array_append_new(
			partitions, json_pack("{s:s, s:o, s:o, s:o}", "name", partition->name,
					      "pkey", json_sprintf("0x%04x", partition->pkey),
					      "full", json_members(topology, partition, true),
					      "limited", json_members(topology, partition, false)));
	}
	return partitions;
}

int acmite_topology_write_json(const struct sim_topology *topology, FILE *out)
{
	json_t *object;
	int ret;

	object =
		json_pack("{s:s, s:{s:s, s:s}, s:o, s:o, s:o, s:o}", "fabric", topology->name, "sm",
			  "node", topology->nodes[topology->sm].name, "routing",
			  topology->routing == SIM_ROUTING_UPDN ? "updn" : "minhop", "switches",
			  json_nodes(topology, SIM_SWITCH), "hosts", json_nodes(topology, SIM_HOST),
			  "links", json_links(topology), "partitions", json_partitions(topology));
	if (!object)
		return -ENOMEM;
	ret = json_dumpf(object, out, JSON_INDENT(2));
	json_decref(object);
	if (ret)
		return -EIO;
	fputc('\n', out);
	return fflush(out) ? -errno : 0;
}
