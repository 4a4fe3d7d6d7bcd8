/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The topology file of such a fabric is written, and read as any other. */
#include "fabric_draw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define PICK(dice, ...)                                                                            \
	sim_dice_pick(dice, (const uint64_t[]){__VA_ARGS__},                                       \
		      sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

#define ADDRESSES                                                                                  \
	"addresses: [ \"{name}\", \"10.{n/65536}.{n/256%%256}.{n%%256}\", "                        \
	"\"fd00::{n/10000}:{n%%10000}\" ]"

enum kind { RANDOM, STAR, FAT_TREE, TORUS, DRAGONFLY, KINDS };

/* What can be said of a fabric beside its kind. */
struct drawn {
	uint32_t hosts;
	const char *switches[2]; /* that have room for more; NULL: none has */
};

static uint32_t draw_between(struct sim_dice *dice, uint32_t least, uint32_t most)
{
	return least + (uint32_t)sim_dice_below(dice, most - least + 1);
}

static void write_links(struct sim_dice *dice, FILE *out)
{
	static const enum sim_speed speeds[] = {SIM_QDR, SIM_FDR, SIM_EDR, SIM_HDR};

	fprintf(out, "link: { speed: %s, mtu: %" PRIu64 ", latency: %" PRIu64 "ns }\n",
		sim_speed_name(speeds[sim_dice_below(dice, 4)]), PICK(dice, 2048, 4096),
		PICK(dice, 50, 200, 1000));
}

static struct drawn write_star(struct sim_dice *dice, FILE *out)
{
	uint32_t hosts = draw_between(dice, 2, 24);

	fprintf(out, "fabric: star\n");
	write_links(dice, out);
	fprintf(out, "generate: { kind: star, hosts: %" PRIu32 ", " ADDRESSES " }\n", hosts);
	return (struct drawn){hosts, {"switch1", "switch1"}};
}

static struct drawn write_fat_tree(struct sim_dice *dice, FILE *out)
{
	uint32_t levels = draw_between(dice, 2, 3);
	uint32_t radix = levels == 3 ? 4 : (uint32_t)PICK(dice, 4, 6, 8);
	uint32_t hosts = draw_between(dice, 2, levels == 3 ? 16 : radix * radix / 2);

	fprintf(out, "fabric: fat-tree\n");
	write_links(dice, out);
	fprintf(out,
		"generate: { kind: fat-tree, levels: %" PRIu32 ", radix: %" PRIu32
		", hosts: %" PRIu32 ", " ADDRESSES " }\n",
		levels, radix, hosts);
	return (struct drawn){hosts, {NULL}}; /* its leaves may be full */
}

static struct drawn write_torus(struct sim_dice *dice, FILE *out)
{
	uint32_t left = draw_between(dice, 2, 4), right = draw_between(dice, 2, 4);
	uint32_t each = draw_between(dice, 1, 2);

	fprintf(out, "fabric: torus\n");
	write_links(dice, out);
	fprintf(out,
		"generate: { kind: torus, dims: [ %" PRIu32 ", %" PRIu32 " ], pair_links: %" PRIu64
		", hosts_per_switch: %" PRIu32 ", " ADDRESSES " }\n",
		left, right, PICK(dice, 1, 2), each);
	return (struct drawn){left * right * each, {"switch1-1", "switch2-1"}};
}

static struct drawn write_dragonfly(struct sim_dice *dice, FILE *out)
{
	uint32_t groups = draw_between(dice, 2, 5);
	uint32_t each = draw_between(dice, 1, 2);

	fprintf(out, "fabric: dragonfly\n");
	write_links(dice, out);
	fprintf(out,
		"generate: { kind: dragonfly, groups: %" PRIu32
		", switches_per_group: 2, global_links: 2, radix: 36, hosts_per_switch: %" PRIu32
		", " ADDRESSES " }\n",
		groups, each);
	return (struct drawn){groups * 2 * each, {"switch1-1", "switch2-1"}};
}

/* Seldom a large one. */
static struct drawn write_random(struct sim_dice *dice, FILE *out)
{
	struct sim_random_limits limits;
	uint32_t most = (uint32_t)PICK(dice, 4, 8, 16, 32);
	bool large = sim_dice_one_in(dice, 12);
	uint32_t hosts = large ? draw_between(dice, 48, 96) : draw_between(dice, 2, most);

	sim_random_limits_default(&limits);
	limits.switches = large ? (struct sim_range){8, 24} : (struct sim_range){2, 8};
	limits.hosts = (struct sim_range){hosts, hosts};
	limits.redundant = (struct sim_range){1, 4};
	limits.radix = 200; /* there may be more hosts than these */
	sim_topology_write_random(sim_dice_below(dice, UINT64_MAX), &limits, out);
	return (struct drawn){hosts, {"switch1", "switch2"}};
}

/* Hosts with two ports, on one switch or on two. */
static void write_dual_hosts(struct sim_dice *dice, const struct drawn *drawn, FILE *out)
{
	uint32_t count = draw_between(dice, 1, 3);

	fprintf(out,
		"hosts:\n"
		"  - { name: \"dual[1-%" PRIu32 "]\", ports: 2, addresses: [ \"{name}\", "
		"\"10.255.0.{n}\", \"fd01::{n}\" ] }\n"
		"links:\n"
		"  - \"dual[1-%" PRIu32 "] -- %s\"\n"
		"  - \"dual[1-%" PRIu32 "] -- %s\"\n",
		count, count, drawn->switches[0], count, drawn->switches[sim_dice_below(dice, 2)]);
}

/* All hosts are in the default partition, and some are limited there: these cannot talk. */
static void write_limited(struct sim_dice *dice, uint32_t hosts, uint32_t sm, FILE *out)
{
	uint32_t first = draw_between(dice, 1, hosts), last = draw_between(dice, first, hosts);
	int width = snprintf(NULL, 0, "%" PRIu32, hosts);

	if (sm >= first && sm <= last)
		return; /* the manager is a full one */
	fprintf(out,
		"partitions:\n"
		"  - { name: everybody, pkey: 0x7fff, limited: \"node[%0*" PRIu32 "-%0*" PRIu32
		"]\" }\n",
		width, first, width, last);
}

static void write_fabric(struct sim_dice *dice, FILE *out)
{
	static struct drawn (*const kinds[KINDS])(struct sim_dice *, FILE *) = {
		[RANDOM] = write_random, [STAR] = write_star,           [FAT_TREE] = write_fat_tree,
		[TORUS] = write_torus,   [DRAGONFLY] = write_dragonfly,
	};
	struct drawn drawn = kinds[sim_dice_below(dice, KINDS)](dice, out);
	uint32_t sm = draw_between(dice, 1, drawn.hosts);

	fprintf(out, "sm: { node: \"node%0*" PRIu32 "\", routing: %s }\n",
		snprintf(NULL, 0, "%" PRIu32, drawn.hosts), sm,
		sim_dice_one_in(dice, 3) ? "updn" : "minhop");
	if (sim_dice_one_in(dice, 3) && drawn.switches[0])
		write_dual_hosts(dice, &drawn, out);
	if (sim_dice_one_in(dice, 4))
		write_limited(dice, drawn.hosts, sm, out);
}

int sim_fabric_draw(struct sim_dice *dice, struct sim_topology **topology)
{
	struct sim_errors errors;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int error;

	if (!out)
		return -ENOMEM;
	write_fabric(dice, out);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	error = sim_topology_parse("drawn", text, size, topology, &errors);
	sim_errors_free(&errors);
	free(text);
	return error;
}
