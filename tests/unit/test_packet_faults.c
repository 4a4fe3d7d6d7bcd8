/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which packets a fault meets: by link, node, group and class; and what it does to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fabric_world.h"
#include "packet_faults.h"
#include "small_topology.h"

struct trial {
	struct world world;
	struct sim_packet_faults faults;
	struct sim_fault_plan plan;
	uint16_t mlid;
};

/* node1 ... node4 on a switch, all in one group, and one fault. */
static void begin(struct trial *trial, const char *fault)
{
	struct sim_meddler meddler;
	struct sim_errors errors;

	memset(trial, 0, sizeof(*trial));
	world_set_up_star(&trial->world, 4);
	for (int i = 0; i < 4; i++)
		trial->mlid = world_join(&trial->world, i, &world_group);
	if (sim_fault_plan_parse(trial->world.topology, fault, strlen(fault), &trial->plan,
				 &errors))
		fail_msg("%s", errors.lines[0]);
	trial->faults.seed = 42;
	assert_int_equal(sim_packet_faults_add(&trial->faults, &trial->plan), 0);
	sim_packet_faults_meddler(&trial->faults, &meddler);
	sim_fabric_set_meddler(trial->world.fabric, &meddler);
	world_run(&trial->world);
	for (int i = 0; i < 4; i++)
		while (world_pull(&trial->world.nodes[i]))
			;
}

static void end(struct trial *trial)
{
	sim_packet_faults_remove(&trial->faults, &trial->plan);
	assert_int_equal(trial->faults.count, 0);
	sim_packet_faults_free(&trial->faults);
	sim_fault_plan_free(&trial->plan);
	world_tear_down(&trial->world);
}

/* What each node got since the last time. */
static void expect_copies(struct trial *trial, const uint32_t copies[4])
{
	world_run(&trial->world);
	for (int i = 0; i < 4; i++)
		assert_int_equal(world_take_datagrams(&trial->world, i), copies[i]);
}

static void multicast(struct trial *trial, int from)
{
	world_send(&trial->world, from, world_multicast_to(trial->mlid));
}

static void a_link_loses_what_passes_it_both_ways(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "{ kind: loss, link: node2 }");
	world_send(&trial.world, 0, world_unicast_to(&trial.world, 1));
	world_send(&trial.world, 1, world_unicast_to(&trial.world, 0));
	world_send(&trial.world, 0, world_unicast_to(&trial.world, 2));
	expect_copies(&trial, (uint32_t[]){0, 0, 1, 0});
	world_assert_drops(&trial.world, SIM_DROP_LOSS, 2);
	end(&trial);
}

static void of_a_multicast_a_link_concerns_what_is_behind_it(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "{ kind: loss, link: node2, group: all }");
	multicast(&trial, 0);
	expect_copies(&trial, (uint32_t[]){1, 0, 1, 1});
	world_assert_drops(&trial.world, SIM_DROP_LOSS, 1);
	multicast(&trial, 1); /* the sender's own copy does not leave its port */
	expect_copies(&trial, (uint32_t[]){0, 1, 0, 0});
	world_assert_drops(&trial.world, SIM_DROP_LOSS, 2);
	world_send(&trial.world, 0, world_unicast_to(&trial.world, 1));
	expect_copies(&trial, (uint32_t[]){0, 1, 0, 0});
	end(&trial);
}

static void packets_are_counted_once_on_a_link(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "{ kind: duplication, link: node1, packets: [1] }");
	multicast(&trial, 0);
	expect_copies(&trial, (uint32_t[]){1, 1, 1, 1});
	multicast(&trial, 0);
	expect_copies(&trial, (uint32_t[]){1, 2, 2, 2});
	multicast(&trial, 0);
	expect_copies(&trial, (uint32_t[]){1, 1, 1, 1});
	end(&trial);
}

static void the_longest_way_is_known(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "{ kind: delay, link: node2, delay: 3ms }");
	world_send(&trial.world, 0, world_unicast_to(&trial.world, 2));
	assert_in_range(world_stats(&trial.world).longest, 1, ACM_NSEC_PER_MSEC);
	world_send(&trial.world, 0, world_unicast_to(&trial.world, 1));
	assert_in_range(world_stats(&trial.world).longest, 3 * ACM_NSEC_PER_MSEC,
			4 * ACM_NSEC_PER_MSEC);
	world_send(&trial.world, 0, world_unicast_to(&trial.world, 2));
	expect_copies(&trial, (uint32_t[]){0, 1, 2, 0});
	assert_in_range(world_stats(&trial.world).longest, 3 * ACM_NSEC_PER_MSEC,
			4 * ACM_NSEC_PER_MSEC);
	end(&trial);
}

static void a_node_beside_a_link_is_the_sender(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "{ kind: loss, link: node2, node: node3 }");
	world_send(&trial.world, 2, world_unicast_to(&trial.world, 1));
	world_send(&trial.world, 0, world_unicast_to(&trial.world, 1));
	world_send(&trial.world, 1, world_unicast_to(&trial.world, 2));
	expect_copies(&trial, (uint32_t[]){0, 1, 1, 0});
	world_assert_drops(&trial.world, SIM_DROP_LOSS, 1);
	end(&trial);
}

