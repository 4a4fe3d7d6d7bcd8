/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_opensm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "builtin_control.h"
#include "commands.h"
#include "control_compare.h"

static void print_difference(void *context, const char *text)
{
	(void)context;
	puts(text);
}

static int compare(const char *path, const struct sim_topology *topology,
		   struct sim_control *const controls[2])
{
	static const char *const names[2] = {"the model", "OpenSM"};
	struct sim_compare_options options;
	struct sim_compare_result result;
	int error;

	sim_compare_options_default(&options);
	options.differ = print_difference;
	error = sim_compare_controls(topology, controls, names, &options, &result);
	if (error) {
		fprintf(stderr, "acmite fabric: %s: the SAs cannot be compared: %s\n", path,
			strerror(-error));
		return EXIT_FAILED;
	}
	printf("%s: %" PRIu32 " of %" PRIu64 " pairs compared with OpenSM, %" PRIu32
	       " differ; %" PRIu32 " LIDs differ\n",
	       path, result.pairs, result.pairs_there_are, result.differing, result.lids_differing);
	return result.differing ? EXIT_FAILED : EXIT_OK;
}

static int start_model(const struct sim_topology *topology, uint8_t subnet_timeout,
		       struct sim_control **control, char *why, size_t size)
{
	struct sim_builtin_options options;

	sim_builtin_options_default(&options);
	options.subnet.subnet_timeout = subnet_timeout;
	return sim_builtin_control_create(topology, &options, control, why, size);
}

int acmite_fabric_against_opensm(const char *path, const struct sim_topology *topology)
{
	struct sim_control *controls[2];
	struct sim_port_ref sm = {.node = topology->sm, .port = 1};
	struct sim_ibsim_options options;
	struct acm_port_facts facts;
	char why[1024];
	int ret = EXIT_FAILED;

	sim_ibsim_options_default(&options);
	if (sim_ibsim_control_create(topology, &options, &controls[1], why, sizeof(why))) {
		fprintf(stderr, "acmite fabric: %s: %s\n", path, why);
		return EXIT_FAILED;
	}
	/* OpenSM's setting, from which lifetimes follow, is to be the model's too. */
	if (controls[1]->ops->port_facts(controls[1], sm, &facts) ||
	    start_model(topology, facts.subnet_timeout, &controls[0], why, sizeof(why))) {
		fprintf(stderr, "acmite fabric: %s: %s\n", path, why);
	} else {
		ret = compare(path, topology, controls);
		controls[0]->ops->destroy(controls[0]);
	}
	controls[1]->ops->destroy(controls[1]);
	return ret;
}
