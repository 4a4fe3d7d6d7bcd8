/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* acmite fabric exec: runs a program built for hardware on a node of a served fabric. */
#ifndef FABRIC_EXEC_H
#define FABRIC_EXEC_H

/* `argv[0]` is "exec". Does not return when the program has been started. */
int acmite_fabric_exec(int argc, char **argv);

#endif
