/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The daemon's option file; whatever it says, an engine can be made from it. */
#include "options.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problems problems = {.out = fopen("/dev/null", "w")};
	FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	struct options options;
	const char *field;

	options_default(&options);
	if (in)
		options_read(&options, "options", in, &problems);
	if (acm_engine_config_check(&options.engine, &field))
		abort();
	if (in)
		fclose(in);
	fclose(problems.out);
	return 0;
}
