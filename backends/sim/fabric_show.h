/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a running fabric looks like, as rows of text, one at a time: the fabric may change between
 * two of them. docs/attach.md tells the columns.
 */
#ifndef ACMITE_SIM_FABRIC_SHOW_H
#define ACMITE_SIM_FABRIC_SHOW_H

#include "attach_protocol.h"
#include "fabric.h"

struct sim_show_cursor {
	enum sim_attach_table table;
	uint32_t node;  /* index in the topology, or of a cause */
	uint32_t place; /* within the node: a port, a table entry, a queue pair */
};

/* 0; -EINVAL: there is no such table. */
int sim_show_begin(struct sim_show_cursor *cursor, uint32_t table);
/* False: there are no more rows. */
bool sim_show_next(const struct sim_fabric *fabric, struct sim_show_cursor *cursor,
		   struct sim_attach_row *row);

#endif
