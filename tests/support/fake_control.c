/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fake_control.h"

#include <acmite/bytes.h>
#include <acmite/sa.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MFT_SIZE          64
#define METHOD_GET        0x01
#define METHOD_DELETE     0x15
#define ANSWER_BIT        0x80
#define STATUS_NO_RECORDS (ACM_SA_NO_RECORDS << 8)
#define AT_RECORD         56
/* The upper half of a transaction id is not the sender's. */
#define TID_REWRITTEN UINT64_C(0x5a5a000000000000)

static void *get_memory(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	assert_non_null(memory);
	return memory;
}

static struct fake_control *fake_of(struct sim_control *control)
{
	return (struct fake_control *)control;
}

/* ---- routes ---- */

/* By node: the port towards the target over fewest switches; the lowest of several. 0: no way. */
static uint8_t *ports_towards(const struct sim_topology *topology, uint32_t target)
{
	uint8_t *port_to = get_memory(topology->node_count, sizeof(*port_to));
	uint32_t *queue = get_memory(topology->node_count, sizeof(*queue));
	uint32_t count = 1;

	queue[0] = target;
	for (uint32_t i = 0; i < count; i++) {
		const struct sim_node *node = &topology->nodes[queue[i]];

		if (i > 0 && node->kind == SIM_HOST)
			continue; /* hosts forward nothing */
		for (uint32_t port = 1; port <= node->port_count; port++) {
			uint32_t peer = node->ports[port].peer;

			if (peer == SIM_NONE || peer == target || port_to[peer])
				continue;
			port_to[peer] = node->ports[port].peer_port;
			queue[count++] = peer;
		}
	}
	free(queue);
	return port_to;
}

static void route_port(struct fake_control *control, uint32_t node, uint8_t port)
{
	const struct sim_topology *topology = control->topology;
	const struct sim_port *own = &topology->nodes[node].ports[port];
	uint16_t lid = fake_control_port(control, node, port)->lid;
	uint8_t *port_to;

	if (own->peer == SIM_NONE || topology->nodes[own->peer].kind == SIM_HOST)
		return;
	/* Towards its switch, so that each port of a host has its own way. */
	port_to = ports_towards(topology, own->peer);
	port_to[own->peer] = own->peer_port;
	for (uint32_t s = 0; s < topology->switch_count; s++)
		if (port_to[s])
			memset(control->tables.switches[s].lft + lid, port_to[s], FAKE_LIDS_EACH);
	free(port_to);
}

static void build_tables(struct fake_control *control)
{
	const struct sim_topology *topology = control->topology;
	uint32_t lids = (topology->switch_count + control->port_count + 1) * FAKE_LIDS_EACH;

	control->tables.switch_count = topology->switch_count;
	control->tables.switches =
		get_memory(topology->switch_count, sizeof(struct sim_switch_tables));
	for (uint32_t s = 0; s < topology->switch_count; s++) {
		struct sim_switch_tables *tables = &control->tables.switches[s];

		tables->lid = (uint16_t)((s + 1) * FAKE_LIDS_EACH);
		tables->lft_size = lids;
		tables->lft = get_memory(lids, 1);
		memset(tables->lft, 0xff, lids);
		tables->lft[tables->lid] = 0;
		tables->mft_size = MFT_SIZE;
		tables->mft = get_memory(MFT_SIZE, sizeof(*tables->mft));
	}
	for (uint32_t node = 0; node < topology->node_count; node++) {
		if (topology->nodes[node].kind == SIM_SWITCH)
			continue;
		for (uint8_t port = 1; port <= topology->nodes[node].port_count; port++)
			route_port(control, node, port);
	}
}

/* ---- groups ---- */

static void set_port(struct fake_control *control, uint32_t node, uint32_t port, uint32_t entry)
{
	if (control->topology->nodes[node].kind == SIM_SWITCH)
		control->tables.switches[node].mft[entry][port / 64] |= UINT64_C(1) << port % 64;
}

