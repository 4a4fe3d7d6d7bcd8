/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cluster.h"

#include <acmite/bytes.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_ENDPOINTS 4
#define NODE_GROUPS    8

struct cluster_endpoint {
	uint32_t id; /* 0: none */
	uint32_t qpn;
	struct acm_gid groups[NODE_GROUPS];
	uint64_t cookies[NODE_GROUPS]; /* of the attaches */
	bool failed[NODE_GROUPS];      /* and the engine does not know yet */
	int group_count;
};

struct cluster_node {
	struct cluster *cluster;
	int number;
	struct acm_engine *engine;
	struct acm_port_facts facts;
	struct cluster_endpoint endpoints[NODE_ENDPOINTS];
	uint32_t opened;
	struct acm_gid memberships[NODE_GROUPS]; /* as the SA has them */
	int membership_count;
};

/* Something that happens later at a node: an event with the bytes that it points to. */
struct cluster_due {
	struct cluster_due *next;
	uint64_t time;
	uint64_t sequence;
	int node;
	struct acm_event event;
	uint8_t bytes[ACM_MAD_LENGTH];
};

static void *allocate(void *context, size_t size)
{
	struct cluster *cluster = context;
	void *memory;

	cluster->allocations++;
	if (cluster->allocations == cluster->fail_at ||
	    (cluster->fail_from && cluster->allocations >= cluster->fail_from))
		return NULL;
	memory = malloc(size);
	assert(memory);
	memset(memory, 0xa5, size); /* nobody may count on zeros */
	cluster->live_bytes += (int64_t)size;
	return memory;
}

static void release(void *context, void *memory, size_t size)
{
	struct cluster *cluster = context;

	cluster->live_bytes -= (int64_t)size;
	free(memory);
}

struct acm_gid cluster_gid(int node)
{
	struct acm_gid gid = {.raw = {0xfe, 0x80}};

	gid.raw[15] = (uint8_t)node;
	return gid;
}

static void init_facts(struct acm_port_facts *facts, int node)
{
	facts->port = 0;
	snprintf(facts->device, sizeof(facts->device), "mlx5_0");
	facts->device_guid = 0x1000u + (unsigned int)node;
	facts->number = facts->port_count = 1;
	facts->state = ACM_PORT_ACTIVE;
	facts->lid = (uint16_t)node;
	facts->sm_lid = CLUSTER_SM_LID;
	facts->mtu = acm_mtu_code(4096);
	facts->rate = acm_rate_code(1000);
	facts->gid_count = 1;
	facts->gids[0] = cluster_gid(node);
	facts->pkey_count = 1;
	facts->pkeys[0] = ACM_PKEY_DEFAULT;
}

int cluster_init_each(struct cluster *cluster, int nodes, const struct acm_engine_config *configs)
{
	struct acm_allocator allocator = {allocate, release, cluster};
	uint64_t fail_at = cluster->fail_at, fail_from = cluster->fail_from;

	assert(nodes <= CLUSTER_NODES_MAX);
	memset(cluster, 0, sizeof(*cluster));
	cluster->fail_at = fail_at;
	cluster->fail_from = fail_from;
	cluster->now = ACM_NSEC_PER_SEC;
	cluster->search_status = -ENOENT;
	cluster->node_count = nodes;
	cluster->nodes = calloc((size_t)nodes + 1, sizeof(*cluster->nodes));
	for (int i = 1; i <= nodes; i++) {
		struct cluster_node *node = &cluster->nodes[i];

		node->cluster = cluster;
		node->number = i;
		init_facts(&node->facts, i);
		if (acm_engine_create(&configs[i - 1], &allocator, &node->engine))
			return -ENOMEM;
	}
	return 0;
}

int cluster_init(struct cluster *cluster, int nodes, const struct acm_engine_config *config)
{
	struct acm_engine_config configs[CLUSTER_NODES_MAX];

	for (int i = 0; i < nodes; i++) {
		configs[i] = *config;
		configs[i].seed = config->seed + (uint64_t)i;
	}
	return cluster_init_each(cluster, nodes, configs);
}

void cluster_destroy(struct cluster *cluster)
{
	struct cluster_due *due;

	cluster_check(cluster);
	for (int i = 1; i <= cluster->node_count; i++)
		acm_engine_destroy(cluster->nodes[i].engine);
	while ((due = cluster->due)) {
		cluster->due = due->next;
		free(due);
	}
	free(cluster->nodes);
	free(cluster->answers);
	assert(cluster->live_bytes == 0);
}

