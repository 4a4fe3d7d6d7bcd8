/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MCMemberRecords: joins with the checks that OpenSM makes, in its order; leaves; queries. */
#include "sa_state.h"

#include <acmite/bytes.h>
#include <errno.h>
#include <string.h>

#define SELECT_GREATER 0
#define SELECT_LESS    1
#define SELECT_EXACTLY 2
#define SCOPE_LINK     2

#define INVALID      SA_STATUS(ACM_SA_REQ_INVALID)
#define NO_RESOURCES SA_STATUS(ACM_SA_NO_RESOURCES)

#define JOIN_COMPONENTS (ACM_SA_MC_MGID | ACM_SA_MC_PORT_GID | ACM_SA_MC_JOIN_STATE)
#define CREATE_COMPONENTS                                                                          \
	(JOIN_COMPONENTS | ACM_SA_MC_QKEY | ACM_SA_MC_TRAFFIC_CLASS | ACM_SA_MC_PKEY |             \
	 ACM_SA_MC_FLOW_LABEL | ACM_SA_MC_SL)

static bool asks(const struct acm_sa_request *request, uint64_t components)
{
	return (request->components & components) == components;
}

static uint16_t base(uint16_t pkey)
{
	return (uint16_t)(pkey & ~ACM_PKEY_FULL);
}

static const struct sim_link *link_of(const struct sim_subnet *subnet, uint32_t port)
{
	const struct subnet_port *of = &subnet->ports[port];

	return &subnet->topology->links[subnet->topology->nodes[of->node].ports[of->number].link];
}

/* ---- does a request agree with a group? ---- */

static bool selects(uint8_t selector, int order)
{
	switch (selector) {
	case SELECT_GREATER:
		return order > 0;
	case SELECT_LESS:
		return order < 0;
	case SELECT_EXACTLY:
		return order == 0;
	default:
		return true;
	}
}

/* The selector alone decides whether they are looked at. */
static bool qualities_agree(const struct acm_sa_request *request, const struct acm_mcmember *group)
{
	const struct acm_mcmember *asked = &request->member;

	if (asks(request, ACM_SA_MC_MTU_SELECTOR) &&
	    !selects(request->member_mtu_selector, (int)group->mtu - asked->mtu))
		return false;
	return !asks(request, ACM_SA_MC_RATE_SELECTOR) ||
	       selects(request->member_rate_selector, acm_rate_compare(group->rate, asked->rate));
}

static bool fields_agree(const struct acm_sa_request *request, const struct acm_mcmember *group)
{
	const struct acm_mcmember *asked = &request->member;

	if (asks(request, ACM_SA_MC_PKEY) && (!((asked->pkey | group->pkey) & ACM_PKEY_FULL) ||
					      base(asked->pkey) != base(group->pkey)))
		return false;
	return (!asks(request, ACM_SA_MC_QKEY) || asked->qkey == group->qkey) &&
	       (!asks(request, ACM_SA_MC_TRAFFIC_CLASS) ||
		asked->traffic_class == group->traffic_class) &&
	       (!asks(request, ACM_SA_MC_SL) || asked->sl == group->sl) &&
	       (!asks(request, ACM_SA_MC_FLOW_LABEL) || asked->flow_label == group->flow_label) &&
	       (!asks(request, ACM_SA_MC_HOP_LIMIT) || asked->hop_limit == group->hop_limit);
}

/* ---- creating ---- */

static uint16_t signature(const struct acm_gid *mgid)
{
	return load_be16(mgid->raw + 2);
}

static bool is_ipoib(const struct acm_gid *mgid)
{
	return signature(mgid) == 0x401b || signature(mgid) == 0x601b;
}

static bool is_valid_mgid(const struct acm_gid *mgid)
{
	if (mgid->raw[0] != 0xff)
		return false;
	if (is_ipoib(mgid))
		return true;
	if (mgid->raw[1] & 0xe0)
		return false;
	return signature(mgid) != 0xa01b || (mgid->raw[1] & 0xf) != SCOPE_LINK;
}

/* Groups of IPoIB want the broadcast group of their partition, and its parameters. */
static bool fits_ipoib(const struct sa_service *service)
{
	const struct acm_gid *mgid = &service->request->member.mgid;
	struct acm_gid broadcast = {{0xff, 0x10, 0x40, 0x1b, [12] = 0xff, 0xff, 0xff, 0xff}};
	const struct sim_group *group;

	if (!is_ipoib(mgid))
		return true;
	broadcast.raw[1] |= mgid->raw[1] & 0xf;
	broadcast.raw[4] = mgid->raw[4];
	broadcast.raw[5] = mgid->raw[5];
	if (!memcmp(&broadcast, mgid, sizeof(broadcast)))
		return true;
	group = sim_subnet_find_group(service->subnet, &broadcast);
	return group && fields_agree(service->request, &group->record);
}