/* From the member up to the root, both ends of every link. */
static void grow_tree(struct fake_control *control, struct sim_port_ref member, uint32_t root,
		      const uint8_t *port_to_root, uint32_t entry)
{
	uint32_t node = member.node, port = member.port;

	while (node != root && port) {
		const struct sim_port *from = &control->topology->nodes[node].ports[port];

		if (from->peer == SIM_NONE)
			return;
		set_port(control, node, port, entry);
		set_port(control, from->peer, from->peer_port, entry);
		node = from->peer;
		port = port_to_root[node];
	}
}

static void build_tree(struct fake_control *control, const struct fake_group *group)
{
	const struct sim_topology *topology = control->topology;
	uint32_t entry = group->record.mlid - ACM_LID_MULTICAST, root;
	uint8_t *port_to_root;

	for (uint32_t s = 0; s < topology->switch_count; s++)
		memset(control->tables.switches[s].mft[entry], 0,
		       sizeof(control->tables.switches[s].mft[entry]));
	control->tables.generation++;
	if (!group->member_count)
		return;
	root = topology->nodes[group->members[0].node].ports[group->members[0].port].peer;
	port_to_root = ports_towards(topology, root);
	for (uint32_t i = 0; i < group->member_count; i++)
		grow_tree(control, group->members[i], root, port_to_root, entry);
	free(port_to_root);
}

static struct fake_group *find_group(struct fake_control *control, const struct acm_gid *mgid)
{
	for (uint32_t i = 0; i < control->group_count; i++)
		if (!memcmp(&control->groups[i].record.mgid, mgid, sizeof(*mgid)))
			return &control->groups[i];
	return NULL;
}

static struct fake_group *make_group(struct fake_control *control,
				     const struct acm_mcmember *record)
{
	struct fake_group *group = &control->groups[control->group_count];

	assert_true(control->group_count < FAKE_GROUPS_MAX);
	group->record = *record;
	group->record.mlid = (uint16_t)(ACM_LID_MULTICAST + control->group_count++);
	return group;
}

static uint32_t find_member(const struct fake_group *group, struct sim_port_ref port)
{
	for (uint32_t i = 0; i < group->member_count; i++)
		if (group->members[i].node == port.node && group->members[i].port == port.port)
			return i;
	return SIM_NONE;
}

static void add_member(struct fake_control *control, struct fake_group *group,
		       struct sim_port_ref port)
{
	if (find_member(group, port) != SIM_NONE)
		return;
	assert_true(group->member_count < FAKE_MEMBERS_MAX);
	group->members[group->member_count++] = port;
	build_tree(control, group);
}

static void remove_member(struct fake_control *control, struct fake_group *group,
			  struct sim_port_ref port)
{
	uint32_t place = find_member(group, port);

	if (place == SIM_NONE)
		return;
	group->members[place] = group->members[--group->member_count];
	build_tree(control, group);
}

uint16_t fake_control_join(struct fake_control *control, uint32_t node, uint8_t port,
			   const struct acm_gid *mgid)
{
	struct fake_group *group = find_group(control, mgid);
	struct acm_mcmember record = {
		.mgid = *mgid, .qkey = FAKE_QKEY, .mtu = 4, .pkey = ACM_PKEY_DEFAULT, .rate = 3};

	if (!group)
		group = make_group(control, &record);
	add_member(control, group, (struct sim_port_ref){.node = node, .port = port});
	return group->record.mlid;
}

/* ---- the SA ---- */

static void load_join(const uint8_t *record, struct acm_mcmember *member)
{
	*member = (struct acm_mcmember){
		.qkey = load_be32(record + 32),
		.mtu = record[38] & 0x3f,
		.traffic_class = record[39],
		.pkey = load_be16(record + 40),
		.rate = record[42] & 0x3f,
		.sl = record[44] >> 4,
		.scope = record[48] >> 4,
		.join_state = record[48] & 0xf,
	};
	memcpy(&member->mgid, record, 16);
	memcpy(&member->port_gid, record + 16, 16);
}

