/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The seven rules that every run is watched by: each checker is given what it must refuse, and has
 * to say so with the rule's name; and what only just keeps the rule, and has to be silent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation_state.h"

#define MS ACM_NSEC_PER_MSEC

/* Two switches with a slow link between them; n2 and n3 may not talk in partition 0x10. */
static const char fabric_text[] =
	"fabric: test\n"
	"link: { speed: edr, mtu: 4096 }\n"
	"switches:\n"
	"  - { name: \"s[1-2]\", ports: 8 }\n"
	"hosts:\n"
	"  - { name: \"n[1-4]\", addresses: [ \"{name}\" ] }\n"
	"links:\n"
	"  - { join: \"s1 -- s2\", speed: fdr, mtu: 2048 }\n"
	"  - \"n1 -- s1\"\n"
	"  - \"n2 -- s2\"\n"
	"  - \"n3 -- s1\"\n"
	"  - \"n4 -- s1\"\n"
	"partitions:\n"
	"  - { name: storage, pkey: 0x0010, full: n1, limited: [ n2, n3 ] }\n";

#define RULE_LENGTH 128

struct fixture {
	struct sim_topology *topology;
	struct sim_control *control;
	struct sim_breach_hook hook;
	uint32_t breaches;
	char rule[RULE_LENGTH];
	char text[256];
	uint32_t n1, n2, n3, n4;
};

static void note(void *context, const char *rule, const char *text)
{
	struct fixture *fixture = context;

	fixture->breaches++;
	snprintf(fixture->rule, sizeof(fixture->rule), "%s", rule);
	snprintf(fixture->text, sizeof(fixture->text), "%s", text);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct sim_builtin_options options;
	struct sim_errors errors;
	char why[256];

	assert_non_null(fixture);
	if (sim_topology_parse("test.yaml", fabric_text, sizeof(fabric_text) - 1,
			       &fixture->topology, &errors))
		fail_msg("%s", errors.count ? errors.lines[0] : "no memory");
	sim_builtin_options_default(&options);
	if (sim_builtin_control_create(fixture->topology, &options, &fixture->control, why,
				       sizeof(why)))
		fail_msg("%s", why);
	fixture->hook = (struct sim_breach_hook){.told = note, .context = fixture};
	fixture->n1 = sim_topology_find(fixture->topology, "n1");
	fixture->n2 = sim_topology_find(fixture->topology, "n2");
	fixture->n3 = sim_topology_find(fixture->topology, "n3");
	fixture->n4 = sim_topology_find(fixture->topology, "n4");
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	fixture->control->ops->destroy(fixture->control);
	sim_topology_free(fixture->topology);
	free(fixture);
	return 0;
}

static void assert_silent(const struct fixture *fixture)
{
	if (fixture->breaches)
		fail_msg("%s: %s", fixture->rule, fixture->text);
}

/* That it spoke once, of this, since it was asked last. */
static void assert_told(struct fixture *fixture, const char *rule)
{
	assert_int_equal(fixture->breaches, 1);
	assert_string_equal(fixture->rule, rule);
	fixture->breaches = 0;
}

/* ---- 1: exactly one answer, in time ---- */

static uint32_t enter(struct sim_ledger *ledger, uint32_t node, uint64_t due)
{
	return sim_ledger_enter(
		ledger, &(struct sim_asked){
				.node = node, .target = SIM_NONE, .sought = SIM_NONE, .due = due});
}

static void an_answer_too_many_is_a_breach(void **state)
{
	static const char rule[] = "each request gets exactly one answer";
	struct fixture *fixture = *state;
	struct sim_ledger ledger;
	uint32_t first, second;

	assert_int_equal(sim_ledger_init(&ledger, fixture->topology, &fixture->hook), 0);
	first = enter(&ledger, fixture->n1, 10);
	second = enter(&ledger, fixture->n2, 10);
	assert_int_equal(ledger.open, 2);
	assert_non_null(sim_ledger_answer(&ledger, fixture->n1, first, 10));
	assert_silent(fixture);
	assert_null(sim_ledger_answer(&ledger, fixture->n1, first, 10));
	assert_told(fixture, rule);
	assert_null(sim_ledger_answer(&ledger, fixture->n1, second, 10)); /* not asked */
	assert_told(fixture, rule);
	assert_null(sim_ledger_answer(&ledger, fixture->n1, 0, 10));
	assert_told(fixture, rule);
	assert_null(sim_ledger_answer(&ledger, fixture->n1, 3, 10));
	assert_told(fixture, rule);
	sim_ledger_cancel(&ledger, sim_ledger_at(&ledger, second));
	assert_null(sim_ledger_answer(&ledger, fixture->n2, second, 10));
	assert_told(fixture, rule);
	assert_int_equal(ledger.open, 0);
	sim_ledger_free(&ledger);
}

static void an_answer_too_late_or_never_is_a_breach(void **state)
{
	static const char rule[] = "each request is answered within its bound";
	struct fixture *fixture = *state;
	struct sim_ledger ledger;
	uint32_t late, never, paused;

	assert_int_equal(sim_ledger_init(&ledger, fixture->topology, &fixture->hook), 0);
	late = enter(&ledger, fixture->n1, 10);
	never = enter(&ledger, fixture->n1, 20);
	paused = enter(&ledger, fixture->n2, 20);
	sim_ledger_excuse(&ledger, sim_ledger_at(&ledger, paused));
	sim_ledger_check(&ledger, 9);
	assert_silent(fixture);
	assert_non_null(sim_ledger_answer(&ledger, fixture->n1, late, 11));
	assert_told(fixture, rule);
	assert_int_equal(sim_ledger_deadline(&ledger), 20);
	sim_ledger_check(&ledger, 20);
	assert_told(fixture, rule);
	sim_ledger_check(&ledger, 1000); /* once is enough; and nobody waits for the paused one */
	assert_silent(fixture);
	sim_ledger_expect(&ledger, sim_ledger_at(&ledger, paused), 1050);
	sim_ledger_check(&ledger, 1049);
	assert_silent(fixture);
	sim_ledger_check(&ledger, 1050);
	assert_told(fixture, rule);
	assert_true(never);
	sim_ledger_free(&ledger);
}

