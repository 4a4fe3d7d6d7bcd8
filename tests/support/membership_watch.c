/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "membership_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* Offsets in an MCMemberRecord's MAD. */
#define AT_METHOD   3
#define AT_MGID     56
#define AT_PORT_GID 72
#define AT_PKEY     96

struct membership_watch seen;

void membership_watch(struct cluster *at, int node, const struct acm_action *action)
{
	(void)at;
	(void)node;
	seen.opens += action->type == ACM_ACTION_OPEN_ENDPOINT;
	seen.closes += action->type == ACM_ACTION_CLOSE_ENDPOINT;
	seen.attaches += action->type == ACM_ACTION_ATTACH;
	seen.detaches += action->type == ACM_ACTION_DETACH;
	if (action->type != ACM_ACTION_SA_SEND)
		return;
	if (action->sa.mad[AT_METHOD] == METHOD_SET)
		seen.last_join_pkey =
			(uint16_t)(action->sa.mad[AT_PKEY] << 8 | action->sa.mad[AT_PKEY + 1]);
	if (action->sa.mad[AT_METHOD] == METHOD_DELETE) {
		seen.leaves++;
		memcpy(&seen.last_left, action->sa.mad + AT_MGID, sizeof(seen.last_left));
		memcpy(&seen.last_port_gid, action->sa.mad + AT_PORT_GID,
		       sizeof(seen.last_port_gid));
	}
}

static void watch_trace(struct cluster *at, int node, const struct acm_trace *trace)
{
	(void)at;
	(void)node;
	if (trace->type == ACM_TRACE_JOIN_FAILED)
		acm_trace_format(trace, seen.last_failure, sizeof(seen.last_failure));
	if (trace->type != ACM_TRACE_GROUP_RECORD)
		return;
	seen.records++;
	seen.last_record = *trace;
}

int membership_reset(void **state)
{
	memset(&seen, 0, sizeof(seen));
	return inquiry_reset(state);
}

void membership_make(int nodes)
{
	assert_int_equal(cluster_init(&cluster, nodes, &config), 0);
	cluster.on_action = membership_watch;
	cluster.on_trace = watch_trace;
}

void membership_start(int nodes)
{
	membership_make(nodes);
	cluster_start(&cluster);
}

bool membership_ready(int node)
{
	struct acm_engine_stats stats = cluster_stats(&cluster, node);

	return stats.endpoints_ready == stats.endpoints && stats.endpoints > 0;
}

void membership_event(int node, enum acm_event_type type)
{
	struct acm_event at = {.type = type};

	assert_int_equal(cluster_step(&cluster, node, at), 0);
}

void membership_set_state(int node, uint8_t port_state)
{
	cluster_port(&cluster, node)->state = port_state;
	cluster_port_changed(&cluster, node);
}

void membership_set_pkeys(int node, uint16_t first, uint16_t second)
{
	struct acm_port_facts *facts = cluster_port(&cluster, node);

	facts->pkeys[0] = first;
	facts->pkeys[1] = second;
	facts->pkey_count = (uint16_t)(second ? 2 : 1);
}

bool membership_is_join(const struct cluster_sa_query *query)
{
	return query->attribute == ACM_SA_ATTRIBUTE_MCMEMBER && query->method == METHOD_SET;
}

void membership_slow_first_join(struct cluster *at, struct cluster_sa_query *query)
{
	if (membership_is_join(query) && at->joins == 1)
		query->delay = 50 * ACM_NSEC_PER_MSEC;
}
