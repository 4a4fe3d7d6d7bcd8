/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What can be done to a subnet under ibsim beside using it: real faults. All these are for controls
 * made by sim_ibsim_control_create(); what follows from them comes as events.
 *
 * The children end when the thread that made the control ends: the kernel sees to that.
 */
#ifndef ACMITE_SIM_IBSIM_CONTROL_H
#define ACMITE_SIM_IBSIM_CONTROL_H

#include "control.h"

/* The subnet manager dies without a word. SA requests fail with -EHOSTUNREACH until it is started.
 */
void sim_ibsim_kill_opensm(struct sim_control *control);
/* A new one, with the old one's configuration and LIDs but without its groups; an old one is
 * killed. Does not wait: SIM_CONTROL_REREGISTER for every port tells that it is up. 0 or negative
 * errno. */
int sim_ibsim_start_opensm(struct sim_control *control);
/*
 * It dies, and a standby takes over on another host, at whose first port it runs from now on, with
 * the LIDs as they were or all given out anew; otherwise as sim_ibsim_start_opensm(). -EINVAL: not
 * a host.
 */
int sim_ibsim_fail_over(struct sim_control *control, uint32_t node, enum sim_lids lids);
/* As sim_ibsim_start_opensm(), but the new one gives all ports another subnet prefix. */
int sim_ibsim_change_prefix(struct sim_control *control, uint64_t prefix);
/*
 * As sim_ibsim_start_opensm(), but the new one asks nobody to register again: so the members of the
 * groups that it does not know are not told.
 */
int sim_ibsim_lose_groups(struct sim_control *control);
/*
 * As sim_ibsim_lose_groups(), but the new one gives the first port of a host the lowest LID that is
 * free. -EINVAL: not a host; -ENOSPC: no LID is free.
 */
int sim_ibsim_change_lid(struct sim_control *control, uint32_t node);
/* Whether the last OpenSM that was started has swept, and the ports know of it. */
bool sim_ibsim_is_managed(const struct sim_control *control);
/*
 * What a host's ports are in a partition of 15 bits, which OpenSM reads again for it: the port
 * events follow. The SM's own host stays a full member of the default one. -EINVAL: no such host or
 * P_Key; or another negative errno.
 */
int sim_ibsim_set_membership(struct sim_control *control, uint32_t node, uint16_t pkey,
			     enum sim_membership membership);

/*
 * Takes down the link at `port` of a topology's node, or restores it. OpenSM learns of it by a trap
 * and routes around it; until then packets in the tables' way are lost, which the data plane is to
 * be told. -EINVAL: no such link; -EAGAIN: ibsim does not read its console; or another negative
 * errno.
 */
int sim_ibsim_unlink(struct sim_control *control, uint32_t node, uint8_t port);
int sim_ibsim_relink(struct sim_control *control, uint32_t node, uint8_t port);

#endif
