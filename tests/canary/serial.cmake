# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Requests for addresses go out one after the other: one that nobody answers holds up all that come behind it.
set(engine_source multicast_request.c)
set(healthy_1 [[#define FRESH_TIME (2 * ACM_NSEC_PER_MSEC)]])
set(faulty_1 [[#define FRESH_TIME (1000 * ACM_NSEC_PER_MSEC)]])
set(healthy_2 [[	while (acm_endpoint_ready(endpoint) && (lookup = endpoint->queue_first) &&
	       acm_multicast_window_enter]])
set(faulty_2 [[	while (acm_endpoint_ready(endpoint) && (lookup = endpoint->queue_first) &&
	       !endpoint->window.taken && acm_multicast_window_enter]])
