/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The 64 bytes of a PathRecord (IBA vol. 1, 15.2.5.16), as the SA and the clients have it. */
#ifndef ACMITE_PATH_RECORD_H
#define ACMITE_PATH_RECORD_H

#include <acmite/types.h>

#define PATH_RECORD_LENGTH 64

/* Reads every field; reserved bits are dropped. Ranges are for the caller to check. */
void acm_path_record_load(struct acm_path *path, const uint8_t *record);
/* Writes PATH_RECORD_LENGTH bytes; bits that a field has no room for are dropped. */
void acm_path_record_store(const struct acm_path *path, uint8_t *record);

bool acm_gid_is_zero(const struct acm_gid *gid);

#endif