static void answer_group(struct fake_control *control, struct sim_port_ref port, const uint8_t *mad,
			 uint8_t *answer)
{
	uint64_t tid = load_be64(mad + 8) ^ TID_REWRITTEN;
	uint8_t method = mad[3];
	struct acm_mcmember asked, record;
	struct fake_group *group;

	load_join(mad + AT_RECORD, &asked);
	group = find_group(control, &asked.mgid);
	if (!group && method != METHOD_GET && method != METHOD_DELETE)
		group = make_group(control, &asked);
	if (!group) {
		acm_sa_encode_mcmember_answer(NULL, method | ANSWER_BIT, STATUS_NO_RECORDS, tid,
					      answer);
		return;
	}
	if (method == METHOD_DELETE)
		remove_member(control, group, port);
	else if (method != METHOD_GET)
		add_member(control, group, port);
	record = group->record;
	record.port_gid = asked.port_gid;
	record.join_state = asked.join_state;
	acm_sa_encode_mcmember_answer(&record,
				      method == METHOD_DELETE ? METHOD_DELETE | ANSWER_BIT
							      : METHOD_GET | ANSWER_BIT,
				      0, tid, answer);
}

static const struct acm_port_facts *find_gid(const struct fake_control *control, const uint8_t *gid)
{
	for (uint32_t i = 0; i < control->port_count; i++)
		if (!memcmp(control->facts[i].gids[0].raw, gid, 16))
			return &control->facts[i];
	return NULL;
}

static void answer_path(const struct fake_control *control, const uint8_t *mad, uint8_t *answer)
{
	const struct acm_port_facts *to = find_gid(control, mad + AT_RECORD + 8);
	const struct acm_port_facts *from = find_gid(control, mad + AT_RECORD + 24);
	uint64_t tid = load_be64(mad + 8) ^ TID_REWRITTEN;
	struct acm_path path = {.reversible = true,
				.path_count = 1,
				.pkey = ACM_PKEY_DEFAULT,
				.mtu_selector = 2,
				.rate_selector = 2,
				.packet_life_selector = 2};

	if (!to || !from) {
		acm_sa_encode_path_answer(NULL, STATUS_NO_RECORDS, tid, answer);
		return;
	}
	path.dgid = to->gids[0];
	path.sgid = from->gids[0];
	path.dlid = to->lid;
	path.slid = from->lid;
	path.mtu = from->mtu < to->mtu ? from->mtu : to->mtu;
	path.rate = acm_rate_compare(from->rate, to->rate) < 0 ? from->rate : to->rate;
	acm_sa_encode_path_answer(&path, 0, tid, answer);
}

static struct fake_event *queued_at(struct fake_control *control, uint32_t place)
{
	return &control->queue[(control->first + place) % FAKE_QUEUE_MAX];
}

static void push(struct fake_control *control, const struct fake_event *event)
{
	assert_true(control->count < FAKE_QUEUE_MAX);
	*queued_at(control, control->count) = *event;
	control->count++;
}

static int sa_send(struct sim_control *base, struct sim_port_ref port, uint16_t pkey_index,
		   const uint8_t *mad, uint64_t cookie)
{
	struct fake_control *control = fake_of(base);
	struct fake_event queued = {.event.type = SIM_CONTROL_SA_ANSWER, .event.cookie = cookie};

	if (control->count >= control->sa_window)
		return -EAGAIN;
	if (pkey_index >= fake_control_port(control, port.node, port.port)->pkey_count)
		return -EINVAL;
	if (control->sa_failure) {
		queued.event.type = SIM_CONTROL_SA_FAILED;
		queued.event.status = control->sa_failure;
	} else if (load_be16(mad + 16) == ACM_SA_ATTRIBUTE_MCMEMBER) {
		answer_group(control, port, mad, queued.mad);
	} else {
		answer_path(control, mad, queued.mad);
	}
	push(control, &queued);
	return 0;
}

