/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One cluster at a time, and questions to it: what several tests of the engine's decisions begin
 * and end with. Tries take 100 ms, nothing is traced, unless a test changes `config` before it
 * starts.
 */
#ifndef ACMITE_TESTS_INQUIRY_H
#define ACMITE_TESTS_INQUIRY_H

#include "cluster.h"

extern struct acm_engine_config config;
extern struct cluster cluster;

/* For cmocka: before and after each test. */
int inquiry_reset(void **state);
int inquiry_teardown(void **state);
/* Runs until all nodes have joined. */
void inquiry_start(int nodes);
/* The latest moment for an answer, ns from when the request came. */
uint64_t inquiry_bound(void);

/* The one answer to a request, which is there. */
const struct acm_reply *inquiry_reply(uint64_t id);
/* There is none yet. */
void inquiry_waits(uint64_t id);
void inquiry_answered(uint64_t id, enum acm_status status);
/* Asked now, answered by `status` within `duration`, ns. */
const struct acm_reply *inquiry_ask_request(int node, struct acm_request request,
					    enum acm_status status, uint64_t duration);
/* The same by name, within 1 ms. */
const struct acm_reply *inquiry_ask(int node, const char *to, enum acm_status status);

void inquiry_set_ip(struct acm_address *address, enum acm_address_type type, uint8_t last);
/* A request by IP or IPv6, without a source. */
struct acm_request inquiry_by_ip(int node, enum acm_address_type type, uint8_t last);
/* It leads from node to node, in the default partition. */
void inquiry_check_path(const struct acm_path *path, int from, int to);

/* For cluster.on_packet. */
int inquiry_lose_all(struct cluster *at, struct cluster_packet *packet);
/* For cluster.on_sa. */
void inquiry_silence(struct cluster *at, struct cluster_sa_query *query);

#endif
