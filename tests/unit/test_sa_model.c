/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SA model where OpenSM on ibsim cannot be asked the same: tables of records, LMC, who may ask.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sa_model.h"
#include "small_topology.h"

#include <acmite/sa.h>
#include <acmite/transport.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_RECORD ACM_SA_ANSWER_HEADER

struct fixture {
	struct sim_topology *topology;
	struct sim_subnet *subnet;
	struct sim_sa_answer answer;
	uint8_t mad[ACM_MAD_LENGTH];
};

static void bring_up(struct fixture *f, uint8_t lmc)
{
	struct sim_subnet_options options;
	char why[256];

	memset(f, 0, sizeof(*f));
	f->topology = small_topology_parse(
		"fabric: small\n"
		"link: { speed: edr, mtu: 4096 }\n"
		"switches: [ { name: s1, ports: 8 }, { name: s2, ports: 8 } ]\n"
		"hosts: [ { name: \"n[1-4]\" } ]\n"
		"links:\n"
		"  - \"n[1-4] -> s[1-2]\"\n"
		"  - { join: \"s1 -- s2\", speed: fdr, mtu: 1024 }\n"
		"partitions:\n"
		"  - { name: default, pkey: 0x7fff, full: \"n[1-2]\" }\n"
		"  - { name: own, pkey: 0x0010, full: \"n[3-4]\" }\n");
	sim_subnet_options_default(&options);
	options.lmc = lmc;
	assert_int_equal(sim_subnet_create(f->topology, &options, &f->subnet, why, sizeof(why)), 0);
}

static void clean_up(struct fixture *f)
{
	sim_subnet_destroy(f->subnet);
	sim_topology_free(f->topology);
	free(f->answer.data);
}

static struct sim_port_ref port_of(const struct fixture *f, const char *name)
{
	return (struct sim_port_ref){.node = sim_topology_find(f->topology, name), .port = 1};
}

static struct acm_port_facts facts_of(const struct fixture *f, const char *name)
{
	struct acm_port_facts facts;

	assert_int_equal(sim_subnet_port_facts(f->subnet, port_of(f, name), &facts), 0);
	return facts;
}

/* The status; what else the header says must be right. */
static uint16_t serve(struct fixture *f, const char *from)
{
	struct acm_sa_header header;

	assert_int_equal(sim_sa_serve(f->subnet, port_of(f, from), f->mad, 0, &f->answer), 0);
	assert_int_equal(acm_sa_decode_header(f->answer.data, f->answer.length, &header), 0);
	assert_int_equal(header.tid, 9);
	return header.status;
}

static uint32_t count_records(const struct fixture *f, uint32_t length)
{
	assert_int_equal((f->answer.length - AT_RECORD) % length, 0);
	return (f->answer.length - AT_RECORD) / length;
}

static void the_narrowest_link_decides(void **state)
{
	struct acm_path path = {.path_count = 1};
	struct fixture f;

	(void)state;
	bring_up(&f, 0);
	path.sgid = facts_of(&f, "n1").gids[0];
	path.dgid = facts_of(&f, "n3").gids[0];
	acm_sa_encode_path_get(&path, 9, f.mad);
	assert_int_equal(serve(&f, "n1"), 0);
	assert_int_equal(f.answer.length, ACM_MAD_LENGTH);
	assert_int_equal(acm_sa_decode_path(f.answer.data, f.answer.length, &path), 0);
	assert_int_equal(path.mtu, acm_mtu_code(1024));
	assert_int_equal(path.rate, acm_rate_code(560));
	assert_int_equal(path.pkey, 0xffff);
	assert_int_equal(path.dlid, facts_of(&f, "n3").lid);
	assert_true(path.reversible);
	assert_int_equal(path.packet_life, 18);
	clean_up(&f);
}