/* What it joins began before it; nothing began before a request that would be answered by now. */
static void a_request_joins_what_was_asked_before(void **state)
{
	struct fixture *fixture = *state;
	struct sim_asked asked = {.node = fixture->n1,
				  .target = fixture->n2,
				  .sought = SIM_NONE,
				  .time = 100,
				  .joined = 90,
				  .due = 130};
	struct sim_ledger ledger;
	uint32_t first, second;

	assert_int_equal(sim_ledger_init(&ledger, fixture->topology, &fixture->hook), 0);
	first = sim_ledger_enter(&ledger, &asked);
	second = sim_ledger_enter(&ledger, &asked);
	sim_ledger_join(&ledger, fixture->n1, first, 95);
	assert_int_equal(sim_ledger_at(&ledger, first)->joined, 90);
	sim_ledger_join(&ledger, fixture->n1, first, 80);
	assert_int_equal(sim_ledger_at(&ledger, first)->joined, 80);
	sim_ledger_join(&ledger, fixture->n1, first, 10);
	assert_int_equal(sim_ledger_at(&ledger, first)->joined, 70);
	sim_ledger_join(&ledger, fixture->n2, second, 80); /* not asked */
	sim_ledger_join(&ledger, fixture->n1, 0, 80);
	sim_ledger_join(&ledger, fixture->n1, 3, 80);
	assert_int_equal(sim_ledger_at(&ledger, second)->joined, 90);
	assert_silent(fixture);
	sim_ledger_free(&ledger);
}

/* ---- 2: a success is true ---- */

static struct acm_port_facts facts_of(const struct fixture *fixture, uint32_t node)
{
	struct sim_port_ref ref = {.node = node, .port = 1};
	struct acm_port_facts facts;

	assert_int_equal(fixture->control->ops->port_facts(fixture->control, ref, &facts), 0);
	return facts;
}

/* What is true of the way from one to the other, but for partitions and what the slow link says. */
static struct acm_path path_between(const struct fixture *fixture, uint32_t from, uint32_t to)
{
	struct acm_port_facts source = facts_of(fixture, from), destination = facts_of(fixture, to);

	return (struct acm_path){.sgid = source.gids[0],
				 .dgid = destination.gids[0],
				 .slid = source.lid,
				 .dlid = destination.lid,
				 .pkey = 0xffff,
				 .mtu = destination.mtu,
				 .rate = destination.rate,
				 .reversible = true};
}

static void check_success(struct fixture *fixture, const struct sim_success *success)
{
	struct sim_invariants invariants;

	assert_int_equal(sim_invariants_init(&invariants, fixture->topology, fixture->control,
					     &fixture->hook),
			 0);
	sim_invariants_success(&invariants, success, 0);
	sim_invariants_free(&invariants);
}

static void check_path(struct fixture *fixture, uint32_t node, const struct acm_path *path)
{
	check_success(fixture,
		      &(struct sim_success){.node = node, .path = path, .routes_hold = true});
}

static void a_path_to_whom_does_not_hold_the_address_is_a_breach(void **state)
{
	static const char rule[] = "a success names a port that holds the address";
	struct fixture *fixture = *state;
	struct acm_path path = path_between(fixture, fixture->n1, fixture->n3);
	const struct acm_address *name = &fixture->topology->nodes[fixture->n2].addresses[0];
	struct sim_success success = {
		.node = fixture->n1, .path = &path, .address = name, .life = 100};
	struct sim_invariants invariants;

	assert_int_equal(sim_invariants_init(&invariants, fixture->topology, fixture->control,
					     &fixture->hook),
			 0);
	sim_invariants_success(&invariants, &success, 5);
	assert_told(fixture, rule);
	/* It comes to that node, leaves it, and is forgotten after its life only. */
	assert_true(sim_invariants_address_came(&invariants, fixture->n3, name, 10));
	sim_invariants_success(&invariants, &success, 20);
	assert_true(sim_invariants_address_left(&invariants, fixture->n3, name, 30));
	sim_invariants_success(&invariants, &success, 130);
	assert_silent(fixture);
	sim_invariants_success(&invariants, &success, 131);
	assert_told(fixture, rule);
	success.life = ACM_NEVER;
	sim_invariants_success(&invariants, &success, 131);
	assert_silent(fixture);
	sim_invariants_free(&invariants);
}

static void a_node_that_starts_again_has_the_topologys_addresses(void **state)
{
	struct fixture *fixture = *state;
	const struct acm_address *own = &fixture->topology->nodes[fixture->n1].addresses[0];
	const struct acm_address *taken = &fixture->topology->nodes[fixture->n2].addresses[0];
	struct sim_invariants invariants;

	assert_int_equal(sim_invariants_init(&invariants, fixture->topology, NULL, &fixture->hook),
			 0);
	assert_true(sim_invariants_address_left(&invariants, fixture->n1, own, 1));
	assert_true(sim_invariants_address_came(&invariants, fixture->n1, taken, 1));
	assert_false(sim_invariants_holds(&invariants, fixture->n1, own, 0, 5));
	assert_true(sim_invariants_holds(&invariants, fixture->n1, taken, 0, 5));
	sim_invariants_addresses_reset(&invariants, fixture->n1, 10);
	assert_true(sim_invariants_holds(&invariants, fixture->n1, own, 0, 15));
	assert_false(sim_invariants_holds(&invariants, fixture->n1, taken, 4, 15));
	assert_true(sim_invariants_holds(&invariants, fixture->n1, taken, 5, 15));
	sim_invariants_free(&invariants);
}

static void a_path_to_no_port_or_another_lid_is_a_breach(void **state)
{
	struct fixture *fixture = *state;
	struct acm_path path = path_between(fixture, fixture->n1, fixture->n3);
	struct sim_success success = {.node = fixture->n1, .path = &path};

	path.dlid++;
	check_success(fixture, &success); /* LIDs were changed meanwhile */
	assert_silent(fixture);
	check_path(fixture, fixture->n1, &path);
	assert_told(fixture, "a success names the port's LID");
	path.dgid.raw[15] ^= 0xff;
	check_success(fixture, &success);
	assert_silent(fixture);
	check_path(fixture, fixture->n1, &path);
	assert_told(fixture, "a success names a port that is there");
}