static struct cluster_due *later(struct cluster *cluster, int node, uint64_t delay,
				 const struct acm_event *event)
{
	struct cluster_due *due = calloc(1, sizeof(*due));
	struct cluster_due **at = &cluster->due;

	due->time = cluster->now + delay;
	due->sequence = ++cluster->sequence;
	due->node = node;
	due->event = *event;
	while (*at && (*at)->time <= due->time)
		at = &(*at)->next;
	due->next = *at;
	*at = due;
	return due;
}

/* Its place in a list of groups, -1. */
static int place_of(const struct acm_gid *groups, int count, const struct acm_gid *mgid)
{
	int i = 0;

	while (i < count && memcmp(&groups[i], mgid, sizeof(*mgid)) != 0)
		i++;
	return i < count ? i : -1;
}

/* NULL: none has that id. */
static struct cluster_endpoint *endpoint_of(struct cluster_node *node, uint32_t id)
{
	for (int i = 0; i < NODE_ENDPOINTS; i++) {
		if (node->endpoints[i].id == id)
			return &node->endpoints[i];
	}
	return NULL;
}

static void deliver(struct cluster *cluster, struct cluster_packet *packet, uint32_t endpoint)
{
	struct acm_event event = {.type = ACM_EVENT_DATAGRAM};
	int copies;

	packet->number = cluster->packets++;
	packet->delay = CLUSTER_DELAY;
	copies = cluster->on_packet ? cluster->on_packet(cluster, packet) : 1;
	event.datagram = packet->datagram;
	event.datagram.endpoint = endpoint;
	for (; copies > 0; copies--) {
		struct cluster_due *due = later(cluster, packet->to, packet->delay, &event);

		memcpy(due->bytes, packet->payload, sizeof(due->bytes));
		due->event.datagram.payload = due->bytes;
	}
}

static bool receives(const struct cluster_endpoint *endpoint, const struct acm_gid *mgid)
{
	int at = place_of(endpoint->groups, endpoint->group_count, mgid);

	return at >= 0 && !endpoint->failed[at];
}

static bool reaches(const struct cluster_node *node, const struct cluster_endpoint *endpoint,
		    const struct acm_datagram *datagram)
{
	if (!endpoint->qpn)
		return false;
	if (datagram->dgid.raw[0] == 0xff)
		return receives(endpoint, &datagram->dgid);
	return node->facts.lid == datagram->dlid && endpoint->qpn == datagram->qpn;
}

static void send_failed(struct cluster_node *node, uint64_t cookie)
{
	struct acm_event event = {.type = ACM_EVENT_SEND_FAILED};

	event.failed.cookie = cookie;
	event.failed.status = node->cluster->send_status;
	later(node->cluster, node->number, 0, &event);
}

static void do_send(struct cluster_node *from, const struct acm_datagram *datagram, uint64_t cookie)
{
	struct cluster *cluster = from->cluster;
	const struct cluster_endpoint *source = endpoint_of(from, datagram->endpoint);
	struct cluster_packet packet = {.from = from->number,
					.multicast = datagram->dgid.raw[0] == 0xff};

	assert(source); /* nothing is sent from what is not open */
	if (cluster->send_status) {
		send_failed(from, cookie);
		return;
	}
	memcpy(packet.payload, datagram->payload, datagram->length);
	packet.answer = packet.payload[3] & 0x80;
	packet.datagram = (struct acm_datagram_received){
		.slid = from->facts.lid,
		.sl = datagram->sl,
		.source_qpn = source->qpn,
		.sgid = from->facts.gids[0],
		.dgid = datagram->dgid,
		.hop_limit = datagram->hop_limit,
		.length = datagram->length,
	};
	cluster->multicasts += packet.multicast;
	for (int i = 1; i <= cluster->node_count; i++) {
		for (int j = 0; j < NODE_ENDPOINTS; j++) {
			const struct cluster_endpoint *to = &cluster->nodes[i].endpoints[j];
			struct cluster_packet copy = packet;

			copy.to = i;
			if (reaches(&cluster->nodes[i], to, datagram))
				deliver(cluster, &copy, to->id);
		}
	}
}

