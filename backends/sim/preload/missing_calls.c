/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What libibverbs and libibumad have and a simulated node has not: each call says so by its name,
 * and fails. Other calls of theirs that are not in this library work on memory or texts only, and
 * are left to them.
 *
 * The prototypes are not the real ones, which do not matter to a function that takes nothing.
 */
#include <errno.h>
#include <stddef.h>
#include "call.h"

static void say(const char *name)
{
	preload_complain("%s is not there on a simulated node", name);
	errno = ENOSYS;
}

/* Those that return a pointer, an errno, a negative errno, none of something, or nothing. */
#define POINTER(name)                                                                              \
	PRELOAD_CALL void *name(void)                                                              \
	{                                                                                          \
		say(#name);                                                                        \
		return NULL;                                                                       \
	}
#define STATUS(name)                                                                               \
	PRELOAD_CALL int name(void)                                                                \
	{                                                                                          \
		say(#name);                                                                        \
		return ENOSYS;                                                                     \
	}
/* IBV_REREG_MR_ERR_CMD; the header that has it has the prototypes, too. */
#define REREGISTER(name)                                                                           \
	PRELOAD_CALL int name(void)                                                                \
	{                                                                                          \
		say(#name);                                                                        \
		return -4;                                                                         \
	}
#define NEGATIVE(name)                                                                             \
	PRELOAD_CALL int name(void)                                                                \
	{                                                                                          \
		say(#name);                                                                        \
		return -ENOSYS;                                                                    \
	}
#define NONE(name)                                                                                 \
	PRELOAD_CALL int name(void)                                                                \
	{                                                                                          \
		say(#name);                                                                        \
		return 0;                                                                          \
	}
#define NOTHING(name)                                                                              \
	PRELOAD_CALL void name(void)                                                               \
	{                                                                                          \
		say(#name);                                                                        \
	}

POINTER(ibv_create_srq)
STATUS(ibv_modify_srq)
STATUS(ibv_query_srq)
STATUS(ibv_destroy_srq)
REREGISTER(ibv_rereg_mr)
POINTER(ibv_reg_dmabuf_mr)
POINTER(ibv_import_device)
POINTER(ibv_import_pd)
NOTHING(ibv_unimport_pd)
POINTER(ibv_import_mr)
NOTHING(ibv_unimport_mr)
POINTER(ibv_import_dm)
NOTHING(ibv_unimport_dm)
POINTER(ibv_qp_to_qp_ex)
STATUS(ibv_set_ece)
STATUS(ibv_query_ece)
STATUS(ibv_resolve_eth_l2_from_gid)
NONE(ibv_query_qp_data_in_order)
NEGATIVE(umad_get_issm_path)
