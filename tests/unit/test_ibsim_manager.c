/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What OpenSM on ibsim can be made to do, and what the ports hear of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ibsim_control.h"
#include "small_topology.h"

#include <acmite/sa.h>
#include <acmite/transport.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOSTS    4 /* the first is the SM's */
#define PATIENCE (30 * ACM_NSEC_PER_SEC)
#define STORAGE  0x0010

static const char text[] =
	"fabric: small\n"
	"link: { width: 4x, speed: edr, mtu: 2048 }\n"
	"switches: [ { name: s1, ports: 8 } ]\n"
	"hosts: [ { name: \"node[1-4]\" } ]\n"
	"links: [ \"node[1-4] -- s1\" ]\n"
	"partitions:\n"
	"  - { name: storage, pkey: 0x10, full: node1, limited: \"node[2-3]\" }\n";

struct fixture {
	struct sim_topology *topology;
	struct sim_control *control;
	uint16_t lids[HOSTS];            /* at the beginning */
	uint32_t port_events[HOSTS];     /* seen so far */
	uint32_t reregistrations[HOSTS]; /* likewise */
	uint64_t answered;               /* cookie of the last answer */
	uint64_t failed;                 /* of the last failure */
	uint8_t mad[ACM_MAD_LENGTH];     /* that answer */
	uint64_t cookie;
};

static uint64_t monotonic_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

static struct sim_port_ref port_of(const struct fixture *f, uint32_t host)
{
	return (struct sim_port_ref){.node = f->topology->switch_count + host, .port = 1};
}

static struct acm_port_facts facts_of(const struct fixture *f, uint32_t host)
{
	struct acm_port_facts facts;

	assert_int_equal(f->control->ops->port_facts(f->control, port_of(f, host), &facts), 0);
	return facts;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sim_ibsim_options options;
	char why[1024];

	assert_non_null(f);
	f->topology = small_topology_parse(text);
	sim_ibsim_options_default(&options);
	if (sim_ibsim_control_create(f->topology, &options, &f->control, why, sizeof(why)))
		fail_msg("the fabric does not come up: %s", why);
	for (uint32_t i = 0; i < HOSTS; i++)
		f->lids[i] = facts_of(f, i).lid;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	f->control->ops->destroy(f->control);
	sim_topology_free(f->topology);
	free(f);
	return 0;
}

static void take_events(struct fixture *f)
{
	struct sim_control_event event;

	while (f->control->ops->next_event(f->control, &event)) {
		uint32_t host = event.port.node - f->topology->switch_count;

		if (event.type == SIM_CONTROL_PORT)
			f->port_events[host]++;
		if (event.type == SIM_CONTROL_REREGISTER)
			f->reregistrations[host]++;
		if (event.type == SIM_CONTROL_SA_FAILED)
			f->failed = event.cookie;
		if (event.type != SIM_CONTROL_SA_ANSWER)
			continue;
		f->answered = event.cookie;
		memcpy(f->mad, event.mad, ACM_MAD_LENGTH);
	}
}

/* Lets the control go on by one step. False: it has been waited for too long. */
static bool go_on(struct fixture *f, uint64_t end)
{
	struct sim_control *control = f->control;
	struct pollfd fd = {.fd = control->ops->fd(control), .events = POLLIN};
	uint64_t next = control->ops->deadline(control), now = monotonic_now();

	if (now >= end)
		return false;
	next = next < end ? next : end;
	poll(&fd, 1, next > now ? (int)((next - now) / ACM_NSEC_PER_MSEC) + 1 : 0);
	assert_int_equal(control->ops->process(control, monotonic_now()), 0);
	take_events(f);
	return true;
}

