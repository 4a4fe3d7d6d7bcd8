/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* OpenSM's file of the LIDs that it has given out, which it reads when it starts. */
#ifndef ACMITE_SIM_IBSIM_LIDS_H
#define ACMITE_SIM_IBSIM_LIDS_H

#include <stdint.h>

#define IBSIM_LIDS "guid2lid" /* in OpenSM's folder */

/*
 * Gives the port of that GUID the lowest LID that is free, in the file at `path`. OpenSM must not
 * run. 0; -ENOENT: there is no such port in it; -ENOSPC: no LID is free; or another negative errno.
 */
int ibsim_lids_move(const char *path, uint64_t guid);

#endif
