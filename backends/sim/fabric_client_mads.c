/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int submit(struct sim_fabric_client *client, uint32_t place)
{
	const struct sim_attach_mad *request = &client->mads[place].request;
	struct acm_transport *transport = client->transport;
	struct sim_mad_route route = {.qpn = request->qpn,
				      .qkey = request->qkey,
				      .dlid = request->dlid,
				      .pkey_index = request->pkey_index,
				      .sl = request->sl};

	if (request->header.type == SIM_ATTACH_SA_SEND)
		return transport->ops->sa_send(transport, request->port, request->pkey_index,
					       request->mad, place);
	return sim_fabric_send_mad(transport, request->port, &route, request->mad, place);
}

static void set_state(struct sim_fabric_client *client, uint32_t place,
		      enum sim_client_mad_state state)
{
	struct sim_client_mad *mad = &client->mads[place];

	client->waiting -= mad->state == SIM_CLIENT_MAD_WAITING;
	client->waiting += state == SIM_CLIENT_MAD_WAITING;
	mad->state = state;
}

/* False: the control has no room. */
static bool try(struct sim_fabric_client *client, uint32_t place)
{
	int error = submit(client, place);

	if (error == -EAGAIN) {
		client->refused = true;
		set_state(client, place, SIM_CLIENT_MAD_WAITING);
		return false;
	}
	set_state(client, place, error ? SIM_CLIENT_MAD_FREE : SIM_CLIENT_MAD_SENT);
	if (error)
		sim_client_put_status(client, SIM_ATTACH_FAILED, client->mads[place].request.cookie,
				      error);
	return true;
}

/* SIM_ATTACH_MADS: all are under way. */
static uint32_t find_free(const struct sim_fabric_client *client)
{
	uint32_t place = 0;

	while (place < SIM_ATTACH_MADS && client->mads[place].state != SIM_CLIENT_MAD_FREE)
		place++;
	return place;
}

void sim_client_send_mad(struct sim_fabric_client *client, const struct sim_attach_mad *request)
{
	uint32_t place;

	if (!client->mads)
		client->mads = calloc(SIM_ATTACH_MADS, sizeof(*client->mads));
	if (!client->mads) {
		sim_client_put_status(client, SIM_ATTACH_FAILED, request->cookie, -ENOMEM);
		return;
	}
	place = find_free(client);
	if (place == SIM_ATTACH_MADS) {
		sim_client_put_status(client, SIM_ATTACH_FAILED, request->cookie, -EAGAIN);
		return;
	}
	client->mads[place].request = *request;
	client->mads[place].order = client->next_order++;
	if (client->refused)
		set_state(client, place, SIM_CLIENT_MAD_WAITING);
	else
		try(client, place);
}

void sim_client_cancel_mad(struct sim_fabric_client *client, uint64_t cookie)
{
	int status = -ENOENT;

	for (uint32_t place = 0; client->mads && place < SIM_ATTACH_MADS; place++) {
		struct sim_client_mad *mad = &client->mads[place];

		if (mad->state == SIM_CLIENT_MAD_FREE || mad->request.cookie != cookie)
			continue;
		if (mad->state == SIM_CLIENT_MAD_SENT)
			client->transport->ops->sa_cancel(client->transport, place);
		set_state(client, place, SIM_CLIENT_MAD_FREE);
		status = 0;
	}
	sim_client_put_status(client, SIM_ATTACH_FORGOTTEN, cookie, status);
}

static uint32_t find_longest_waiting(const struct sim_fabric_client *client)
{
	uint32_t best = SIM_ATTACH_MADS;

	for (uint32_t place = 0; place < SIM_ATTACH_MADS; place++) {
		if (client->mads[place].state == SIM_CLIENT_MAD_WAITING &&
		    (best == SIM_ATTACH_MADS ||
		     client->mads[place].order < client->mads[best].order))
			best = place;
	}
	return best;
}

void sim_client_retry_mads(struct sim_fabric_client *client)
{
	while (client->waiting && !client->refused)
		try(client, find_longest_waiting(client));
}

void sim_client_mad_answered(struct sim_fabric_client *client, const struct acm_event *event)
{
	uint32_t place = (uint32_t)event->sa.cookie, length;
	struct sim_attach_answer chunk = {.header.type = SIM_ATTACH_ANSWER,
					  .cookie = client->mads[place].request.cookie,
					  .total = event->sa.length};

	set_state(client, place, SIM_CLIENT_MAD_FREE);
	for (; chunk.offset < event->sa.length; chunk.offset += length) {
		length = event->sa.length - chunk.offset;
		if (length > SIM_ATTACH_CHUNK)
			length = SIM_ATTACH_CHUNK;
		chunk.length = length;
		memcpy(chunk.bytes, event->sa.mad + chunk.offset, length);
		sim_client_put(client, &chunk);
	}
}

void sim_client_mad_failed(struct sim_fabric_client *client, const struct acm_event *event)
{
	uint32_t place = (uint32_t)event->failed.cookie;

	set_state(client, place, SIM_CLIENT_MAD_FREE);
	sim_client_put_status(client, SIM_ATTACH_FAILED, client->mads[place].request.cookie,
			      event->failed.status);
}
