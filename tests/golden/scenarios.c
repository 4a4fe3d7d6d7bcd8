/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenarios.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MS  ACM_NSEC_PER_MSEC
#define SEC ACM_NSEC_PER_SEC

/* All joined, before anything is shown. */
static void begin(struct cluster *cluster)
{
	cluster_start(cluster);
	show(cluster);
}

static void ask(struct cluster *cluster, int node, const char *to)
{
	say(cluster, "node%d asks for %s", node, to);
	cluster_ask(cluster, node, to);
	cluster_run_for(cluster, MS);
}

static void pass(struct cluster *cluster, uint64_t duration)
{
	say(cluster, "%llu ms pass", (unsigned long long)(duration / MS));
	cluster_run_for(cluster, duration);
}

static void name_event(struct cluster *cluster, int node, enum acm_event_type type,
		       const char *name)
{
	if (type == ACM_EVENT_ADDRESS_ADDED)
		cluster_add_address(cluster, node, ACM_ADDRESS_NAME, name, strlen(name));
	else
		cluster_remove_address(cluster, node, ACM_ADDRESS_NAME, name, strlen(name));
}

/* ---- the ordinary ---- */

static void play_start(struct cluster *cluster)
{
	show(cluster);
	say(cluster, "its port is there and active");
	cluster_port_changed(cluster, 1);
	cluster_run_for(cluster, MS);
	say(cluster, "it gets a name: now it can be asked for something, so it joins");
	name_event(cluster, 1, ACM_EVENT_ADDRESS_ADDED, "node1");
	cluster_run_for(cluster, MS);
	say(cluster, "the name goes: it leaves");
	name_event(cluster, 1, ACM_EVENT_ADDRESS_REMOVED, "node1");
	cluster_run_for(cluster, MS);
}

static void play_cold_resolution(struct cluster *cluster)
{
	begin(cluster);
	ask(cluster, 1, "node2");
	say(cluster, "again: all is known");
	cluster_ask(cluster, 1, "NODE2");
	say(cluster, "the other way round: the address was learned from the question");
	cluster_ask(cluster, 2, "node1");
	cluster_run_for(cluster, MS);
}

static void play_loopback(struct cluster *cluster)
{
	begin(cluster);
	ask(cluster, 1, "node1");
}

static void play_coalescing(struct cluster *cluster)
{
	begin(cluster);
	say(cluster, "three requests for one name, one for another");
	cluster_ask(cluster, 1, "node2");
	cluster_ask(cluster, 1, "node3");
	cluster_ask(cluster, 1, "node2");
	cluster_ask(cluster, 1, "node2");
	cluster_run_for(cluster, MS);
}

static void play_crossing(struct cluster *cluster)
{
	begin(cluster);
	say(cluster, "two nodes ask for each other at one time");
	cluster_ask(cluster, 1, "node2");
	cluster_ask(cluster, 2, "node1");
	cluster_run_for(cluster, MS);
}

static void play_no_delay(struct cluster *cluster)
{
	struct acm_request request = cluster_request(cluster, 1, "node2");

	begin(cluster);
	request.no_delay = true;
	say(cluster, "node1 asks for node2, but will not wait");
	cluster_ask_request(cluster, 1, &request);
	cluster_run_for(cluster, MS);
	say(cluster, "once more");
	cluster_ask_request(cluster, 1, &request);
	cluster_run_for(cluster, MS);
}

static void play_by_path(struct cluster *cluster)
{
	struct acm_request request = {.opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_PATH};

	begin(cluster);
	say(cluster, "the path to LID 2");
	request.path.dlid = 2;
	cluster_ask_request(cluster, 1, &request);
	cluster_run_for(cluster, MS);
	say(cluster, "the path to nowhere");
	request.path.dlid = 0;
	cluster_ask_request(cluster, 1, &request);
}

static void configure_acm_routes(struct acm_engine_config *config)
{
	config->route_protocol = ACM_ROUTE_ACM;
}

static void play_route_from_multicast(struct cluster *cluster)
{
	cluster_port(cluster, 3)->rate = acm_rate_code(400);
	show(cluster);
	say(cluster, "each node is in the common group and in that of its own rate and MTU");
	cluster_start(cluster);
	ask(cluster, 1, "node2");
	say(cluster, "node3 has another rate: the common group is what they share");
	ask(cluster, 1, "node3");
}

/* ---- trouble ---- */

static int lose_first_requests(struct cluster *cluster, struct cluster_packet *packet)
{
	(void)cluster;
	return packet->multicast && packet->to != packet->from && packet->number < 4 ? 0 : 1;
}

static void play_retry_after_loss(struct cluster *cluster)
{
	begin(cluster);
	cluster->on_packet = lose_first_requests;
	say(cluster, "node1 asks for node2; the first two tries are lost");
	cluster_ask(cluster, 1, "node2");
	cluster_run_for(cluster, 400 * MS);
}

