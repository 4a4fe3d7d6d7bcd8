/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first words with servers that are silent, gone, or something else: each is told in time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach_welcome.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHORT_MS 50
#define LONG_MS  60000 /* never waited for */
#define MANY     1000  /* more than may wait to be accepted */

struct place {
	char folder[64];
	char path[80];
	int listener;
	char why[512];
};

static int set_up(void **state)
{
	static struct place place;

	place = (struct place){.folder = "/tmp/acmite-welcome-XXXXXX"};
	assert_non_null(mkdtemp(place.folder));
	snprintf(place.path, sizeof(place.path), "%s/socket", place.folder);
	place.listener = sim_channel_listen(place.path, 0600, place.why, sizeof(place.why));
	assert_true(place.listener >= 0);
	*state = &place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	close(place->listener);
	unlink(place->path);
	rmdir(place->folder);
	return 0;
}

static int ask(struct place *place, int timeout_ms)
{
	struct sim_attach_welcome welcome;

	place->why[0] = 0;
	return sim_attach_welcome(place->path, SIM_ATTACH_PROGRAM, "node", timeout_ms, &welcome,
				  place->why, sizeof(place->why));
}

static void assert_told(const struct place *place, const char *words)
{
	if (!strstr(place->why, words) || !strstr(place->why, place->path))
		fail_msg("'%s' does not say '%s' of %s", place->why, words, place->path);
}

static void silent_server_is_given_up(void **state)
{
	struct place *place = *state;

	assert_int_equal(ask(place, SHORT_MS), -ETIMEDOUT);
	assert_told(place, "does not answer; it is stopped");
}

static void full_queue_is_given_up(void **state)
{
	struct place *place = *state;
	static int waiting[MANY];
	int count = 0;

	while (count < MANY && (waiting[count] = sim_channel_connect(place->path)) >= 0)
		count++;
	assert_int_equal(waiting[count], -EAGAIN);
	assert_int_equal(ask(place, SHORT_MS), -EAGAIN);
	assert_told(place, "does not answer; it is stopped");
	while (count)
		close(waiting[--count]);
}

static void nobody_there_is_told_at_once(void **state)
{
	struct place *place = *state;

	close(place->listener);
	place->listener = -1;
	assert_int_equal(ask(place, LONG_MS), -ECONNREFUSED);
	assert_told(place, "no fabric server can be reached");
}

/* ---- servers that do one thing ---- */

struct deed {
	struct place *place;
	const void *words; /* NULL: none */
};

/* Says its words to the first that comes, before it has heard any, and is gone. */
static void *do_deed(void *argument)
{
	const struct deed *deed = argument;
	int fd;

	do
		fd = sim_channel_accept(deed->place->listener);
	while (fd == -EAGAIN);
	if (deed->words)
		sim_channel_send(fd, deed->words);
	close(fd);
	return NULL;
}

static int ask_one_who_says(struct place *place, const void *words)
{
	struct deed deed = {.place = place, .words = words};
	pthread_t thread;
	int fd;

	assert_int_equal(pthread_create(&thread, NULL, do_deed, &deed), 0);
	fd = ask(place, LONG_MS);
	pthread_join(thread, NULL);
	return fd;
}

static void end_of_the_connection_is_told(void **state)
{
	struct place *place = *state;

	assert_int_equal(ask_one_who_says(place, NULL), -EPIPE);
	assert_told(place, "has closed the connection");
}

static void refusal_is_heard_from_one_who_is_gone(void **state)
{
	struct place *place = *state;
	struct sim_attach_refused refused = {
		.header.type = SIM_ATTACH_REFUSED, .status = -EUSERS, .text = "too many"};

	assert_int_equal(ask_one_who_says(place, &refused), -EUSERS);
	assert_string_equal(place->why, "too many");
}

static void other_versions_are_told(void **state)
{
	struct place *place = *state;
	struct sim_attach_welcome welcome = {.header.type = SIM_ATTACH_WELCOME,
					     .version = SIM_ATTACH_VERSION + 1};
	struct sim_attach_header start = {.type = SIM_ATTACH_START};

	assert_int_equal(ask_one_who_says(place, &welcome), -EPROTO);
	assert_told(place, "use programs of one release");
	assert_int_equal(ask_one_who_says(place, &start), -EPROTO);
	assert_told(place, "use programs of one release");
}

static void welcome_is_welcome(void **state)
{
	struct place *place = *state;
	struct sim_attach_welcome welcome = {.header.type = SIM_ATTACH_WELCOME,
					     .version = SIM_ATTACH_VERSION};
	int fd = ask_one_who_says(place, &welcome);

	assert_true(fd >= 0);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(silent_server_is_given_up),
		TEST(full_queue_is_given_up),
		TEST(nobody_there_is_told_at_once),
		TEST(end_of_the_connection_is_told),
		TEST(refusal_is_heard_from_one_who_is_gone),
		TEST(other_versions_are_told),
		TEST(welcome_is_welcome),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
