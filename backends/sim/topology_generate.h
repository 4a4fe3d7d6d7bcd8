/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fabrics by their parameters: the `generate` map of a topology file, and what each kind of fabric
 * makes of it.
 */
#ifndef ACMITE_SIM_TOPOLOGY_GENERATE_H
#define ACMITE_SIM_TOPOLOGY_GENERATE_H

#include "topology_reader.h"

#define SIM_GENERATED_HOSTS_MAX    1000000u
#define SIM_GENERATED_SWITCHES_MAX 100000u
#define SIM_RADIX_DEFAULT          36u
#define SIM_TORUS_DIMS_MAX         8u

/* Keys of the map; each kind takes some. */
enum sim_generate_key {
	SIM_KEY_KIND,
	SIM_KEY_NAMES,
	SIM_KEY_ADDRESSES,
	SIM_KEY_DEVICE,
	SIM_KEY_HOSTS,
	SIM_KEY_RADIX,
	SIM_KEY_LEVELS,
	SIM_KEY_HOSTS_PER_SWITCH,
	SIM_KEY_DIMS,
	SIM_KEY_PAIR_LINKS,
	SIM_KEY_GROUPS,
	SIM_KEY_SWITCHES_PER_GROUP,
	SIM_KEY_GLOBAL_LINKS,
	SIM_KEY_SEED,
	SIM_KEY_SWITCHES,
	SIM_KEY_REDUNDANT,
	SIM_KEY_PARTITIONS,
	SIM_KEY_SPEEDS,
	SIM_KEY_MTUS,
	SIM_GENERATE_KEYS
};

struct sim_tree_plan {
	uint32_t levels; /* of switches */
	uint32_t leaf_count;
	uint32_t pod_count; /* three levels: groups of leaf and spine switches */
	uint32_t spine_count;
	uint32_t core_count;
};

struct sim_torus_plan {
	uint32_t dim_count;
	uint32_t dims[SIM_TORUS_DIMS_MAX];
	uint32_t pair_links; /* between the two switches of a dimension of 2 */
};

struct sim_dragonfly_plan {
	uint32_t groups;
	uint32_t switches_per_group;
	uint32_t global_links; /* of each switch, at most */
};

struct sim_random_plan {
	uint64_t state; /* of the generator of numbers */
	uint32_t redundant;
	uint32_t partitions;
	uint32_t speed_count;
	uint8_t speeds[8]; /* enum sim_speed */
	uint32_t mtu_count;
	uint8_t mtus[5]; /* codes */
};

struct sim_generator;

/* What a `generate` map asks for; all zero when there is none. */
struct sim_plan {
	struct sim_place place;
	const struct sim_generator *generator;
	uint32_t radix; /* ports of each switch */
	uint32_t host_count;
	uint32_t switch_count;
	uint32_t hosts_per_switch; /* at most */
	uint32_t first_switch;     /* node indices, once the nodes are there */
	uint32_t first_host;
	const char *device;
	yaml_node_t *names;
	yaml_node_t *addresses;
	union {
		struct sim_tree_plan tree;
		struct sim_torus_plan torus;
		struct sim_dragonfly_plan dragonfly;
		struct sim_random_plan random;
	};
};

/* A kind of fabric. */
struct sim_generator {
	const char *kind;
	uint32_t keys; /* 1 << each key that it takes beside kind, names, addresses and device */
	const char *const *addresses; /* patterns without `addresses`, up to NULL; NULL: names */
	/* Checks the values, fills in host_count and switch_count. False: faults recorded. */
	bool (*read)(struct sim_reader *reader, yaml_node_t *const *values, struct sim_plan *plan);
	void (*add_switches)(struct sim_reader *reader, const struct sim_plan *plan);
	void (*join)(struct sim_reader *reader, struct sim_plan *plan);
	void (*add_partitions)(struct sim_reader *reader, struct sim_plan *plan); /* or NULL */
};

extern const struct sim_generator sim_generator_star, sim_generator_fat_tree, sim_generator_torus,
	sim_generator_dragonfly, sim_generator_random;

/* ---- for the loader, in this order, with what the file lists between ---- */

/* Reads and checks the map. plan->host_count is 0 when there is nothing to generate. */
void sim_read_generate(struct sim_reader *reader, yaml_node_t *generate, struct sim_plan *plan);
void sim_generate_switches(struct sim_reader *reader, struct sim_plan *plan);
void sim_generate_hosts(struct sim_reader *reader, struct sim_plan *plan);
void sim_generate_links(struct sim_reader *reader, struct sim_plan *plan);
void sim_generate_partitions(struct sim_reader *reader, struct sim_plan *plan);

/* ---- for the kinds ---- */

/*
 * Reads `hosts`: as many as fit with plan->switch_count and plan->hosts_per_switch without it. When
 * hosts_per_switch is 0, `hosts` is needed and sets it.
 */
bool sim_generate_read_hosts(struct sim_reader *reader, yaml_node_t *const *values,
			     struct sim_plan *plan);
/* Reads `radix` over plan->radix; each switch needs hosts_per_switch ports and `links` more. */
bool sim_generate_read_radix(struct sim_reader *reader, yaml_node_t *const *values, uint32_t links,
			     struct sim_plan *plan);
/* Adds switches; `names` has ranges. */
void sim_generate_add_switches(struct sim_reader *reader, const struct sim_plan *plan,
			       const char *names);
/* Joins two nodes, as `link` of the file says. */
void sim_generate_join(struct sim_reader *reader, const struct sim_plan *plan, uint32_t left,
		       uint32_t right);
/* Joins the hosts, in order, evenly with all switches. */
void sim_generate_spread_hosts(struct sim_reader *reader, const struct sim_plan *plan);

#endif
