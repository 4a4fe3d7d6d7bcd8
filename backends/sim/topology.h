/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric as its file describes it: nodes, ports, links, partitions. No state: what a subnet
 * manager assigns (LIDs, tables) is elsewhere. Plain data, built by the loaders and never changed
 * after.
 */
#ifndef ACMITE_SIM_TOPOLOGY_H
#define ACMITE_SIM_TOPOLOGY_H

#include <acmite/types.h>
#include <stdio.h>

#define SIM_NONE             UINT32_MAX
#define SIM_SWITCH_PORTS_MAX 254

enum sim_node_kind { SIM_HOST, SIM_SWITCH };
enum sim_routing { SIM_ROUTING_MINHOP, SIM_ROUTING_UPDN };

struct sim_port {
	uint64_t guid; /* ports of one switch share the node's */
	uint32_t peer; /* node index at the other end, SIM_NONE: not connected */
	uint8_t peer_port;
	uint32_t link; /* index of its link, SIM_NONE */
};

struct sim_node {
	char *name;
	enum sim_node_kind kind;
	char device[64]; /* hosts: mlx5_0 ... */
	uint64_t guid;
	uint8_t port_count;
	struct sim_port *ports; /* [0] is a switch's management port and unused in hosts; [1 ..
				   port_count] */
	uint32_t address_count; /* hosts: held by port 1's endpoints in the default partition */
	struct acm_address *addresses;
};

struct sim_link {
	uint32_t node[2];
	uint8_t port[2];
	uint8_t width;    /* lanes: 1, 2, 4, 8, 12 */
	uint8_t speed;    /* enum sim_speed */
	uint8_t mtu;      /* code */
	uint8_t rate;     /* code, from width and speed */
	uint64_t latency; /* ns */
};

enum sim_speed { SIM_SDR, SIM_DDR, SIM_QDR, SIM_FDR, SIM_EDR, SIM_HDR, SIM_NDR, SIM_XDR };
/* "sdr" ... "xdr", as in topology files; static. */
const char *sim_speed_name(enum sim_speed speed);

struct sim_member {
	uint32_t node;
	bool full;
};

struct sim_partition {
	char *name;
	uint16_t pkey; /* 15 bits */
	uint32_t member_count;
	struct sim_member *members;
};

struct sim_names;

struct sim_topology {
	char *name;
	uint32_t sm; /* node index of the subnet manager's host */
	enum sim_routing routing;
	uint32_t node_count;
	struct sim_node *nodes; /* in the order of the file: switches, then hosts */
	uint32_t switch_count;
	uint32_t host_count;
	uint32_t link_count;
	struct sim_link *links;
	uint32_t partition_count; /* beside the default one, 0x7fff, of which all are full members
				     unless the file lists it */
	struct sim_partition *partitions;
	struct sim_names *names; /* what sim_topology_find() looks in */
};

/* Faults of a file: one line each, "file:line:column: what is wrong, what was expected". */
struct sim_errors {
	uint32_t count;
	char **lines;
};
void sim_errors_free(struct sim_errors *errors);

/*
 * Loads a YAML file. 0 and *topology the caller's; -EINVAL and all faults in `errors` (caller
 * frees); -ENOMEM. A file that cannot be read is one fault without a line.
 */
int sim_topology_load(const char *path, struct sim_topology **topology, struct sim_errors *errors);
/* The same from memory; `path` is only for the messages. */
int sim_topology_parse(const char *path, const char *text, size_t length,
		       struct sim_topology **topology, struct sim_errors *errors);
void sim_topology_free(struct sim_topology *topology);

/* Index of a node by its name (case counts), SIM_NONE. Constant time. */
uint32_t sim_topology_find(const struct sim_topology *topology, const char *name);

/* Exports. 0 or negative errno of the stream. */
int sim_topology_write_ibsim(const struct sim_topology *topology, FILE *out);
int sim_topology_write_dot(const struct sim_topology *topology, FILE *out);
/* A topology file in which every node, port and link is written out. */
int sim_topology_write_yaml(const struct sim_topology *topology, FILE *out);
/* OpenSM's partitions.conf for it. */
int sim_topology_write_partitions(const struct sim_topology *topology, FILE *out);

/* Both ends included. */
struct sim_range {
	uint32_t least;
	uint32_t most;
};

/* What a random fabric is drawn from; the keys of `kind: random` in docs/topology.md. */
struct sim_random_limits {
	struct sim_range switches;
	struct sim_range hosts;
	uint32_t radix;             /* ports of each switch */
	struct sim_range redundant; /* links between switches beyond those that join them all */
	struct sim_range partitions;
	uint32_t speeds; /* 1 << enum sim_speed each */
	uint32_t mtus;   /* 1 << code each */
};
/* Small fabrics of 1 to 12 switches and 2 to 32 hosts, all of which ibsim holds. */
void sim_random_limits_default(struct sim_random_limits *limits);
/*
 * Makes the fabric of a seed, the same on every machine: connected, every host with a name, an IPv4
 * and an IPv6 address. 0 and *topology the caller's; -EINVAL: the limits leave no room; -ENOMEM.
 */
int sim_topology_random(uint64_t seed, const struct sim_random_limits *limits,
			struct sim_topology **topology);
/* The topology file of that fabric, for whoever is to repeat a run. 0 or -EIO. */
int sim_topology_write_random(uint64_t seed, const struct sim_random_limits *limits, FILE *out);

/*
 * What ibsim and OpenSM cannot hold (256 switches, 2,048 hosts, names over 31 characters, routes
 * over 16 hops, ...): 0, or -E2BIG and one sentence in `why`.
 */
int sim_topology_fits_ibsim(const struct sim_topology *topology, char *why, size_t size);
/*
 * Name of the netlist node that stands for `port` of `node` under ibsim: hosts with several ports
 * become one netlist node each port. NUL-terminated in `name`, which holds 32 bytes.
 */
void sim_topology_ibsim_name(const struct sim_topology *topology, uint32_t node, uint8_t port,
			     char *name);

#endif
