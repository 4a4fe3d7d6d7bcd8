/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- greeting ---- */

static int attach(struct sim_fabric_client *client, const struct sim_attach_hello *hello)
{
	const struct sim_fabric_host *host = client->host;
	uint32_t node = sim_topology_find(host->topology, hello->node);
	int error;

	if (node != SIM_NONE && host->stopped[node])
		return -EHOSTDOWN;
	client->node = node;
	if (hello->role == SIM_ATTACH_OWNER) {
		error = sim_fabric_attach(host->fabric, hello->node, &client->transport);
		/* One that was killed a moment ago does not stand in the way of its successor. */
		if (error == -EBUSY && host->reap(host->context, node))
			error = sim_fabric_attach(host->fabric, hello->node, &client->transport);
		return error;
	}
	return sim_fabric_attach_program(host->fabric, hello->node, &client->transport);
}

static void refuse_node(struct sim_fabric_client *client, const char *node, int error)
{
	const char *fabric = client->host->topology->name;

	switch (-error) {
	case ENOENT:
		sim_fabric_client_refuse(client, error, "the fabric %s has no node %s", fabric,
					 node);
		break;
	case ENODEV:
		sim_fabric_client_refuse(client, error,
					 "%s is a switch of the fabric %s; name a host", node,
					 fabric);
		break;
	case EBUSY:
		sim_fabric_client_refuse(client, error,
					 "%s is taken: another service runs on it; end that one or"
					 " name another node",
					 node);
		break;
	case EHOSTDOWN:
		sim_fabric_client_refuse(client, error,
					 "%s is stopped by a fault; it can be used when it is"
					 " started again",
					 node);
		break;
	default:
		sim_fabric_client_refuse(client, error, "%s cannot be used: %s", node,
					 strerror(-error));
	}
}

static void put_addresses(struct sim_fabric_client *client, const struct sim_node *node)
{
	for (uint32_t i = 0; i < node->address_count; i++) {
		struct sim_attach_address message = {.header.type = SIM_ATTACH_ADDRESS,
						     .address = node->addresses[i]};

		sim_client_put(client, &message);
	}
}

static void note_work(void *context)
{
	struct sim_fabric_client *client = context;

	client->host->wake(client->host->context, client);
}

static void welcome(struct sim_fabric_client *client, enum sim_attach_role role)
{
	const struct sim_topology *topology = client->host->topology;
	struct sim_attach_welcome message = {.header.type = SIM_ATTACH_WELCOME,
					     .version = SIM_ATTACH_VERSION};
	const struct sim_node *node = client->transport ? &topology->nodes[client->node] : NULL;

	snprintf(message.fabric, sizeof(message.fabric), "%s", topology->name);
	client->greeted = true;
	if (!node) {
		sim_client_put(client, &message);
		return;
	}
	client->transport->ops->set_wake(client->transport, note_work, client);
	message.port_count = node->port_count;
	message.node_guid = node->guid;
	message.system_guid = node->guid;
	snprintf(message.device, sizeof(message.device), "%s", node->device);
	if (role == SIM_ATTACH_OWNER)
		message.address_count = node->address_count;
	sim_client_put(client, &message);
	if (role == SIM_ATTACH_OWNER)
		put_addresses(client, node);
}

static void greet(struct sim_fabric_client *client, const union sim_attach_message *message)
{
	const struct sim_attach_hello *hello = &message->hello;
	int error = 0;

	if (hello->header.type != SIM_ATTACH_HELLO || hello->magic != SIM_ATTACH_MAGIC) {
		sim_fabric_client_refuse(client, -EPROTO, "the first message is to be HELLO");
	} else if (hello->version != SIM_ATTACH_VERSION) {
		sim_fabric_client_refuse(client, -EPROTO,
					 "you speak version %u of the attach protocol and this"
					 " server version %u; use programs of one release",
					 hello->version, SIM_ATTACH_VERSION);
	} else if (hello->role < SIM_ATTACH_OWNER || hello->role > SIM_ATTACH_OBSERVER) {
		sim_fabric_client_refuse(client, -EINVAL, "there is no role %u", hello->role);
	} else {
		if (hello->role != SIM_ATTACH_OBSERVER)
			error = attach(client, hello);
		if (error)
			refuse_node(client, hello->node, error);
		else
			welcome(client, hello->role);
	}
}

/* ---- endpoints ---- */

/* NULL: there is none. */
static struct sim_client_endpoint *find_endpoint(struct sim_fabric_client *client,
						 uint32_t endpoint)
{
	for (uint32_t i = 0; i < client->endpoint_count; i++) {
		if (client->endpoints[i].endpoint == endpoint)
			return &client->endpoints[i];
	}
	return NULL;
}

static int open_endpoint(struct sim_fabric_client *client, const struct sim_attach_open *open)
{
	struct acm_transport *transport = client->transport;
	int error;

	if (client->endpoint_count == SIM_CLIENT_ENDPOINTS ||
	    open->recv_depth > SIM_CLIENT_BUFFERS - client->buffers)
		return -ENOBUFS;
	error = transport->ops->open_endpoint(transport, open->endpoint, open->port, open->pkey,
					      open->qkey, open->recv_depth);
	if (error)
		return error;
	client->buffers += open->recv_depth;
	client->endpoints[client->endpoint_count++] = (struct sim_client_endpoint){
		.endpoint = open->endpoint, .buffers = open->recv_depth};
	return 0;
}

static void handle_open(struct sim_fabric_client *client, const struct sim_attach_open *open)
{
	struct sim_attach_opened failed = {.header.type = SIM_ATTACH_OPENED,
					   .endpoint = open->endpoint};

	failed.status = open_endpoint(client, open);
	if (failed.status)
		sim_client_put(client, &failed);
}

