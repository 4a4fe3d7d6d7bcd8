/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The node's device and ports as libibumad shows them. */
#ifndef PRELOAD_UMAD_PORTS_H
#define PRELOAD_UMAD_PORTS_H

#include "attachment.h"

/*
 * The port that a program means by a device's name (NULL: any) and a port's number (0: any, the
 * first active one, then the first whose link is up, then the first). -ENODEV: none of them.
 */
int preload_umad_choose(const struct preload_attachment *attachment, const char *name, int number);

#endif
