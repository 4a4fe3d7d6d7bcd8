/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs that programs have sent and whose answer they wait for, with the time-outs and retries that
 * the kernel gives them on hardware.
 */
#ifndef PRELOAD_UMAD_TRANSACTIONS_H
#define PRELOAD_UMAD_TRANSACTIONS_H

#include "umad_agents.h"

/* All want the lock. */

/* A chunk of an answer. */
void preload_transactions_answer(struct preload_attachment *attachment,
				 const struct sim_attach_answer *chunk);
/* Sends those that are due again, or gives them back as timed out; arms for those left. */
void preload_transactions_expire(struct preload_attachment *attachment);
/* Forgets those of one agent. */
void preload_transactions_cancel(struct preload_umad_port *port, uint32_t agent);

#endif
