/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PathRecords. The walk is that of the tables; MTU and rate are the least on the way. Selectors,
 * P_Keys and the order of records are OpenSM's, also where the specification would let them be
 * different.
 */
#include "sa_state.h"

#include <string.h>

#define SELECT_GREATER 0
#define SELECT_LESS    1
#define SELECT_EXACTLY 2
#define HOPS_MAX       64
#define MTU_MAX        5
#define RATE_MAX       25 /* the fastest code */

/* ---- the way ---- */

/* What the way from one port to a LID of another can carry. */
struct way {
	uint8_t mtu;
	uint8_t rate;
};

static void narrow(struct way *way, const struct sim_link *link)
{
	if (link->mtu < way->mtu)
		way->mtu = link->mtu;
	if (acm_rate_compare(link->rate, way->rate) < 0)
		way->rate = link->rate;
}

static const struct sim_link *link_at(const struct sim_subnet *subnet, uint32_t node, uint32_t port)
{
	uint32_t link = subnet->topology->nodes[node].ports[port].link;

	return link == SIM_NONE || !subnet->link_seen[link] ? NULL : &subnet->topology->links[link];
}

static bool find_way(const struct sim_subnet *subnet, uint32_t from, uint32_t to, uint16_t dlid,
		     struct way *way)
{
	const struct subnet_port *source = &subnet->ports[from], *target = &subnet->ports[to];
	uint32_t node = source->node, out = source->number;

	*way = (struct way){.mtu = MTU_MAX, .rate = RATE_MAX};
	for (int hops = 0; hops <= HOPS_MAX; hops++) {
		const struct sim_link *link;
		const struct sim_port *at;

		if (hops > 0 || out == 0) {
			const struct sim_switch_tables *tables = &subnet->tables.switches[node];

			out = dlid < tables->lft_size ? tables->lft[dlid] : SUBNET_NO_PATH;
			if (out == 0)
				return node == target->node;
			if (out > subnet->topology->nodes[node].port_count)
				return false;
		}
		link = link_at(subnet, node, out);
		if (!link)
			return false;
		narrow(way, link);
		if (from == to)
			return true;
		at = &subnet->topology->nodes[node].ports[out];
		if (subnet->topology->nodes[at->peer].kind == SIM_HOST)
			return subnet->first[at->peer] + at->peer_port == to;
		node = at->peer;
	}
	return false;
}

/* ---- what is asked of it ---- */

static bool asks(const struct acm_sa_request *request, uint64_t components)
{
	return (request->components & components) == components;
}

static bool fit_mtu(const struct acm_path *asked, uint8_t *mtu)
{
	switch (asked->mtu_selector) {
	case SELECT_GREATER:
		return *mtu > asked->mtu;
	case SELECT_LESS:
		if (*mtu >= asked->mtu)
			*mtu = (uint8_t)(asked->mtu - 1);
		return *mtu > 0;
	case SELECT_EXACTLY:
		if (*mtu < asked->mtu)
			return false;
		*mtu = asked->mtu;
		return true;
	default:
		return true;
	}
}

static bool fit_rate(const struct acm_path *asked, uint8_t *rate)
{
	int order = acm_rate_compare(*rate, asked->rate);

	switch (asked->rate_selector) {
	case SELECT_GREATER:
		return order > 0;
	case SELECT_LESS:
		if (order >= 0)
			*rate = sa_rate_below(asked->rate);
		return *rate != 0;
	case SELECT_EXACTLY:
		/* Not the lower one that would do as well: so OpenSM has it. */
		return order == 0;
	default:
		return true;
	}
}

static bool fit_life(const struct acm_path *asked, uint8_t *life)
{
	switch (asked->packet_life_selector) {
	case SELECT_GREATER:
		return *life > asked->packet_life;
	case SELECT_LESS:
		if (*life < asked->packet_life)
			return true;
		if (asked->packet_life <= 1)
			return false;
		*life = (uint8_t)(asked->packet_life - 1);
		return true;
	case SELECT_EXACTLY:
		if (*life < asked->packet_life)
			return false;
		*life = asked->packet_life;
		return true;
	default:
		return true;
	}
}

