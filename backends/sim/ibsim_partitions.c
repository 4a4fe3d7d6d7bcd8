/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_partitions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PKEY_DEFAULT 0x7fffu

/* The one for a partition, its name and its members; NULL: no memory. */
static struct sim_partition *add_partition(struct sim_topology *view, const char *name,
					   uint16_t pkey)
{
	struct sim_partition *partitions = reallocarray(view->partitions, view->partition_count + 1,
							sizeof(*view->partitions));
	struct sim_partition *added;

	if (!partitions)
		return NULL;
	view->partitions = partitions;
	added = &partitions[view->partition_count];
	*added = (struct sim_partition){
		.name = strdup(name),
		.pkey = pkey,
		/* Each host is a member once at most, and there may be no hosts. */
		.members = calloc((size_t)view->host_count + 1, sizeof(*added->members))};
	view->partition_count++;
	return added->name && added->members ? added : NULL;
}

static int copy_partition(struct sim_topology *view, const struct sim_partition *from)
{
	struct sim_partition *to = add_partition(view, from->name, from->pkey);

	if (!to)
		return -ENOMEM;
	memcpy(to->members, from->members, from->member_count * sizeof(*from->members));
	to->member_count = from->member_count;
	return 0;
}

int ibsim_partitions_init(struct ibsim_partitions *partitions, const struct sim_topology *topology)
{
	int error = 0;

	partitions->view = *topology;
	partitions->view.partition_count = 0;
	partitions->view.partitions = NULL;
	for (uint32_t i = 0; i < topology->partition_count && !error; i++)
		error = copy_partition(&partitions->view, &topology->partitions[i]);
	return error;
}

void ibsim_partitions_free(struct ibsim_partitions *partitions)
{
	struct sim_topology *view = &partitions->view;

	for (uint32_t i = 0; i < view->partition_count; i++) {
		free(view->partitions[i].name);
		free(view->partitions[i].members);
	}
	free(view->partitions);
	view->partitions = NULL;
	view->partition_count = 0;
}

/* A partition that is not listed has no members, but the default one has all. */
static struct sim_partition *make_partition(struct sim_topology *view, uint16_t pkey)
{
	struct sim_partition *made;
	char name[16];

	snprintf(name, sizeof(name), "pkey_0x%04x", pkey);
	made = add_partition(view, name, pkey);
	if (!made || pkey != PKEY_DEFAULT)
		return made;
	for (uint32_t node = view->switch_count; node < view->node_count; node++)
		made->members[made->member_count++] =
			(struct sim_member){.node = node, .full = true};
	return made;
}

static struct sim_partition *find_partition(struct sim_topology *view, uint16_t pkey)
{
	for (uint32_t i = 0; i < view->partition_count; i++)
		if (view->partitions[i].pkey == pkey)
			return &view->partitions[i];
	return make_partition(view, pkey);
}

int ibsim_partitions_change(struct ibsim_partitions *partitions, uint32_t node, uint16_t pkey,
			    enum sim_membership membership)
{
	struct sim_topology *view = &partitions->view;
	struct sim_partition *partition;
	uint32_t kept = 0;

	if (node >= view->node_count || view->nodes[node].kind != SIM_HOST || pkey < 1 ||
	    pkey > PKEY_DEFAULT)
		return -EINVAL;
	partition = find_partition(view, pkey);
	if (!partition)
		return -ENOMEM;
	for (uint32_t i = 0; i < partition->member_count; i++)
		if (partition->members[i].node != node)
			partition->members[kept++] = partition->members[i];
	if (membership != SIM_MEMBER_NONE)
		partition->members[kept++] =
			(struct sim_member){.node = node, .full = membership == SIM_MEMBER_FULL};
	partition->member_count = kept;
	return 0;
}
