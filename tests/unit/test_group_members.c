/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who is in which group: for the SA, by its queue pairs, or both; and the rows that tell it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fabric_show.h"
#include "fabric_world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 12

static struct sim_attach_row row;
static char line[sizeof(row.text)]; /* its columns with blanks between them */

static void begin(struct world *world, struct sim_show_cursor *cursor)
{
	assert_int_equal(sim_show_begin(world->fabric, cursor, SIM_ATTACH_MEMBERS), 0);
}

static void read_row(void)
{
	assert_int_equal(row.columns, COLUMNS);
	memcpy(line, row.text, row.length);
	for (uint32_t i = 0; i + 1 < row.length; i++)
		if (!line[i])
			line[i] = ' ';
}

static void expect_row(struct world *world, struct sim_show_cursor *cursor, const char *text)
{
	assert_int_equal(sim_show_next(world->fabric, cursor, &row), 1);
	read_row();
	assert_string_equal(line, text);
}

static void expect_end(struct world *world, struct sim_show_cursor *cursor)
{
	assert_int_equal(sim_show_next(world->fabric, cursor, &row), 0);
	sim_show_end(cursor);
}

static void attach(struct world *world, int i, const struct acm_gid *mgid, uint16_t mlid)
{
	struct acm_transport *transport = world->nodes[i].transport;

	assert_int_equal(transport->ops->attach(transport, 7, mgid, mlid, 1), 0);
	world_expect(&world->nodes[i], ACM_EVENT_ATTACHED);
}

#define GROUP "ff15:4001:ffff:: "
#define OTHER "ff15:4001:1234:: "

static void joined_and_attached_are_told_apart(void **state)
{
	struct sim_show_cursor cursor;
	struct world world;
	uint16_t mlid;

	(void)state;
	world_set_up_star(&world, 4);
	begin(&world, &cursor);
	expect_end(&world, &cursor);
	mlid = world_join(&world, 1, &world_group);                              /* both */
	fake_control_join(world.control, world.nodes[0].index, 1, &world_group); /* joined */
	attach(&world, 3, &world_group, mlid);                                   /* attached */
	attach(&world, 2, &world_other_group, 0xc007); /* to a group that nobody has joined */
	begin(&world, &cursor);
	expect_row(&world, &cursor, OTHER "0xc007 node3 1 none - - - - - 1 no");
	expect_row(&world, &cursor, GROUP "0xc000 node1 1 full 0xffff 0x00000b1b 2048 10 0 0 yes");
	expect_row(&world, &cursor, GROUP "0xc000 node2 1 full 0xffff 0x00000b1b 2048 10 0 1 yes");
	expect_row(&world, &cursor, GROUP "0xc000 node4 1 none - - - - - 1 no");
	expect_end(&world, &cursor);
	world_tear_down(&world);
}

static void join_states_have_names(void **state)
{
	static const char *const names[16] = {
		[1] = "full",
		[2] = "non-member",
		[4] = "send-only",
		[8] = "send-only-full",
		[3] = "full+non-member",
		[15] = "full+non-member+send-only+send-only-full",
	};
	struct sim_show_cursor cursor;
	struct world world;

	(void)state;
	world_set_up_star(&world, 1);
	fake_control_join(world.control, world.nodes[0].index, 1, &world_group);
	for (uint8_t joined = 1; joined < 16; joined++) {
		struct acm_mcmember *record = &world.control->groups[0].record;

		if (!names[joined])
			continue;
		record->join_state = joined;
		record->rate = 2; /* 2.5 Gb/s */
		record->sl = 7;
		begin(&world, &cursor);
		assert_int_equal(sim_show_next(world.fabric, &cursor, &row), 1);
		read_row();
		assert_non_null(strstr(line, names[joined]));
		assert_non_null(strstr(line, " 2048 2.5 7 0 yes"));
		expect_end(&world, &cursor);
	}
	world_tear_down(&world);
}

/* Several queue pairs of a port are one row; its MLID is the SA's, whatever they were told. */
static void queue_pairs_are_counted(void **state)
{
	struct sim_show_cursor cursor;
	struct acm_transport *transport;
	struct world world;

	(void)state;
	world_set_up_star(&world, 1);
	world_join(&world, 0, &world_group);
	transport = world.nodes[0].transport;
	assert_int_equal(transport->ops->open_endpoint(transport, 8, 0, ACM_PKEY_DEFAULT, ACM_QKEY,
						       WORLD_DEPTH),
			 0);
	world_expect(&world.nodes[0], ACM_EVENT_ENDPOINT_OPENED);
	assert_int_equal(transport->ops->attach(transport, 8, &world_group, 0xc009, 1), 0);
	world_expect(&world.nodes[0], ACM_EVENT_ATTACHED);
	begin(&world, &cursor);
	expect_row(&world, &cursor, GROUP "0xc000 node1 1 full 0xffff 0x00000b1b 2048 10 0 2 yes");
	expect_end(&world, &cursor);
	world_tear_down(&world);
}

/* Where the SA has to be asked, it may take a while, or not say. */
static void an_sa_that_does_not_tell(void **state)
{
	struct sim_show_cursor cursor, given_up;
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	world_join(&world, 0, &world_group);
	fake_control_join(world.control, world.nodes[1].index, 1, &world_group);
	world.control->members_pending = true;
	begin(&world, &cursor);
	begin(&world, &given_up);
	assert_int_equal(sim_show_next(world.fabric, &cursor, &row), -EAGAIN);
	assert_int_equal(sim_show_next(world.fabric, &cursor, &row), -EAGAIN);
	assert_int_equal(sim_show_next(world.fabric, &given_up, &row), -EAGAIN);
	sim_show_end(&given_up);
	/* It was told where to look besides. */
	assert_int_equal(world.control->members_asked, 1);
	world.control->members_pending = false;
	world.control->members_unknown = true;
	expect_row(&world, &cursor, GROUP "0xc000 node1 1 unknown - - - - - 1 yes");
	expect_row(&world, &cursor, GROUP "- node2 1 unknown - - - - - 0 -");
	expect_end(&world, &cursor);
	world_tear_down(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_and_attached_are_told_apart),
		cmocka_unit_test(join_states_have_names),
		cmocka_unit_test(queue_pairs_are_counted),
		cmocka_unit_test(an_sa_that_does_not_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
