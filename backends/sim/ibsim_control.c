/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_control.h"

#include "ibsim_subnet.h"

#include <acmite/sa.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

static struct ibsim_subnet *subnet_of(struct sim_control *control)
{
	return (struct ibsim_subnet *)control;
}

int ibsim_watch(struct ibsim_subnet *subnet, int fd, enum ibsim_source source)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = source};

	return epoll_ctl(subnet->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void ibsim_hint_all(struct ibsim_subnet *subnet)
{
	ibsim_pass_hint(&subnet->port_pass);
	ibsim_pass_hint(&subnet->unicast_pass);
	ibsim_pass_hint(&subnet->multicast_pass);
}

int ibsim_console(struct ibsim_subnet *subnet, const char *line)
{
	size_t length = strlen(line);
	ssize_t n = write(subnet->ibsim.input_fd, line, length);

	if (n < 0)
		return -errno;
	return (size_t)n == length ? 0 : -EAGAIN;
}

/* ---- what the passes find ---- */

void ibsim_push_port(struct ibsim_subnet *subnet, enum sim_control_event_type type, uint32_t port)
{
	struct sim_control_event event = {.type = type, .port = subnet->refs[port]};

	ibsim_events_push(&subnet->events, &event);
}

/*
 * ibsim does not keep the ClientReregister bit that the SM sets, so it is taken from what makes an
 * SM set it: a port that comes up, and an SM that is new to it.
 */
void ibsim_port_changed(void *context, uint32_t port, const struct acm_port_facts *before)
{
	struct ibsim_subnet *subnet = context;
	const struct acm_port_facts *now = &subnet->ports.facts[port];

	ibsim_push_port(subnet, SIM_CONTROL_PORT, port);
	/* When a new SM is known to come, all ports are told together. */
	if (subnet->asks_nobody || subnet->reregister || subnet->reregister_after)
		return;
	if (now->state == ACM_PORT_ACTIVE &&
	    (before->state != ACM_PORT_ACTIVE || before->sm_lid != now->sm_lid))
		ibsim_push_port(subnet, SIM_CONTROL_REREGISTER, port);
}

/* One change seldom comes alone: each kind has the others looked at. */
static void take_changes(struct ibsim_subnet *subnet)
{
	struct sim_control_event event = {.type = SIM_CONTROL_TABLES};
	bool unicast = ibsim_pass_take_change(&subnet->unicast_pass);
	bool multicast = ibsim_pass_take_change(&subnet->multicast_pass);

	if (ibsim_pass_take_change(&subnet->port_pass) || unicast)
		ibsim_hint_all(subnet);
	if (!unicast && !multicast)
		return;
	subnet->tables.tables.generation++;
	ibsim_events_push(&subnet->events, &event);
}

/* ---- the SA ---- */

void ibsim_note_answer(struct ibsim_subnet *subnet, const uint8_t *mad)
{
	ibsim_tables_note_answer(&subnet->tables, mad);
	ibsim_members_note_answer(subnet, mad);
}

void ibsim_sa_answered(void *context, uint64_t cookie, int status, const uint8_t *mad)
{
	struct ibsim_subnet *subnet = context;
	struct sim_control_event event = {
		.type = SIM_CONTROL_SA_FAILED, .cookie = cookie, .status = status};

	if (status == 0) {
		event.type = SIM_CONTROL_SA_ANSWER;
		event.mad = mad;
		event.length = ibsim_mad_length(mad);
		ibsim_note_answer(subnet, mad);
	}
	ibsim_events_push(&subnet->events, &event);
}

int ibsim_send_to_sa(struct ibsim_subnet *subnet, uint32_t port, const uint8_t *mad,
		     ibsim_answer *answer, uint64_t cookie)
{
	const struct acm_port_facts *facts = &subnet->ports.facts[port];
	struct ibsim_address to = {.dlid = facts->sm_lid, .slid = facts->lid, .qp = 1};

	if (facts->state != ACM_PORT_ACTIVE || facts->sm_lid == 0)
		return -ENETDOWN;
	return ibsim_pool_send(subnet->pool, subnet->port_targets[port].node, &to, mad, answer,
			       subnet, cookie);
}

/* ---- what happens to the children ---- */

static void ibsim_ended(struct ibsim_subnet *subnet)
{
	struct sim_control_event event = {.type = SIM_CONTROL_DIED, .text = subnet->died_text};
	char log[PATH_MAX];

	if (!ibsim_child_ended(&subnet->ibsim))
		return;
	subnet->died = true;
	ibsim_child_kill(&subnet->opensm); /* it would wait for ibsim for ever */
	snprintf(subnet->died_text, sizeof(subnet->died_text),
		 "ibsim ended, the fabric cannot go on; its log ends with:");
	ibsim_scratch_path(subnet, IBSIM_LOG, log);
	ibsim_log_tail(log, 3, subnet->died_text, sizeof(subnet->died_text));
	ibsim_events_push(&subnet->events, &event);
}

static void opensm_ended(struct ibsim_subnet *subnet)
{
	char text[512], log[PATH_MAX];

	if (!ibsim_child_ended(&subnet->opensm))
		return;
	ibsim_opensm_gone(subnet);
	if (!subnet->notice)
		return;
	snprintf(text, sizeof(text),
		 "OpenSM ended and nobody manages the subnet; start anew, or on a served fabric "
		 "bring"
		 " about the fault sm_fail_over; its log ends with:");
	ibsim_scratch_path(subnet, IBSIM_OPENSM_LOG, log);
	ibsim_log_tail(log, 3, text, sizeof(text));
	subnet->notice(subnet->notice_context, text);
}

/* ibsim frees the slot of a client that died only when told to. */
static void free_slot(struct ibsim_subnet *subnet, const char *line)
{
	unsigned int slot;
	int pid;
	char command[32];

	if (sscanf(line, "Client %u: pid %d connected", &slot, &pid) != 2 || pid <= 0)
		return;
	/* This pool's own numbers are above all process ids. */
	if (pid > 1 << 22 || kill(pid, 0) == 0 || errno != ESRCH)
		return;
	snprintf(command, sizeof(command), "X %u\n", slot);
	ibsim_console(subnet, command);
}

/* Whether the list has come: client by client, and the console's prompt behind the last one. */
static bool is_whole(FILE *file)
{
	char line[256];
	bool begun = false;

	while (fgets(line, sizeof(line), file)) {
		if (strstr(line, "Client "))
			begun = true;
		else if (begun && strstr(line, "sim> "))
			return true;
	}
	return false;
}

static void read_listing(struct ibsim_subnet *subnet)
{
	char path[PATH_MAX], line[256];
	FILE *file;

	ibsim_scratch_path(subnet, IBSIM_LOG, path);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fseek(file, subnet->log_offset, SEEK_SET) == 0 && is_whole(file)) {
		subnet->listing = false;
		fseek(file, subnet->log_offset, SEEK_SET);
		while (fgets(line, sizeof(line), file)) {
			const char *client = strstr(line, "Client ");

			if (client)
				free_slot(subnet, client);
		}
	}
	fclose(file);
}