/* Whatever it is and wherever it goes: its like, as an answer. */
static int mad_send(struct sim_control *base, struct sim_port_ref port,
		    const struct sim_mad_route *route, const uint8_t *mad, uint64_t cookie)
{
	struct fake_control *control = fake_of(base);
	struct fake_event queued = {.event.type = SIM_CONTROL_SA_ANSWER, .event.cookie = cookie};

	if (control->count >= control->sa_window)
		return -EAGAIN;
	control->mad_port = port;
	control->mad_route = *route;
	if (control->sa_failure) {
		queued.event.type = SIM_CONTROL_SA_FAILED;
		queued.event.status = control->sa_failure;
	}
	memcpy(queued.mad, mad, sizeof(queued.mad));
	queued.mad[3] |= 0x80;
	push(control, &queued);
	return 0;
}

static void sa_cancel(struct sim_control *base, uint64_t cookie)
{
	struct fake_control *control = fake_of(base);
	uint32_t kept = 0;

	control->cancel_count++;
	for (uint32_t i = 0; i < control->count; i++) {
		struct fake_event *queued = queued_at(control, i);

		if (queued->event.cookie != cookie)
			*queued_at(control, kept++) = *queued;
	}
	control->count = kept;
}

/* ---- the rest ---- */

static int port_facts(struct sim_control *base, struct sim_port_ref port,
		      struct acm_port_facts *facts)
{
	const struct sim_topology *topology = fake_of(base)->topology;

	if (port.node >= topology->node_count || topology->nodes[port.node].kind != SIM_HOST ||
	    port.port < 1 || port.port > topology->nodes[port.node].port_count)
		return -ENODEV;
	*facts = *fake_control_port(fake_of(base), port.node, port.port);
	return 0;
}

static const struct sim_tables *tables(struct sim_control *base)
{
	return &fake_of(base)->tables;
}

static struct sim_group_membership member_of(const struct fake_control *control,
					     const struct fake_group *group, uint32_t member)
{
	struct sim_group_membership membership = {.port = group->members[member],
						  .record = group->record};

	if (!membership.record.join_state)
		membership.record.join_state = ACM_SA_JOIN_FULL;
	if (control->members_unknown) {
		membership.unknown = true;
		membership.record = (struct acm_mcmember){.mgid = group->record.mgid};
	}
	return membership;
}

static int memberships(struct sim_control *base, const struct sim_membership_query *query,
		       struct sim_group_memberships *all)
{
	struct fake_control *control = fake_of(base);

	control->members_asked = query->count;
	if (control->members_pending)
		return -EAGAIN;
	*all = (struct sim_group_memberships){.all = control->memberships};
	for (uint32_t i = 0; i < control->group_count; i++) {
		const struct fake_group *group = &control->groups[i];

		for (uint32_t member = 0; member < group->member_count; member++)
			control->memberships[all->count++] = member_of(control, group, member);
	}
	return 0;
}

static void refresh(struct sim_control *base)
{
	fake_of(base)->refresh_count++;
}

static int no_fd(struct sim_control *base)
{
	(void)base;
	return -1;
}

static uint64_t deadline(struct sim_control *base)
{
	const struct fake_control *control = fake_of(base);

	return control->count && control->event_limit ? 0 : ACM_NEVER;
}

static int process(struct sim_control *base, uint64_t now)
{
	(void)base;
	(void)now;
	return 0;
}

static int next_event(struct sim_control *base, struct sim_control_event *event)
{
	struct fake_control *control = fake_of(base);

	if (!control->count || !control->event_limit)
		return 0;
	control->pulled = control->queue[control->first];
	control->first = (control->first + 1) % FAKE_QUEUE_MAX;
	control->count--;
	control->event_limit--;
	*event = control->pulled.event;
	if (event->type == SIM_CONTROL_SA_ANSWER) {
		event->mad = control->pulled.mad;
		event->length = ACM_MAD_LENGTH;
	}
	return 1;
}

static void destroy(struct sim_control *base)
{
	struct fake_control *control = fake_of(base);

	for (uint32_t s = 0; s < control->tables.switch_count; s++) {
		free(control->tables.switches[s].lft);
		free(control->tables.switches[s].mft);
	}
	free(control->tables.switches);
	free(control->first_port);
	free(control->facts);
	free(control->queue);
	free(control);
}