static void a_group_and_a_node_together(void **state)
{
	struct trial trial;
	char fault[160] = "{ kind: loss, node: node4, group: \"";

	(void)state;
	for (int i = 0; i < 16; i += 2)
		snprintf(fault + strlen(fault), sizeof(fault) - strlen(fault), "%s%x", i ? ":" : "",
			 world_group.raw[i] << 8 | world_group.raw[i + 1]);
	strcat(fault, "\" }");
	begin(&trial, fault);
	multicast(&trial, 0);
	world_send(&trial.world, 0, world_unicast_to(&trial.world, 3));
	expect_copies(&trial, (uint32_t[]){1, 1, 1, 1});
	world_assert_drops(&trial.world, SIM_DROP_LOSS, 1);
	end(&trial);
}

static void a_class_that_is_not_sent_meets_nothing(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "{ kind: loss, packet: answer }"); /* hello is none */
	multicast(&trial, 0);
	expect_copies(&trial, (uint32_t[]){1, 1, 1, 1});
	end(&trial);
	begin(&trial, "{ kind: loss, packet: sa }");
	multicast(&trial, 0);
	expect_copies(&trial, (uint32_t[]){1, 1, 1, 1});
	end(&trial);
}

static struct sim_sa_verdict judge(struct trial *trial, int node)
{
	uint8_t mad[ACM_MAD_LENGTH] = {0};
	struct sim_sa_query query = {.port = {.node = trial->world.nodes[node].index, .port = 1},
				     .mad = mad};
	struct sim_sa_verdict verdict = {0};

	sim_packet_faults_judge(&trial->faults, &query, &verdict);
	return verdict;
}

static void mads_of_the_sa_are_a_class_of_their_own(void **state)
{
	struct trial trial;
	struct sim_sa_verdict verdict;
	uint8_t mad[ACM_MAD_LENGTH] = {0}, zero[ACM_MAD_LENGTH] = {0};
	uint32_t length = sizeof(mad), flipped = 0;

	(void)state;
	begin(&trial, "{ kind: loss, packet: sa_request, node: node1, packets: [1] }");
	assert_int_equal(judge(&trial, 0).fate, SIM_SA_ANSWERED);
	assert_int_equal(judge(&trial, 1).fate, SIM_SA_ANSWERED);
	assert_int_equal(judge(&trial, 0).fate, SIM_SA_LOST);
	end(&trial);
	begin(&trial, "{ kind: loss, packet: sa_answer }");
	verdict = judge(&trial, 0);
	assert_int_equal(verdict.fate, SIM_SA_ANSWERED);
	assert_true(verdict.lost_answer);
	end(&trial);
	begin(&trial, "{ kind: corruption, packet: sa_answer }");
	verdict = judge(&trial, 0);
	verdict.alter(verdict.alter_draw, mad, &length, sizeof(mad));
	for (size_t i = 0; i < sizeof(mad); i++)
		flipped += (uint32_t)__builtin_popcount(mad[i] ^ zero[i]);
	assert_int_equal(flipped, 1);
	end(&trial);
	begin(&trial, "{ kind: delay, packet: request, delay: 1ms }");
	assert_int_equal(judge(&trial, 0).delay, 0);
	end(&trial);
}

/* Which of 64 packets get through, with others' in between. */
static uint64_t lost_of(const char *fault, uint64_t seed, int others)
{
	struct trial trial;
	uint64_t lost = 0;

	begin(&trial, fault);
	trial.faults.seed = seed;
	sim_packet_faults_remove(&trial.faults, &trial.plan);
	assert_int_equal(sim_packet_faults_add(&trial.faults, &trial.plan), 0);
	for (int i = 0; i < 64; i++) {
		for (int other = 0; other < others; other++)
			world_send(&trial.world, 2, world_unicast_to(&trial.world, 3));
		world_send(&trial.world, 0, world_unicast_to(&trial.world, 1));
		world_run(&trial.world);
		lost |= (uint64_t)!world_take_datagrams(&trial.world, 1) << i;
		world_take_datagrams(&trial.world, 3);
	}
	end(&trial);
	return lost;
}

static void a_rate_is_drawn_from_the_seed_alone(void **state)
{
	static const char fault[] = "{ kind: loss, link: node2, rate: 0.5 }";
	uint64_t once = lost_of(fault, 7, 0);

	(void)state;
	assert_true(lost_of(fault, 7, 0) == once);
	assert_true(lost_of(fault, 7, 3) == once);
	assert_true(lost_of(fault, 8, 0) != once);
	assert_in_range(__builtin_popcountll(once), 16, 48);
	assert_true(lost_of("{ kind: loss, link: node2, rate: 1 }", 7, 0) == UINT64_MAX);
	assert_true(lost_of("{ kind: loss, link: node2, packets: [0, 2, 63] }", 7, 0) ==
		    (UINT64_C(1) << 63 | 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_loses_what_passes_it_both_ways),
		cmocka_unit_test(of_a_multicast_a_link_concerns_what_is_behind_it),
		cmocka_unit_test(packets_are_counted_once_on_a_link),
		cmocka_unit_test(a_rate_is_drawn_from_the_seed_alone),
		cmocka_unit_test(the_longest_way_is_known),
		cmocka_unit_test(a_node_beside_a_link_is_the_sender),
		cmocka_unit_test(a_group_and_a_node_together),
		cmocka_unit_test(a_class_that_is_not_sent_meets_nothing),
		cmocka_unit_test(mads_of_the_sa_are_a_class_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
