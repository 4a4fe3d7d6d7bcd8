/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An inquiry's cluster, and what is seen of its memberships and queue pairs. */
#ifndef ACMITE_TESTS_MEMBERSHIP_WATCH_H
#define ACMITE_TESTS_MEMBERSHIP_WATCH_H

#include "inquiry.h"

#define METHOD_GET    0x01
#define METHOD_SET    0x02
#define METHOD_DELETE 0x15

/* Of all nodes, since the test began. */
struct membership_watch {
	int opens, closes, attaches, detaches, leaves;
	struct acm_gid last_left, last_port_gid; /* of the last leave */
	uint16_t last_join_pkey;
	struct acm_trace last_record; /* of a group, as the trace tells it */
	int records;
	char last_failure[256]; /* of a join, the whole line */
};

extern struct membership_watch seen;

/* For cmocka: before each test, which destroys the cluster itself. */
int membership_reset(void **state);
/* Engines made and watched, nothing started. */
void membership_make(int nodes);
/* The same, and all have joined. */
void membership_start(int nodes);

bool membership_ready(int node);
void membership_event(int node, enum acm_event_type type);
void membership_set_state(int node, uint8_t port_state);
/* A `second` of 0: there is one P_Key only. */
void membership_set_pkeys(int node, uint16_t first, uint16_t second);
bool membership_is_join(const struct cluster_sa_query *query);
/* For cluster.on_sa: the first join is answered after 50 ms. */
void membership_slow_first_join(struct cluster *at, struct cluster_sa_query *query);
/* What cluster.on_action is, for a test that watches more. */
void membership_watch(struct cluster *at, int node, const struct acm_action *action);

#endif
