/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* OpenSM's process: how it begins, what it is made to do, and what follows from its end. */
#include "ibsim_control.h"

#include "ibsim_lids.h"
#include "ibsim_subnet.h"

#include <acmite/sa.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct ibsim_subnet *subnet_of(struct sim_control *control)
{
	return (struct ibsim_subnet *)control;
}

/* ---- its beginning ---- */

static const char *word(bool value)
{
	return value ? "TRUE" : "FALSE";
}

/*
 * OpenSM 3.3 keeps the LIDs that its cache or the ports themselves tell of, on whichever node it
 * runs; only reassign_lids makes it forget them, in its first sweep.
 */
static int write_options(const struct ibsim_subnet *subnet)
{
	bool updn = subnet->topology->routing == SIM_ROUTING_UPDN;
	char path[PATH_MAX];
	FILE *file;

	ibsim_scratch_path(subnet, IBSIM_OPENSM_OPTIONS, path);
	file = fopen(path, "we");
	if (!file)
		return -errno;
	fprintf(file, "subnet_timeout %d\n", IBSIM_SUBNET_TIMEOUT);
	fprintf(file, "routing_engine %s\n", updn ? "updn" : "minhop");
	fprintf(file, "partition_config_file %s/%s\n", subnet->scratch, IBSIM_PARTITIONS);
	fprintf(file, "dump_files_dir %s/%s\n", subnet->scratch, IBSIM_OPENSM_FOLDER);
	fprintf(file, "log_file %s/%s\n", subnet->scratch, IBSIM_OPENSM_LOG);
	fprintf(file, "force_log_flush TRUE\n");
	fprintf(file, "fsync_high_avail_files FALSE\n"); /* nothing here outlives the run */
	fprintf(file, "reassign_lids %s\n", word(subnet->lids == SIM_LIDS_REASSIGNED));
	fprintf(file, "no_clients_rereg %s\n", word(subnet->asks_nobody));
	fprintf(file, "subnet_prefix 0x%016" PRIx64 "\n", subnet->prefix);
	return fclose(file) == 0 ? 0 : -errno;
}

int ibsim_start_opensm(struct ibsim_subnet *subnet)
{
	char folder[PATH_MAX], options[PATH_MAX], output[PATH_MAX];
	char cache[PATH_MAX + 32], temporary[PATH_MAX + 32], preload[PATH_MAX + 32];
	char socket_name[96], host[IBSIM_NAME_SIZE + 16];
	const char *argv[] = {"opensm", "-F", options, NULL};
	const char *environment[] = {socket_name, host, cache, temporary, preload, NULL};
	struct ibsim_command command = {.program = subnet->opensm_program,
					.argv = argv,
					.environment = environment,
					.directory = folder,
					.output = output};
	struct sim_port_ref sm = {.node = subnet->sm, .port = 1};
	uint32_t node = subnet->port_targets[ibsim_port_index(subnet, sm)].node;
	int error = write_options(subnet);

	if (error)
		return error;
	ibsim_scratch_path(subnet, IBSIM_OPENSM_FOLDER, folder);
	ibsim_scratch_path(subnet, IBSIM_OPENSM_OPTIONS, options);
	ibsim_scratch_path(subnet, IBSIM_OPENSM_OUTPUT, output);
	snprintf(socket_name, sizeof(socket_name), "IBSIM_SOCKNAME=%s", subnet->socket_name);
	snprintf(host, sizeof(host), "SIM_HOST=%s", subnet->names[node]);
	snprintf(cache, sizeof(cache), "OSM_CACHE_DIR=%s", folder);
	snprintf(temporary, sizeof(temporary), "OSM_TMP_DIR=%s", folder);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", subnet->umad2sim);
	error = ibsim_child_start(&command, &subnet->opensm);
	return error ? error : ibsim_watch(subnet, subnet->opensm.pidfd, IBSIM_SOURCE_OPENSM);
}

/* ---- whether it is there ---- */

static void ping_answered(void *context, uint64_t cookie, int status, const uint8_t *mad)
{
	struct ibsim_subnet *subnet = context;

	(void)cookie;
	(void)mad;
	if (status == 0 && subnet->swept)
		subnet->sa_answers = true;
	/* A request may have reached the dying OpenSM after it was seen to have ended. */
	if (status == -EHOSTUNREACH && subnet->opensm.pid <= 0)
		ibsim_pool_fail(subnet->pool, ibsim_sa_answered, -EHOSTUNREACH);
}

void ibsim_ping_sa(struct ibsim_subnet *subnet)
{
	struct sim_port_ref asking = {.node = subnet->topology->sm, .port = 1};
	uint8_t mad[ACM_MAD_LENGTH];

	acm_sa_encode_ping(0, mad);
	ibsim_pool_cancel(subnet->pool, ping_answered,
			  0); /* OpenSM may have dropped the last one */
	ibsim_send_to_sa(subnet, ibsim_port_index(subnet, asking), mad, ping_answered, 0);
}

