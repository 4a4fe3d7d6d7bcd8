/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the parts of a scenario file. What is wrong becomes a fault at its place. */
#ifndef ACMITE_SIM_SCENARIO_READER_H
#define ACMITE_SIM_SCENARIO_READER_H

#include "scenario.h"
#include "topology_document.h"

struct scenario_reader {
	struct sim_document document;
	struct sim_faults *faults;
	struct sim_scenario *scenario;       /* NULL: one fault alone is read */
	const struct sim_topology *topology; /* what names are looked up in ... */
	const char *topology_name;           /* ... and what messages call it */
};

/* ---- values (scenario_values.c). A missing node (NULL) leaves the value and is no fault. ---- */

/* "200ns", "1.5ms", "2s", "3min", up to a day. */
void scenario_read_duration(struct scenario_reader *reader, const yaml_node_t *node,
			    const char *what, uint64_t *ns);
/* Names with ranges that the topology has; hosts only. */
void scenario_read_hosts(struct scenario_reader *reader, const yaml_node_t *node, const char *what,
			 struct sim_nodes *nodes);
/* "A -- B": all links between them; or a host's name: its links. Free links->nodes. */
void scenario_read_links(struct scenario_reader *reader, const yaml_node_t *node,
			 struct sim_nodes *links);
/* "3", ">=3", "<=3" or "1..3". */
void scenario_read_bounds(struct scenario_reader *reader, const yaml_node_t *node, const char *what,
			  struct sim_bounds *bounds);
void scenario_read_yes_no(struct scenario_reader *reader, const yaml_node_t *node, const char *what,
			  bool *value);
bool scenario_read_address(struct scenario_reader *reader, const yaml_node_t *node,
			   const char *what, struct acm_address *address);
/* Above 0, up to 1. */
void scenario_read_share(struct scenario_reader *reader, const yaml_node_t *node, const char *what,
			 double *share);

/* ---- sections ---- */

/* scenario_options.c */
void scenario_read_options(struct scenario_reader *reader, yaml_node_t *options);
/* scenario_steps.c */
void scenario_read_steps(struct scenario_reader *reader, yaml_node_t *steps);
/* scenario_faults.c */
void scenario_read_fault(struct scenario_reader *reader, yaml_node_t *map,
			 struct sim_fault_plan *fault);

#endif
