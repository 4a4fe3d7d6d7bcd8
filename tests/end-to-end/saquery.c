/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "saquery.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GID_TEXT 46

int saquery_find(struct saquery_place *place, const char *socket_name, const char *folder,
		 char *why, size_t size)
{
	const char *missing = NULL;

	snprintf(place->socket_name, sizeof(place->socket_name), "%s", socket_name);
	snprintf(place->folder, sizeof(place->folder), "%s", folder);
	if (ibsim_find_program("saquery", "ACMITE_SAQUERY", place->program))
		missing = "saquery";
	else if (ibsim_find_program("timeout", "ACMITE_TIMEOUT", place->timeout))
		missing = "timeout";
	else if (ibsim_find_umad2sim(place->umad2sim))
		missing = "libumad2sim.so";
	if (!missing)
		return 0;
	snprintf(why, size, "%s is not installed; ci/setup installs it", missing);
	return -ENOENT;
}

/* libumad2sim keeps files in the current folder. */
static int make_folder(const struct saquery_place *place, unsigned int number,
		       char folder[PATH_MAX])
{
	int length = (int)strnlen(place->folder, PATH_MAX - 64);

	snprintf(folder, PATH_MAX, "%.*s/saquery-%u", length, place->folder, number);
	return mkdir(folder, 0700) && errno != EEXIST ? -errno : 0;
}

int saquery_start(struct saquery *query, const struct saquery_place *place, unsigned int number,
		  const char *host, const struct acm_gid *sgid, const struct acm_gid *dgid,
		  uint16_t pkey)
{
	char folder[PATH_MAX], preload[PATH_MAX + 16], socket_name[128], sim_host[64];
	char from[GID_TEXT], to[GID_TEXT], partition[8];
	const char *argv[] = {"timeout", "20",     place->program, "--sgid", from, "--dgid",
			      to,        "--pkey", partition,      "PR",     NULL};
	const char *environment[] = {preload, socket_name, sim_host, NULL};
	struct ibsim_command command = {.program = place->timeout,
					.argv = argv,
					.environment = environment,
					.directory = folder,
					.output = query->output};
	int error = make_folder(place, number, folder);

	if (error)
		return error;
	snprintf(query->output, sizeof(query->output), "%.*s/saquery-%u.txt",
		 (int)strnlen(place->folder, PATH_MAX - 64), place->folder, number);
	unlink(query->output);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", place->umad2sim);
	snprintf(socket_name, sizeof(socket_name), "IBSIM_SOCKNAME=%s", place->socket_name);
	snprintf(sim_host, sizeof(sim_host), "SIM_HOST=%s", host);
	inet_ntop(AF_INET6, sgid->raw, from, sizeof(from));
	inet_ntop(AF_INET6, dgid->raw, to, sizeof(to));
	snprintf(partition, sizeof(partition), "0x%04x", pkey);
	return ibsim_child_start(&command, &query->child);
}

/* ---- what it prints: lines of a label, dots, and a value ---- */

static void take_selected(const char *value, uint8_t *selector, uint8_t *code)
{
	unsigned long both = strtoul(value, NULL, 0);

	*selector = (uint8_t)(both >> 6 & 3);
	*code = (uint8_t)(both & 0x3f);
}

static void take_field(struct acm_path *path, const char *label, const char *value)
{
	unsigned long long number = strtoull(value, NULL, 0);

	if (!strcmp(label, "service_id")) {
		path->service_id = number;
	} else if (!strcmp(label, "dgid")) {
		inet_pton(AF_INET6, value, path->dgid.raw);
	} else if (!strcmp(label, "sgid")) {
		inet_pton(AF_INET6, value, path->sgid.raw);
	} else if (!strcmp(label, "dlid")) {
		path->dlid = (uint16_t)number;
	} else if (!strcmp(label, "slid")) {
		path->slid = (uint16_t)number;
	} else if (!strcmp(label, "hop_flow_raw")) {
		path->hop_limit = (uint8_t)number;
		path->flow_label = (uint32_t)(number >> 8 & 0xfffff);
	} else if (!strcmp(label, "tclass")) {
		path->traffic_class = (uint8_t)number;
	} else if (!strcmp(label, "num_path_revers")) {
		path->reversible = number >> 7 & 1;
		path->path_count = (uint8_t)(number & 0x7f);
	} else if (!strcmp(label, "pkey")) {
		path->pkey = (uint16_t)number;
	} else if (!strcmp(label, "qos_class")) {
		path->qos_class = (uint16_t)number;
	} else if (!strcmp(label, "sl")) {
		path->sl = (uint8_t)number;
	} else if (!strcmp(label, "mtu")) {
		take_selected(value, &path->mtu_selector, &path->mtu);
	} else if (!strcmp(label, "rate")) {
		take_selected(value, &path->rate_selector, &path->rate);
	} else if (!strcmp(label, "pkt_life")) {
		take_selected(value, &path->packet_life_selector, &path->packet_life);
	} else if (!strcmp(label, "preference")) {
		path->preference = (uint8_t)number;
	}
}

static void take_line(struct acm_path *path, char *line)
{
	char *dots = strchr(line, '.');
	char *value;

	if (!dots)
		return;
	value = dots + strspn(dots, ".");
	*dots = '\0';
	value[strcspn(value, "\n")] = '\0';
	take_field(path, line + strspn(line, "\t "), value);
}

static unsigned int read_output(const char *output, struct acm_path *path)
{
	FILE *in = fopen(output, "re");
	unsigned int records = 0;
	char line[256];

	memset(path, 0, sizeof(*path));
	if (!in)
		return 0;
	while (fgets(line, sizeof(line), in)) {
		if (!strcmp(line, "PathRecord dump:\n"))
			records++;
		else if (records == 1)
			take_line(path, line);
	}
	fclose(in);
	return records;
}

bool saquery_ended(struct saquery *query, struct acm_path *path, unsigned int *records)
{
	if (!ibsim_child_ended(&query->child))
		return false;
	*records = read_output(query->output, path);
	return true;
}
