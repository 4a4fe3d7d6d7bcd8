/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* acmite fabric serve: runs a simulated fabric that programs of other processes attach to. */
#ifndef FABRIC_SERVE_H
#define FABRIC_SERVE_H

/* `argv[0]` is "serve". Returns when it is told to stop. */
int acmite_fabric_serve(int argc, char **argv);

#endif