#define AWAIT(f, condition)                                                                        \
	for (uint64_t end = monotonic_now() + PATIENCE; !(condition);)                             \
		if (!go_on((f), end))                                                              \
	fail_msg("%s did not come", #condition)

static bool all_reregistered(const struct fixture *f)
{
	for (uint32_t i = 0; i < HOSTS; i++)
		if (!f->reregistrations[i])
			return false;
	return true;
}

/* The status of the SA's answer, in f->mad; asked again while there is no SM that could. */
static uint16_t ask(struct fixture *f, uint32_t from, uint8_t *mad)
{
	uint64_t end = monotonic_now() + PATIENCE;
	struct acm_sa_header header;

	do {
		f->cookie++;
		assert_int_equal(
			f->control->ops->sa_send(f->control, port_of(f, from), 0, mad, f->cookie),
			0);
		while (f->answered != f->cookie && f->failed != f->cookie)
			assert_true(go_on(f, end));
	} while (f->failed == f->cookie);
	assert_int_equal(acm_sa_decode_header(f->mad, ACM_MAD_LENGTH, &header), 0);
	return header.status;
}

static struct acm_path ask_path(struct fixture *f, uint32_t from, uint32_t to)
{
	struct acm_path path = {.path_count = 1,
				.sgid = facts_of(f, from).gids[0],
				.dgid = facts_of(f, to).gids[0]};
	uint8_t mad[ACM_MAD_LENGTH];

	acm_sa_encode_path_get(&path, 1, mad);
	assert_int_equal(ask(f, from, mad), 0);
	assert_int_equal(acm_sa_decode_path(f->mad, ACM_MAD_LENGTH, &path), 0);
	return path;
}

static void assert_reachable(struct fixture *f)
{
	for (uint32_t from = 0; from < HOSTS; from++) {
		for (uint32_t to = 0; to < HOSTS; to++) {
			struct acm_path path;

			if (from == to) /* a limited member does not reach itself */
				continue;
			path = ask_path(f, from, to);
			assert_int_equal(path.slid, facts_of(f, from).lid);
			assert_int_equal(path.dlid, facts_of(f, to).lid);
		}
	}
}

static void make_group(struct acm_mcmember *member, struct fixture *f)
{
	*member = (struct acm_mcmember){.port_gid = facts_of(f, 2).gids[0],
					.qkey = ACM_QKEY,
					.mtu = 4,
					.rate = 3,
					.pkey = 0xffff,
					.scope = 5,
					.join_state = ACM_SA_JOIN_FULL};
	acm_group_mgid(&member->mgid, 0xffff, 3, 4);
}

static void join(struct fixture *f)
{
	struct acm_mcmember member;
	uint8_t mad[ACM_MAD_LENGTH];

	make_group(&member, f);
	acm_sa_encode_join(&member, 1, mad);
	assert_int_equal(ask(f, 2, mad), 0);
}

static bool group_is_there(struct fixture *f)
{
	struct acm_mcmember member;
	uint8_t mad[ACM_MAD_LENGTH];

	make_group(&member, f);
	acm_sa_encode_group_get(&member.mgid, 1, mad);
	return ask(f, 2, mad) == 0;
}

static void test_another_host_takes_over(void **state)
{
	struct fixture *f = *state;

	join(f);
	assert_true(group_is_there(f));
	assert_int_equal(facts_of(f, 1).sm_lid, f->lids[0]);
	assert_int_equal(sim_ibsim_fail_over(f->control, 99, SIM_LIDS_KEPT), -EINVAL);
	assert_int_equal(sim_ibsim_fail_over(f->control, 0, SIM_LIDS_KEPT), -EINVAL);
	assert_int_equal(sim_ibsim_fail_over(f->control, port_of(f, 3).node, SIM_LIDS_KEPT), 0);
	AWAIT(f, all_reregistered(f));
	for (uint32_t i = 0; i < HOSTS; i++) {
		assert_int_equal(facts_of(f, i).lid, f->lids[i]);
		assert_int_equal(facts_of(f, i).sm_lid, f->lids[3]);
		assert_int_equal(f->reregistrations[i], 1);
		assert_true(f->port_events[i] >= 1);
	}
	assert_reachable(f);
	assert_false(group_is_there(f));
	/* And back. */
	memset(f->reregistrations, 0, sizeof(f->reregistrations));
	assert_int_equal(sim_ibsim_fail_over(f->control, port_of(f, 0).node, SIM_LIDS_KEPT), 0);
	AWAIT(f, all_reregistered(f));
	assert_int_equal(facts_of(f, 1).sm_lid, f->lids[0]);
	assert_reachable(f);
}

static void test_lids_are_given_out_anew(void **state)
{
	struct fixture *f = *state;
	struct acm_port_facts facts;
	uint32_t moved = 0;

	assert_int_equal(sim_ibsim_fail_over(f->control, port_of(f, 3).node, SIM_LIDS_REASSIGNED),
			 0);
	AWAIT(f, all_reregistered(f));
	for (uint32_t i = 0; i < HOSTS; i++) {
		facts = facts_of(f, i);
		moved += facts.lid != f->lids[i];
		assert_int_equal(facts.sm_lid, facts_of(f, 3).lid);
		/* Nobody is asked to register before it knows its new LID. */
		assert_int_equal(f->port_events[i] >= 1,
				 facts.lid != f->lids[i] || facts.sm_lid != f->lids[0]);
	}
	assert_true(moved > 0);
	assert_reachable(f);
	/* The next one keeps what this one gave out. */
	for (uint32_t i = 0; i < HOSTS; i++)
		f->lids[i] = facts_of(f, i).lid;
	memset(f->reregistrations, 0, sizeof(f->reregistrations));
	assert_int_equal(sim_ibsim_start_opensm(f->control), 0);
	AWAIT(f, all_reregistered(f));
	for (uint32_t i = 0; i < HOSTS; i++)
		assert_int_equal(facts_of(f, i).lid, f->lids[i]);
}

static void test_groups_are_lost_without_a_word(void **state)
{
	struct fixture *f = *state;

	join(f);
	assert_true(group_is_there(f));
	assert_int_equal(sim_ibsim_lose_groups(f->control), 0);
	assert_false(group_is_there(f)); /* asked until it is up */
	assert_reachable(f);
	for (uint32_t i = 0; i < HOSTS; i++) {
		assert_int_equal(f->reregistrations[i], 0);
		assert_int_equal(facts_of(f, i).lid, f->lids[i]);
	}
	join(f);
	assert_true(group_is_there(f));
}

/* The port's entry for a partition, 0: none. */
static uint16_t entry_of(const struct fixture *f, uint32_t host, uint16_t pkey)
{
	struct acm_port_facts facts = facts_of(f, host);

	for (uint16_t i = 0; i < facts.pkey_count; i++)
		if ((facts.pkeys[i] & 0x7fff) == pkey)
			return facts.pkeys[i];
	return 0;
}

static void change(struct fixture *f, uint32_t host, uint16_t pkey, enum sim_membership membership,
		   uint16_t entry)
{
	uint32_t before = f->port_events[host];

	assert_int_equal(
		sim_ibsim_set_membership(f->control, port_of(f, host).node, pkey, membership), 0);
	AWAIT(f, f->port_events[host] > before && entry_of(f, host, pkey) == entry);
}

static void test_partitions_change(void **state)
{
	struct fixture *f = *state;
	uint32_t others;

	assert_int_equal(sim_ibsim_set_membership(f->control, 0, STORAGE, SIM_MEMBER_FULL),
			 -EINVAL);
	assert_int_equal(
		sim_ibsim_set_membership(f->control, port_of(f, 1).node, 0x8010, SIM_MEMBER_FULL),
		-EINVAL);
	assert_int_equal(entry_of(f, 1, STORAGE), STORAGE);
	others = f->port_events[2];
	change(f, 1, STORAGE, SIM_MEMBER_FULL, STORAGE | 0x8000);
	change(f, 1, STORAGE, SIM_MEMBER_NONE, 0);
	change(f, 1, STORAGE, SIM_MEMBER_LIMITED, STORAGE);
	change(f, 1, 0x7fff, SIM_MEMBER_LIMITED, 0x7fff);
	change(f, 3, 0x20, SIM_MEMBER_FULL, 0x8020); /* of which nobody was a member */
	assert_int_equal(f->port_events[2], others);
	assert_int_equal(entry_of(f, 2, STORAGE), STORAGE);
	assert_int_equal(entry_of(f, 2, 0x7fff), 0xffff);
	assert_reachable(f);
	/* Whoever takes over has them from the same file. */
	assert_int_equal(sim_ibsim_fail_over(f->control, port_of(f, 2).node, SIM_LIDS_KEPT), 0);
	AWAIT(f, all_reregistered(f));
	assert_int_equal(entry_of(f, 1, 0x7fff), 0x7fff);
	assert_int_equal(entry_of(f, 3, 0x20), 0x8020);
}

static void test_a_port_is_given_another_lid(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sim_ibsim_change_lid(f->control, 0), -EINVAL); /* a switch */
	assert_int_equal(sim_ibsim_change_lid(f->control, port_of(f, 2).node), 0);
	AWAIT(f, facts_of(f, 2).lid != f->lids[2]);
	AWAIT(f, sim_ibsim_is_managed(f->control));
	for (uint32_t i = 0; i < HOSTS; i++) {
		assert_int_equal(f->reregistrations[i], 0);
		if (i != 2)
			assert_int_equal(facts_of(f, i).lid, f->lids[i]);
	}
	assert_reachable(f);
	/* Two at once, whose files follow each other. */
	assert_int_equal(sim_ibsim_change_lid(f->control, port_of(f, 1).node), 0);
	assert_int_equal(sim_ibsim_change_lid(f->control, port_of(f, 3).node), 0);
	AWAIT(f, facts_of(f, 1).lid != f->lids[1] && facts_of(f, 3).lid != f->lids[3]);
	assert_int_not_equal(facts_of(f, 1).lid, facts_of(f, 3).lid);
	assert_reachable(f);
}

