/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "inquiry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct acm_engine_config config;
struct cluster cluster;

int inquiry_reset(void **state)
{
	(void)state;
	acm_engine_config_default(&config);
	config.timeout = 100 * ACM_NSEC_PER_MSEC;
	config.trace_mask = 0;
	memset(&cluster, 0, sizeof(cluster));
	return 0;
}

int inquiry_teardown(void **state)
{
	(void)state;
	cluster_destroy(&cluster);
	return 0;
}

void inquiry_start(int nodes)
{
	assert_int_equal(cluster_init(&cluster, nodes, &config), 0);
	cluster_start(&cluster);
}

uint64_t inquiry_bound(void)
{
	return 2 * (config.retries + 1) * (config.timeout + 4096);
}

const struct acm_reply *inquiry_reply(uint64_t id)
{
	const struct cluster_answer *answer = cluster_answer(&cluster, id);

	assert_true(answer->given);
	assert_int_equal(answer->times, 1);
	return &answer->reply;
}

void inquiry_waits(uint64_t id)
{
	assert_false(cluster_answer(&cluster, id)->given);
}

void inquiry_answered(uint64_t id, enum acm_status status)
{
	assert_int_equal(inquiry_reply(id)->status, status);
}

const struct acm_reply *inquiry_ask_request(int node, struct acm_request request,
					    enum acm_status status, uint64_t duration)
{
	uint64_t id = cluster_ask_request(&cluster, node, &request);

	cluster_run_for(&cluster, duration);
	inquiry_answered(id, status);
	return inquiry_reply(id);
}

const struct acm_reply *inquiry_ask(int node, const char *to, enum acm_status status)
{
	return inquiry_ask_request(node, cluster_request(&cluster, node, to), status,
				   ACM_NSEC_PER_MSEC);
}

void inquiry_set_ip(struct acm_address *address, enum acm_address_type type, uint8_t last)
{
	uint8_t ip[4] = {10, 0, 0, last};
	uint8_t ip6[16] = {0xfd, [15] = last};

	if (type == ACM_ADDRESS_IP)
		assert_int_equal(acm_address_canonical(address, type, ip, sizeof(ip)), 0);
	else
		assert_int_equal(acm_address_canonical(address, type, ip6, sizeof(ip6)), 0);
}

struct acm_request inquiry_by_ip(int node, enum acm_address_type type, uint8_t last)
{
	struct acm_request request = cluster_request(&cluster, node, "x");

	request.has_source = false;
	inquiry_set_ip(&request.destination, type, last);
	return request;
}

void inquiry_check_path(const struct acm_path *path, int from, int to)
{
	struct acm_gid sgid = cluster_gid(from), dgid = cluster_gid(to);

	assert_int_equal(path->slid, from);
	assert_int_equal(path->dlid, to);
	assert_memory_equal(&path->sgid, &sgid, sizeof(sgid));
	assert_memory_equal(&path->dgid, &dgid, sizeof(dgid));
	assert_int_equal(path->pkey, ACM_PKEY_DEFAULT);
	assert_true(path->reversible);
	assert_int_equal(path->path_count, 1);
}

int inquiry_lose_all(struct cluster *at, struct cluster_packet *packet)
{
	(void)at;
	(void)packet;
	return 0;
}

void inquiry_silence(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	query->silent = true;
}
