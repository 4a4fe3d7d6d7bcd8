/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One topology under both controls: facts of ports, forwarding tables, path records, joins and
 * their refusals, and who receives what is sent to a group. ibsim and OpenSM must be installed:
 * without them this fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "builtin_control.h"
#include "control_compare.h"
#include "ibsim_control.h"
#include "sa_inquiry.h"
#include "walk.h"

#include <acmite/sa.h>
#include <acmite/wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MODEL       0
#define OPENSM      1
#define PATIENCE    (30 * ACM_NSEC_PER_SEC)
#define GROUPS      20
#define MEMBERS_MAX 8

struct fixture {
	struct sim_topology *topology;
	struct sim_control *controls[2];
	struct sim_wiring wiring;
	char scratch[64];
	uint32_t port_count;
	struct sim_port_ref *ports; /* of hosts, active */
	uint64_t random;
};

static const char *topology_path;

static uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

static struct acm_port_facts facts_of(const struct fixture *f, int control,
				      struct sim_port_ref port)
{
	struct acm_port_facts facts;

	assert_int_equal(f->controls[control]->ops->port_facts(f->controls[control], port, &facts),
			 0);
	return facts;
}

static void start_opensm(struct fixture *f)
{
	struct sim_ibsim_options options;
	char why[1024];

	snprintf(f->scratch, sizeof(f->scratch), "/tmp/acmite-test-XXXXXX");
	assert_non_null(mkdtemp(f->scratch));
	sim_ibsim_options_default(&options);
	options.scratch = f->scratch;
	options.ready_timeout_ms = 90000;
	if (sim_ibsim_control_create(f->topology, &options, &f->controls[OPENSM], why, sizeof(why)))
		fail_msg("the fabric does not come up: %s", why);
}

static void start_model(struct fixture *f)
{
	struct sim_port_ref sm = {.node = f->topology->sm, .port = 1};
	struct sim_builtin_options options;
	char why[512];

	sim_builtin_options_default(&options);
	options.subnet.subnet_timeout = facts_of(f, OPENSM, sm).subnet_timeout;
	if (sim_builtin_control_create(f->topology, &options, &f->controls[MODEL], why,
				       sizeof(why)))
		fail_msg("%s", why);
}

static void list_ports(struct fixture *f)
{
	const struct sim_topology *topology = f->topology;

	f->ports = calloc((size_t)topology->host_count * 8 + 1, sizeof(*f->ports));
	assert_non_null(f->ports);
	for (uint32_t node = topology->switch_count; node < topology->node_count; node++)
		for (uint8_t port = 1; port <= topology->nodes[node].port_count; port++)
			if (topology->nodes[node].ports[port].peer != SIM_NONE)
				f->ports[f->port_count++] =
					(struct sim_port_ref){.node = node, .port = port};
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sim_errors errors;

	assert_non_null(f);
	if (sim_topology_load(topology_path, &f->topology, &errors))
		fail_msg("%s", errors.lines[0]);
	/* ibsim knows but one MTU. */
	for (uint32_t i = 0; i < f->topology->link_count; i++)
		f->topology->links[i].mtu = 4;
	start_opensm(f);
	start_model(f);
	list_ports(f);
	assert_int_equal(sim_wiring_init(&f->wiring, f->topology), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	for (int c = 0; c < 2; c++)
		f->controls[c]->ops->destroy(f->controls[c]);
	sim_wiring_free(&f->wiring);
	sim_topology_free(f->topology);
	free(f->ports);
	assert_int_equal(rmdir(f->scratch), 0);
	free(f);
	return 0;
}

static uint32_t draw(struct fixture *f, uint32_t below)
{
	return (uint32_t)(sim_mix(++f->random) % below);
}

/* ---- unicast ---- */

static void print_difference(void *context, const char *text)
{
	(void)context;
	print_error("%s\n", text);
}

static void path_records_are_the_same(void **state)
{
	static const char *const names[2] = {"the model", "OpenSM"};
	struct fixture *f = *state;
	struct sim_compare_options options;
	struct sim_compare_result result;

	sim_compare_options_default(&options);
	options.differ = print_difference;
	assert_int_equal(sim_compare_controls(f->topology, f->controls, names, &options, &result),
			 0);
	assert_true(result.pairs > 0);
	assert_int_equal(result.differing, 0);
	assert_int_equal(result.lids_differing, 0);
}

static void ports_are_the_same(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < f->port_count; i++) {
		struct acm_port_facts model = facts_of(f, MODEL, f->ports[i]);
		struct acm_port_facts opensm = facts_of(f, OPENSM, f->ports[i]);

		assert_memory_equal(&model, &opensm, sizeof(model));
	}
}