static void each_end_of_a_path_that_is_not_so_is_a_breach(void **state)
{
	static const char rule[] = "a success names a path that is so";
	struct fixture *fixture = *state;
	const struct acm_path good = path_between(fixture, fixture->n1, fixture->n3);
	struct acm_path path = good;

	check_path(fixture, fixture->n1, &good);
	assert_silent(fixture);
	check_path(fixture, fixture->n4, &good); /* it was n1's */
	assert_told(fixture, rule);
	path.slid++;
	check_path(fixture, fixture->n1, &path);
	assert_told(fixture, rule);
	path = good;
	path.sgid.raw[15] ^= 0xff;
	check_path(fixture, fixture->n1, &path);
	assert_told(fixture, rule);
	path = good;
	path.reversible = false;
	check_path(fixture, fixture->n1, &path); /* by GID: whatever was asked for */
	assert_silent(fixture);
	check_success(fixture,
		      &(struct sim_success){
			      .node = fixture->n1,
			      .path = &path,
			      .address = &fixture->topology->nodes[fixture->n3].addresses[0],
			      .routes_hold = true});
	assert_told(fixture, rule);
}

static void a_partition_that_both_ends_do_not_share_is_a_breach(void **state)
{
	static const char rule[] = "a success names a path that is so";
	struct fixture *fixture = *state;
	struct acm_path path = path_between(fixture, fixture->n1, fixture->n3);

	path.pkey = 0x8010;
	check_path(fixture, fixture->n1, &path);
	path.pkey = 0x0010; /* equality is 15 bits */
	check_path(fixture, fixture->n1, &path);
	assert_silent(fixture);
	path.pkey = 0x8020;
	check_path(fixture, fixture->n1, &path);
	assert_told(fixture, rule);
	path.pkey = 0x8010;
	check_success(fixture,
		      &(struct sim_success){.node = fixture->n1, .path = &path, .pkey = 0x0010});
	assert_silent(fixture);
	check_success(fixture,
		      &(struct sim_success){.node = fixture->n1, .path = &path, .pkey = 0x7fff});
	assert_told(fixture, "a success is of the partition that was asked for");
	path = path_between(fixture, fixture->n3, fixture->n2);
	path.mtu = fixture->topology->links[0].mtu;
	path.rate = fixture->topology->links[0].rate;
	check_path(fixture, fixture->n3, &path);
	assert_silent(fixture);
	path.pkey = 0x8010;
	check_path(fixture, fixture->n3, &path);
	assert_told(fixture, rule);
}

static void more_than_the_links_carry_is_a_breach(void **state)
{
	static const char rule[] = "a success names a path that is so";
	struct fixture *fixture = *state;
	struct acm_path fast = path_between(fixture, fixture->n1, fixture->n2), path = fast;
	struct sim_success of_group = {
		.node = fixture->n1, .path = &path, .of_group = true, .routes_hold = true};

	path.mtu = fixture->topology->links[0].mtu;
	path.rate = fixture->topology->links[0].rate;
	check_path(fixture, fixture->n1, &path);
	assert_silent(fixture);
	path.mtu = fast.mtu;
	check_path(fixture, fixture->n1, &path);
	assert_told(fixture, rule);
	path.mtu = fixture->topology->links[0].mtu;
	path.rate = fast.rate;
	check_path(fixture, fixture->n1, &path);
	assert_told(fixture, rule);
	/* What a group says is true of the ends alone. */
	path = fast;
	check_success(fixture, &of_group);
	assert_silent(fixture);
	path.mtu++;
	check_success(fixture, &of_group);
	assert_told(fixture, rule);
}

/* ---- 3: no request waits on an unrelated destination ---- */

struct nodes_health {
	bool well;
	uint64_t oldest;
};

static bool is_well(void *context, uint32_t node)
{
	(void)node;
	return ((const struct nodes_health *)context)->well;
}

static uint64_t oldest_inquiry(void *context, uint32_t node)
{
	(void)node;
	return ((const struct nodes_health *)context)->oldest;
}

static const char waits_rule[] = "no request waits on an unrelated destination";

static void check_wait(struct sim_disturbances *disturbances, uint32_t node, uint32_t target,
		       uint64_t asked, uint64_t joined)
{
	struct sim_wait wait = {.node = node,
				.target = target,
				.asked = asked,
				.joined = joined,
				.answered = asked + 11,
				.allowed = 10};

	sim_disturbances_check_wait(disturbances, &wait);
}

static void a_wait_for_whom_nothing_happened_to_is_a_breach(void **state)
{
	struct fixture *fixture = *state;
	struct sim_fault_plan stop = {.kind = SIM_FAULT_STOP,
				      .nodes = {.count = 1, .nodes = &fixture->n3}};
	struct sim_disturbances disturbances;

	assert_int_equal(sim_disturbances_init(&disturbances, fixture->topology, &fixture->hook),
			 0);
	sim_disturbances_check_wait(&disturbances, &(struct sim_wait){.node = fixture->n1,
								      .target = fixture->n2,
								      .asked = 5,
								      .joined = 5,
								      .answered = 15,
								      .allowed = 10});
	assert_silent(fixture);
	check_wait(&disturbances, fixture->n1, fixture->n2, 5, 5);
	assert_told(fixture, waits_rule);
	/* What happens to n3 concerns those who ask it, and whom it asks, and nobody else. */
	assert_int_equal(sim_disturbances_begin(&disturbances, &stop, 20), 0);
	check_wait(&disturbances, fixture->n1, fixture->n3, 30, 30);
	check_wait(&disturbances, fixture->n3, fixture->n1, 30, 30);
	assert_silent(fixture);
	check_wait(&disturbances, fixture->n1, fixture->n2, 30, 30);
	assert_told(fixture, waits_rule);
	sim_disturbances_free(&disturbances);
}

