/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a running fabric looks like, as rows of text, one at a time: the fabric may change between
 * two of them. docs/attach.md tells the columns.
 */
#ifndef ACMITE_SIM_FABRIC_SHOW_H
#define ACMITE_SIM_FABRIC_SHOW_H

#include "attach_protocol.h"
#include "fabric.h"
#include "group_members.h"

struct sim_show_cursor {
	enum sim_attach_table table;
	uint32_t node;  /* index in the topology, or of a cause */
	uint32_t place; /* within the node: a port, a table entry, a queue pair */
	uint64_t since; /* when it was asked for */
	bool collected; /* `members` is there */
	struct sim_group_entries members;
};

/* 0; -EINVAL: there is no such table. To be ended in any case, also a cursor that is all zero. */
int sim_show_begin(const struct sim_fabric *fabric, struct sim_show_cursor *cursor, uint32_t table);
/*
 * 1 and a row; 0: there are no more; -EAGAIN: the rows are being found out, come again after the
 * fabric's process(); -ENOMEM.
 */
int sim_show_next(const struct sim_fabric *fabric, struct sim_show_cursor *cursor,
		  struct sim_attach_row *row);
void sim_show_end(struct sim_show_cursor *cursor);

#endif