static bool choose_mtu(const struct acm_sa_request *request, uint8_t port_mtu, uint8_t *mtu)
{
	uint8_t asked = request->member.mtu;

	*mtu = port_mtu;
	if (!asks(request, ACM_SA_MC_MTU))
		return true;
	switch (request->member_mtu_selector) {
	case SELECT_GREATER:
		return asked < port_mtu;
	case SELECT_LESS:
		if (asked <= port_mtu)
			*mtu = (uint8_t)(asked - 1);
		break;
	case SELECT_EXACTLY:
		*mtu = asked;
		break;
	default:
		return true;
	}
	return acm_mtu_bytes(*mtu) != 0;
}

static bool choose_rate(const struct acm_sa_request *request, uint8_t port_rate, uint8_t *rate)
{
	uint8_t asked = request->member.rate;

	*rate = port_rate;
	if (!asks(request, ACM_SA_MC_RATE))
		return true;
	switch (request->member_rate_selector) {
	case SELECT_GREATER:
		return acm_rate_compare(asked, port_rate) < 0;
	case SELECT_LESS:
		if (acm_rate_compare(asked, port_rate) <= 0)
			*rate = sa_rate_below(asked);
		break;
	case SELECT_EXACTLY:
		*rate = asked;
		break;
	default:
		return true;
	}
	return acm_rate_tenths_gbps(*rate) != 0;
}

static uint16_t create(struct sa_service *service, uint32_t port, struct sim_group **group)
{
	const struct acm_sa_request *request = service->request;
	const struct sim_link *link = link_of(service->subnet, port);
	struct acm_mcmember record = request->member;
	static const struct acm_gid none;
	int error;

	if (!(record.join_state & (ACM_SA_JOIN_FULL | ACM_SA_JOIN_SEND_ONLY_FULL)))
		return INVALID;
	if (!asks(request, CREATE_COMPONENTS))
		return SA_STATUS(ACM_SA_INSUFFICIENT_COMPONENTS);
	if (!memcmp(&record.mgid, &none, sizeof(none)))
		sim_subnet_make_mgid(service->subnet,
				     asks(request, ACM_SA_MC_SCOPE) ? record.scope : SCOPE_LINK,
				     &record.mgid);
	else if (!is_valid_mgid(&record.mgid) || !fits_ipoib(service))
		return INVALID;
	if (!choose_mtu(request, link->mtu, &record.mtu) ||
	    !choose_rate(request, link->rate, &record.rate))
		return INVALID;
	error = sim_subnet_add_group(service->subnet, &record, group);
	if (error == -ENOMEM)
		service->error = error;
	return error ? NO_RESOURCES : 0;
}

/* ---- joining ---- */

static bool port_can(const struct sa_service *service, const struct sim_group *group, uint32_t port)
{
	const struct sim_link *link = link_of(service->subnet, port);

	return link->mtu >= group->record.mtu &&
	       acm_rate_compare(link->rate, group->record.rate) >= 0;
}

/* Only a member itself may change its membership, unless another made it. */
static bool may_modify(const struct sa_service *service, const struct sim_group *group,
		       uint32_t port)
{
	const struct sim_group_member *member = sim_group_find_member(group, port);

	if (!member)
		return true;
	if (!member->proxy)
		return port == service->requester;
	return sim_subnet_pkey_of(service->subnet, service->requester, group->record.pkey) != 0;
}

static bool may_join(const struct sa_service *service, const struct sim_group *group, uint32_t port)
{
	return qualities_agree(service->request, &group->record) &&
	       port_can(service, group, port) && service->request->member.join_state != 0 &&
	       sim_subnet_pkey_of(service->subnet, port, group->record.pkey) != 0 &&
	       may_modify(service, group, port);
}

static void answer_join(struct sa_service *service, const struct sim_group *group, uint32_t port)
{
	struct acm_mcmember record = group->record;

	record.port_gid = service->request->member.port_gid;
	record.join_state = sim_group_find_member(group, port)->join_state;
	sa_add_member(service, &record);
}

static uint16_t join_group(struct sa_service *service, struct sim_group *group, uint32_t port)
{
	bool proxy = port != service->requester;

	service->error = sim_subnet_join(service->subnet, group, port, proxy,
					 service->request->member.join_state, service->now);
	if (service->error)
		return NO_RESOURCES;
	answer_join(service, group, port);
	return 0;
}

static uint16_t join(struct sa_service *service)
{
	const struct acm_sa_request *request = service->request;
	struct sim_subnet *subnet = service->subnet;
	uint32_t port = sim_subnet_port_of_guid(subnet, sa_guid(&request->member.port_gid));
	struct sim_group *group = sim_subnet_find_group(subnet, &request->member.mgid);
	bool is_new = !group;
	uint16_t status;

	if (port == SIM_NONE || subnet->ports[port].number == 0 ||
	    !sa_share_pkey(subnet, port, service->requester))
		return INVALID;
	if (asks(request, ACM_SA_MC_PKEY) && !base(request->member.pkey))
		return INVALID;
	if (is_new) {
		status = create(service, port, &group);
		if (status)
			return status;
	} else if (!fields_agree(request, &group->record)) {
		return INVALID;
	}
	if (may_join(service, group, port))
		return join_group(service, group, port);
	if (is_new)
		sim_subnet_drop_group(subnet, &group->record.mgid, service->now);
	return INVALID;
}