static void a_wait_is_no_breach_until_a_node_is_well_again(void **state)
{
	struct fixture *fixture = *state;
	struct sim_fault_plan silent = {.kind = SIM_FAULT_SA_SILENT,
					.nodes = {.count = 1, .nodes = &fixture->n1}};
	struct nodes_health nodes = {.well = true, .oldest = ACM_NEVER};
	const struct sim_health health = {is_well, oldest_inquiry, &nodes};
	struct sim_disturbances disturbances;

	assert_int_equal(sim_disturbances_init(&disturbances, fixture->topology, &fixture->hook),
			 0);
	assert_int_equal(sim_disturbances_begin(&disturbances, &silent, 20), 0);
	sim_disturbances_heal(&disturbances, &health, 25);
	check_wait(&disturbances, fixture->n1, fixture->n2, 30, 30);
	sim_disturbances_end(&disturbances, &silent, 40);
	nodes.well = false;
	sim_disturbances_heal(&disturbances, &health, 50);
	check_wait(&disturbances, fixture->n1, fixture->n2, 50, 50);
	nodes.well = true;
	nodes.oldest = 35; /* it is still waiting for what the SA was silent about */
	sim_disturbances_heal(&disturbances, &health, 60);
	check_wait(&disturbances, fixture->n1, fixture->n2, 60, 60);
	assert_silent(fixture);
	nodes.oldest = 61;
	sim_disturbances_heal(&disturbances, &health, 70);
	check_wait(&disturbances, fixture->n1, fixture->n2, 69, 69);
	check_wait(&disturbances, fixture->n1, fixture->n2, 70,
		   69); /* it waits with an older one */
	assert_silent(fixture);
	check_wait(&disturbances, fixture->n1, fixture->n2, 70, 70);
	assert_told(fixture, waits_rule);
	sim_disturbances_free(&disturbances);
}

/* Of a host with one port. */
static uint32_t link_of(const struct sim_topology *topology, uint32_t host)
{
	uint32_t link = 0;

	while (topology->links[link].node[0] != host && topology->links[link].node[1] != host)
		link++;
	return link;
}

/* How many of the pairs n1 n2 and n3 n4 a fault keeps quiet about. */
static uint32_t concerned(struct fixture *fixture, const struct sim_fault_plan *plan)
{
	struct sim_disturbances disturbances;
	uint32_t told;

	assert_int_equal(sim_disturbances_init(&disturbances, fixture->topology, &fixture->hook),
			 0);
	assert_int_equal(sim_disturbances_begin(&disturbances, plan, 1), 0);
	check_wait(&disturbances, fixture->n1, fixture->n2, 2, 2);
	check_wait(&disturbances, fixture->n3, fixture->n4, 2, 2);
	sim_disturbances_free(&disturbances);
	told = fixture->breaches;
	fixture->breaches = 0;
	return 2 - told;
}

/* The host whose link flaps becomes the subnet manager's meanwhile: when its link stays, others'
 * faults do. */
static void a_fault_ends_for_those_for_whom_it_began(void **state)
{
	struct fixture *fixture = *state;
	uint32_t own = link_of(fixture->topology, fixture->n3);
	struct sim_fault_plan busy = {.kind = SIM_FAULT_SA_BUSY};
	struct sim_fault_plan flapping = {.kind = SIM_FAULT_LINK_FLAPPING,
					  .links = {.count = 1, .nodes = &own}};
	struct sim_fault_plan fail_over = {.kind = SIM_FAULT_SM_FAIL_OVER,
					   .nodes = {.count = 1, .nodes = &fixture->n3}};
	struct nodes_health nodes = {.well = true, .oldest = ACM_NEVER};
	const struct sim_health health = {is_well, oldest_inquiry, &nodes};
	struct sim_disturbances disturbances;

	assert_int_equal(sim_disturbances_init(&disturbances, fixture->topology, &fixture->hook),
			 0);
	assert_int_equal(sim_disturbances_begin(&disturbances, &busy, 1), 0);
	assert_int_equal(sim_disturbances_begin(&disturbances, &flapping, 2), 0);
	assert_int_equal(sim_disturbances_begin(&disturbances, &fail_over, 3), 0);
	sim_disturbances_end(&disturbances, &flapping, 4);
	sim_disturbances_heal(&disturbances, &health, 5);
	check_wait(&disturbances, fixture->n1, fixture->n2, 6, 6);
	assert_silent(fixture);
	sim_disturbances_end(&disturbances, &busy, 7);
	sim_disturbances_heal(&disturbances, &health, 8);
	check_wait(&disturbances, fixture->n1, fixture->n2, 9, 9);
	assert_told(fixture, waits_rule);
	check_wait(&disturbances, fixture->n3, fixture->n2, 9, 9);
	assert_told(fixture, waits_rule);
	sim_disturbances_free(&disturbances);
}

/* How many of the pairs n1 n2 and n3 n4 it keeps quiet about when n3's link flaps and then another
 * host becomes the subnet manager's, and all are well but for the fault. */
static uint32_t concerned_under(struct fixture *fixture, uint32_t manager, bool ended)
{
	uint32_t own = link_of(fixture->topology, fixture->n3), told;
	struct sim_fault_plan flapping = {.kind = SIM_FAULT_LINK_FLAPPING,
					  .links = {.count = 1, .nodes = &own}};
	struct sim_fault_plan fail_over = {.kind = SIM_FAULT_SM_FAIL_OVER,
					   .nodes = {.count = 1, .nodes = &manager}};
	struct nodes_health nodes = {.well = true, .oldest = ACM_NEVER};
	const struct sim_health health = {is_well, oldest_inquiry, &nodes};
	struct sim_disturbances disturbances;

	assert_int_equal(sim_disturbances_init(&disturbances, fixture->topology, &fixture->hook),
			 0);
	assert_int_equal(sim_disturbances_begin(&disturbances, &flapping, 1), 0);
	assert_int_equal(sim_disturbances_begin(&disturbances, &fail_over, 2), 0);
	if (ended)
		sim_disturbances_end(&disturbances, &flapping, 3);
	sim_disturbances_heal(&disturbances, &health, 4);
	check_wait(&disturbances, fixture->n1, fixture->n2, 5, 5);
	check_wait(&disturbances, fixture->n3, fixture->n4, 5, 5);
	sim_disturbances_free(&disturbances);
	told = fixture->breaches;
	fixture->breaches = 0;
	return 2 - told;
}

/* Nobody gets an answer from a manager whose link is down, whichever of the two came first. */
static void a_link_that_the_manager_moves_behind_concerns_all(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(concerned_under(fixture, fixture->n3, false), 2);
	assert_int_equal(concerned_under(fixture, fixture->n3, true), 0);
	assert_int_equal(concerned_under(fixture, fixture->n4, false), 1);
	assert_int_equal(concerned_under(fixture, fixture->n4, true), 0);
}