static void forwarding_tables_are_the_same(void **state)
{
	struct fixture *f = *state;
	const struct sim_tables *model = f->controls[MODEL]->ops->tables(f->controls[MODEL]);
	const struct sim_tables *opensm = f->controls[OPENSM]->ops->tables(f->controls[OPENSM]);

	for (uint32_t s = 0; s < f->topology->switch_count; s++) {
		const struct sim_switch_tables *first = &model->switches[s];
		const struct sim_switch_tables *second = &opensm->switches[s];

		assert_int_equal(first->lid, second->lid);
		assert_true(second->lft_size >= first->lft_size);
		assert_memory_equal(first->lft + 1, second->lft + 1, first->lft_size - 1);
	}
}

/* ---- groups ---- */

struct group {
	struct acm_gid mgid;
	uint32_t member_count;
	uint32_t members[MEMBERS_MAX]; /* in ports */
	uint16_t mlids[2];
};

static void ask(struct fixture *f, int control, struct sim_inquiry *inquiry)
{
	assert_int_equal(sim_inquire(f->controls[control], inquiry, 1, PATIENCE), 0);
}

/* The same question to both; the answers must be the same but for what `ignore` clears. */
static void ask_both(struct fixture *f, const struct sim_inquiry *question,
		     struct acm_mcmember *model, uint16_t *status)
{
	struct sim_inquiry inquiries[2] = {*question, *question};
	struct acm_sa_header headers[2];
	struct acm_mcmember members[2] = {{.mtu = 0}};

	for (int c = 0; c < 2; c++) {
		ask(f, c, &inquiries[c]);
		assert_int_equal(
			acm_sa_decode_header(inquiries[c].answer, ACM_MAD_LENGTH, &headers[c]), 0);
		if (!headers[c].status)
			acm_sa_decode_mcmember(inquiries[c].answer, ACM_MAD_LENGTH, &members[c]);
	}
	assert_int_equal(headers[MODEL].method, headers[OPENSM].method);
	assert_int_equal(headers[MODEL].status, headers[OPENSM].status);
	assert_memory_equal(&members[MODEL], &members[OPENSM], sizeof(members[MODEL]));
	*model = members[MODEL];
	*status = headers[MODEL].status;
}

static struct acm_mcmember member_of(const struct fixture *f, struct sim_port_ref port)
{
	struct acm_port_facts facts = facts_of(f, MODEL, port);

	return (struct acm_mcmember){.port_gid = facts.gids[0],
				     .qkey = ACM_QKEY,
				     .mtu = 4,
				     .rate = 3,
				     .pkey = ACM_PKEY_DEFAULT,
				     .scope = 5,
				     .join_state = ACM_SA_JOIN_FULL};
}

static struct acm_gid mgid_number(uint8_t number)
{
	struct acm_gid mgid;

	acm_group_mgid(&mgid, ACM_PKEY_DEFAULT, 3, 4);
	mgid.raw[15] = number;
	return mgid;
}

static void join_group(struct fixture *f, struct group *group, uint32_t port)
{
	struct acm_mcmember member = member_of(f, f->ports[port]), answer;
	struct sim_inquiry inquiry = {.port = f->ports[port]};
	uint16_t status;

	member.mgid = group->mgid;
	acm_sa_encode_join(&member, 7, inquiry.mad);
	ask_both(f, &inquiry, &answer, &status);
	assert_int_equal(status, 0);
	group->mlids[MODEL] = group->mlids[OPENSM] = answer.mlid;
	group->members[group->member_count++] = port;
}

static void draw_group(struct fixture *f, struct group *group, uint8_t number)
{
	uint32_t count = 1 + draw(f, MEMBERS_MAX);

	*group = (struct group){.mgid = mgid_number(number)};
	while (count--)
		join_group(f, group, draw(f, f->port_count));
}

