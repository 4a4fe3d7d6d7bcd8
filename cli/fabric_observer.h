/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* acmite fabric show and fault: what looks at a served fabric, and harms it. */
#ifndef FABRIC_OBSERVER_H
#define FABRIC_OBSERVER_H

/* `argv[0]` is "show", "fault". */
int acmite_fabric_show(int argc, char **argv);
int acmite_fabric_fault(int argc, char **argv);

#endif