static void a_table_has_all_destinations(void **state)
{
	struct acm_path path = {.path_count = 0}, record;
	struct fixture f;
	uint32_t hosts = 0;

	(void)state;
	bring_up(&f, 0);
	path.sgid = facts_of(&f, "n1").gids[0];
	acm_sa_encode_path_get_table(&path, 9, f.mad);
	assert_int_equal(serve(&f, "n1"), 0);
	assert_int_equal(f.answer.data[3], 0x92);
	assert_int_equal(count_records(&f, ACM_SA_PATH_LENGTH), 6); /* switches too */
	for (uint32_t i = 0; i < 6; i++) {
		const uint8_t *at = f.answer.data + i * ACM_SA_PATH_LENGTH;

		assert_int_equal(acm_sa_decode_path(at, AT_RECORD + ACM_SA_PATH_LENGTH, &record),
				 0);
		assert_int_equal(record.slid, facts_of(&f, "n1").lid);
		hosts += record.dlid == facts_of(&f, "n2").lid ||
			 record.dlid == facts_of(&f, "n4").lid;
	}
	assert_int_equal(hosts, 2);
	/* A limited member shares one partition with the full ones, another with its like. */
	path.sgid = facts_of(&f, "n3").gids[0];
	acm_sa_encode_path_get_table(&path, 9, f.mad);
	serve(&f, "n3");
	assert_int_equal(count_records(&f, ACM_SA_PATH_LENGTH), 6);
	path.dgid = facts_of(&f, "n1").gids[0];
	path.dgid.raw[15] ^= 1;
	acm_sa_encode_path_get_table(&path, 9, f.mad);
	assert_int_equal(serve(&f, "n3"), 0); /* an empty table is no error */
	assert_int_equal(count_records(&f, ACM_SA_PATH_LENGTH), 0);
	clean_up(&f);
}

static void lids_are_combined_by_preference(void **state)
{
	struct acm_path path = {.path_count = 0}, record;
	struct fixture f;
	uint16_t from, to;

	(void)state;
	bring_up(&f, 1);
	from = facts_of(&f, "n1").lid;
	to = facts_of(&f, "n3").lid;
	path.sgid = facts_of(&f, "n1").gids[0];
	path.dgid = facts_of(&f, "n3").gids[0];
	acm_sa_encode_path_get_table(&path, 9, f.mad);
	serve(&f, "n1");
	assert_int_equal(count_records(&f, ACM_SA_PATH_LENGTH), 4);
	for (uint32_t i = 0; i < 4; i++) {
		static const uint16_t source[] = {0, 1, 0, 1}, target[] = {0, 1, 1, 0};

		assert_int_equal(acm_sa_decode_path(f.answer.data + i * ACM_SA_PATH_LENGTH,
						    AT_RECORD + ACM_SA_PATH_LENGTH, &record),
				 0);
		assert_int_equal(record.slid, from + source[i]);
		assert_int_equal(record.dlid, to + target[i]);
		assert_int_equal(record.preference, i < 2 ? 0 : 2);
	}
	path.path_count = 3;
	acm_sa_encode_path_get_table(&path, 9, f.mad);
	serve(&f, "n1");
	assert_int_equal(count_records(&f, ACM_SA_PATH_LENGTH), 3);
	clean_up(&f);
}

static void a_service_id_is_whole_or_absent(void **state)
{
	struct acm_path path = {.service_id = 1, .path_count = 1};
	struct fixture f;

	(void)state;
	bring_up(&f, 0);
	path.sgid = facts_of(&f, "n1").gids[0];
	path.dgid = facts_of(&f, "n2").gids[0];
	acm_sa_encode_path_get(&path, 9, f.mad);
	assert_int_equal(serve(&f, "n1"), 0);
	f.mad[55] &= 0xfe;
	assert_int_equal(serve(&f, "n1"), ACM_SA_INSUFFICIENT_COMPONENTS << 8);
	clean_up(&f);
}

static struct acm_mcmember member_of(const struct fixture *f, const char *name)
{
	struct acm_mcmember member = {.port_gid = facts_of(f, name).gids[0],
				      .qkey = ACM_QKEY,
				      .mtu = 3,
				      .rate = 3,
				      .pkey = 0xffff,
				      .scope = 5,
				      .join_state = ACM_SA_JOIN_FULL};

	acm_group_mgid(&member.mgid, 0xffff, 3, 3);
	return member;
}

static void join_from(struct fixture *f, const char *name, uint16_t status)
{
	struct acm_mcmember member = member_of(f, name);

	acm_sa_encode_join(&member, 9, f->mad);
	assert_int_equal(serve(f, name), status);
}