/* Offsets of the SA MAD (IBA vol. 1, 15.2.1.1) and of the two records. */
#define MAD_METHOD    3
#define MAD_TID       8
#define MAD_ATTRIBUTE 16
#define MAD_DATA      56
#define PATH_DGID     8
#define PATH_SGID     24
#define PATH_DLID     40
#define PATH_SLID     42
#define PATH_PKEY     50
#define MCMEMBER_PKEY 40
#define MCMEMBER_MTU  38
#define MCMEMBER_RATE 42

static void answer_path(struct cluster_node *from, const uint8_t *mad, uint16_t status,
			uint64_t tid, uint8_t *reply)
{
	const uint8_t *record = mad + MAD_DATA;
	struct acm_path path = {.slid = load_be16(record + PATH_SLID),
				.dlid = load_be16(record + PATH_DLID),
				.pkey = load_be16(record + PATH_PKEY)};
	struct cluster *cluster = from->cluster;

	memcpy(&path.dgid, record + PATH_DGID, 16);
	memcpy(&path.sgid, record + PATH_SGID, 16);
	for (int i = 1; i <= cluster->node_count; i++) {
		const struct acm_port_facts *facts = &cluster->nodes[i].facts;

		if (!memcmp(&facts->gids[0], &path.dgid, 16))
			path.dlid = path.dlid ? path.dlid : facts->lid;
		else if (path.dlid >= facts->lid && path.dlid < facts->lid + (1 << facts->lmc) &&
			 !path.dgid.raw[0])
			path.dgid = facts->gids[0];
	}
	if (!path.slid)
		path.slid = from->facts.lid;
	if (!path.pkey)
		path.pkey = from->facts.pkeys[0];
	if (!path.dlid && !status)
		status = ACM_SA_NO_RECORDS << 8;
	path.reversible = true;
	path.path_count = 1;
	path.mtu = acm_mtu_code(4096);
	path.rate = acm_rate_code(1000);
	path.mtu_selector = path.rate_selector = path.packet_life_selector = 2;
	path.packet_life = 18;
	acm_sa_encode_path_answer(&path, status, tid, reply);
}

static void answer_mcmember(const uint8_t *mad, uint16_t status, uint64_t tid, uint8_t *reply)
{
	const uint8_t *record = mad + MAD_DATA;
	struct acm_mcmember member = {.qkey = ACM_QKEY,
				      .pkey = load_be16(record + MCMEMBER_PKEY),
				      .mtu = record[MCMEMBER_MTU] & 0x3f,
				      .rate = record[MCMEMBER_RATE] & 0x3f,
				      .scope = 5,
				      .join_state = 1,
				      .packet_life = 18};

	memcpy(&member.mgid, record, 16);
	memcpy(&member.port_gid, record + 16, 16);
	/* One MLID a group, by its rate and partition. */
	member.mlid = (uint16_t)(0xc000 + member.mgid.raw[7] + (member.mgid.raw[5] << 6 & 0xfc0));
	if (mad[MAD_METHOD] == 0x01) { /* a query of the group's record */
		member.mtu = member.mgid.raw[8];
		member.rate = member.mgid.raw[7];
		member.pkey = load_be16(member.mgid.raw + 4);
		status = 0;
	}
	acm_sa_encode_mcmember_answer(&member, mad[MAD_METHOD] == 0x15 ? 0x95 : 0x81, status, tid,
				      reply);
}

static void note_membership(struct cluster_node *node, const struct cluster_sa_query *query,
			    const struct acm_gid *mgid)
{
	int at = place_of(node->memberships, node->membership_count, mgid);

	if (query->method == 0x15 && at >= 0)
		node->memberships[at] = node->memberships[--node->membership_count];
	if (query->method != 0x02 || at >= 0)
		return;
	assert(node->membership_count < NODE_GROUPS);
	node->memberships[node->membership_count++] = *mgid;
}

