/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What OpenSM says of a path, through saquery, a program that is not of this project. It enters
 * ibsim by libumad2sim, so one that runs is one of ibsim's ten clients.
 */
#ifndef ACMITE_TESTS_SAQUERY_H
#define ACMITE_TESTS_SAQUERY_H

#include <acmite/types.h>
#include <limits.h>

#include "ibsim_process.h"

#define SAQUERY_NAME_SIZE 32

struct saquery_place {
	char program[PATH_MAX];
	char timeout[PATH_MAX]; /* libumad2sim waits for ever */
	char umad2sim[PATH_MAX];
	char socket_name[96];
	char folder[PATH_MAX];
};

/* 0, or -ENOENT and in `why` what is to be installed. `folder` is where their files go. */
int saquery_find(struct saquery_place *place, const char *socket_name, const char *folder,
		 char *why, size_t size);

struct saquery {
	struct ibsim_child child; /* its pidfd tells when it has ended; pid 0: does not run */
	char output[PATH_MAX];
};

/*
 * Starts one that asks for the path between two GIDs in a partition, from the netlist's node
 * `host`. `number` tells apart those that run at once. 0 or negative errno.
 */
int saquery_start(struct saquery *query, const struct saquery_place *place, unsigned int number,
		  const char *host, const struct acm_gid *sgid, const struct acm_gid *dgid,
		  uint16_t pkey);
/*
 * True when it has ended: then *records tells how many paths OpenSM has, `path` is the first, and
 * `output` remains as a file with what it said until the next one of its number starts.
 */
bool saquery_ended(struct saquery *query, struct acm_path *path, unsigned int *records);

#endif