/* Ports that receive what a member sends, as bits by number; each at most once. */
static void receivers(struct fixture *f, int control, const struct group *group, uint32_t from,
		      uint8_t *received)
{
	struct sim_port_ref port = f->ports[from];
	struct sim_walk walk;

	memset(received, 0, f->wiring.port_count);
	sim_walk_init(&walk, &f->wiring);
	walk.tables = f->controls[control]->ops->tables(f->controls[control]);
	assert_int_equal(sim_walk_multicast(&walk,
					    sim_wiring_index(&f->wiring, port.node, port.port),
					    group->mlids[control], 256),
			 0);
	for (uint32_t i = 0; i < walk.count; i++)
		if (walk.ends[i].arrived)
			received[walk.ends[i].port]++;
	sim_walk_free(&walk);
}

static bool both_deliver(struct fixture *f, const struct group *group, uint8_t *scratch[2])
{
	for (uint32_t m = 0; m < group->member_count; m++) {
		for (int c = 0; c < 2; c++)
			receivers(f, c, group, group->members[m], scratch[c]);
		if (memcmp(scratch[MODEL], scratch[OPENSM], f->wiring.port_count) != 0)
			return false;
	}
	return true;
}

/* By the model: every other member, once. */
static void assert_all_receive(struct fixture *f, const struct group *group, uint8_t *received)
{
	for (uint32_t m = 0; m < group->member_count; m++) {
		receivers(f, MODEL, group, group->members[m], received);
		for (uint32_t other = 0; other < group->member_count; other++) {
			struct sim_port_ref port = f->ports[group->members[other]];

			assert_int_equal(
				received[sim_wiring_index(&f->wiring, port.node, port.port)],
				group->members[other] != group->members[m]);
		}
	}
}

/* OpenSM programs its switches when it comes to it. */
static void await_trees(struct fixture *f, const struct group *group, uint8_t *scratch[2])
{
	uint64_t until = monotonic_now() + PATIENCE;
	struct sim_control_event event;

	while (sim_control_wait(f->controls[MODEL], until))
		while (f->controls[MODEL]->ops->next_event(f->controls[MODEL], &event))
			;
	while (!both_deliver(f, group, scratch)) {
		f->controls[OPENSM]->ops->refresh(f->controls[OPENSM]);
		if (!sim_control_wait(f->controls[OPENSM], until))
			fail_msg("the trees of MLID 0x%04x do not become the same",
				 group->mlids[MODEL]);
		while (f->controls[OPENSM]->ops->next_event(f->controls[OPENSM], &event))
			;
	}
}

static void groups_reach_the_same(void **state)
{
	struct fixture *f = *state;
	struct group groups[GROUPS];
	uint8_t *scratch[2];

	for (int c = 0; c < 2; c++) {
		scratch[c] = calloc(f->wiring.port_count, 1);
		assert_non_null(scratch[c]);
	}
	for (uint8_t i = 0; i < GROUPS; i++)
		draw_group(f, &groups[i], (uint8_t)(i + 1));
	for (uint32_t i = 0; i < GROUPS; i++) {
		await_trees(f, &groups[i], scratch);
		assert_all_receive(f, &groups[i], scratch[MODEL]);
	}
	for (int c = 0; c < 2; c++)
		free(scratch[c]);
}

/* ---- what the SA refuses, and what it answers to oddities ---- */

struct variation {
	const char *name;
	void (*vary)(struct acm_mcmember *member, uint8_t *mad);
};

static void store_components(uint8_t *mad, uint64_t set, uint64_t clear)
{
	uint64_t components = 0;

	for (int i = 0; i < 8; i++)
		components = components << 8 | mad[48 + i];
	components = (components | set) & ~clear;
	for (int i = 0; i < 8; i++)
		mad[48 + i] = (uint8_t)(components >> (56 - 8 * i));
}

#define VARY(name, statement)                                                                      \
	static void name(struct acm_mcmember *member, uint8_t *mad)                                \
	{                                                                                          \
		(void)member;                                                                      \
		(void)mad;                                                                         \
		statement;                                                                         \
	}