static void do_sa(struct cluster_node *from, uint64_t cookie, uint16_t pkey_index,
		  const uint8_t *mad)
{
	struct cluster *cluster = from->cluster;
	struct cluster_sa_query query = {.node = from->number,
					 .method = mad[MAD_METHOD],
					 .attribute = load_be16(mad + MAD_ATTRIBUTE),
					 .pkey_index = pkey_index,
					 .number = cluster->sa_queries++,
					 .delay = CLUSTER_DELAY};
	struct acm_event event = {.type = ACM_EVENT_SA_ANSWER};
	struct cluster_due *due;
	uint64_t tid = load_be64(mad + MAD_TID);

	if (query.attribute == ACM_SA_ATTRIBUTE_PATH) {
		memcpy(&query.dgid, mad + MAD_DATA + PATH_DGID, 16);
		query.dlid = load_be16(mad + MAD_DATA + PATH_DLID);
		cluster->path_queries++;
	} else if (query.method == 0x02) {
		cluster->joins++;
	}
	if (cluster->on_sa)
		cluster->on_sa(cluster, &query);
	if (query.attribute == ACM_SA_ATTRIBUTE_MCMEMBER && !query.status && !query.silent &&
	    !query.failed)
		note_membership(from, &query,
				(const struct acm_gid *)(const void *)(mad + MAD_DATA));
	if (query.failed) {
		event.type = ACM_EVENT_SA_FAILED;
		event.failed.cookie = cookie;
		event.failed.status = query.failed;
		later(cluster, from->number, query.delay, &event);
		return;
	}
	if (query.silent)
		return;
	event.sa.cookie = cookie;
	event.sa.length = ACM_MAD_LENGTH;
	due = later(cluster, from->number, query.delay, &event);
	due->event.sa.mad = due->bytes;
	if (query.attribute == ACM_SA_ATTRIBUTE_PATH)
		answer_path(from, mad, query.status, tid, due->bytes);
	else
		answer_mcmember(mad, query.status, tid, due->bytes);
	if (cluster->on_sa_answer)
		cluster->on_sa_answer(cluster, &query, due->bytes, &due->event.sa.length);
}

static void do_open(struct cluster_node *node, const struct acm_action *action)
{
	struct acm_event event = {.type = ACM_EVENT_ENDPOINT_OPENED};
	struct cluster *cluster = node->cluster;
	struct cluster_endpoint *endpoint;

	assert(!endpoint_of(node, action->open.endpoint)); /* opened once */
	event.opened.endpoint = action->open.endpoint;
	event.opened.status = cluster->open_status;
	endpoint = endpoint_of(node, 0);
	assert(endpoint);
	memset(endpoint, 0, sizeof(*endpoint));
	endpoint->id = action->open.endpoint;
	if (!cluster->open_status) {
		endpoint->qpn = 0x100u * (unsigned int)node->number + ++node->opened;
		event.opened.qpn = endpoint->qpn;
	}
	if (cluster->open_delay != ACM_NEVER)
		later(cluster, node->number, cluster->open_delay, &event);
}

/* Is it an event of this endpoint, which is closed now? */
static bool concerns(const struct cluster_due *due, int node,
		     const struct cluster_endpoint *endpoint)
{
	if (due->node != node)
		return false;
	if (due->event.type == ACM_EVENT_ENDPOINT_OPENED)
		return due->event.opened.endpoint == endpoint->id;
	if (due->event.type == ACM_EVENT_DATAGRAM)
		return due->event.datagram.endpoint == endpoint->id;
	for (int i = 0; due->event.type == ACM_EVENT_ATTACHED && i < endpoint->group_count; i++) {
		if (endpoint->cookies[i] == due->event.attached.cookie)
			return true;
	}
	return false;
}

static void do_close(struct cluster_node *node, uint32_t id)
{
	struct cluster_endpoint *endpoint = endpoint_of(node, id);
	struct cluster_due **at = &node->cluster->due;

	assert(endpoint);
	while (*at) {
		struct cluster_due *due = *at;

		if (!concerns(due, node->number, endpoint)) {
			at = &due->next;
			continue;
		}
		*at = due->next;
		free(due);
	}
	memset(endpoint, 0, sizeof(*endpoint));
}

static void do_attach(struct cluster_node *node, const struct acm_action *action)
{
	struct acm_event event = {.type = ACM_EVENT_ATTACHED};
	struct cluster_endpoint *endpoint = endpoint_of(node, action->group.endpoint);
	struct cluster *cluster = node->cluster;

	assert(endpoint && endpoint->group_count < NODE_GROUPS);
	assert(place_of(endpoint->groups, endpoint->group_count, &action->group.mgid) < 0);
	event.attached.cookie = action->group.cookie;
	event.attached.status = cluster->attach_status;
	endpoint->cookies[endpoint->group_count] = action->group.cookie;
	endpoint->failed[endpoint->group_count] = cluster->attach_status != 0;
	endpoint->groups[endpoint->group_count++] = action->group.mgid;
	if (cluster->attach_delay != ACM_NEVER)
		later(cluster, node->number, cluster->attach_delay, &event);
}

