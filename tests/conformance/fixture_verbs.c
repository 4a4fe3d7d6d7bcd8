/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The verbs transport on the preload library, which makes this process a program on one node of a
 * served fabric; a transport that is attached to the server is the other node.
 */
#include "fixture.h"

#include "attach_environment.h"
#include "served.h"
#include "verbs_transport.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct verbs_fabric {
	struct served *served;
	int verbs;  /* which of the two is on verbs */
	int fds[2]; /* of the transports */
};

static const char *const names[2] = {"node1", "node2"};

/* Before the library is called for the first time: it looks once. */
static struct verbs_fabric *make(int verbs)
{
	struct verbs_fabric *made = calloc(1, sizeof(*made));
	const char *preload = getenv("LD_PRELOAD");

	assert_non_null(made);
	if (!preload || !strstr(preload, "acmite-preload"))
		fail_msg("LD_PRELOAD does not name the preload library");
	made->verbs = verbs;
	made->served = served_create();
	assert_int_equal(setenv(SIM_ATTACH_SOCKET_VARIABLE, made->served->path, 1), 0);
	assert_int_equal(setenv(SIM_ATTACH_NODE_VARIABLE, names[verbs], 1), 0);
	return made;
}

static void *set_up_first(void)
{
	struct verbs_fabric *made = make(0);

	served_run(made->served, served_builtin_control(made->served));
	return made;
}

static void *set_up_second(void)
{
	struct verbs_fabric *made = make(1);

	served_run(made->served, served_builtin_control(made->served));
	return made;
}

static void *set_up_ibsim(void)
{
	struct verbs_fabric *made = make(0);

	served_run(made->served, served_ibsim_control(made->served));
	return made;
}

static void tear_down(void *context)
{
	struct verbs_fabric *fabric = context;

	served_destroy(fabric->served);
	free(fabric);
}

static void attach(void *context, struct acm_transport *nodes[2])
{
	struct verbs_fabric *fabric = context;
	struct verbs_options options = {.notice = NULL};

	for (int i = 0; i < 2; i++) {
		struct acm_transport_caps caps;

		if (i == fabric->verbs)
			assert_int_equal(verbs_transport_create(&options, &nodes[i]), 0);
		else
			nodes[i] = served_attach(fabric->served, names[i]);
		nodes[i]->ops->capabilities(nodes[i], &caps);
		fabric->fds[i] = caps.fd;
	}
}

static bool wait_for_work(void *context)
{
	const struct verbs_fabric *fabric = context;

	return served_wait(fabric->fds);
}

const struct fixture verbs_first_fixture = {
	.name = "verbs, and attached, builtin control",
	.set_up = set_up_first,
	.tear_down = tear_down,
	.attach = attach,
	.wait = wait_for_work,
};

const struct fixture verbs_second_fixture = {
	.name = "attached, and verbs, builtin control",
	.set_up = set_up_second,
	.tear_down = tear_down,
	.attach = attach,
	.wait = wait_for_work,
};

const struct fixture verbs_ibsim_fixture = {
	.name = "verbs, and attached, ibsim and OpenSM",
	.set_up = set_up_ibsim,
	.tear_down = tear_down,
	.attach = attach,
	.wait = wait_for_work,
};