static void a_fault_excuses_those_alone_whom_it_concerns(void **state)
{
	struct fixture *fixture = *state;
	uint32_t trunk = 0, own = link_of(fixture->topology, fixture->n3);
	struct sim_nodes node = {.count = 1, .nodes = &fixture->n3};
	struct sim_nodes host_link = {.count = 1, .nodes = &own};
	struct sim_nodes trunk_link = {.count = 1, .nodes = &trunk};

	assert_int_equal(concerned(fixture, &(struct sim_fault_plan){.kind = SIM_FAULT_SA_BUSY,
								     .nodes = node}),
			 1);
	assert_int_equal(concerned(fixture, &(struct sim_fault_plan){.kind = SIM_FAULT_SA_BUSY}),
			 2);
	assert_int_equal(concerned(fixture, &(struct sim_fault_plan){.kind = SIM_FAULT_LINK_DOWN,
								     .links = host_link}),
			 1);
	assert_int_equal(concerned(fixture, &(struct sim_fault_plan){.kind = SIM_FAULT_LINK_DOWN,
								     .links = trunk_link}),
			 2);
	assert_int_equal(
		concerned(fixture, &(struct sim_fault_plan){.kind = SIM_FAULT_LOSS, .nodes = node}),
		1);
	assert_int_equal(
		concerned(fixture, &(struct sim_fault_plan){.kind = SIM_FAULT_DUPLICATION}), 0);
	assert_int_equal(concerned(fixture, &(struct sim_fault_plan){.kind = SIM_FAULT_SM_FAIL_OVER,
								     .nodes = node}),
			 2);
}

/* ---- and links that lose packets hinder those alone whose packets pass them ---- */

struct nodes_ways {
	uint64_t generation;
	uint32_t link;         /* on the way between ... */
	uint32_t node, target; /* ... these */
};

static uint64_t generation_of(void *context)
{
	return ((const struct nodes_ways *)context)->generation;
}

static bool passes(void *context, const struct sim_wait *wait, const struct sim_nodes *links)
{
	const struct nodes_ways *ways = context;

	return links->nodes[0] == ways->link && wait->node == ways->node &&
	       wait->target == ways->target;
}

static bool is_met(const struct sim_hindrances *hindrances, uint32_t node, uint32_t target,
		   uint64_t joined, uint64_t answered)
{
	struct sim_wait wait = {
		.node = node, .target = target, .joined = joined, .answered = answered};

	return sim_hindrances_met(hindrances, &wait);
}

static void a_lossy_link_hinders_those_alone_whose_packets_pass_it(void **state)
{
	struct fixture *fixture = *state;
	uint32_t link = 3, other = 2, n1 = fixture->n1, n2 = fixture->n2, n3 = fixture->n3;
	struct sim_fault_plan lossy = {.kind = SIM_FAULT_LOSS,
				       .links = {.count = 1, .nodes = &link}};
	struct sim_fault_plan late = {.kind = SIM_FAULT_DELAY,
				      .links = {.count = 1, .nodes = &other}};
	struct nodes_ways ways = {.link = link, .node = n1, .target = n2};
	struct sim_hindrances hindrances;

	sim_hindrances_init(&hindrances, &(struct sim_ways){generation_of, passes, &ways});
	assert_false(is_met(&hindrances, n1, n2, 0, 100));
	assert_int_equal(sim_hindrances_begin(&hindrances, &lossy, 10), 0);
	assert_int_equal(sim_hindrances_begin(&hindrances, &late, 10), 0);
	assert_true(is_met(&hindrances, n1, n2, 5, 10));
	assert_false(is_met(&hindrances, n1, n2, 5, 9));
	assert_false(is_met(&hindrances, n1, n3, 5, 20));
	assert_false(is_met(&hindrances, n2, n1, 5, 20));
	sim_hindrances_end(&hindrances, &lossy, 30);
	assert_true(is_met(&hindrances, n1, n2, 30, 40));
	assert_false(is_met(&hindrances, n1, n2, 31, 40));
	/* Which ways packets took is not known any more. */
	ways.generation++;
	assert_true(is_met(&hindrances, n1, n3, 31, 40));
	sim_hindrances_end(&hindrances, &late, 35);
	assert_true(is_met(&hindrances, n1, n3, 35, 40));
	assert_false(is_met(&hindrances, n1, n3, 36, 40));
	sim_hindrances_free(&hindrances);
}

/* A control of which only tables and ports are looked at. */
struct bare_control {
	struct sim_control control;
	struct sim_subnet *subnet;
};

static const struct sim_tables *tables_of(struct sim_control *control)
{
	return sim_subnet_tables(((struct bare_control *)control)->subnet);
}

static int port_facts_of(struct sim_control *control, struct sim_port_ref port,
			 struct acm_port_facts *facts)
{
	return sim_subnet_port_facts(((struct bare_control *)control)->subnet, port, facts);
}

/* They join a group of their own, in the subnet and by their traces. */
static void meet(const struct fixture *fixture, struct sim_subnet *subnet,
		 struct sim_memberships *memberships)
{
	const uint32_t nodes[] = {fixture->n1, fixture->n2, fixture->n3};
	const struct acm_mcmember record = {.mgid = {{0xff, 0x15, 0x40, 0x01}},
					    .qkey = ACM_QKEY,
					    .mtu = 4,
					    .rate = 3,
					    .pkey = ACM_PKEY_DEFAULT};
	struct acm_trace joined = {.type = ACM_TRACE_JOINED, .gid = record.mgid};
	struct sim_group *group;

	assert_int_equal(sim_subnet_add_group(subnet, &record, &group), 0);
	joined.lid = group->record.mlid;
	for (size_t i = 0; i < 3; i++) {
		struct sim_port_ref ref = {.node = nodes[i], .port = 1};

		assert_int_equal(sim_subnet_join(subnet, group, sim_subnet_port_index(subnet, ref),
						 false, 1, 0),
				 0);
		sim_memberships_trace(memberships, nodes[i], &joined);
	}
	sim_subnet_advance(subnet, ACM_NSEC_PER_SEC);
}

