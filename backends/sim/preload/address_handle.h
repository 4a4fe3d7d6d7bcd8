/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where datagrams go. */
#ifndef PRELOAD_ADDRESS_HANDLE_H
#define PRELOAD_ADDRESS_HANDLE_H

#include <infiniband/verbs.h>

struct preload_address_handle {
	struct ibv_ah verbs;
	struct ibv_ah_attr address;
};

#endif