static void drop_group(struct cluster_endpoint *endpoint, int at)
{
	int last = --endpoint->group_count;

	endpoint->groups[at] = endpoint->groups[last];
	endpoint->cookies[at] = endpoint->cookies[last];
	endpoint->failed[at] = endpoint->failed[last];
}

static void do_detach(struct cluster_node *node, const struct acm_action *action)
{
	struct cluster_endpoint *endpoint = endpoint_of(node, action->group.endpoint);
	int at;

	assert(endpoint);
	at = place_of(endpoint->groups, endpoint->group_count, &action->group.mgid);
	assert(at >= 0); /* nothing is detached that was not attached */
	drop_group(endpoint, at);
}

/* The engine is about to hear of it: what failed is not there any more. */
static void attach_told(struct cluster_node *node, uint64_t cookie, int status)
{
	for (int i = 0; status && i < NODE_ENDPOINTS; i++) {
		struct cluster_endpoint *endpoint = &node->endpoints[i];

		for (int j = 0; j < endpoint->group_count; j++) {
			if (endpoint->cookies[j] == cookie) {
				drop_group(endpoint, j);
				return;
			}
		}
	}
}

static void do_search(struct cluster_node *node, uint64_t cookie)
{
	struct acm_event event = {.type = ACM_EVENT_SOURCE_FOUND};
	struct cluster *cluster = node->cluster;

	cluster->searches++;
	event.source.cookie = cookie;
	event.source.status = cluster->search_status;
	event.source.address = cluster->search_result;
	if (cluster->search_delay != ACM_NEVER)
		later(cluster, node->number, cluster->search_delay, &event);
}

static void do_cancel(struct cluster *cluster, int node, uint64_t cookie)
{
	for (struct cluster_due **at = &cluster->due; *at; at = &(*at)->next) {
		struct cluster_due *due = *at;

		bool answer =
			due->event.type == ACM_EVENT_SA_ANSWER && due->event.sa.cookie == cookie;
		bool failure = due->event.type == ACM_EVENT_SA_FAILED &&
			       due->event.failed.cookie == cookie;

		if (due->node == node && (answer || failure)) {
			*at = due->next;
			free(due);
			return;
		}
	}
}

static void do_reply(struct cluster *cluster, const struct acm_reply *reply)
{
	struct cluster_answer *answer = &cluster->answers[reply->id];

	assert(reply->id <= cluster->last_request);
	answer->given = true;
	answer->times++;
	answer->time = cluster->now;
	answer->reply = *reply;
}

static void execute(struct cluster_node *node, const struct acm_action *action)
{
	struct cluster *cluster = node->cluster;

	if (cluster->on_action)
		cluster->on_action(cluster, node->number, action);
	switch (action->type) {
	case ACM_ACTION_OPEN_ENDPOINT:
		do_open(node, action);
		break;
	case ACM_ACTION_CLOSE_ENDPOINT:
		do_close(node, action->endpoint);
		break;
	case ACM_ACTION_ATTACH:
		do_attach(node, action);
		break;
	case ACM_ACTION_DETACH:
		do_detach(node, action);
		break;
	case ACM_ACTION_SEND:
		do_send(node, &action->send.datagram, action->send.cookie);
		break;
	case ACM_ACTION_SA_SEND:
		do_sa(node, action->sa.cookie, action->sa.pkey_index, action->sa.mad);
		break;
	case ACM_ACTION_SA_CANCEL:
		do_cancel(cluster, node->number, action->cookie);
		break;
	case ACM_ACTION_FIND_SOURCE:
		do_search(node, action->find.cookie);
		break;
	case ACM_ACTION_REPLY:
		do_reply(cluster, action->reply);
		break;
	case ACM_ACTION_TRACE:
		if (cluster->on_trace)
			cluster->on_trace(cluster, node->number, action->trace);
		break;
	}
}

