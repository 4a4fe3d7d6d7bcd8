/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What changes at a port, told to programs. */
#ifndef PRELOAD_PORT_CHANGES_H
#define PRELOAD_PORT_CHANGES_H

#include "attachment.h"

/* Takes new facts of port `index`, from 0, and raises an event for each kind of difference. */
void preload_port_changed(struct preload_attachment *attachment, const struct acm_port_facts *facts,
			  uint32_t index);
/* The subnet manager asks for joins anew at port `index`, from 0. */
void preload_port_reregister(struct preload_attachment *attachment, uint32_t index);

#endif
