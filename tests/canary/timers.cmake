# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a look-up waits for, its next try and its end, comes an hour late.
set(engine_source deadlines.c)
set(healthy_1 [[#include "deadlines.h"]])
set(faulty_1 [[#include "core.h"]])
set(healthy_2 [[	timer->due = due;]])
set(faulty_2 [[	timer->due = due;
	if (timer->kind == ACM_TIMER_LOOKUP || timer->kind == ACM_TIMER_BOUND)
		timer->due += 3600 * ACM_NSEC_PER_SEC;]])
