/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_LID    1
#define OWN_NAME   "here"
#define SM_LID     2
#define QPN        0x100
#define STEP       ACM_NSEC_PER_USEC
#define MTU_BYTES  4096
#define RATE       1000 /* tenths of Gb/s */
#define MLID       0xc001
#define MAD_TID    8
#define MAD_METHOD 3
#define MAD_DATA   56
#define METHOD_SET 0x02

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench: the engine does not do what this program knows: %s\n", what);
	exit(EXIT_FAILURE);
}

static struct acm_gid gid_of(uint32_t number)
{
	struct acm_gid gid = {.raw = {0xfe, 0x80}};

	for (int i = 0; i < 4; i++)
		gid.raw[12 + i] = (uint8_t)(number >> (24 - 8 * i));
	return gid;
}

/* LIDs are fewer than destinations may be; what matters here is that they are valid. */
static uint16_t lid_of(uint32_t destination)
{
	return (uint16_t)(SM_LID + 1 + destination % 0xb000);
}

static void take(struct engine_rig *rig, const struct acm_action *action)
{
	switch (action->type) {
	case ACM_ACTION_OPEN_ENDPOINT:
		rig->endpoint = action->open.endpoint;
		break;
	case ACM_ACTION_ATTACH:
		rig->attach_cookie = action->group.cookie;
		break;
	case ACM_ACTION_SA_SEND:
		rig->sa_cookie = action->sa.cookie;
		memcpy(rig->sa_mad, action->sa.mad, sizeof(rig->sa_mad));
		break;
	case ACM_ACTION_SEND:
		rig->asked = true;
		memcpy(rig->message, action->send.datagram.payload, sizeof(rig->message));
		break;
	case ACM_ACTION_REPLY:
		rig->answered += action->reply->status == ACM_STATUS_OK;
		break;
	default:
		break;
	}
}

static void step(struct engine_rig *rig, struct acm_event *event)
{
	struct acm_action action;

	rig->now += STEP;
	event->time = rig->now;
	check(!acm_engine_step(rig->engine, event), "an event is refused");
	while (acm_engine_next_action(rig->engine, &action))
		take(rig, &action);
}

/* ---- the fabric's side ---- */

static uint64_t tid_of(const uint8_t *mad)
{
	uint64_t tid = 0;

	for (int i = 0; i < 8; i++)
		tid = tid << 8 | mad[MAD_TID + i];
	return tid;
}

static void answer_sa(struct engine_rig *rig, const uint8_t *mad)
{
	struct acm_event event = {.type = ACM_EVENT_SA_ANSWER};

	event.sa.cookie = rig->sa_cookie;
	event.sa.mad = mad;
	event.sa.length = ACM_MAD_LENGTH;
	rig->sa_cookie = 0;
	step(rig, &event);
}

static void answer_join(struct engine_rig *rig)
{
	struct acm_mcmember member = {.port_gid = gid_of(OWN_LID),
				      .qkey = ACM_QKEY,
				      .mlid = MLID,
				      .pkey = ACM_PKEY_DEFAULT,
				      .packet_life = 18,
				      .scope = 5,
				      .join_state = 1};
	uint8_t mad[ACM_MAD_LENGTH];

	check(rig->sa_mad[MAD_METHOD] == METHOD_SET, "it joins before it asks");
	memcpy(&member.mgid, rig->sa_mad + MAD_DATA, sizeof(member.mgid));
	check(acm_group_parse(&member.mgid, member.pkey, &member.rate, &member.mtu), "the group");
	acm_sa_encode_mcmember_answer(&member, 0x81, 0, tid_of(rig->sa_mad), mad);
	answer_sa(rig, mad);
}

static void answer_path(struct engine_rig *rig, uint32_t destination)
{
	struct acm_path path = {.dgid = gid_of(0x10000 + destination),
				.sgid = gid_of(OWN_LID),
				.dlid = lid_of(destination),
				.slid = OWN_LID,
				.reversible = true,
				.path_count = 1,
				.pkey = ACM_PKEY_DEFAULT,
				.mtu = acm_mtu_code(MTU_BYTES),
				.mtu_selector = 2,
				.rate = acm_rate_code(RATE),
				.rate_selector = 2,
				.packet_life = 18,
				.packet_life_selector = 2};
	uint8_t mad[ACM_MAD_LENGTH];

	acm_sa_encode_path_answer(&path, 0, tid_of(rig->sa_mad), mad);
	answer_sa(rig, mad);
}

static void answer_message(struct engine_rig *rig, uint32_t destination)
{
	struct acm_event event = {.type = ACM_EVENT_DATAGRAM};
	struct acm_message message;
	uint8_t payload[ACM_DATAGRAM_MAX];

	check(!acm_message_decode(rig->message, sizeof(rig->message), &message), "its message");
	message.answer = true;
	acm_message_encode(&message, payload);
	rig->asked = false;
	event.datagram = (struct acm_datagram_received){.endpoint = rig->endpoint,
							.slid = lid_of(destination),
							.source_qpn = QPN,
							.sgid = gid_of(0x10000 + destination),
							.dgid = gid_of(OWN_LID),
							.payload = payload,
							.length = sizeof(payload)};
	step(rig, &event);
}