static void test_the_subnet_prefix_changes(void **state)
{
	static const uint8_t prefix[8] = {0xfe, 0xc0, 0, 0, 0, 0, 0, 7};
	struct fixture *f = *state;
	uint8_t guid[8];

	memcpy(guid, facts_of(f, 1).gids[0].raw + 8, sizeof(guid));
	assert_int_equal(sim_ibsim_change_prefix(f->control, UINT64_C(0xfec0000000000007)), 0);
	AWAIT(f, all_reregistered(f));
	assert_memory_equal(facts_of(f, 1).gids[0].raw, prefix, sizeof(prefix));
	assert_memory_equal(facts_of(f, 1).gids[0].raw + 8, guid, sizeof(guid));
	for (uint32_t i = 0; i < HOSTS; i++)
		assert_int_equal(facts_of(f, i).lid, f->lids[i]);
	assert_reachable(f);
}

/* ---- memberships, asked one by one ---- */

/* Of a port that nothing is known of besides. */
static struct sim_group_memberships memberships(struct fixture *f, uint64_t since,
						const struct sim_group_port *port)
{
	struct sim_membership_query query = {.since = since, .count = port != NULL, .ports = port};
	struct sim_group_memberships all;
	uint64_t end = monotonic_now() + PATIENCE;
	int error;

	while ((error = f->control->ops->memberships(f->control, &query, &all)) == -EAGAIN)
		assert_true(go_on(f, end));
	assert_int_equal(error, 0);
	return all;
}