static bool choose_pkey(const struct sim_subnet *subnet, const struct acm_sa_request *request,
			uint32_t from, uint32_t to, uint16_t *pkey)
{
	uint16_t asked = request->path.pkey, own, other;

	if (!asks(request, ACM_SA_PATH_PKEY) ||
	    (asks(request, ACM_SA_PATH_RAW_TRAFFIC) && request->raw_traffic)) {
		*pkey = sim_subnet_common_pkey(subnet, from, to);
		return *pkey != 0 || asks(request, ACM_SA_PATH_RAW_TRAFFIC);
	}
	own = sim_subnet_pkey_of(subnet, from, asked);
	other = sim_subnet_pkey_of(subnet, to, asked);
	*pkey = asked;
	return own && other && ((own | other) & ACM_PKEY_FULL);
}

/* One direction between two LIDs, as asked for. False: there is none. */
static bool find_path(const struct sim_subnet *subnet, const struct acm_sa_request *request,
		      uint32_t from, uint32_t to, uint16_t dlid, struct acm_path *path)
{
	const struct acm_path *asked = &request->path;
	struct way way;

	if (!find_way(subnet, from, to, dlid, &way))
		return false;
	*path = (struct acm_path){
		.mtu = way.mtu,
		.rate = way.rate,
		.packet_life = from == to ? 0 : subnet->options.subnet_timeout,
		.mtu_selector = SELECT_EXACTLY,
		.rate_selector = SELECT_EXACTLY,
		.packet_life_selector = SELECT_EXACTLY,
		.sl = asks(request, ACM_SA_PATH_SL) ? asked->sl : 0,
	};
	if ((asks(request, ACM_SA_PATH_MTU) && !fit_mtu(asked, &path->mtu)) ||
	    (asks(request, ACM_SA_PATH_RATE) && !fit_rate(asked, &path->rate)) ||
	    (asks(request, ACM_SA_PATH_PACKET_LIFE) && !fit_life(asked, &path->packet_life)) ||
	    !choose_pkey(subnet, request, from, to, &path->pkey))
		return false;
	if (from == to)
		path->packet_life = 0;
	if (asks(request, ACM_SA_PATH_RAW_TRAFFIC) && request->raw_traffic)
		path->pkey = 0;
	return true;
}

/* Both directions: whether it can be reversed is told, and may be asked for. */
static bool find_record(const struct sim_subnet *subnet, const struct acm_sa_request *request,
			uint32_t from, uint16_t slid, uint32_t to, uint16_t dlid,
			struct acm_path *path)
{
	struct acm_path back;

	if (!find_path(subnet, request, from, to, dlid, path))
		return false;
	path->reversible = find_path(subnet, request, to, from, slid, &back);
	if (asks(request, ACM_SA_PATH_REVERSIBLE) && request->path.reversible && !path->reversible)
		return false;
	path->sgid = sa_gid(subnet, subnet->ports[from].guid);
	path->dgid = sa_gid(subnet, subnet->ports[to].guid);
	path->slid = slid;
	path->dlid = dlid;
	return true;
}

bool sim_sa_path(const struct sim_subnet *subnet, uint32_t from, uint32_t to, struct acm_path *path)
{
	static const struct acm_sa_request nothing;

	return subnet->ports[from].known && subnet->ports[to].known &&
	       find_record(subnet, &nothing, from, subnet->ports[from].lid, to,
			   subnet->ports[to].lid, path);
}

/* ---- pairs ---- */

struct lids {
	uint32_t first, last;
};

static struct lids lids_of(const struct sim_subnet *subnet, uint32_t port, bool given, uint16_t lid)
{
	const struct subnet_port *of = &subnet->ports[port];

	if (given)
		return (struct lids){lid, lid};
	return (struct lids){of->lid, of->lid + (1u << of->lmc) - 1};
}

static void add_record(struct sa_service *service, uint32_t from, uint32_t slid, uint32_t to,
		       uint32_t dlid, uint8_t preference)
{
	struct acm_path path;

	if (!find_record(service->subnet, service->request, from, (uint16_t)slid, to,
			 (uint16_t)dlid, &path))
		return;
	path.preference = preference;
	sa_add_path(service, &path);
}

