/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "backend.h"
#include "attached_backend.h"
#include "fabric_backend.h"
#include "verbs_backend.h"

int daemon_backend_create(const struct daemon_backend_setup *setup, struct daemon_backend **backend,
			  char *why, size_t size)
{
#ifdef ACMITE_VERBS /* without it the command line does not ask for hardware */
	if (setup->configuration->line->backend == COMMAND_LINE_VERBS)
		return verbs_backend_create(setup, backend, why, size);
#endif
	if (setup->configuration->line->backend == COMMAND_LINE_ATTACHED)
		return attached_backend_create(setup, backend, why, size);
	return fabric_backend_create(setup, backend, why, size);
}