static void play_nobody_answers(struct cluster *cluster)
{
	begin(cluster);
	say(cluster, "node1 asks for somebody who is not there");
	cluster_ask(cluster, 1, "nobody");
	cluster_run_for(cluster, 400 * MS);
	say(cluster, "asked again soon, it is remembered");
	cluster_ask(cluster, 1, "nobody");
	cluster_run_for(cluster, 10 * SEC);
	say(cluster, "ten seconds later it is asked for anew");
	cluster_ask(cluster, 1, "nobody");
	cluster_run_for(cluster, MS);
}

static void refuse_paths(struct cluster *cluster, struct cluster_sa_query *query)
{
	(void)cluster;
	if (query->attribute == ACM_SA_ATTRIBUTE_PATH)
		query->status = ACM_SA_NO_RECORDS << 8;
}

static void play_route_refused(struct cluster *cluster)
{
	begin(cluster);
	cluster->on_sa = refuse_paths;
	say(cluster, "the SA knows no path to node2");
	cluster_ask(cluster, 1, "node2");
	cluster_run_for(cluster, MS);
	cluster->on_sa = NULL;
	say(cluster, "it still is believed");
	cluster_ask(cluster, 1, "node2");
	pass(cluster, SEC);
	ask(cluster, 1, "node2");
}

static void busy_twice(struct cluster *cluster, struct cluster_sa_query *query)
{
	if (query->attribute == ACM_SA_ATTRIBUTE_PATH && cluster->path_queries <= 2)
		query->status = 1;
}

static void play_sa_busy(struct cluster *cluster)
{
	begin(cluster);
	cluster->on_sa = busy_twice;
	say(cluster, "the SA is busy, twice");
	cluster_ask(cluster, 1, "node2");
	cluster_run_for(cluster, 400 * MS);
}

static void refuse_first_joins(struct cluster *cluster, struct cluster_sa_query *query)
{
	if (query->attribute == ACM_SA_ATTRIBUTE_MCMEMBER && query->method == 2 &&
	    cluster->joins <= 2)
		query->status = ACM_SA_REQ_INVALID << 8;
}

static void group_of_1024(struct cluster *cluster, const struct cluster_sa_query *query,
			  uint8_t *mad, uint32_t *length)
{
	(void)cluster;
	(void)length;
	/* The MTU in the answer to a Get of the group's record. */
	if (query->attribute == ACM_SA_ATTRIBUTE_MCMEMBER && query->method == 1)
		mad[56 + 38] = (uint8_t)(0x80 | acm_mtu_code(1024));
}

static void play_group_refused(struct cluster *cluster)
{
	cluster->on_sa = refuse_first_joins;
	cluster->on_sa_answer = group_of_1024;
	show(cluster);
	say(cluster,
	    "the group exists with another MTU: joins are refused, until somebody corrects it");
	cluster_start(cluster);
	say(cluster, "who asks meanwhile is told at once");
	cluster_ask(cluster, 1, "node2");
	pass(cluster, 500 * MS);
}

static void play_sm_fail_over(struct cluster *cluster)
{
	begin(cluster);
	ask(cluster, 1, "node2");
	say(cluster,
	    "another SM takes over: the membership is confirmed, the route is asked for anew");
	cluster_port(cluster, 1)->sm_lid = 101;
	cluster_port_changed(cluster, 1);
	cluster_ask(cluster, 1, "node2");
	cluster_run_for(cluster, MS);
}

static void play_port_down(struct cluster *cluster)
{
	begin(cluster);
	say(cluster, "a request is under way when the port goes down");
	cluster_ask(cluster, 1, "node2");
	cluster_port(cluster, 1)->state = ACM_PORT_DOWN;
	cluster_port_changed(cluster, 1);
	cluster_run_for(cluster, MS);
	ask(cluster, 1, "node2");
	say(cluster, "it returns; who asks at once waits for the join");
	cluster_port(cluster, 1)->state = ACM_PORT_ACTIVE;
	cluster_port_changed(cluster, 1);
	cluster_ask(cluster, 1, "node2");
	cluster_run_for(cluster, MS);
}

static void play_name_moved(struct cluster *cluster)
{
	struct acm_request request = cluster_request(cluster, 3, "node2");

	begin(cluster);
	name_event(cluster, 2, ACM_EVENT_ADDRESS_ADDED, "service");
	ask(cluster, 1, "service");
	say(cluster, "the name moves from node2 to node3, which asks for something under it");
	name_event(cluster, 2, ACM_EVENT_ADDRESS_REMOVED, "service");
	name_event(cluster, 3, ACM_EVENT_ADDRESS_ADDED, "service");
	acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)"service", 7);
	cluster_ask_request(cluster, 3, &request);
	cluster_run_for(cluster, MS);
	ask(cluster, 1, "service");
}

static void play_adapter_exchanged(struct cluster *cluster)
{
	begin(cluster);
	ask(cluster, 1, "node2");
	say(cluster, "node2 gets another adapter, another SM takes over");
	cluster_port(cluster, 2)->gids[0].raw[8] = 7;
	cluster_port_changed(cluster, 2);
	cluster_port(cluster, 1)->sm_lid = 101;
	cluster_port_changed(cluster, 1);
	cluster_run_for(cluster, MS);
	say(cluster, "the SA does not know the old GID any more: the name is asked for anew");
	ask(cluster, 1, "node2");
}