static void packets_pass_the_links_that_the_tables_say(void **state)
{
	struct fixture *fixture = *state;
	static const struct sim_control_ops ops = {.tables = tables_of,
						   .port_facts = port_facts_of};
	struct bare_control bare = {.control = {&ops}};
	struct sim_subnet_options options;
	char why[256];
	struct simulation simulation = {.topology = fixture->topology, .control = &bare.control};
	const struct sim_ways *ways = &simulation.hindrances.ways;
	struct sim_wait near = {.node = fixture->n1, .target = fixture->n3};
	struct sim_wait far = {.node = fixture->n1, .target = fixture->n2};
	uint32_t link = 0; /* between the switches */
	const struct sim_nodes links = {.count = 1, .nodes = &link};
	uint64_t generation;

	sim_subnet_options_default(&options);
	assert_int_equal(
		sim_subnet_create(fixture->topology, &options, &bare.subnet, why, sizeof(why)), 0);
	simulation_watch_ways(&simulation);
	assert_int_equal(
		sim_memberships_init(&simulation.memberships, fixture->topology->node_count), 0);
	for (int joined = 0; joined < 2; joined++) {
		link = 0;
		assert_true(ways->pass(ways->context, &far, &links));
		assert_false(ways->pass(ways->context, &near, &links));
		link = fixture->topology->nodes[fixture->n3].ports[1].link;
		assert_true(ways->pass(ways->context, &near, &links));
		assert_false(ways->pass(ways->context, &far, &links));
		generation = ways->generation(ways->context);
		if (!joined)
			meet(fixture, bare.subnet, &simulation.memberships);
		assert_int_equal(ways->generation(ways->context) != generation, !joined);
	}
	sim_memberships_free(&simulation.memberships);
	sim_subnet_destroy(bare.subnet);
}

static void a_fault_is_a_hindrance_or_concerns_nodes(void **state)
{
	struct fixture *fixture = *state;
	uint32_t link = 0;
	struct sim_nodes links = {.count = 1, .nodes = &link};
	struct sim_fault_plan plan = {.kind = SIM_FAULT_LOSS, .links = links};

	assert_true(sim_fault_hinders(&plan));
	assert_int_equal(concerned(fixture, &plan), 0);
	plan.kind = SIM_FAULT_LINK_FLAPPING;
	assert_false(sim_fault_hinders(&plan));
	assert_int_equal(concerned(fixture, &plan), 2);
	plan = (struct sim_fault_plan){.kind = SIM_FAULT_LOSS};
	assert_false(sim_fault_hinders(&plan));
	assert_int_equal(concerned(fixture, &plan), 2);
	plan = (struct sim_fault_plan){.kind = SIM_FAULT_LOSS,
				       .links = links,
				       .nodes = {.count = 1, .nodes = &fixture->n3}};
	assert_false(sim_fault_hinders(&plan));
	assert_int_equal(concerned(fixture, &plan), 1);
}

static void routes_hold_again_when_what_was_learned_before_has_expired(void **state)
{
	struct fixture *fixture = *state;
	uint32_t link = 0;
	struct sim_fault_plan down = {.kind = SIM_FAULT_LINK_DOWN,
				      .links = {.count = 1, .nodes = &link}};
	struct sim_disturbances disturbances;

	assert_int_equal(sim_disturbances_init(&disturbances, fixture->topology, &fixture->hook),
			 0);
	assert_true(sim_disturbances_routes_hold(&disturbances, ACM_NEVER, 1));
	assert_int_equal(sim_disturbances_begin(&disturbances, &down, 1), 0);
	assert_false(sim_disturbances_routes_hold(&disturbances, ACM_NEVER, UINT64_MAX - 1));
	assert_false(sim_disturbances_routes_hold(&disturbances, 60000 * MS, 60000 * MS));
	assert_true(sim_disturbances_routes_hold(&disturbances, 60000 * MS, 70001 * MS));
	sim_disturbances_free(&disturbances);
}

/* ---- 4: one inquiry in flight ---- */

static const char inquiry_rule[] = "one inquiry in flight for a destination";

/* A try of a node for n2, or what ends it. */
static void trace(struct sim_inquiries *inquiries, enum acm_trace_type type, uint64_t value,
		  uint64_t time)
{
	static const struct sim_patience patience = {.first = 100 * MS, .growth = 2};
	const struct sim_topology *topology = inquiries->topology;
	uint32_t node = sim_topology_find(topology, "n1");
	const struct acm_address *address =
		&topology->nodes[sim_topology_find(topology, "n2")].addresses[0];
	struct acm_trace event = {.type = type, .endpoint = 1, .value = value, .time = time};

	*(type == ACM_TRACE_LEARNED ? &event.source : &event.destination) = *address;
	assert_true(sim_inquiries_trace(inquiries, node, &event, &patience));
}

static void two_sa_queries_at_a_time_are_a_breach(void **state)
{
	struct fixture *fixture = *state;
	struct sim_inquiries inquiries;

	assert_int_equal(sim_inquiries_init(&inquiries, fixture->topology, &fixture->hook), 0);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 1, 0);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 2, 100 * MS);
	trace(&inquiries, ACM_TRACE_ROUTE, 0, 101 * MS);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 1, 101 * MS);
	trace(&inquiries, ACM_TRACE_SA_WITHDRAWN, 0, 102 * MS);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 1, 102 * MS);
	trace(&inquiries, ACM_TRACE_FAILED, 0, 103 * MS);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 1, 104 * MS);
	trace(&inquiries, ACM_TRACE_SA_STATUS, 0x300, 105 * MS);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 1, 106 * MS);
	assert_int_equal(sim_inquiries_count(&inquiries, fixture->n1), 1);
	assert_int_equal(sim_inquiries_oldest(&inquiries, fixture->n1, NULL), 106 * MS);
	assert_silent(fixture);
	/* Nothing else ends it: not the peer's address, not a change of the port or of groups. */
	trace(&inquiries, ACM_TRACE_LEARNED, 0, 107 * MS);
	trace(&inquiries, ACM_TRACE_PORT, 4, 108 * MS);
	trace(&inquiries, ACM_TRACE_JOIN, 0, 108 * MS);
	trace(&inquiries, ACM_TRACE_JOINED, 0, 108 * MS);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 1, 10000 * MS);
	assert_told(fixture, inquiry_rule);
	sim_inquiries_forget(&inquiries, fixture->n1);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 1, 10001 * MS);
	assert_silent(fixture);
	sim_inquiries_free(&inquiries);
}