/* ---- leaving ---- */

static uint16_t leave(struct sa_service *service)
{
	struct sim_subnet *subnet = service->subnet;
	struct acm_mcmember record = service->request->member;
	uint32_t port = sim_subnet_port_of_guid(subnet, sa_guid(&record.port_gid));
	struct sim_group *group = sim_subnet_find_group(subnet, &record.mgid);
	const struct sim_group_member *member;
	uint8_t bits = record.join_state;

	member = group && port != SIM_NONE ? sim_group_find_member(group, port) : NULL;
	if (!member || !bits || (bits & ~member->join_state) || !may_modify(service, group, port))
		return INVALID;
	record.scope = group->record.scope;
	record.join_state = member->join_state & (uint8_t)~bits;
	sim_subnet_leave(subnet, group, port, bits, service->now);
	sa_add_member(service, &record);
	return 0;
}

/* ---- asking ---- */

static void add_members(struct sa_service *service, const struct sim_group *group)
{
	const struct acm_sa_request *request = service->request;

	for (uint32_t i = 0; i < group->member_count; i++) {
		struct acm_mcmember record = group->record;

		record.join_state = group->members[i].join_state;
		record.port_gid = sa_gid(service->subnet,
					 service->subnet->ports[group->members[i].port].guid);
		if (!asks(request, ACM_SA_MC_JOIN_STATE) ||
		    record.join_state == request->member.join_state)
			sa_add_member(service, &record);
	}
}

/* Members are told only to who knows the SM_Key. */
static void query_group(struct sa_service *service, const struct sim_group *group)
{
	const struct acm_sa_request *request = service->request;
	const struct acm_mcmember *asked = &request->member;
	bool trusted = request->sm_key != 0;
	struct acm_mcmember record = group->record;
	const struct sim_group_member *member = NULL;
	uint32_t port;

	record.join_state = ACM_SA_JOIN_FULL; /* what made the group */
	if (asks(request, ACM_SA_MC_PORT_GID)) {
		port = sim_subnet_port_of_guid(service->subnet, sa_guid(&asked->port_gid));
		member = port == SIM_NONE ? NULL : sim_group_find_member(group, port);
		if (!member)
			return;
		record.join_state = member->join_state;
		record.port_gid = asked->port_gid;
	} else if (trusted) {
		add_members(service, group);
		return;
	}
	if ((asks(request, ACM_SA_MC_SCOPE) && asked->scope != record.scope) ||
	    (asks(request, ACM_SA_MC_JOIN_STATE) && asked->join_state != record.join_state))
		return;
	if (!trusted) {
		record.port_gid = (struct acm_gid){{0}};
		record.join_state = 0;
	}
	sa_add_member(service, &record);
}

static uint16_t query(struct sa_service *service)
{
	const struct acm_sa_request *request = service->request;
	struct sim_subnet *subnet = service->subnet;

	for (uint32_t i = 0; i < sim_subnet_group_count(subnet); i++) {
		const struct sim_group *group = sim_subnet_group(subnet, i);

		if (asks(request, ACM_SA_MC_MGID) &&
		    memcmp(&request->member.mgid, &group->record.mgid, sizeof(struct acm_gid)))
			continue;
		if (asks(request, ACM_SA_MC_MLID) && request->member.mlid != group->record.mlid)
			continue;
		if (sim_subnet_pkey_of(subnet, service->requester, group->record.pkey) &&
		    fields_agree(request, &group->record) &&
		    qualities_agree(request, &group->record))
			query_group(service, group);
	}
	return 0;
}

/* ---- all of them ---- */

static uint16_t check_change(const struct sa_service *service)
{
	const struct acm_sa_request *request = service->request;

	if (!asks(request, JOIN_COMPONENTS))
		return SA_STATUS(ACM_SA_INSUFFICIENT_COMPONENTS);
	if (asks(request, ACM_SA_MC_RATE) && !acm_rate_tenths_gbps(request->member.rate))
		return INVALID;
	if (asks(request, ACM_SA_MC_MTU) && !acm_mtu_bytes(request->member.mtu))
		return INVALID;
	if (!sa_is_of_subnet(service->subnet, &request->member.port_gid))
		return SA_STATUS(ACM_SA_INVALID_GID);
	return 0;
}

uint16_t sa_serve_members(struct sa_service *service)
{
	uint16_t status = check_change(service);

	switch (service->request->method) {
	case ACM_SA_METHOD_SET:
		return status ? status : join(service);
	case ACM_SA_METHOD_DELETE:
		return status ? status : leave(service);
	case ACM_SA_METHOD_GET:
	case ACM_SA_METHOD_GET_TABLE:
		return query(service);
	default:
		return ACM_SA_STATUS_UNSUPPORTED;
	}
}
