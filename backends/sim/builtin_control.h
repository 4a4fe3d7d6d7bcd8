/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control that is part of this project: a subnet and an SA as models (subnet.h, sa_model.h).
 * Time is what process() is given, so a run in virtual time is the same to the byte each time.
 * Needs nothing installed.
 */
#ifndef ACMITE_SIM_BUILTIN_CONTROL_H
#define ACMITE_SIM_BUILTIN_CONTROL_H

#include "control.h"
#include "node_agents.h"
#include "subnet.h"

struct sim_builtin_options {
	struct sim_subnet_options subnet;
	uint64_t sa_latency; /* ns from a request to its answer */
	uint32_t sa_window;  /* most requests under way; more get -EAGAIN */
};
void sim_builtin_options_default(struct sim_builtin_options *options);

/* 0 and *control the caller's; or as sim_subnet_create(). Does not block. `topology` must outlive
 * it. */
int sim_builtin_control_create(const struct sim_topology *topology,
			       const struct sim_builtin_options *options,
			       struct sim_control **control, char *why, size_t size);

/* For questions; what changes it goes by the functions below. */
const struct sim_subnet *sim_builtin_subnet(const struct sim_control *control);

/* What performance counters are read from, as sim_fabric_traffic() of the fabric over it. */
void sim_builtin_set_traffic(struct sim_control *control, const struct sim_traffic_source *traffic);

/*
 * Faults, as of the time of the last process(). What follows from them comes as events. The data
 * plane is told of links apart: sim_fabric_cut_link(). Errors are those of subnet.h.
 */
int sim_builtin_cut_link(struct sim_control *control, uint32_t node, uint8_t port);
int sim_builtin_mend_link(struct sim_control *control, uint32_t node, uint8_t port);
int sim_builtin_stop_node(struct sim_control *control, uint32_t node);
int sim_builtin_start_node(struct sim_control *control, uint32_t node);
int sim_builtin_fail_over(struct sim_control *control, uint32_t node, enum sim_lids lids);
int sim_builtin_set_membership(struct sim_control *control, struct sim_port_ref port, uint16_t pkey,
			       enum sim_membership membership);
int sim_builtin_drop_group(struct sim_control *control, const struct acm_gid *mgid);
int sim_builtin_share_mlid(struct sim_control *control, const struct acm_gid *first,
			   const struct acm_gid *second);
int sim_builtin_change_lid(struct sim_control *control, struct sim_port_ref port);
void sim_builtin_change_prefix(struct sim_control *control, uint64_t prefix);
void sim_builtin_set_sweep_time(struct sim_control *control, uint64_t duration);
void sim_builtin_set_tree_delay(struct sim_control *control, uint64_t delay);

#endif