/* Before the MAD is made, `mad` is NULL; after it, `member` is. */
VARY(as_usual, )
VARY(with_a_fast_rate, if (member) member->rate = 25)
VARY(with_an_unknown_rate, if (member) member->rate = 60)
VARY(with_an_mtu_too_large, if (member) member->mtu = 5)
VARY(with_an_unknown_mtu, if (member) member->mtu = 9)
VARY(with_a_foreign_pkey, if (member) member->pkey = 0x9abc)
VARY(with_no_pkey, if (member) member->pkey = 0x8000)
VARY(with_the_limited_pkey, if (member) member->pkey = 0x7fff)
VARY(as_a_non_member, if (member) member->join_state = ACM_SA_JOIN_NON_MEMBER)
VARY(as_a_sender, if (member) member->join_state = ACM_SA_JOIN_SEND_ONLY)
VARY(as_a_full_sender, if (member) member->join_state = ACM_SA_JOIN_SEND_ONLY_FULL)
VARY(with_no_state, if (member) member->join_state = 0)
VARY(with_link_scope, if (member) member->scope = 2)
VARY(with_a_unicast_mgid, if (member) member->mgid.raw[0] = 0xfe)
VARY(with_reserved_flags, if (member) member->mgid.raw[1] = 0x75)
VARY(with_the_sa_s_signature, if (member) memcpy(member->mgid.raw, "\xff\x12\xa0\x1b", 4))
VARY(with_ipoib_without_broadcast, if (member) memcpy(member->mgid.raw, "\xff\x15\x40\x1b", 4))
VARY(with_an_unknown_port, if (member) member->port_gid.raw[15] ^= 0x55)
VARY(from_another_prefix, if (member) member->port_gid.raw[7] = 1)
VARY(with_mtu_above, if (mad) mad[56 + 38] = 0 << 6 | 3)
VARY(with_mtu_below, if (mad) mad[56 + 38] = 1 << 6 | 4)
VARY(with_mtu_above_its_own, if (mad) mad[56 + 38] = 0 << 6 | 5)
VARY(with_mtu_at_most, if (mad) mad[56 + 38] = 3 << 6 | 1)
VARY(with_rate_above, if (mad) mad[56 + 42] = 0 << 6 | 2)
VARY(with_rate_below, if (mad) mad[56 + 42] = 1 << 6 | 3)
VARY(with_rate_at_most, if (mad) mad[56 + 42] = 3 << 6 | 2)
VARY(without_the_qkey, if (mad) store_components(mad, 0, ACM_SA_MC_QKEY))
VARY(without_the_pkey, if (mad) store_components(mad, 0, ACM_SA_MC_PKEY))
VARY(without_rate_and_mtu, if (mad) store_components(mad, 0, ACM_SA_MC_RATE | ACM_SA_MC_MTU))
VARY(without_the_rate_selector, if (mad) store_components(mad, 0, ACM_SA_MC_RATE_SELECTOR))
VARY(without_the_port_gid, if (mad) store_components(mad, 0, ACM_SA_MC_PORT_GID))
VARY(without_the_state, if (mad) store_components(mad, 0, ACM_SA_MC_JOIN_STATE))
VARY(with_another_qkey, if (member) member->qkey = 77)
VARY(with_another_sl, if (member) member->sl = 3)
VARY(with_another_class, if (member) member->traffic_class = 3)
VARY(with_another_label, if (member) member->flow_label = 3)
VARY(with_the_wrong_key, if (mad) mad[36 + 7] = 0)

#define V(name)                                                                                    \
	{                                                                                          \
#name, name                                                                        \
	}
static const struct variation variations[] = {
	V(as_usual),
	V(with_a_fast_rate),
	V(with_an_unknown_rate),
	V(with_an_mtu_too_large),
	V(with_an_unknown_mtu),
	V(with_a_foreign_pkey),
	V(with_no_pkey),
	V(with_the_limited_pkey),
	V(as_a_non_member),
	V(as_a_sender),
	V(as_a_full_sender),
	V(with_no_state),
	V(with_link_scope),
	V(with_a_unicast_mgid),
	V(with_reserved_flags),
	V(with_the_sa_s_signature),
	V(with_ipoib_without_broadcast),
	V(with_an_unknown_port),
	V(from_another_prefix),
	V(with_mtu_above),
	V(with_mtu_below),
	V(with_mtu_above_its_own),
	V(with_mtu_at_most),
	V(with_rate_above),
	V(with_rate_below),
	V(with_rate_at_most),
	V(without_the_qkey),
	V(without_the_pkey),
	V(without_rate_and_mtu),
	V(without_the_rate_selector),
	V(without_the_port_gid),
	V(without_the_state),
	V(with_another_qkey),
	V(with_another_sl),
	V(with_another_class),
	V(with_another_label),
	V(with_the_wrong_key),
};

