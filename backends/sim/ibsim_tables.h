/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The switches' forwarding tables as the SM programmed them, read by two passes. */
#ifndef ACMITE_SIM_IBSIM_TABLES_H
#define ACMITE_SIM_IBSIM_TABLES_H

#include "control.h"
#include "ibsim_survey.h"

/* ibsim's multicast tables; compiled in there. */
#define IBSIM_MFT_SIZE 1024u

struct ibsim_tables {
	struct sim_tables tables;
	uint32_t *lft_capacity; /* by switch: entries that there is memory for */
	uint16_t *lft_top;      /* by switch, as its SwitchInfo said last */
	const struct sim_topology *topology;
	/* Highest MLID that the SA gave out, as far as known: what the passes read at least. ibsim
	 * keeps no MulticastFDBTop. */
	uint16_t mlid_top;
};

/* 0 or -ENOMEM. */
int ibsim_tables_init(struct ibsim_tables *tables, const struct sim_topology *topology);
void ibsim_tables_free(struct ibsim_tables *tables);
/* Notes an MLID out of an SA's answer to a join. */
void ibsim_tables_note_answer(struct ibsim_tables *tables, const uint8_t *mad);

/* For passes over the switches whose context is a struct ibsim_tables. */
extern const struct ibsim_pass_ops ibsim_unicast_ops;
extern const struct ibsim_pass_ops ibsim_multicast_ops;

#endif
