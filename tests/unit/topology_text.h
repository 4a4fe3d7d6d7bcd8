/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For the tests of topologies: loading from text. Include after cmocka.h. */
#ifndef TESTS_TOPOLOGY_TEXT_H
#define TESTS_TOPOLOGY_TEXT_H

#include <stdlib.h>
#include <string.h>
#include "topology.h"

/* Fails the test, with all faults, when the text is wrong. */
static inline struct sim_topology *load_text(const char *text)
{
	struct sim_topology *topology = NULL;
	struct sim_errors errors;
	int ret = sim_topology_parse("t", text, strlen(text), &topology, &errors);

	for (uint32_t i = 0; i < errors.count; i++)
		print_error("%s\n", errors.lines[i]);
	assert_int_equal(errors.count, 0);
	assert_int_equal(ret, 0);
	return topology;
}

/* What a writer writes; free it. */
static inline char *written(int (*write)(const struct sim_topology *, FILE *),
			    const struct sim_topology *topology)
{
	size_t length;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(write(topology, out), 0);
	fclose(out);
	return text;
}

#endif