static void handle_close(struct sim_fabric_client *client, const struct sim_attach_close *close)
{
	struct sim_client_endpoint *closed = find_endpoint(client, close->endpoint);

	if (!closed)
		return;
	client->transport->ops->close_endpoint(client->transport, close->endpoint);
	client->buffers -= closed->buffers;
	client->groups -= closed->groups;
	*closed = client->endpoints[--client->endpoint_count];
}

static int join(struct sim_fabric_client *client, const struct sim_attach_qp_group *group)
{
	struct sim_client_endpoint *endpoint = find_endpoint(client, group->endpoint);
	int error;

	if (endpoint && client->groups == SIM_CLIENT_GROUPS)
		return -ENOBUFS;
	error = client->transport->ops->attach(client->transport, group->endpoint, &group->mgid,
					       group->mlid, group->cookie);
	if (!error) {
		endpoint->groups++;
		client->groups++;
	}
	return error;
}

static void part(struct sim_fabric_client *client, const struct sim_attach_qp_group *group)
{
	if (client->transport->ops->detach(client->transport, group->endpoint, &group->mgid,
					   group->mlid))
		return;
	find_endpoint(client, group->endpoint)->groups--;
	client->groups--;
}

/* ---- datagrams ---- */

static int submit(struct sim_fabric_client *client, const struct sim_attach_send *send)
{
	struct acm_datagram datagram = {
		.endpoint = send->endpoint,
		.dlid = send->dlid,
		.sl = send->sl,
		.path_bits = send->path_bits,
		.static_rate = send->static_rate,
		.qpn = send->qpn,
		.qkey = send->qkey,
		.dgid = send->dgid,
		.flow_label = send->flow_label,
		.hop_limit = send->hop_limit,
		.traffic_class = send->traffic_class,
		.payload = send->payload,
		.length = send->length,
	};

	return client->transport->ops->send(client->transport, &datagram, send->cookie);
}

/* False: it is to be tried again when there is room. */
static bool try(struct sim_fabric_client *client, const struct sim_attach_send *send)
{
	int error = submit(client, send);

	if (error && error != -EAGAIN)
		sim_client_put_status(client, SIM_ATTACH_SEND_FAILED, send->cookie, error);
	return error != -EAGAIN;
}

static void handle_send(struct sim_fabric_client *client, const struct sim_attach_send *send)
{
	if (try(client, send))
		return;
	if (!client->held)
		client->held = malloc(sizeof(*client->held));
	if (!client->held) {
		client->error = -ENOMEM;
		return;
	}
	*client->held = *send;
	client->holding = true;
}

void sim_client_retry(struct sim_fabric_client *client)
{
	if (client->holding)
		client->holding = !try(client, client->held);
	sim_client_retry_mads(client);
}

/* ---- looking and harming ---- */

static void handle_fault(struct sim_fabric_client *client, const struct sim_attach_fault *fault)
{
	struct sim_attach_status result = {.header.type = SIM_ATTACH_RESULT};

	result.status = client->host->fault(client->host->fault_context, fault->text, result.text,
					    sizeof(result.text));
	sim_client_put(client, &result);
}

static void handle_show(struct sim_fabric_client *client, const struct sim_attach_show *show)
{
	struct sim_attach_status result = {.header.type = SIM_ATTACH_RESULT};

	result.status = sim_show_begin(client->host->fabric, &client->show, show->table);
	if (!result.status) {
		client->showing = true;
		return;
	}
	snprintf(result.text, sizeof(result.text), "there is no table %u", show->table);
	sim_client_put(client, &result);
}

/* ---- all ---- */

static void handle_start(struct sim_fabric_client *client)
{
	if (client->started)
		return;
	client->started = true;
	client->error = client->transport->ops->start(client->transport);
}

/* What needs a node. False: it is none of that. */
static bool handle_on_node(struct sim_fabric_client *client,
			   const union sim_attach_message *message)
{
	int error;

	switch ((enum sim_attach_type)message->header.type) {
	case SIM_ATTACH_START:
		handle_start(client);
		return true;
	case SIM_ATTACH_OPEN:
		handle_open(client, &message->open);
		return true;
	case SIM_ATTACH_CLOSE:
		handle_close(client, &message->close);
		return true;
	case SIM_ATTACH_SEND:
		handle_send(client, &message->send);
		return true;
	case SIM_ATTACH_JOIN_QP:
		error = join(client, &message->group);
		if (error)
			sim_client_put_status(client, SIM_ATTACH_JOINED_QP, message->group.cookie,
					      error);
		return true;
	case SIM_ATTACH_PART_QP:
		part(client, &message->group);
		return true;
	case SIM_ATTACH_SA_SEND:
	case SIM_ATTACH_MAD_SEND:
		sim_client_send_mad(client, &message->mad);
		return true;
	case SIM_ATTACH_MAD_CANCEL:
		sim_client_cancel_mad(client, message->status.cookie);
		return true;
	default:
		return false;
	}
}

void sim_client_handle(struct sim_fabric_client *client, const union sim_attach_message *message)
{
	if (!client->greeted)
		greet(client, message);
	else if (message->header.type == SIM_ATTACH_FAULT)
		handle_fault(client, &message->fault);
	else if (message->header.type == SIM_ATTACH_SHOW)
		handle_show(client, &message->show);
	else if (!client->transport || !handle_on_node(client, message))
		sim_fabric_client_refuse(client, -EPROTO,
					 "a message of type %u was not expected here",
					 message->header.type);
}
