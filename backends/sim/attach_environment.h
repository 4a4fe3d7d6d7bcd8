/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tells the preload library where it is: set by acmite fabric exec. */
#ifndef ACMITE_SIM_ATTACH_ENVIRONMENT_H
#define ACMITE_SIM_ATTACH_ENVIRONMENT_H

#define SIM_ATTACH_SOCKET_VARIABLE "ACMITE_FABRIC_SOCKET" /* the server's */
#define SIM_ATTACH_NODE_VARIABLE   "ACMITE_FABRIC_NODE"   /* on which the program runs */
/* How long its calls wait for the server: milliseconds, decimal; not set: SIM_ATTACH_PATIENCE_MS.
 */
#define SIM_ATTACH_TIMEOUT_VARIABLE "ACMITE_FABRIC_TIMEOUT_MS"

#endif