/*
 * One list at a time: of one that is older than what came of another, a slot would be freed that
 * has gone to somebody else since.
 */
static void ask_for_listing(struct ibsim_subnet *subnet)
{
	char path[PATH_MAX];
	FILE *file;

	if (subnet->listing)
		return;
	ibsim_scratch_path(subnet, IBSIM_LOG, path);
	file = fopen(path, "re");
	if (!file)
		return;
	fseek(file, 0, SEEK_END);
	subnet->log_offset = ftell(file);
	fclose(file);
	subnet->listing = ibsim_console(subnet, "Attached\n") == 0;
}

static void process_files(struct ibsim_subnet *subnet)
{
	_Alignas(struct inotify_event) char buffer[4096];
	ssize_t n;

	while ((n = read(subnet->inotify_fd, buffer, sizeof(buffer))) > 0) {
		const char *at = buffer;

		while (at < buffer + n) {
			const struct inotify_event *event = (const void *)at;

			if (event->wd == subnet->log_watch && subnet->listing)
				read_listing(subnet);
			else if (event->len > 0 && strcmp(event->name, IBSIM_DUMP) == 0)
				ibsim_opensm_swept(subnet);
			at += sizeof(*event) + event->len;
		}
	}
}

static void process_sources(struct ibsim_subnet *subnet)
{
	struct epoll_event events[8];
	int n = epoll_wait(subnet->epoll_fd, events, 8, 0);

	for (int i = 0; i < n; i++) {
		switch ((enum ibsim_source)events[i].data.u32) {
		case IBSIM_SOURCE_IBSIM:
			ibsim_ended(subnet);
			break;
		case IBSIM_SOURCE_OPENSM:
			opensm_ended(subnet);
			break;
		case IBSIM_SOURCE_FILES:
			process_files(subnet);
			break;
		case IBSIM_SOURCE_POOL:
			break; /* is looked at anyway */
		}
	}
}