int cluster_step(struct cluster *cluster, int number, struct acm_event event)
{
	struct cluster_node *node = &cluster->nodes[number];
	struct acm_action action;
	int error;

	event.time = cluster->now;
	if (event.type == ACM_EVENT_ENDPOINT_OPENED && event.opened.status) {
		struct cluster_endpoint *endpoint = endpoint_of(node, event.opened.endpoint);

		memset(endpoint, 0, sizeof(*endpoint));
	}
	if (event.type == ACM_EVENT_ATTACHED)
		attach_told(node, event.attached.cookie, event.attached.status);
	error = acm_engine_step(node->engine, &event);
	while (!error && acm_engine_next_action(node->engine, &action))
		execute(node, &action);
	return error;
}

/* The node whose engine has the earliest deadline, 0: none has one. */
static int earliest(struct cluster *cluster, uint64_t *time)
{
	int first = 0;

	*time = ACM_NEVER;
	for (int i = 1; i <= cluster->node_count; i++) {
		uint64_t deadline = acm_engine_deadline(cluster->nodes[i].engine);

		if (deadline < *time) {
			*time = deadline;
			first = i;
		}
	}
	return first;
}

void cluster_run_until(struct cluster *cluster, uint64_t until)
{
	uint64_t deadline;
	int node;

	for (;;) {
		struct cluster_due *due = cluster->due;

		node = earliest(cluster, &deadline);
		if (due && due->time <= deadline && due->time <= until) {
			cluster->due = due->next;
			cluster->now = due->time;
			(void)cluster_step(cluster, due->node, due->event);
			free(due);
		} else if (node && deadline <= until) {
			struct acm_event event = {.type = ACM_EVENT_DEADLINE};

			if (deadline > cluster->now)
				cluster->now = deadline;
			(void)cluster_step(cluster, node, event);
		} else {
			break;
		}
	}
	cluster->now = until;
}

void cluster_run_for(struct cluster *cluster, uint64_t duration)
{
	cluster_run_until(cluster, cluster->now + duration);
}

struct acm_engine *cluster_engine(struct cluster *cluster, int node)
{
	return cluster->nodes[node].engine;
}

struct acm_port_facts *cluster_port(struct cluster *cluster, int node)
{
	return &cluster->nodes[node].facts;
}

void cluster_port_changed(struct cluster *cluster, int node)
{
	struct acm_event event = {.type = ACM_EVENT_PORT_CHANGED};

	event.port_facts = &cluster->nodes[node].facts;
	(void)cluster_step(cluster, node, event);
}

static void change_address(struct cluster *cluster, int node, enum acm_event_type type,
			   enum acm_address_type kind, const void *data, size_t length)
{
	struct acm_local_address local = {0};
	struct acm_event event = {.type = type};

	assert(!acm_address_canonical(&local.address, kind, data, length));
	acm_address_format(&local.address, local.text, sizeof(local.text));
	event.address = &local;
	(void)cluster_step(cluster, node, event);
}

void cluster_add_address(struct cluster *cluster, int node, enum acm_address_type type,
			 const void *data, size_t length)
{
	change_address(cluster, node, ACM_EVENT_ADDRESS_ADDED, type, data, length);
}

void cluster_remove_address(struct cluster *cluster, int node, enum acm_address_type type,
			    const void *data, size_t length)
{
	change_address(cluster, node, ACM_EVENT_ADDRESS_REMOVED, type, data, length);
}

void cluster_start(struct cluster *cluster)
{
	for (int i = 1; i <= cluster->node_count; i++) {
		uint8_t ip[4] = {10, 0, 0, (uint8_t)i};
		uint8_t ip6[16] = {0xfd};
		char name[16];
		int length = snprintf(name, sizeof(name), "node%d", i);

		ip6[15] = (uint8_t)i;
		cluster_port_changed(cluster, i);
		cluster_add_address(cluster, i, ACM_ADDRESS_NAME, name, (size_t)length);
		cluster_add_address(cluster, i, ACM_ADDRESS_IP, ip, sizeof(ip));
		cluster_add_address(cluster, i, ACM_ADDRESS_IP6, ip6, sizeof(ip6));
	}
	cluster_run_for(cluster, 10 * ACM_NSEC_PER_MSEC);
}

struct acm_request cluster_request(struct cluster *cluster, int node, const char *to)
{
	struct acm_request request = {.opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_RESOLVE};
	char name[16];
	int length = snprintf(name, sizeof(name), "node%d", node);

