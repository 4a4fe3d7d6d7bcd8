/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A scenario as its file describes it: a fabric, options, what happens when, and what must come of
 * it. Plain data, built by the loader and never changed after. Times count from the moment at which
 * the fabric is ready; docs/scenarios.md describes the file.
 */
#ifndef ACMITE_SIM_SCENARIO_H
#define ACMITE_SIM_SCENARIO_H

#include <acmite/engine.h>
#include "topology_fault.h"

/* A number that is counted must be within these, both included. */
struct sim_bounds {
	bool given;
	uint64_t least;
	uint64_t most;
};

struct sim_nodes {
	uint32_t count;
	uint32_t *nodes; /* indices in the topology */
};

/* Which address of a node is asked for, and in which form of request. */
enum sim_by { SIM_BY_NAME, SIM_BY_IP, SIM_BY_IP6, SIM_BY_GID, SIM_BY_LID };

struct sim_resolve {
	struct sim_nodes on;
	struct sim_nodes to; /* empty: `address` is asked for */
	enum sim_by by;
	struct acm_address address;
	/* By GID or LID: the path is to be of this partition, 15 bits, and from and to these ports;
	 * 0: the default one, the first ones. */
	uint16_t pkey;
	uint8_t from_port;
	uint8_t to_port;
	bool has_source;
	struct acm_address source;
	bool query_sa;
	bool no_delay;
	uint32_t times;        /* each request is made that often, at once */
	uint64_t cancel_after; /* ns until the client goes away; ACM_NEVER: it stays */
};

struct sim_expectation {
	uint32_t statuses; /* 1 << enum acm_status each; 0: any */
	uint64_t within;   /* ns; ACM_NEVER: what the options imply */
	uint64_t after;    /* ns: not sooner */
	struct sim_bounds sa_queries;
	struct sim_bounds multicasts;
	struct sim_bounds cached; /* 1: no traffic was needed; 0: some was */
	uint32_t mtu;             /* bytes, 0: any; also below */
	uint8_t rate;             /* code */
	uint16_t pkey;
	bool has_sl;
	uint8_t sl;
	uint32_t node; /* that the path leads to; SIM_NONE: the rules of truth alone */
};

enum sim_fault_kind {
	SIM_FAULT_STOP,
	SIM_FAULT_START,
	SIM_FAULT_RESTART,
	SIM_FAULT_PAUSE,
	SIM_FAULT_RESUME,
	SIM_FAULT_RELOAD,
	SIM_FAULT_CLAIM,
	SIM_FAULT_DISCLAIM,
	SIM_FAULT_MOVE,
	SIM_FAULT_LINK_DOWN,
	SIM_FAULT_LINK_UP,
	SIM_FAULT_LINK_FLAPPING,
	SIM_FAULT_LOSS,
	SIM_FAULT_DUPLICATION,
	SIM_FAULT_DELAY,
	SIM_FAULT_REORDERING,
	SIM_FAULT_CORRUPTION,
	SIM_FAULT_HOSTILE_SA,
	SIM_FAULT_SA_SILENT,
	SIM_FAULT_SA_SLOW,
	SIM_FAULT_SA_BUSY,
	SIM_FAULT_SA_ERROR,
	SIM_FAULT_SA_TWICE,
	SIM_FAULT_JOIN_REFUSED,
	SIM_FAULT_SM_FAIL_OVER,
	SIM_FAULT_GROUPS_LOST,
	SIM_FAULT_MLID_SHARED,
	SIM_FAULT_TREE_DELAY,
	SIM_FAULT_PKEY,
	SIM_FAULT_LID_CHANGE,
	SIM_FAULT_SUBNET_PREFIX,
	SIM_FAULT_RECEIVE_QUEUE_FULL,
	SIM_FAULT_HOSTILE_DATAGRAMS,
	SIM_FAULT_KINDS,
};
/* As in the file, static. */
const char *sim_fault_kind_name(enum sim_fault_kind kind);

/* Bits: which packets a fault concerns: ACM datagrams, and MADs between ports and the SA. */
enum {
	SIM_CLASS_REQUEST = 1,
	SIM_CLASS_ANSWER = 2,
	SIM_CLASS_SA_REQUEST = 4,
	SIM_CLASS_SA_ANSWER = 8,
};