static uint32_t most_records(const struct acm_sa_request *request)
{
	if (request->method == ACM_SA_METHOD_GET)
		return 1;
	return asks(request, ACM_SA_PATH_COUNT) ? request->path.path_count : UINT32_MAX;
}

/* First LID with first LID and so on, then all other combinations. */
static void add_pair(struct sa_service *service, uint32_t from, uint32_t to)
{
	const struct sim_subnet *subnet = service->subnet;
	const struct acm_sa_request *request = service->request;
	struct lids source =
		lids_of(subnet, from, asks(request, ACM_SA_PATH_SLID), request->path.slid);
	struct lids target =
		lids_of(subnet, to, asks(request, ACM_SA_PATH_DLID), request->path.dlid);
	uint32_t most = most_records(request), before = service->records;

	if (!sa_share_pkey(subnet, service->requester, from) ||
	    !sa_share_pkey(subnet, service->requester, to) || !sa_share_pkey(subnet, from, to) ||
	    !source.first || !target.first)
		return;
	for (uint32_t i = 0; source.first + i <= source.last && target.first + i <= target.last &&
			     service->records - before < most;
	     i++)
		add_record(service, from, source.first + i, to, target.first + i, 0);
	for (uint32_t slid = source.first; slid <= source.last; slid++)
		for (uint32_t dlid = target.first; dlid <= target.last; dlid++)
			if (service->records - before < most &&
			    slid - source.first != dlid - target.first)
				add_record(service, from, slid, to, dlid, 2);
}

/* ---- who is meant ---- */

enum meant { ANYBODY, SOMEBODY, NOBODY, CONTRADICTION };

/* By GID, by LID, by both, or not at all. */
static enum meant find_port(const struct sim_subnet *subnet, const struct acm_gid *gid,
			    const uint16_t *lid, uint32_t *port)
{
	uint32_t by_lid = SIM_NONE;

	*port = SIM_NONE;
	if (gid) {
		*port = sa_is_of_subnet(subnet, gid) ? sim_subnet_port_of_guid(subnet, sa_guid(gid))
						     : SIM_NONE;
		if (*port == SIM_NONE)
			return NOBODY;
	}
	if (lid) {
		by_lid = sim_subnet_port_of_lid(subnet, *lid);
		if (by_lid == SIM_NONE)
			return NOBODY;
		if (gid && by_lid != *port)
			return CONTRADICTION;
		*port = by_lid;
	}
	return gid || lid ? SOMEBODY : ANYBODY;
}

/* All destinations from one source; `from` and `to` are SIM_NONE for all. */
static void add_all(struct sa_service *service, uint32_t from, uint32_t to)
{
	const struct sim_subnet *subnet = service->subnet;
	bool one = service->request->method == ACM_SA_METHOD_GET;

	for (uint32_t d = 0; d < subnet->end_port_count; d++) {
		uint32_t target = subnet->end_ports[d];

		if (!subnet->ports[target].known || (to != SIM_NONE && target != to))
			continue;
		for (uint32_t s = 0; s < subnet->end_port_count; s++) {
			uint32_t source = subnet->end_ports[s];

			if (from != SIM_NONE)
				source = from;
			if (subnet->ports[source].known)
				add_pair(service, source, target);
			if (one && service->records)
				return;
			if (from != SIM_NONE)
				break;
		}
	}
}

static uint16_t serve_unicast(struct sa_service *service)
{
	const struct acm_sa_request *request = service->request;
	const struct acm_path *asked = &request->path;
	const struct acm_gid *sgid = asks(request, ACM_SA_PATH_SGID) ? &asked->sgid : NULL;
	const struct acm_gid *dgid = asks(request, ACM_SA_PATH_DGID) ? &asked->dgid : NULL;
	const uint16_t *slid = asks(request, ACM_SA_PATH_SLID) ? &asked->slid : NULL;
	const uint16_t *dlid = asks(request, ACM_SA_PATH_DLID) ? &asked->dlid : NULL;
	uint32_t from, to;
	enum meant source = find_port(service->subnet, sgid, slid, &from);
	enum meant target = find_port(service->subnet, dgid, dlid, &to);

	if (source == NOBODY || target == NOBODY)
		return 0;
	if (source == CONTRADICTION || target == CONTRADICTION)
		return SA_STATUS(ACM_SA_REQ_INVALID);
	if (source == SOMEBODY && target == SOMEBODY)
		add_pair(service, from, to);
	else
		add_all(service, from, to);
	return 0;
}

