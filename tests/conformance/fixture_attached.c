/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Transports over a fabric server's socket. */
#include "fixture.h"

#include "served.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct attached_fabric {
	struct served *served;
	int fds[2]; /* of the transports */
};

static struct attached_fabric *make(void)
{
	struct attached_fabric *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	made->served = served_create();
	return made;
}

static void *set_up_builtin(void)
{
	struct attached_fabric *made = make();

	served_run(made->served, served_builtin_control(made->served));
	return made;
}

static void *set_up_fake(void)
{
	struct attached_fabric *made = make();

	served_run(made->served, served_fake_control(made->served));
	return made;
}

static void tear_down(void *context)
{
	struct attached_fabric *fabric = context;

	served_destroy(fabric->served);
	free(fabric);
}

static void attach(void *context, struct acm_transport *nodes[2])
{
	struct attached_fabric *fabric = context;

	for (int i = 0; i < 2; i++) {
		struct acm_transport_caps caps;

		nodes[i] = served_attach(fabric->served, i ? "node2" : "node1");
		nodes[i]->ops->capabilities(nodes[i], &caps);
		fabric->fds[i] = caps.fd;
	}
}

static bool wait_for_work(void *context)
{
	const struct attached_fabric *fabric = context;

	return served_wait(fabric->fds);
}

const struct fixture attached_builtin_fixture = {
	.name = "attached to a fabric server, builtin control",
	.set_up = set_up_builtin,
	.tear_down = tear_down,
	.attach = attach,
	.wait = wait_for_work,
};

const struct fixture attached_fake_fixture = {
	.name = "attached to a fabric server, fake control",
	.set_up = set_up_fake,
	.tear_down = tear_down,
	.attach = attach,
	.wait = wait_for_work,
};