/* ---- the operations ---- */

static int process(struct sim_control *control, uint64_t now)
{
	struct ibsim_subnet *subnet = subnet_of(control);

	if (subnet->died)
		return 0;
	process_sources(subnet);
	if (subnet->died)
		return 0;
	ibsim_pass_process(&subnet->port_pass, now);
	ibsim_pass_process(&subnet->unicast_pass, now);
	ibsim_pass_process(&subnet->multicast_pass, now);
	ibsim_pool_process(subnet->pool, now);
	ibsim_members_process(subnet, now);
	take_changes(subnet);
	ibsim_opensm_reregister(subnet);
	if (ibsim_pool_was_refused(subnet->pool))
		ask_for_listing(subnet);
	return subnet->events.failed ? -ENOMEM : 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t deadline(struct sim_control *control)
{
	const struct ibsim_subnet *subnet = subnet_of(control);
	uint64_t next;

	if (subnet->died)
		return ACM_NEVER;
	next = ibsim_pool_deadline(subnet->pool);
	next = earlier(next, ibsim_members_deadline(&subnet->members));
	next = earlier(next, ibsim_pass_deadline(&subnet->port_pass));
	next = earlier(next, ibsim_pass_deadline(&subnet->unicast_pass));
	return earlier(next, ibsim_pass_deadline(&subnet->multicast_pass));
}

static int port_facts(struct sim_control *control, struct sim_port_ref port,
		      struct acm_port_facts *facts)
{
	const struct ibsim_subnet *subnet = subnet_of(control);
	uint32_t index = ibsim_port_index(subnet, port);

	if (index == SIM_NONE)
		return -ENODEV;
	*facts = subnet->ports.facts[index];
	return 0;
}

static const struct sim_tables *tables(struct sim_control *control)
{
	return &subnet_of(control)->tables.tables;
}

static int sa_send(struct sim_control *control, struct sim_port_ref port, uint16_t pkey_index,
		   const uint8_t *mad, uint64_t cookie)
{
	struct ibsim_subnet *subnet = subnet_of(control);
	uint32_t index = ibsim_port_index(subnet, port);

	if (index == SIM_NONE)
		return -ENODEV;
	if (subnet->died)
		return -EHOSTUNREACH;
	if (pkey_index >= subnet->ports.facts[index].pkey_count ||
	    subnet->ports.facts[index].pkeys[pkey_index] == 0)
		return -EINVAL;
	if (!ibsim_takes_mad(mad))
		return 0;
	return ibsim_send_to_sa(subnet, index, mad, ibsim_sa_answered, cookie);
}

static void sa_cancel(struct sim_control *control, uint64_t cookie)
{
	struct ibsim_subnet *subnet = subnet_of(control);

	ibsim_pool_cancel(subnet->pool, ibsim_sa_answered, cookie);
	ibsim_mad_cancel(subnet, cookie);
	ibsim_events_drop(&subnet->events, cookie);
}

static int memberships(struct sim_control *control, const struct sim_membership_query *query,
		       struct sim_group_memberships *all)
{
	return ibsim_members_ask(subnet_of(control), query, all);
}

static void refresh(struct sim_control *control)
{
	ibsim_pass_hint(&subnet_of(control)->multicast_pass);
}

static int control_fd(struct sim_control *control)
{
	return subnet_of(control)->epoll_fd;
}

static int next_event(struct sim_control *control, struct sim_control_event *event)
{
	return ibsim_events_pop(&subnet_of(control)->events, event);
}

static void destroy(struct sim_control *control)
{
	struct ibsim_subnet *subnet = subnet_of(control);

	/* Killed, not asked: what they would write on leaving is removed anyway. */
	ibsim_child_kill(&subnet->opensm);
	ibsim_child_kill(&subnet->ibsim);
	ibsim_pool_destroy(subnet->pool);
	ibsim_events_free(&subnet->events);
	ibsim_members_free(&subnet->members);
	ibsim_tables_free(&subnet->tables);
	ibsim_nodes_free(subnet);
	ibsim_partitions_free(&subnet->partitions);
	if (subnet->inotify_fd >= 0)
		close(subnet->inotify_fd);
	if (subnet->epoll_fd >= 0)
		close(subnet->epoll_fd);
	if (subnet->scratch[0] && !subnet->keep_scratch)
		ibsim_scratch_remove(subnet->scratch);
	free(subnet);
}

const struct sim_control_ops ibsim_control_ops = {
	.port_facts = port_facts,
	.tables = tables,
	.sa_send = sa_send,
	.sa_cancel = sa_cancel,
	.mad_send = ibsim_mad_send,
	.memberships = memberships,
	.refresh = refresh,
	.fd = control_fd,
	.deadline = deadline,
	.process = process,
	.next_event = next_event,
	.destroy = destroy,
};

/* ---- faults ---- */

static int change_link(struct ibsim_subnet *subnet, const char *command, uint32_t node,
		       uint8_t port)
{
	const struct sim_topology *topology = subnet->topology;
	char name[IBSIM_NAME_SIZE], line[80];

	if (subnet->died)
		return -EHOSTUNREACH;
	if (node >= topology->node_count || port < 1 || port > topology->nodes[node].port_count ||
	    topology->nodes[node].ports[port].peer == SIM_NONE)
		return -EINVAL;
	sim_topology_ibsim_name(topology, node, port, name);
	snprintf(line, sizeof(line), "%s \"%s\"[%u]\n", command, name,
		 topology->nodes[node].kind == SIM_SWITCH ? port : 1u);
	ibsim_hint_all(subnet);
	return ibsim_console(subnet, line);
}

int sim_ibsim_unlink(struct sim_control *control, uint32_t node, uint8_t port)
{
	return change_link(subnet_of(control), "Unlink", node, port);
}

int sim_ibsim_relink(struct sim_control *control, uint32_t node, uint8_t port)
{
	return change_link(subnet_of(control), "ReLink", node, port);
}

/* ---- what it is ---- */

const char *sim_ibsim_socket_name(const struct sim_control *control)
{
	return ((const struct ibsim_subnet *)control)->socket_name;
}

const char *sim_ibsim_scratch(const struct sim_control *control)
{
	return ((const struct ibsim_subnet *)control)->scratch;
}

void sim_ibsim_children(const struct sim_control *control, int *ibsim_pid, int *opensm_pid)
{
	const struct ibsim_subnet *subnet = (const struct ibsim_subnet *)control;

	*ibsim_pid = subnet->ibsim.pid;
	*opensm_pid = subnet->opensm.pid;
}