/* The first member, and then a second one as usual, are answered alike; then the first leaves. */
static void try_variation(struct fixture *f, const struct variation *variation, uint8_t number,
			  bool group_exists)
{
	struct acm_mcmember member = member_of(f, f->ports[0]), answer;
	struct sim_inquiry inquiry = {.port = f->ports[0]};
	uint16_t status;

	member.mgid = mgid_number(number);
	if (group_exists) {
		struct acm_mcmember other = member_of(f, f->ports[1]);
		struct sim_inquiry first = {.port = f->ports[1]};

		other.mgid = member.mgid;
		acm_sa_encode_join(&other, 1, first.mad);
		ask_both(f, &first, &answer, &status);
		assert_int_equal(status, 0);
	}
	variation->vary(&member, NULL);
	acm_sa_encode_join(&member, 2, inquiry.mad);
	variation->vary(NULL, inquiry.mad);
	ask_both(f, &inquiry, &answer, &status);
	acm_sa_encode_group_get(&member.mgid, 3, inquiry.mad);
	ask_both(f, &inquiry, &answer, &status);
	acm_sa_encode_leave(&member, 4, inquiry.mad);
	ask_both(f, &inquiry, &answer, &status);
	acm_sa_encode_group_get(&member.mgid, 5, inquiry.mad);
	ask_both(f, &inquiry, &answer, &status);
}

static void joins_are_answered_alike(void **state)
{
	struct fixture *f = *state;
	uint8_t number = 100;

	for (size_t i = 0; i < sizeof(variations) / sizeof(variations[0]); i++) {
		print_message("a join %s\n", variations[i].name);
		try_variation(f, &variations[i], number++, false);
		try_variation(f, &variations[i], number++, true);
	}
}

/* ---- path queries with everything that can be asked for ---- */

static bool is_host_lid(const struct fixture *f, uint16_t lid)
{
	for (uint32_t i = 0; i < f->port_count; i++)
		if (facts_of(f, MODEL, f->ports[i]).lid == lid)
			return true;
	return false;
}

static void ask_path(struct fixture *f, const struct acm_path *asked, struct sim_port_ref from)
{
	struct sim_inquiry inquiries[2] = {{.port = from}, {.port = from}};
	struct acm_sa_header headers[2];
	struct acm_path paths[2];

	memset(paths, 0, sizeof(paths));
	for (int c = 0; c < 2; c++) {
		acm_sa_encode_path_get(asked, 9, inquiries[c].mad);
		ask(f, c, &inquiries[c]);
		assert_int_equal(
			acm_sa_decode_header(inquiries[c].answer, ACM_MAD_LENGTH, &headers[c]), 0);
		if (!headers[c].status)
			acm_sa_decode_path(inquiries[c].answer, ACM_MAD_LENGTH, &paths[c]);
		/* Switches' own ports have an MTU and a rate that ibsim makes up. */
		if (!is_host_lid(f, paths[c].slid) || !is_host_lid(f, paths[c].dlid))
			paths[c].mtu = paths[c].rate = 0;
	}
	assert_int_equal(headers[MODEL].status, headers[OPENSM].status);
	assert_memory_equal(&paths[MODEL], &paths[OPENSM], sizeof(paths[MODEL]));
}