static void two_multicasts_at_a_time_are_a_breach(void **state)
{
	struct fixture *fixture = *state;
	struct sim_inquiries inquiries;

	assert_int_equal(sim_inquiries_init(&inquiries, fixture->topology, &fixture->hook), 0);
	trace(&inquiries, ACM_TRACE_MULTICAST, 1, 0);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 1, 0); /* another kind */
	trace(&inquiries, ACM_TRACE_ADDRESS, 0, 1);
	trace(&inquiries, ACM_TRACE_MULTICAST, 1, 2);
	trace(&inquiries, ACM_TRACE_LEARNED, 0, 3);
	trace(&inquiries, ACM_TRACE_MULTICAST, 1, 4);
	trace(&inquiries, ACM_TRACE_FAILED, 0, 5);
	trace(&inquiries, ACM_TRACE_MULTICAST, 1, 6);
	assert_silent(fixture);
	trace(&inquiries, ACM_TRACE_MULTICAST, 1, 99 * MS);
	assert_told(fixture, inquiry_rule);
	sim_inquiries_free(&inquiries);
}

static void a_retry_that_does_not_wait_is_a_breach(void **state)
{
	struct fixture *fixture = *state;
	struct sim_inquiries inquiries;

	assert_int_equal(sim_inquiries_init(&inquiries, fixture->topology, &fixture->hook), 0);
	trace(&inquiries, ACM_TRACE_MULTICAST, 1, 0);
	trace(&inquiries, ACM_TRACE_MULTICAST, 2, 100 * MS);
	trace(&inquiries, ACM_TRACE_MULTICAST, 3, 300 * MS);
	assert_silent(fixture);
	trace(&inquiries, ACM_TRACE_MULTICAST, 4, 699 * MS);
	assert_told(fixture, inquiry_rule);
	trace(&inquiries, ACM_TRACE_MULTICAST, 6, 5000 * MS); /* where is the fifth? */
	assert_told(fixture, inquiry_rule);
	/* An SA that was busy is asked again sooner. */
	trace(&inquiries, ACM_TRACE_SA_QUERY, 1, 5000 * MS);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 2, 5043 * MS);
	assert_silent(fixture);
	trace(&inquiries, ACM_TRACE_SA_QUERY, 3, 5085 * MS);
	assert_told(fixture, inquiry_rule);
	sim_inquiries_free(&inquiries);
}

static void inquiries_of_others_are_their_own(void **state)
{
	static const struct sim_patience patience = {.first = 100 * MS, .growth = 2};
	struct fixture *fixture = *state;
	struct acm_trace event = {.type = ACM_TRACE_SA_QUERY, .endpoint = 1, .value = 1};
	struct sim_inquiries inquiries;

	event.destination = fixture->topology->nodes[fixture->n2].addresses[0];
	assert_int_equal(sim_inquiries_init(&inquiries, fixture->topology, &fixture->hook), 0);
	sim_inquiries_trace(&inquiries, fixture->n1, &event, &patience);
	sim_inquiries_trace(&inquiries, fixture->n3, &event, &patience);
	event.endpoint = 2;
	sim_inquiries_trace(&inquiries, fixture->n1, &event, &patience);
	event.bypass = true;
	sim_inquiries_trace(&inquiries, fixture->n1, &event, &patience);
	event.destination = fixture->topology->nodes[fixture->n3].addresses[0];
	sim_inquiries_trace(&inquiries, fixture->n1, &event, &patience);
	assert_silent(fixture);
	sim_inquiries_trace(&inquiries, fixture->n1, &event, &patience);
	assert_told(fixture, inquiry_rule);
	sim_inquiries_free(&inquiries);
}

/* ---- 5 and 7: memory and counters ---- */

static void memory_beyond_the_budget_is_a_breach(void **state)
{
	struct fixture *fixture = *state;
	struct acm_engine_stats stats = {.memory = 1000};
	struct sim_invariants invariants;

	assert_int_equal(sim_invariants_init(&invariants, fixture->topology, NULL, &fixture->hook),
			 0);
	sim_invariants_engine(&invariants, fixture->n1, &stats, 1000);
	sim_invariants_leaked(&invariants, 0);
	assert_silent(fixture);
	sim_invariants_engine(&invariants, fixture->n1, &stats, 999);
	assert_told(fixture, "memory stays within the budget");
	stats.waiting = 1; /* what a request waits for is not evicted */
	stats.counters[ACM_COUNTER_REQUESTS] = 1;
	sim_invariants_engine(&invariants, fixture->n1, &stats, 999);
	assert_silent(fixture);
	sim_invariants_leaked(&invariants, 1);
	assert_told(fixture, "no memory is lost");
	sim_invariants_free(&invariants);
}

static void counters_that_do_not_add_up_are_a_breach(void **state)
{
	struct fixture *fixture = *state;
	struct acm_engine_stats stats = {.waiting = 2};
	struct sim_fabric_stats fabric = {.copies = 10, .delivered = 5, .in_flight = 2};
	struct sim_invariants invariants;

	assert_int_equal(sim_invariants_init(&invariants, fixture->topology, NULL, &fixture->hook),
			 0);
	stats.counters[ACM_COUNTER_REQUESTS] = 7;
	stats.counters[ACM_COUNTER_ANSWERS] = 4;
	stats.counters[ACM_COUNTER_CANCELLED] = 1;
	fabric.dropped[SIM_DROP_LOSS] = 1;
	fabric.dropped[SIM_DROP_MTU] = 2;
	sim_invariants_engine(&invariants, fixture->n1, &stats, UINT64_MAX);
	sim_invariants_fabric(&invariants, &fabric);
	assert_silent(fixture);
	stats.counters[ACM_COUNTER_CANCELLED] = 0;
	sim_invariants_engine(&invariants, fixture->n1, &stats, UINT64_MAX);
	assert_told(fixture, "requests = answers + cancelled + waiting");
	fabric.delivered++;
	sim_invariants_fabric(&invariants, &fabric);
	assert_told(fixture, "packets = delivered + dropped + in flight");
	sim_invariants_free(&invariants);
}

/* ---- 6: in the end all pairs resolve, to the right port ---- */