/* ---- to a group ---- */

static bool matches_group(const struct sa_service *service, const struct sim_group *group)
{
	const struct acm_sa_request *request = service->request;
	const struct acm_path *asked = &request->path;
	const struct acm_mcmember *record = &group->record;
	uint32_t port;

	if (asks(request, ACM_SA_PATH_SGID)) {
		port = sim_subnet_port_of_guid(service->subnet, sa_guid(&asked->sgid));
		if (port == SIM_NONE || !sim_group_find_member(group, port))
			return false;
	}
	if (asks(request, ACM_SA_PATH_SLID)) {
		port = sim_subnet_port_of_lid(service->subnet, asked->slid);
		if (port == SIM_NONE || !sim_group_find_member(group, port))
			return false;
	}
	return (!asks(request, ACM_SA_PATH_DLID) || asked->dlid == record->mlid) &&
	       (!asks(request, ACM_SA_PATH_PKEY) || asked->pkey == record->pkey) &&
	       (!asks(request, ACM_SA_PATH_SL) || asked->sl == record->sl) &&
	       (!asks(request, ACM_SA_PATH_FLOW_LABEL) ||
		asked->flow_label == record->flow_label) &&
	       (!asks(request, ACM_SA_PATH_HOP_LIMIT) || asked->hop_limit == record->hop_limit) &&
	       (!asks(request, ACM_SA_PATH_TRAFFIC_CLASS) ||
		asked->traffic_class == record->traffic_class);
}

static uint16_t serve_multicast(struct sa_service *service)
{
	const struct acm_sa_request *request = service->request;
	const struct sim_group *group = sim_subnet_find_group(service->subnet, &request->path.dgid);
	struct acm_path path = request->path;

	if (!group || !matches_group(service, group))
		return 0;
	path.dlid = group->record.mlid;
	path.traffic_class = group->record.traffic_class;
	path.reversible = false;
	path.path_count = 1;
	path.pkey = group->record.pkey;
	path.mtu = group->record.mtu;
	path.rate = group->record.rate;
	path.packet_life = group->record.packet_life;
	path.mtu_selector = path.rate_selector = path.packet_life_selector = SELECT_EXACTLY;
	path.sl = group->record.sl;
	path.qos_class = 0;
	path.flow_label = group->record.flow_label;
	/* OpenSM sets the limit for all but link-local groups. */
	path.hop_limit = (group->record.mgid.raw[1] & 0xf) == 2 ? group->record.hop_limit : 0xff;
	sa_add_path(service, &path);
	return 0;
}

uint16_t sa_serve_paths(struct sa_service *service)
{
	const struct acm_sa_request *request = service->request;
	uint64_t service_id = request->components & ACM_SA_PATH_SERVICE_ID;

	if (request->method != ACM_SA_METHOD_GET && request->method != ACM_SA_METHOD_GET_TABLE)
		return ACM_SA_STATUS_UNSUPPORTED;
	if (asks(request, ACM_SA_PATH_RATE) && !acm_rate_tenths_gbps(request->path.rate))
		return SA_STATUS(ACM_SA_REQ_INVALID);
	if (asks(request, ACM_SA_PATH_MTU) && !acm_mtu_bytes(request->path.mtu))
		return SA_STATUS(ACM_SA_REQ_INVALID);
	if (service_id && service_id != ACM_SA_PATH_SERVICE_ID)
		return SA_STATUS(ACM_SA_INSUFFICIENT_COMPONENTS);
	if (asks(request, ACM_SA_PATH_DGID) && request->path.dgid.raw[0] == 0xff)
		return serve_multicast(service);
	return serve_unicast(service);
}