static void test_members_are_told_by_the_sa(void **state)
{
	struct fixture *f = *state;
	struct sim_group_memberships all = memberships(f, 0, NULL);
	struct sim_group_port stranger = {.port = port_of(f, 1)};
	struct acm_mcmember member;
	uint8_t mad[ACM_MAD_LENGTH];
	uint64_t before;

	make_group(&member, f);
	stranger.mgid = member.mgid;
	assert_int_equal(all.count, 0);
	join(f);
	before = monotonic_now();
	assert_true(go_on(f, before + PATIENCE)); /* for the control to know of that time */
	all = memberships(f, before, &stranger);
	assert_int_equal(all.count, 1);
	assert_false(all.all[0].unknown);
	assert_int_equal(all.all[0].port.node, port_of(f, 2).node);
	assert_memory_equal(&all.all[0].record.mgid, &member.mgid, sizeof(member.mgid));
	assert_int_equal(all.all[0].record.join_state, ACM_SA_JOIN_FULL);
	assert_int_equal(all.all[0].record.qkey, ACM_QKEY);
	assert_in_range(all.all[0].record.mlid, ACM_LID_MULTICAST, ACM_LID_MULTICAST + 9);
	acm_sa_encode_leave(&member, 1, mad);
	assert_int_equal(ask(f, 2, mad), 0);
	before = monotonic_now();
	assert_true(go_on(f, before + PATIENCE));
	assert_int_equal(memberships(f, before, NULL).count, 0);
}

/* Nothing is known of whom a dead SM had, and what is asked about is not said to be so or so. */
static void test_a_dead_sa_tells_of_no_members(void **state)
{
	struct fixture *f = *state;
	struct sim_group_port asked = {.port = port_of(f, 2)};
	struct sim_group_memberships all;
	struct acm_mcmember member;
	uint64_t before;

	join(f);
	make_group(&member, f);
	asked.mgid = member.mgid;
	sim_ibsim_kill_opensm(f->control);
	before = monotonic_now();
	assert_true(go_on(f, before + PATIENCE));
	assert_int_equal(memberships(f, before, NULL).count, 0);
	before = monotonic_now();
	assert_true(go_on(f, before + PATIENCE));
	all = memberships(f, before, &asked);
	assert_int_equal(all.count, 1);
	assert_true(all.all[0].unknown);
	assert_memory_equal(&all.all[0].record.mgid, &member.mgid, sizeof(member.mgid));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_another_host_takes_over),        TEST(test_lids_are_given_out_anew),
		TEST(test_groups_are_lost_without_a_word), TEST(test_a_port_is_given_another_lid),
		TEST(test_the_subnet_prefix_changes),      TEST(test_partitions_change),
		TEST(test_members_are_told_by_the_sa),     TEST(test_a_dead_sa_tells_of_no_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
