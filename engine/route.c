/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of a destination: its address, its route, how long it holds, and as a path record.
 */
#include "core.h"

#include <string.h>

#define SELECTOR_SHIFT   6
#define VALUE_MASK       0x3fu
#define SELECTOR_EXACTLY 2
#define REVERSIBLE       0x80u

/* What is not remembered at all still serves those who wait for it, at the moment it is learned. */
static uint64_t expiry(const struct acm_engine *engine, uint64_t life)
{
	return life == ACM_NEVER ? ACM_NEVER : engine->now + (life ? life : 1);
}

bool acm_destination_has_address(const struct acm_engine *engine,
				 const struct acm_endpoint *endpoint,
				 const struct acm_destination *destination)
{
	return destination->address_known == ACM_KNOWN &&
	       destination->address_epoch == endpoint->address_epoch &&
	       destination->address_expires > engine->now;
}

bool acm_destination_has_route(const struct acm_engine *engine, const struct acm_endpoint *endpoint,
			       const struct acm_destination *destination)
{
	return destination->route_known == ACM_KNOWN &&
	       destination->route_epoch == endpoint->route_epoch &&
	       destination->route_expires > engine->now;
}

enum acm_status acm_destination_refusal(const struct acm_engine *engine,
					const struct acm_endpoint *endpoint,
					const struct acm_destination *destination)
{
	if (destination->route_known != ACM_REFUSED || destination->route_expires <= engine->now ||
	    destination->route_epoch != endpoint->route_epoch)
		return ACM_STATUS_OK;
	return (enum acm_status)destination->status;
}

void acm_destination_set_address(const struct acm_engine *engine,
				 const struct acm_endpoint *endpoint,
				 struct acm_destination *destination, uint16_t lid,
				 const struct acm_gid *gid)
{
	bool moved = destination->lid != lid || memcmp(&destination->gid, gid, sizeof(*gid)) != 0;

	/* Whoever answers or asks is alive: a remembered failure is over; a route led to the old
	 * place. */
	if (moved || destination->route_known == ACM_REFUSED)
		destination->route_known = ACM_UNKNOWN;
	destination->lid = lid;
	destination->gid = *gid;
	destination->address_known = ACM_KNOWN;
	destination->address_epoch = endpoint->address_epoch;
	destination->address_expires = expiry(engine, engine->config.address_life);
}

void acm_destination_set_route(const struct acm_engine *engine, const struct acm_endpoint *endpoint,
			       struct acm_destination *destination, const struct acm_path *path)
{
	int gid_index = acm_port_gid_index(endpoint->port, &path->sgid);

	destination->gid = path->dgid;
	destination->sgid_index = (uint8_t)(gid_index < 0 ? 0 : gid_index);
	destination->flow_label = path->flow_label;
	destination->slid = path->slid;
	destination->dlid = path->dlid;
	destination->pkey = path->pkey;
	destination->qos_class = path->qos_class;
	destination->sl = path->sl;
	destination->mtu = (uint8_t)(path->mtu_selector << SELECTOR_SHIFT | path->mtu);
	destination->rate = (uint8_t)(path->rate_selector << SELECTOR_SHIFT | path->rate);
	destination->packet_life =
		(uint8_t)(path->packet_life_selector << SELECTOR_SHIFT | path->packet_life);
	destination->hop_limit = path->hop_limit;
	destination->traffic_class = path->traffic_class;
	destination->paths = (uint8_t)(path->path_count | (path->reversible ? REVERSIBLE : 0));
	destination->preference = path->preference;
	destination->route_known = ACM_KNOWN;
	destination->route_epoch = endpoint->route_epoch;
	destination->route_expires = expiry(engine, engine->config.route_life);
}

void acm_destination_set_refusal(const struct acm_engine *engine,
				 struct acm_destination *destination, enum acm_status status)
{
	uint64_t life = engine->config.negative_life;

	/* No records is what a subnet says that is still being swept: believe it for less long. */
	if (status == ACM_STATUS_NO_DATA && life > ACM_NSEC_PER_SEC)
		life = ACM_NSEC_PER_SEC;
	destination->route_known = life ? ACM_REFUSED : ACM_UNKNOWN;
	destination->status = (uint8_t)status;
	destination->route_expires = expiry(engine, life);
}

void acm_destination_path(const struct acm_endpoint *endpoint,
			  const struct acm_destination *destination, struct acm_path *path)
{
	path->service_id = 0;
	path->dgid = destination->gid;
	path->sgid = endpoint->port->facts.gids[destination->sgid_index];
	path->dlid = destination->dlid;
	path->slid = destination->slid;
	path->flow_label = destination->flow_label;
	path->hop_limit = destination->hop_limit;
	path->traffic_class = destination->traffic_class;
	path->reversible = destination->paths & REVERSIBLE;
	path->path_count = destination->paths & (uint8_t)~REVERSIBLE;
	path->pkey = destination->pkey;
	path->qos_class = destination->qos_class;
	path->sl = destination->sl;
	path->mtu = destination->mtu & VALUE_MASK;
	path->mtu_selector = destination->mtu >> SELECTOR_SHIFT;
	path->rate = destination->rate & VALUE_MASK;
	path->rate_selector = destination->rate >> SELECTOR_SHIFT;
	path->packet_life = destination->packet_life & VALUE_MASK;
	path->packet_life_selector = destination->packet_life >> SELECTOR_SHIFT;
	path->preference = destination->preference;
}

static void exactly(struct acm_path *path)
{
	path->mtu_selector = path->rate_selector = path->packet_life_selector = SELECTOR_EXACTLY;
	path->reversible = true;
	path->path_count = 1;
}

void acm_route_from_group(const struct acm_endpoint *endpoint, const struct acm_group *group,
			  uint16_t lid, const struct acm_gid *gid, struct acm_path *path)
{
	const struct acm_mcmember *record = &group->record;

	memset(path, 0, sizeof(*path));
	path->dgid = *gid;
	path->sgid = endpoint->port->facts.gids[0];
	path->dlid = lid;
	path->slid = endpoint->port->facts.lid;
	path->flow_label = record->flow_label;
	path->hop_limit = record->hop_limit;
	path->traffic_class = record->traffic_class;
	path->pkey = endpoint->pkey;
	path->sl = record->sl;
	path->mtu = record->mtu;
	path->rate = record->rate;
	path->packet_life = record->packet_life;
	exactly(path);
}

void acm_route_loopback(const struct acm_endpoint *endpoint, struct acm_path *path)
{
	const struct acm_port_facts *facts = &endpoint->port->facts;

	memset(path, 0, sizeof(*path));
	path->dgid = path->sgid = facts->gids[0];
	path->dlid = path->slid = facts->lid;
	path->pkey = endpoint->pkey;
	path->mtu = facts->mtu;
	path->rate = facts->rate;
	exactly(path);
}