static void ask_variations(struct fixture *f, struct sim_port_ref from, struct sim_port_ref to)
{
	struct acm_port_facts source = facts_of(f, MODEL, from), target = facts_of(f, MODEL, to);
	struct acm_path whole = {.sgid = source.gids[0], .dgid = target.gids[0]};
	struct acm_path asked[] = {
		{.sgid = source.gids[0]},
		{.dgid = target.gids[0]},
		{.slid = source.lid},
		{.dlid = target.lid},
		{.slid = source.lid, .dlid = target.lid},
		{.sgid = source.gids[0], .dlid = target.lid},
		{.sgid = source.gids[0], .dlid = 0xbfff},
		{.dgid = target.gids[0], .slid = source.lid},
		{.sgid = source.gids[0], .dgid = target.gids[0], .dlid = source.lid},
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
		whole,
	};
	size_t i = 10;

	asked[i++].reversible = true;
	asked[i++].pkey = ACM_PKEY_DEFAULT;
	asked[i++].pkey = 0x7fff;
	asked[i++].pkey = 0x9abc;
	asked[i++].pkey = 0x0010;
	asked[i++].sl = 3;
	asked[i].mtu = 4, asked[i++].mtu_selector = 2;
	asked[i].mtu = 2, asked[i++].mtu_selector = 1;
	asked[i].rate = 3, asked[i++].rate_selector = 0;
	asked[i].rate = 3, asked[i++].rate_selector = 1;
	asked[i].rate = 16, asked[i++].rate_selector = 2;
	asked[i].rate = 3, asked[i++].rate_selector = 3;
	asked[i].packet_life = 12, asked[i++].packet_life_selector = 1;
	asked[i].packet_life = 12, asked[i++].packet_life_selector = 2;
	asked[i++].qos_class = 5;
	asked[i++].hop_limit = 7;
	assert_int_equal(i, sizeof(asked) / sizeof(asked[0]));
	whole.dgid.raw[15] ^= 0x5a;
	ask_path(f, &whole, from);
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		ask_path(f, &asked[i], from);
}

static void path_queries_are_answered_alike(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 10; i++)
		ask_variations(f, f->ports[draw(f, f->port_count)],
			       f->ports[draw(f, f->port_count)]);
}

/* ---- a link that is lost, and comes back ---- */

/* The first link between two switches. False: there is none. */
static bool find_trunk(const struct fixture *f, uint32_t *node, uint8_t *port)
{
	const struct sim_topology *topology = f->topology;

	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct sim_link *link = &topology->links[i];

		if (topology->nodes[link->node[0]].kind != SIM_SWITCH ||
		    topology->nodes[link->node[1]].kind != SIM_SWITCH)
			continue;
		*node = link->node[0];
		*port = link->port[0];
		return true;
	}
	return false;
}

static bool tables_agree(const struct fixture *f)
{
	const struct sim_tables *model = f->controls[MODEL]->ops->tables(f->controls[MODEL]);
	const struct sim_tables *opensm = f->controls[OPENSM]->ops->tables(f->controls[OPENSM]);

	for (uint32_t s = 0; s < f->topology->switch_count; s++)
		if (memcmp(model->switches[s].lft + 1, opensm->switches[s].lft + 1,
			   model->switches[s].lft_size - 1) != 0)
			return false;
	return true;
}

static void await_agreement(struct fixture *f)
{
	uint64_t until = monotonic_now() + PATIENCE;
	struct sim_control_event event;

	while (sim_control_wait(f->controls[MODEL], until))
		while (f->controls[MODEL]->ops->next_event(f->controls[MODEL], &event))
			;
	while (!tables_agree(f)) {
		if (!sim_control_wait(f->controls[OPENSM], until))
			fail_msg("the forwarding tables do not become the same");
		while (f->controls[OPENSM]->ops->next_event(f->controls[OPENSM], &event))
			;
	}
}

static void a_lost_link_changes_the_same(void **state)
{
	struct fixture *f = *state;
	uint32_t node;
	uint8_t port;

	if (!find_trunk(f, &node, &port))
		return;
	assert_int_equal(sim_builtin_cut_link(f->controls[MODEL], node, port), 0);
	assert_int_equal(sim_ibsim_unlink(f->controls[OPENSM], node, port), 0);
	await_agreement(f);
	assert_int_equal(sim_builtin_mend_link(f->controls[MODEL], node, port), 0);
	assert_int_equal(sim_ibsim_relink(f->controls[OPENSM], node, port), 0);
	await_agreement(f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_records_are_the_same),
		cmocka_unit_test(ports_are_the_same),
		cmocka_unit_test(forwarding_tables_are_the_same),
		cmocka_unit_test(path_queries_are_answered_alike),
		cmocka_unit_test(joins_are_answered_alike),
		cmocka_unit_test(groups_reach_the_same),
		cmocka_unit_test(a_lost_link_changes_the_same),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: differential TOPOLOGY\n");
		return 2;
	}
	topology_path = argv[1];
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