static const struct sim_control_ops operations = {
	.port_facts = port_facts,
	.tables = tables,
	.sa_send = sa_send,
	.sa_cancel = sa_cancel,
	.mad_send = mad_send,
	.memberships = memberships,
	.refresh = refresh,
	.fd = no_fd,
	.deadline = deadline,
	.process = process,
	.next_event = next_event,
	.destroy = destroy,
};

static void set_facts(struct fake_control *control, uint32_t node, uint8_t port, uint16_t lid)
{
	const struct sim_node *host = &control->topology->nodes[node];
	const struct sim_port *own = &host->ports[port];
	struct acm_port_facts *facts = fake_control_port(control, node, port);

	memcpy(facts->device, host->device, sizeof(facts->device));
	facts->device_guid = host->guid;
	facts->number = port;
	facts->port_count = host->port_count;
	facts->state = own->peer == SIM_NONE ? ACM_PORT_DOWN : ACM_PORT_ACTIVE;
	facts->lid = lid;
	facts->subnet_timeout = 18;
	facts->gid_count = 1;
	facts->gids[0].raw[0] = 0xfe;
	facts->gids[0].raw[1] = 0x80;
	for (int i = 0; i < 8; i++)
		facts->gids[0].raw[8 + i] = (uint8_t)(own->guid >> (56 - 8 * i));
	facts->pkeys[facts->pkey_count++] = ACM_PKEY_DEFAULT;
	if (own->link == SIM_NONE)
		return;
	facts->mtu = control->topology->links[own->link].mtu;
	facts->rate = control->topology->links[own->link].rate;
}

static void add_pkeys(struct fake_control *control, const struct sim_partition *partition)
{
	for (uint32_t i = 0; i < partition->member_count; i++) {
		const struct sim_member *member = &partition->members[i];
		const struct sim_node *host = &control->topology->nodes[member->node];

		for (uint8_t port = 1; port <= host->port_count; port++) {
			struct acm_port_facts *facts =
				fake_control_port(control, member->node, port);

			facts->pkeys[facts->pkey_count++] =
				(uint16_t)(partition->pkey | (member->full ? ACM_PKEY_FULL : 0));
		}
	}
}

static void number_ports(struct fake_control *control)
{
	const struct sim_topology *topology = control->topology;
	uint32_t next = 0;

	control->first_port = get_memory(topology->node_count, sizeof(uint32_t));
	for (uint32_t node = topology->switch_count; node < topology->node_count; node++) {
		control->first_port[node] = next;
		next += topology->nodes[node].port_count;
	}
	control->port_count = next;
	control->facts = get_memory(next, sizeof(*control->facts));
	for (uint32_t node = topology->switch_count; node < topology->node_count; node++)
		for (uint8_t port = 1; port <= topology->nodes[node].port_count; port++)
			set_facts(control, node, port,
				  (uint16_t)((topology->switch_count + control->first_port[node] +
					      port) *
					     FAKE_LIDS_EACH));
}

struct fake_control *fake_control_create(const struct sim_topology *topology)
{
	struct fake_control *control = get_memory(1, sizeof(*control));

	control->base.ops = &operations;
	control->topology = topology;
	control->sa_window = FAKE_QUEUE_MAX;
	control->event_limit = UINT32_MAX;
	control->queue = get_memory(FAKE_QUEUE_MAX, sizeof(*control->queue));
	number_ports(control);
	for (uint32_t i = 0; i < topology->partition_count; i++)
		add_pkeys(control, &topology->partitions[i]);
	for (uint32_t i = 0; i < control->port_count; i++)
		control->facts[i].sm_lid = fake_control_port(control, topology->sm, 1)->lid;
	build_tables(control);
	return control;
}

struct acm_port_facts *fake_control_port(struct fake_control *control, uint32_t node, uint8_t port)
{
	return &control->facts[control->first_port[node] + port - 1];
}

void fake_control_tell(struct fake_control *control, enum sim_control_event_type type,
		       uint32_t node, uint8_t port)
{
	struct fake_event queued = {.event.type = type, .event.port = {.node = node, .port = port}};

	if (type == SIM_CONTROL_DIED)
		queued.event.text = "the fake control was told to die";
	push(control, &queued);
}
