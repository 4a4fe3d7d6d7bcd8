/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rules of partitions (IBA vol. 1, 10.9), as pure functions of a P_Key table. */
#ifndef ACMITE_ENGINE_PARTITION_H
#define ACMITE_ENGINE_PARTITION_H

#include <acmite/engine.h>

/* Same partition: 15 bits agree. 0 is no P_Key and equals nothing. */
bool acm_partition_equal(uint16_t a, uint16_t b);
/* Table index for requests to the SA: the default partition, the full key before the limited, else
 * 0. */
uint16_t acm_partition_sa_index(const struct acm_port_facts *facts);
/*
 * The table's key for a partition given by 15 bits, the full one before the limited; 0: the port is
 * not in it.
 */
uint16_t acm_partition_find(const struct acm_port_facts *facts, uint16_t pkey);
/*
 * True when table entry `index` is the one to make an endpoint of: valid, and no entry before it or
 * of higher membership stands for the same partition.
 */
bool acm_partition_represents(const struct acm_port_facts *facts, uint16_t index);

#endif