static void play_partition_removed(struct cluster *cluster)
{
	begin(cluster);
	ask(cluster, 1, "node2");
	say(cluster, "node1's port is moved to another partition");
	cluster_port(cluster, 1)->pkeys[0] = 0x8012;
	cluster_port_changed(cluster, 1);
	cluster_run_for(cluster, MS);
	ask(cluster, 1, "node2");
}

static void play_cancelled(struct cluster *cluster)
{
	uint64_t id;

	begin(cluster);
	say(cluster, "a client asks and goes away; what comes of it helps the next one");
	id = cluster_ask(cluster, 1, "node2");
	cluster_cancel(cluster, 1, id);
	cluster_run_for(cluster, MS);
	ask(cluster, 1, "node2");
}

static void configure_short_life(struct acm_engine_config *config)
{
	config->address_life = 60 * SEC;
	config->route_life = 20 * SEC;
	config->join_verify = 0;
}

static void play_expiry(struct cluster *cluster)
{
	begin(cluster);
	ask(cluster, 1, "node2");
	pass(cluster, 21 * SEC);
	say(cluster, "the route is too old, the address is not");
	ask(cluster, 1, "node2");
	pass(cluster, 40 * SEC);
	say(cluster, "now both are");
	ask(cluster, 1, "node2");
}

static void play_two_claims(struct cluster *cluster)
{
	begin(cluster);
	name_event(cluster, 2, ACM_EVENT_ADDRESS_ADDED, "twice");
	name_event(cluster, 3, ACM_EVENT_ADDRESS_ADDED, "twice");
	ask(cluster, 1, "twice");
}

static void configure_compat(struct acm_engine_config *config)
{
	config->compat = ACM_COMPAT_IBACM;
}

static void play_dead_in_front(struct cluster *cluster)
{
	begin(cluster);
	say(cluster, "one client asks for a node that is dead, the next for one that lives");
	cluster_ask(cluster, 1, "dead");
	cluster_ask(cluster, 1, "node2");
	cluster_run_for(cluster, SEC);
	say(cluster, "and another asks for the dead one again");
	cluster_ask(cluster, 1, "dead");
	cluster_run_for(cluster, SEC);
}

const struct scenario scenarios[] = {
	{"start", "A node finds its place, and leaves it", 1, NULL, play_start},
	{"cold_resolution", "A name that nobody knows yet: one multicast, one answer, one SA query",
	 2, NULL, play_cold_resolution},
	{"loopback", "An address of the node itself needs no traffic", 1, NULL, play_loopback},
	{"coalescing", "Requests for one destination share its look-up", 3, NULL, play_coalescing},
	{"crossing", "Questions that cross answer each other", 2, NULL, play_crossing},
	{"no_delay", "Who will not wait is told so, and finds the answer the next time", 2, NULL,
	 play_no_delay},
	{"by_path", "By LID the SA alone is asked", 2, NULL, play_by_path},
	{"route_from_multicast", "Routes from the groups: the SA is not asked", 3,
	 configure_acm_routes, play_route_from_multicast},
	{"retry_after_loss", "Lost requests are repeated, each try waits longer", 2, NULL,
	 play_retry_after_loss},
	{"nobody_answers", "A destination that is not there, and how long that is remembered", 2,
	 NULL, play_nobody_answers},
	{"route_refused", "The SA has no path: believed for a second", 2, NULL, play_route_refused},
	{"sa_busy", "A busy SA is left alone for a while", 2, NULL, play_sa_busy},
	{"group_refused", "A refused join is explained by the group's own record", 1, NULL,
	 play_group_refused},
	{"sm_fail_over", "A new SM: what it must confirm, and what stays", 2, NULL,
	 play_sm_fail_over},
	{"port_down", "A port goes down and returns", 2, NULL, play_port_down},
	{"name_moved", "A name moves to another node", 3, NULL, play_name_moved},
	{"adapter_exchanged", "A peer with a new GID is found again", 2, NULL,
	 play_adapter_exchanged},
	{"partition_removed", "A partition goes with all that was known in it", 2, NULL,
	 play_partition_removed},
	{"cancelled", "A client that goes away", 2, NULL, play_cancelled},
	{"expiry", "Addresses and routes grow old, each on its own", 2, configure_short_life,
	 play_expiry},
	{"dead_in_front", "A dead destination in front of a live one", 2, NULL, play_dead_in_front},
	{"dead_in_front_ibacm", "The same with engines that behave as the reference daemon", 2,
	 configure_compat, play_dead_in_front},
	{"two_claims", "Of two nodes that claim a name the first to answer has it", 3, NULL,
	 play_two_claims},
};

const int scenario_count = (int)(sizeof(scenarios) / sizeof(scenarios[0]));