void ibsim_opensm_gone(struct ibsim_subnet *subnet)
{
	subnet->swept = subnet->sa_answers = false;
	/* What it had taken is lost with it; what comes from now on, ibsim refuses. */
	ibsim_pool_fail(subnet->pool, ibsim_sa_answered, -EHOSTUNREACH);
	ibsim_pool_fail(subnet->pool, ping_answered, -EHOSTUNREACH);
	ibsim_members_lose(subnet);
	/* The first packet that finds nobody makes ibsim free the slot. */
	ibsim_ping_sa(subnet);
}

/* A sweep that begins reads the partitions again. */
static int ask_for_sweep(const struct ibsim_subnet *subnet)
{
	if (subnet->opensm.pid <= 0)
		return 0; /* the next one sweeps anyway */
	return kill(subnet->opensm.pid, SIGHUP) < 0 ? -errno : 0;
}

void ibsim_opensm_swept(struct ibsim_subnet *subnet)
{
	subnet->swept = true;
	if (subnet->sweep_again)
		ask_for_sweep(subnet);
	subnet->sweep_again = false;
	ibsim_hint_all(subnet);
	if (!subnet->sa_answers)
		ibsim_ping_sa(subnet);
	if (!subnet->reregister)
		return;
	subnet->reregister = false;
	/* The pass under way may have read some ports before. */
	subnet->reregister_after = subnet->port_pass.rounds + (subnet->port_pass.running ? 2 : 1);
}

void ibsim_opensm_reregister(struct ibsim_subnet *subnet)
{
	if (!subnet->reregister_after || subnet->port_pass.rounds < subnet->reregister_after)
		return;
	subnet->reregister_after = 0;
	for (uint32_t i = 0; i < subnet->port_count; i++)
		if (subnet->ports.facts[i].state == ACM_PORT_ACTIVE)
			ibsim_push_port(subnet, SIM_CONTROL_REREGISTER, i);
}

/* ---- faults ---- */

void sim_ibsim_kill_opensm(struct sim_control *control)
{
	struct ibsim_subnet *subnet = subnet_of(control);

	if (subnet->opensm.pid <= 0)
		return;
	ibsim_child_kill(&subnet->opensm);
	ibsim_opensm_gone(subnet);
}

static int replace_opensm(struct ibsim_subnet *subnet)
{
	if (subnet->died)
		return -EHOSTUNREACH;
	sim_ibsim_kill_opensm(&subnet->control);
	subnet->reregister = !subnet->asks_nobody;
	subnet->reregister_after = 0;
	return ibsim_start_opensm(subnet);
}

int sim_ibsim_start_opensm(struct sim_control *control)
{
	struct ibsim_subnet *subnet = subnet_of(control);

	subnet->lids = SIM_LIDS_KEPT;
	subnet->asks_nobody = false;
	return replace_opensm(subnet);
}

int sim_ibsim_fail_over(struct sim_control *control, uint32_t node, enum sim_lids lids)
{
	struct ibsim_subnet *subnet = subnet_of(control);
	struct sim_port_ref port = {.node = node, .port = 1};

	if (ibsim_port_index(subnet, port) == SIM_NONE)
		return -EINVAL;
	subnet->sm = node;
	subnet->lids = lids;
	subnet->asks_nobody = false;
	return replace_opensm(subnet);
}

int sim_ibsim_change_prefix(struct sim_control *control, uint64_t prefix)
{
	subnet_of(control)->prefix = prefix;
	return sim_ibsim_start_opensm(control);
}

int sim_ibsim_change_lid(struct sim_control *control, uint32_t node)
{
	struct ibsim_subnet *subnet = subnet_of(control);
	struct sim_port_ref port = {.node = node, .port = 1};
	char path[PATH_MAX];
	int error, started;

	if (ibsim_port_index(subnet, port) == SIM_NONE)
		return -EINVAL;
	sim_ibsim_kill_opensm(control);
	ibsim_scratch_path(subnet, IBSIM_OPENSM_FOLDER "/" IBSIM_LIDS, path);
	error = ibsim_lids_move(path, subnet->topology->nodes[node].ports[1].guid);
	started = sim_ibsim_lose_groups(control); /* with the LIDs as they were, if need be */
	return error ? error : started;
}

int sim_ibsim_lose_groups(struct sim_control *control)
{
	struct ibsim_subnet *subnet = subnet_of(control);

	subnet->lids = SIM_LIDS_KEPT;
	subnet->asks_nobody = true;
	return replace_opensm(subnet);
}

bool sim_ibsim_is_managed(const struct sim_control *control)
{
	const struct ibsim_subnet *subnet = (const struct ibsim_subnet *)control;

	return subnet->swept && !subnet->reregister && !subnet->reregister_after;
}

int sim_ibsim_set_membership(struct sim_control *control, uint32_t node, uint16_t pkey,
			     enum sim_membership membership)
{
	struct ibsim_subnet *subnet = subnet_of(control);
	int error = ibsim_partitions_change(&subnet->partitions, node, pkey, membership);

	if (!error)
		error = ibsim_write_partitions(subnet);
	if (error)
		return error;
	/* While it starts the signal would end it; and whether it has read them is not known. */
	subnet->sweep_again = !subnet->swept;
	return subnet->swept ? ask_for_sweep(subnet) : 0;
}