	(void)cluster;
	request.has_source = true;
	assert(!acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (uint8_t *)name,
				      (size_t)length));
	assert(!acm_address_canonical(&request.destination, ACM_ADDRESS_NAME, (const uint8_t *)to,
				      strlen(to)));
	return request;
}

uint64_t cluster_ask_request(struct cluster *cluster, int node, struct acm_request *request)
{
	struct acm_event event = {.type = ACM_EVENT_REQUEST};

	request->id = ++cluster->last_request;
	request->tid = request->id * 1000;
	if (request->id >= cluster->answer_capacity) {
		uint64_t capacity = cluster->answer_capacity ? cluster->answer_capacity * 2 : 64;

		cluster->answers = realloc(cluster->answers, capacity * sizeof(*cluster->answers));
		memset(cluster->answers + cluster->answer_capacity, 0,
		       (capacity - cluster->answer_capacity) * sizeof(*cluster->answers));
		cluster->answer_capacity = capacity;
	}
	cluster->answers[request->id].node = node;
	event.request = request;
	(void)cluster_step(cluster, node, event);
	return request->id;
}

uint64_t cluster_ask(struct cluster *cluster, int node, const char *to)
{
	struct acm_request request = cluster_request(cluster, node, to);

	return cluster_ask_request(cluster, node, &request);
}

void cluster_cancel(struct cluster *cluster, int node, uint64_t request)
{
	struct acm_event event = {.type = ACM_EVENT_CANCEL, .cancel = request};

	if (!cluster->answers[request].given)
		cluster->answers[request].cancelled = true;
	(void)cluster_step(cluster, node, event);
}

int cluster_memberships(const struct cluster *cluster, int node)
{
	return cluster->nodes[node].membership_count;
}

static int working_groups(const struct cluster_endpoint *endpoint)
{
	int count = 0;

	for (int i = 0; i < endpoint->group_count; i++)
		count += !endpoint->failed[i];
	return count;
}

int cluster_attachments(const struct cluster *cluster, int node)
{
	int count = 0;

	for (int i = 0; i < NODE_ENDPOINTS; i++)
		count += working_groups(&cluster->nodes[node].endpoints[i]);
	return count;
}

static uint64_t waiting_at(const struct cluster *cluster, int node)
{
	uint64_t waiting = 0;

	for (uint64_t id = 1; id <= cluster->last_request; id++) {
		const struct cluster_answer *answer = &cluster->answers[id];

		if (answer->node != node)
			continue;
		assert(answer->times <= 1 && answer->times + answer->cancelled <= 1);
		waiting += !answer->given && !answer->cancelled;
	}
	return waiting;
}

void cluster_check(struct cluster *cluster)
{
	for (int i = 1; i <= cluster->node_count; i++) {
		struct acm_engine_stats stats;
		const uint64_t *counters = stats.counters;

		if (!cluster->nodes[i].engine)
			continue; /* it could not be made */
		stats = cluster_stats(cluster, i);
		assert(stats.waiting == waiting_at(cluster, i));
		assert(counters[ACM_COUNTER_REQUESTS] == counters[ACM_COUNTER_ANSWERS] +
								 counters[ACM_COUNTER_CANCELLED] +
								 stats.waiting);
	}
}

const struct cluster_answer *cluster_answer(struct cluster *cluster, uint64_t id)
{
	return &cluster->answers[id];
}

struct acm_engine_stats cluster_stats(struct cluster *cluster, int node)
{
	struct acm_engine_stats stats;

	acm_engine_stats(cluster->nodes[node].engine, &stats);
	return stats;
}

uint32_t cluster_counter(struct cluster *cluster, int node, enum acm_counter counter)
{
	return (uint32_t)cluster_stats(cluster, node).counters[counter];
}

void cluster_hear(struct cluster *cluster, int node, int sender, const struct acm_message *message)
{
	struct acm_event event = {.type = ACM_EVENT_DATAGRAM};
	uint8_t payload[ACM_MAD_LENGTH];

	acm_message_encode(message, payload);
	event.datagram =
		(struct acm_datagram_received){.endpoint = cluster->nodes[node].endpoints[0].id,
					       .slid = (uint16_t)sender,
					       .source_qpn = 0x100u * (unsigned int)sender + 1,
					       .sgid = cluster_gid(sender),
					       .payload = payload,
					       .length = sizeof(payload)};
	(void)cluster_step(cluster, node, event);
}