/* Whether an answer with this path, given at 100, is right in the end, at 200. */
static bool is_right(struct fixture *fixture, struct simulation *simulation,
		     const struct acm_path *path, enum acm_status status)
{
	struct sim_asked asked = {.node = fixture->n1,
				  .target = fixture->n3,
				  .address = &fixture->topology->nodes[fixture->n3].addresses[0]};
	struct acm_reply reply = {.status = status, .path = *path};

	simulation->pairs_open = 1;
	simulation->failed_count = 0;
	simulation_pair_answered(simulation, &asked, &reply);
	assert_int_equal(simulation->pairs_open, 0);
	return !simulation->failed_count;
}

static void a_pair_that_resolves_elsewhere_in_the_end_is_wrong(void **state)
{
	struct fixture *fixture = *state;
	struct sim_scenario scenario = {.topology = fixture->topology};
	uint64_t pair = 0;
	struct sim_host hosts[16] = {0};
	struct simulation simulation = {.scenario = &scenario,
					.hosts = hosts,
					.topology = fixture->topology,
					.now = 100,
					.finally_end = 200,
					.pairs = &pair};
	struct acm_path path = path_between(fixture, fixture->n1, fixture->n3);
	struct acm_path other = path_between(fixture, fixture->n1, fixture->n4);
	const struct acm_address *name = &fixture->topology->nodes[fixture->n3].addresses[0];

	assert_non_null(scenario.configs = calloc(fixture->topology->node_count, sizeof(void *)));
	assert_int_equal(sim_invariants_init(&simulation.invariants, fixture->topology,
					     fixture->control, &fixture->hook),
			 0);
	scenario.config.address_life = 150;
	assert_true(is_right(fixture, &simulation, &path, ACM_STATUS_OK));
	assert_false(is_right(fixture, &simulation, &path, ACM_STATUS_TIMED_OUT));
	assert_false(is_right(fixture, &simulation, &other, ACM_STATUS_OK));
	path.dlid = other.dlid;
	assert_false(is_right(fixture, &simulation, &path, ACM_STATUS_OK));
	/* The name moves to n4: n1 may remember n3 until the end, or only until before it. */
	path = path_between(fixture, fixture->n1, fixture->n3);
	assert_true(sim_invariants_address_came(&simulation.invariants, fixture->n4, name, 50));
	assert_true(sim_invariants_address_left(&simulation.invariants, fixture->n3, name, 50));
	assert_true(is_right(fixture, &simulation, &other, ACM_STATUS_OK));
	assert_true(is_right(fixture, &simulation, &path, ACM_STATUS_OK));
	scenario.config.address_life = 149;
	assert_false(is_right(fixture, &simulation, &path, ACM_STATUS_OK));
	simulation.longest_way = 1; /* it may have heard of n3 later than that was so */
	assert_true(is_right(fixture, &simulation, &path, ACM_STATUS_OK));
	sim_invariants_free(&simulation.invariants);
	free(scenario.configs);
}

/* What it read when it was resumed counts by when it began to ask, however late the answer is. */
static void a_paused_node_remembers_from_when_it_reads_on(void **state)
{
	struct fixture *fixture = *state;
	struct sim_scenario scenario = {.topology = fixture->topology};
	struct sim_host hosts[16] = {0};
	struct simulation simulation = {.scenario = &scenario, .hosts = hosts, .now = 1000};
	struct sim_asked asked = {.node = fixture->n1, .joined = 200};

	assert_non_null(scenario.configs = calloc(fixture->topology->node_count, sizeof(void *)));
	scenario.config.address_life = 150;
	assert_int_equal(simulation_memory_of(&simulation, &asked), 150);
	hosts[fixture->n1] = (struct sim_host){.was_paused = true, .resumed = 50};
	assert_true(simulation_memory_of(&simulation, &asked) == ACM_NEVER);
	asked.joined = 201;
	assert_int_equal(simulation_memory_of(&simulation, &asked), 150);
	simulation.longest_way = 7; /* what it read may be older */
	assert_int_equal(simulation_memory_of(&simulation, &asked), 157);
	asked.joined = 49; /* it was paused after that */
	assert_true(simulation_memory_of(&simulation, &asked) == ACM_NEVER);
	free(scenario.configs);
}

#define RULE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE_TEST(an_answer_too_many_is_a_breach),
		RULE_TEST(an_answer_too_late_or_never_is_a_breach),
		RULE_TEST(a_request_joins_what_was_asked_before),
		RULE_TEST(a_path_to_whom_does_not_hold_the_address_is_a_breach),
		RULE_TEST(a_node_that_starts_again_has_the_topologys_addresses),
		RULE_TEST(a_path_to_no_port_or_another_lid_is_a_breach),
		RULE_TEST(each_end_of_a_path_that_is_not_so_is_a_breach),
		RULE_TEST(a_partition_that_both_ends_do_not_share_is_a_breach),
		RULE_TEST(more_than_the_links_carry_is_a_breach),
		RULE_TEST(a_wait_for_whom_nothing_happened_to_is_a_breach),
		RULE_TEST(a_wait_is_no_breach_until_a_node_is_well_again),
		RULE_TEST(a_fault_excuses_those_alone_whom_it_concerns),
		RULE_TEST(a_lossy_link_hinders_those_alone_whose_packets_pass_it),
		RULE_TEST(packets_pass_the_links_that_the_tables_say),
		RULE_TEST(a_fault_is_a_hindrance_or_concerns_nodes),
		RULE_TEST(a_fault_ends_for_those_for_whom_it_began),
		RULE_TEST(a_link_that_the_manager_moves_behind_concerns_all),
		RULE_TEST(routes_hold_again_when_what_was_learned_before_has_expired),
		RULE_TEST(two_sa_queries_at_a_time_are_a_breach),
		RULE_TEST(two_multicasts_at_a_time_are_a_breach),
		RULE_TEST(a_retry_that_does_not_wait_is_a_breach),
		RULE_TEST(inquiries_of_others_are_their_own),
		RULE_TEST(memory_beyond_the_budget_is_a_breach),
		RULE_TEST(counters_that_do_not_add_up_are_a_breach),
		RULE_TEST(a_pair_that_resolves_elsewhere_in_the_end_is_wrong),
		RULE_TEST(a_paused_node_remembers_from_when_it_reads_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
