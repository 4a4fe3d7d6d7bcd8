# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A request that joins a look-up which is under way is forgotten.
set(engine_source waiter.c)
set(healthy_1 [[	waiter->lookup = lookup;
	waiter->next = NULL;]])
set(faulty_1 [[	waiter->next = NULL;
	if (lookup->last)
		return;
	waiter->lookup = lookup;]])