static void members_are_told_to_who_has_the_key(void **state)
{
	struct acm_mcmember group = {.mtu = 0};
	struct acm_gid mgid;
	struct fixture f;

	(void)state;
	bring_up(&f, 0);
	join_from(&f, "n1", 0);
	join_from(&f, "n3", 0); /* as a limited member of the partition */
	acm_group_mgid(&mgid, 0xffff, 3, 3);
	acm_sa_encode_group_get(&mgid, 9, f.mad);
	assert_int_equal(serve(&f, "n2"), 0);
	assert_int_equal(acm_sa_decode_mcmember(f.answer.data, f.answer.length, &group), 0);
	assert_int_equal(group.mlid, 0xc001);
	assert_int_equal(group.join_state, 0);
	f.mad[36 + 7] = 1; /* SM_Key */
	assert_int_equal(serve(&f, "n2"), ACM_SA_TOO_MANY_RECORDS << 8);
	f.mad[3] = ACM_SA_METHOD_GET_TABLE;
	assert_int_equal(serve(&f, "n2"), 0);
	assert_int_equal(count_records(&f, ACM_SA_MCMEMBER_LENGTH), 2);
	f.mad[36 + 7] = 2;
	assert_int_equal(sim_sa_serve(f.subnet, port_of(&f, "n2"), f.mad, 0, &f.answer), -EPROTO);
	clean_up(&f);
}

static void others_may_not_change_a_membership(void **state)
{
	struct acm_mcmember member;
	struct fixture f;

	(void)state;
	bring_up(&f, 0);
	join_from(&f, "n1", 0);
	member = member_of(&f, "n1");
	acm_sa_encode_leave(&member, 9, f.mad);
	assert_int_equal(serve(&f, "n2"), ACM_SA_REQ_INVALID << 8);
	acm_sa_encode_join(&member, 9, f.mad);
	assert_int_equal(serve(&f, "n2"), ACM_SA_REQ_INVALID << 8);
	/* But they may join for another, and leave for it then. */
	member = member_of(&f, "n3");
	acm_sa_encode_join(&member, 9, f.mad);
	assert_int_equal(serve(&f, "n1"), 0);
	acm_sa_encode_leave(&member, 9, f.mad);
	assert_int_equal(serve(&f, "n2"), 0);
	assert_int_equal(serve(&f, "n2"), ACM_SA_REQ_INVALID << 8);
	clean_up(&f);
}

static void a_path_to_a_group(void **state)
{
	struct acm_path path = {.path_count = 1};
	struct fixture f;

	(void)state;
	bring_up(&f, 0);
	join_from(&f, "n1", 0);
	path.sgid = facts_of(&f, "n1").gids[0];
	acm_group_mgid(&path.dgid, 0xffff, 3, 3);
	path.slid = facts_of(&f, "n1").lid;
	acm_sa_encode_path_get(&path, 9, f.mad);
	assert_int_equal(serve(&f, "n1"), 0);
	assert_int_equal(acm_sa_decode_path(f.answer.data, f.answer.length, &path), 0);
	assert_int_equal(path.dlid, 0xc001);
	assert_int_equal(path.mtu, 3);
	assert_int_equal(path.hop_limit, 0xff);
	path.sgid = facts_of(&f, "n2").gids[0]; /* who is not in it */
	path.slid = 0;
	acm_sa_encode_path_get(&path, 9, f.mad);
	assert_int_equal(serve(&f, "n2"), ACM_SA_NO_RECORDS << 8);
	clean_up(&f);
}

static void what_is_not_served(void **state)
{
	struct acm_path path = {.path_count = 1};
	struct acm_sa_header header;
	struct fixture f;

	(void)state;
	bring_up(&f, 0);
	acm_sa_encode_path_get(&path, 9, f.mad);
	f.mad[3] = ACM_SA_METHOD_SET;
	assert_int_equal(serve(&f, "n1"), ACM_SA_STATUS_UNSUPPORTED);
	f.mad[3] = ACM_SA_METHOD_GET;
	f.mad[17] = 0x31; /* ServiceRecord */
	assert_int_equal(serve(&f, "n1"), ACM_SA_STATUS_UNSUPPORTED);
	assert_int_equal(sim_sa_refuse(f.mad, 1, &f.answer), 0);
	assert_int_equal(acm_sa_decode_header(f.answer.data, f.answer.length, &header), 0);
	assert_int_equal(header.status, 1);
	f.mad[1] = 4;
	assert_int_equal(sim_sa_serve(f.subnet, port_of(&f, "n1"), f.mad, 0, &f.answer), -EPROTO);
	clean_up(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_narrowest_link_decides),
		cmocka_unit_test(a_table_has_all_destinations),
		cmocka_unit_test(lids_are_combined_by_preference),
		cmocka_unit_test(a_service_id_is_whole_or_absent),
		cmocka_unit_test(members_are_told_to_who_has_the_key),
		cmocka_unit_test(others_may_not_change_a_membership),
		cmocka_unit_test(a_path_to_a_group),
		cmocka_unit_test(what_is_not_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