/* ---- coming up ---- */

static void port_up(struct engine_rig *rig)
{
	struct acm_port_facts facts = {.device = "mlx5_0",
				       .device_guid = OWN_LID,
				       .number = 1,
				       .port_count = 1,
				       .state = ACM_PORT_ACTIVE,
				       .lid = OWN_LID,
				       .sm_lid = SM_LID,
				       .mtu = acm_mtu_code(MTU_BYTES),
				       .rate = acm_rate_code(RATE),
				       .gid_count = 1,
				       .gids = {gid_of(OWN_LID)},
				       .pkey_count = 1,
				       .pkeys = {ACM_PKEY_DEFAULT}};
	struct acm_event event = {.type = ACM_EVENT_PORT_CHANGED, .port_facts = &facts};

	step(rig, &event);
}

static void add_name(struct engine_rig *rig)
{
	struct acm_local_address local = {.text = OWN_NAME};
	struct acm_event event = {.type = ACM_EVENT_ADDRESS_ADDED, .address = &local};

	acm_address_canonical(&local.address, ACM_ADDRESS_NAME, (const uint8_t *)OWN_NAME,
			      strlen(OWN_NAME));
	step(rig, &event);
}

static void opened(struct engine_rig *rig)
{
	struct acm_event event = {.type = ACM_EVENT_ENDPOINT_OPENED};

	event.opened.endpoint = rig->endpoint;
	event.opened.qpn = QPN;
	step(rig, &event);
}

static void attached(struct engine_rig *rig)
{
	struct acm_event event = {.type = ACM_EVENT_ATTACHED};

	event.attached.cookie = rig->attach_cookie;
	rig->attach_cookie = 0;
	step(rig, &event);
}

void engine_rig_init(struct engine_rig *rig, uint64_t trace_mask,
		     const struct acm_allocator *allocator)
{
	struct acm_engine_config config;
	struct acm_engine_stats stats;

	memset(rig, 0, sizeof(*rig));
	acm_engine_config_default(&config);
	config.trace_mask = trace_mask;
	config.join_verify = 0;
	/* One group, so that one transaction at a time is all there is. */
	config.min_mtu = acm_mtu_code(MTU_BYTES);
	config.min_rate = acm_rate_code(RATE);
	config.sa_depth = 1;
	check(!acm_engine_create(&config, allocator, &rig->engine), "it cannot be made");
	rig->now = ACM_NSEC_PER_SEC;
	port_up(rig);
	add_name(rig);
	check(rig->endpoint != 0, "no endpoint is opened");
	opened(rig);
	while (rig->sa_cookie || rig->attach_cookie) {
		if (rig->sa_cookie)
			answer_join(rig);
		else
			attached(rig);
	}
	acm_engine_stats(rig->engine, &stats);
	check(stats.endpoints_ready == 1, "the endpoint does not become ready");
}

void engine_rig_fini(struct engine_rig *rig)
{
	acm_engine_destroy(rig->engine);
}

void engine_rig_rename(struct acm_request *request, uint32_t destination)
{
	for (int i = ENGINE_RIG_NAME_LENGTH; i > 4; i--) {
		request->destination.data[i - 1] = (uint8_t)('0' + destination % 10);
		destination /= 10;
	}
}

void engine_rig_request(struct acm_request *request, uint32_t destination)
{
	memset(request, 0, sizeof(*request));
	request->id = 1;
	request->opcode = ACM_OPCODE_RESOLVE;
	request->kind = ACM_REQUEST_RESOLVE;
	request->has_source = true;
	acm_address_canonical(&request->source, ACM_ADDRESS_NAME, (const uint8_t *)OWN_NAME,
			      strlen(OWN_NAME));
	acm_address_canonical(&request->destination, ACM_ADDRESS_NAME,
			      (const uint8_t *)"node000000", ENGINE_RIG_NAME_LENGTH);
	engine_rig_rename(request, destination);
}

void engine_rig_populate(struct engine_rig *rig, uint32_t count)
{
	struct acm_request request;
	struct acm_event event = {.type = ACM_EVENT_REQUEST, .request = &request};

	for (uint32_t i = 0; i < count; i++) {
		engine_rig_request(&request, i);
		request.id = ++rig->requests;
		step(rig, &event);
		check(rig->asked, "it does not ask the group");
		answer_message(rig, i);
		check(rig->sa_cookie != 0, "it does not ask the SA");
		answer_path(rig, i);
		check(rig->answered == rig->requests, "it does not resolve");
	}
}