/* Which multicasts. */
enum sim_groups {
	SIM_GROUPS_NONE,    /* unicasts too */
	SIM_GROUPS_ALL,     /* to whatever group */
	SIM_GROUPS_QUALITY, /* to ACM groups of this rate and MTU */
	SIM_GROUPS_MGID,
};

/* Why a join is refused. */
enum sim_refusal {
	SIM_REFUSED_PLAINLY,
	SIM_REFUSED_RATE,
	SIM_REFUSED_MTU,
	SIM_REFUSED_PKEY,
	SIM_REFUSED_NO_MLIDS,
};

struct sim_fault_plan {
	enum sim_fault_kind kind;
	struct sim_nodes nodes; /* empty: all */
	uint64_t duration;      /* ns until it is undone; ACM_NEVER: it stays */
	struct sim_nodes links; /* indices of links */
	uint64_t period;        /* ns */
	double down;            /* share of the period, 0 to 1 */
	enum sim_groups groups;
	uint8_t group_rate; /* codes */
	uint8_t group_mtu;
	struct acm_gid mgid;
	uint32_t classes;
	double rate;      /* 0 to 1 */
	uint64_t packets; /* bit n: the n-th that is concerned, from 0; 0: by rate alone */
	uint64_t delay;
	uint16_t status;  /* of a MAD */
	uint32_t refusal; /* enum sim_refusal */
	bool lids_reassigned;
	uint64_t prefix; /* upper half of GIDs */
	uint16_t pkey;
	uint32_t membership; /* enum sim_membership */
	struct acm_address address;
	struct sim_nodes holders; /* who loses the address that moves */
};
/*
 * Reads one fault as it stands in a scenario file, "{ kind: link_down, link: leaf1 -- spine1 }",
 * with or without its braces, against a topology, which messages call by its name; places in them
 * are those in `text`. 0 and *plan the caller's, to be emptied by
 * sim_fault_plan_free(); -EINVAL and all that is wrong in `errors` (caller frees); -ENOMEM.
 */
int sim_fault_plan_parse(const struct sim_topology *topology, const char *text, size_t length,
			 struct sim_fault_plan *plan, struct sim_errors *errors);
/* Frees what it points to. All zero is allowed. */
void sim_fault_plan_free(struct sim_fault_plan *plan);

struct sim_check {
	struct sim_nodes on;
	bool of_drop; /* `counter` is an enum sim_drop of the fabric's, else an enum acm_counter */
	uint32_t counter;
	struct sim_bounds bounds;
};

enum sim_step_kind { SIM_STEP_RESOLVE, SIM_STEP_FAULT, SIM_STEP_CHECK };

struct sim_step {
	struct sim_place place;
	uint64_t at; /* ns */
	enum sim_step_kind kind;
	struct sim_resolve resolve;
	struct sim_expectation expect;
	struct sim_fault_plan fault;
	struct sim_check check;
};

struct sim_scenario {
	char *name;
	char *path; /* "random" when all is drawn */
	bool drawn; /* there is no file: the seed decides all */
	char *topology_path;
	struct sim_topology *topology;
	uint64_t seed;
	bool cold;           /* times count from the start of the nodes, not from readiness */
	uint32_t mlid_count; /* multicast LIDs of the built-in subnet manager; 0: its default */
	uint8_t lmc;         /* of hosts' ports, likewise */
	uint64_t sometimes; /* 1 << enum acm_counter: in a sweep some run must count each of them */
	uint32_t random_faults;             /* drawn from the seed, besides the steps */
	uint64_t random_within;             /* ns in which they begin and end */
	struct acm_engine_config config;    /* of nodes without an own */
	struct acm_engine_config **configs; /* by node, NULL: `config` */
	uint32_t step_count;
	struct sim_step *steps; /* in the order of their times */
	bool has_finally;
	uint64_t finally_within; /* ns after the last fault ended and the last answer came */
};

const struct acm_engine_config *sim_scenario_config(const struct sim_scenario *scenario,
						    uint32_t node);

/* As sim_topology_load(): 0 and *scenario the caller's; -EINVAL and all faults, those of its
 * topology included; -ENOMEM. */
int sim_scenario_load(const char *path, struct sim_scenario **scenario, struct sim_errors *errors);
int sim_scenario_parse(const char *path, const char *text, size_t length,
		       struct sim_scenario **scenario, struct sim_errors *errors);
void sim_scenario_free(struct sim_scenario *scenario);

#endif
