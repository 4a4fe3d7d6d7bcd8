/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random fabrics without a file: the file's text is made here, so that both are the same fabric. */
#include "topology.h"

#include <acmite/wire.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

void sim_random_limits_default(struct sim_random_limits *limits)
{
	*limits = (struct sim_random_limits){
		.switches = {1, 12},
		.hosts = {2, 32},
		.radix = 36,
		.redundant = {1, 8},
		.partitions = {0, 3},
		.speeds = 1u << SIM_QDR | 1u << SIM_FDR | 1u << SIM_EDR | 1u << SIM_HDR,
		.mtus = 1u << acm_mtu_code(2048) | 1u << acm_mtu_code(4096),
	};
}

static void write_range(FILE *out, const char *key, struct sim_range range)
{
	fprintf(out, ", %s: [%" PRIu32 ", %" PRIu32 "]", key, range.least, range.most);
}

static void write_speeds(FILE *out, uint32_t speeds)
{
	const char *separator = "";

	fprintf(out, ", speeds: [");
	for (uint32_t i = SIM_SDR; i <= SIM_XDR; i++) {
		if (!(speeds >> i & 1))
			continue;
		fprintf(out, "%s%s", separator, sim_speed_name((enum sim_speed)i));
		separator = ", ";
	}
	fprintf(out, "]");
}

static void write_mtus(FILE *out, uint32_t mtus)
{
	const char *separator = "";

	fprintf(out, ", mtus: [");
	for (uint8_t code = 1; code <= 5; code++) {
		if (!(mtus >> code & 1))
			continue;
		fprintf(out, "%s%u", separator, acm_mtu_bytes(code));
		separator = ", ";
	}
	fprintf(out, "]");
}

int sim_topology_write_random(uint64_t seed, const struct sim_random_limits *limits, FILE *out)
{
	fprintf(out,
		"fabric: random-%" PRIu64 "\n"
		"generate: { kind: random, seed: %" PRIu64 ", radix: %" PRIu32,
		seed, seed, limits->radix);
	write_range(out, "switches", limits->switches);
	write_range(out, "hosts", limits->hosts);
	write_range(out, "redundant", limits->redundant);
	write_range(out, "partitions", limits->partitions);
	write_speeds(out, limits->speeds);
	write_mtus(out, limits->mtus);
	fprintf(out, " }\n");
	return fflush(out) || ferror(out) ? -EIO : 0;
}

int sim_topology_random(uint64_t seed, const struct sim_random_limits *limits,
			struct sim_topology **topology)
{
	struct sim_errors errors;
	char text[1024];
	FILE *out = fmemopen(text, sizeof(text), "w");
	int ret;

	if (!out)
		return -ENOMEM;
	ret = sim_topology_write_random(seed, limits, out);
	if (fclose(out) || ret)
		return -ENOMEM;
	ret = sim_topology_parse("random", text, strlen(text), topology, &errors);
	sim_errors_free(&errors);
	return ret;
}
