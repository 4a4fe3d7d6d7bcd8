/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bringing a subnet up: files, ibsim, OpenSM, and waiting until it is whole. */
#include "ibsim_subnet.h"
#include "real_time.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOG_LINES 4

/* One start, from the caller's options on. */
struct startup {
	struct ibsim_subnet *subnet;
	const struct sim_ibsim_options *options;
	uint64_t deadline;
	uint64_t pinged_round;
	char waiting_for[128];
	char *why;
	size_t size;
};

/* Writes the sentence, with the end of a log where one is named. Returns `error`. */
__attribute__((format(printf, 4, 5))) static int fail(const struct startup *startup, int error,
						      const char *log, const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(startup->why, startup->size, format, arguments);
	va_end(arguments);
	if (log) {
		ibsim_scratch_path(startup->subnet, log, path);
		ibsim_log_tail(path, LOG_LINES, startup->why, startup->size);
	}
	return error;
}

void ibsim_scratch_path(const struct ibsim_subnet *subnet, const char *name, char path[PATH_MAX])
{
	int length = (int)strnlen(subnet->scratch, PATH_MAX - 64);

	snprintf(path, PATH_MAX, "%.*s/%.62s", length, subnet->scratch, name);
}

static int find_programs(const struct startup *startup, char ibsim[PATH_MAX])
{
	struct ibsim_subnet *subnet = startup->subnet;

	if (ibsim_find_program("ibsim", "ACMITE_IBSIM", ibsim) < 0)
		return fail(startup, -ENOENT, NULL,
			    "the program ibsim is not installed: install it (Debian: apt install "
			    "ibsim-utils opensm), or name it in ACMITE_IBSIM");
	if (ibsim_find_program("opensm", "ACMITE_OPENSM", subnet->opensm_program) < 0)
		return fail(startup, -ENOENT, NULL,
			    "the program opensm is not installed: install it (Debian: apt install "
			    "opensm ibsim-utils), or name it in ACMITE_OPENSM");
	if (ibsim_find_umad2sim(subnet->umad2sim) < 0)
		return fail(startup, -ENOENT, NULL,
			    "the library libumad2sim.so is not installed: install it (Debian: apt "
			    "install libumad2sim0), or name it in ACMITE_UMAD2SIM");
	return 0;
}

/* ---- files ---- */

static int write_topology(const struct ibsim_subnet *subnet, const char *name,
			  const struct sim_topology *topology,
			  int (*writer)(const struct sim_topology *topology, FILE *out))
{
	char path[PATH_MAX];
	FILE *file;
	int error;

	ibsim_scratch_path(subnet, name, path);
	file = fopen(path, "we");
	if (!file)
		return -errno;
	error = writer(topology, file);
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	return error;
}

int ibsim_write_partitions(const struct ibsim_subnet *subnet)
{
	return write_topology(subnet, IBSIM_PARTITIONS, &subnet->partitions.view,
			      sim_topology_write_partitions);
}

static int make_folder(const struct startup *startup)
{
	struct ibsim_subnet *subnet = startup->subnet;
	char path[PATH_MAX];
	int error = ibsim_scratch_create(startup->options->scratch, subnet->scratch);

	if (error) {
		subnet->scratch[0] = '\0';
		return error;
	}
	ibsim_scratch_path(subnet, IBSIM_OPENSM_FOLDER, path);
	if (mkdir(path, 0700) < 0)
		return -errno;
	error = write_topology(subnet, IBSIM_NETLIST, subnet->topology, sim_topology_write_ibsim);
	return error ? error : ibsim_write_partitions(subnet);
}

/* OpenSM's folder is watched for its dumps, the scratch folder's log of ibsim for answers on its
 * console. */
static int watch_files(struct ibsim_subnet *subnet)
{
	char path[PATH_MAX];
	FILE *log;

	subnet->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (subnet->inotify_fd < 0)
		return -errno;
	ibsim_scratch_path(subnet, IBSIM_OPENSM_FOLDER, path);
	if (inotify_add_watch(subnet->inotify_fd, path, IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
		return -errno;
	ibsim_scratch_path(subnet, IBSIM_LOG, path);
	log = fopen(path, "ae"); /* must exist to be watched */
	if (!log)
		return -errno;
	fclose(log);
	subnet->log_watch = inotify_add_watch(subnet->inotify_fd, path, IN_MODIFY);
	return subnet->log_watch < 0 ? -errno
				     : ibsim_watch(subnet, subnet->inotify_fd, IBSIM_SOURCE_FILES);
}

/* ---- children ---- */

static int name_sockets(const struct startup *startup)
{
	struct ibsim_subnet *subnet = startup->subnet;
	uint32_t random;
	int n;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	if (startup->options->socket_name)
		n = snprintf(subnet->socket_name, sizeof(subnet->socket_name), "%s",
			     startup->options->socket_name);
	else
		n = snprintf(subnet->socket_name, sizeof(subnet->socket_name), "acmite-%d-%08x",
			     getpid(), random);
	return n > 0 && (size_t)n < sizeof(subnet->socket_name) ? 0 : -ENAMETOOLONG;
}

static int start_ibsim(struct ibsim_subnet *subnet, const char *program)
{
	const char *argv[] = {"ibsim", "-s", IBSIM_NETLIST, NULL};
	char socket_name[96], log[PATH_MAX];
	const char *environment[] = {socket_name, NULL};
	struct ibsim_command command = {.program = program,
					.argv = argv,
					.environment = environment,
					.directory = subnet->scratch,
					.output = log,
					.input = true};
	int error;

	snprintf(socket_name, sizeof(socket_name), "IBSIM_SOCKNAME=%s", subnet->socket_name);
	ibsim_scratch_path(subnet, IBSIM_LOG, log);
	error = ibsim_child_start(&command, &subnet->ibsim);
	if (error)
		return error;
	if (fcntl(subnet->ibsim.input_fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return ibsim_watch(subnet, subnet->ibsim.pidfd, IBSIM_SOURCE_IBSIM);
}

/* ---- waiting ---- */

static void note_wait(struct startup *startup, const char *text)
{
	if (strcmp(startup->waiting_for, text) == 0)
		return;
	snprintf(startup->waiting_for, sizeof(startup->waiting_for), "%s", text);
	if (startup->options->progress)
		startup->options->progress(startup->options->context, text);
}

/* Until the epoll descriptor is readable or `wake` comes. -ECANCELED, -ETIMEDOUT or another errno.
 */
static int wait_for_events(const struct startup *startup, uint64_t wake)
{
	struct pollfd fds[2] = {{.fd = startup->subnet->epoll_fd, .events = POLLIN},
				{.fd = startup->options->cancel_fd, .events = POLLIN}};
	uint64_t now = sim_real_time(), until = startup->deadline;
	struct timespec timeout;

	if (now >= startup->deadline)
		return -ETIMEDOUT;
	if (wake < until)
		until = wake;
	until = until > now ? until - now : 0;
	timeout.tv_sec = (time_t)(until / ACM_NSEC_PER_SEC);
	timeout.tv_nsec = (long)(until % ACM_NSEC_PER_SEC);
	if (ppoll(fds, 2, &timeout, NULL) < 0 && errno != EINTR)
		return -errno;
	return fds[1].revents ? -ECANCELED : 0;
}

static int wait_failed(const struct startup *startup, int error, const char *log)
{
	if (error == -ECANCELED)
		return fail(startup, error, NULL, "starting the fabric was given up");
	if (error == -ETIMEDOUT)
		return fail(startup, error, log,
			    "the fabric was not up after %u ms, still %s; give it more time, or "
			    "see what its log ends with:",
			    startup->options->ready_timeout_ms, startup->waiting_for);
	return fail(startup, error, log,
		    "waiting for the fabric failed (%s); its log ends with:", strerror(-error));
}

static bool log_contains(const struct ibsim_subnet *subnet, const char *text)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *file;

	ibsim_scratch_path(subnet, IBSIM_LOG, path);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getline(&line, &size, file) >= 0)
		found = strstr(line, text) != NULL;
	free(line);
	fclose(file);
	return found;
}

static void drain_inotify(const struct ibsim_subnet *subnet)
{
	char buffer[4096];

	while (read(subnet->inotify_fd, buffer, sizeof(buffer)) > 0)
		;
}

/* ibsim reads its console once all its sockets are there: so an answer there says that they are. */
static int wait_for_ibsim(struct startup *startup)
{
	struct ibsim_subnet *subnet = startup->subnet;
	int error = ibsim_console(subnet, "Verbose\n");

	note_wait(startup, "waiting for ibsim");
	/* A broken pipe: it has ended, or is about to, which is seen below. */
	while ((error == 0 || error == -EPIPE) &&
	       !log_contains(subnet, "simulator verbose level")) {
		error = wait_for_events(startup, ACM_NEVER);
		drain_inotify(subnet);
		if (ibsim_child_ended(&subnet->ibsim))
			return fail(startup, -EPIPE, IBSIM_LOG, "ibsim ended; its log ends with:");
	}
	return error ? wait_failed(startup, error, IBSIM_LOG) : 0;
}

/* Of the ports that are linked to the SM's part of the fabric. */
static void count_active(const struct ibsim_subnet *subnet, uint32_t *active, uint32_t *linked)
{
	*active = *linked = 0;
	for (uint32_t i = 0; i < subnet->port_count; i++) {
		if (!subnet->port_targets[i].reachable)
			continue;
		(*linked)++;
		*active += subnet->ports.facts[i].state == ACM_PORT_ACTIVE;
	}
}

static bool leads_to(const struct sim_switch_tables *tables, uint16_t lid)
{
	return lid != 0 && lid < tables->lft_size && tables->lft[lid] != 0xff;
}

/* True when every switch has a way to every LID; under updn, roots have none to each other. */
static bool tables_are_whole(const struct ibsim_subnet *subnet)
{
	const struct sim_tables *tables = &subnet->tables.tables;
	bool up_down = subnet->topology->routing == SIM_ROUTING_UPDN;

	for (uint32_t s = 0; s < tables->switch_count; s++) {
		if (!subnet->switch_targets[s].reachable)
			continue;
		for (uint32_t i = 0; i < subnet->port_count; i++)
			if (subnet->port_targets[i].reachable &&
			    !leads_to(&tables->switches[s], subnet->ports.facts[i].lid))
				return false;
		for (uint32_t i = 0; i < tables->switch_count && !up_down; i++)
			if (subnet->switch_targets[i].reachable &&
			    !leads_to(&tables->switches[s], tables->switches[i].lid))
				return false;
	}
	return true;
}

static bool is_up(struct startup *startup)
{
	struct ibsim_subnet *subnet = startup->subnet;
	uint32_t active, linked;
	char text[64];

	if (!subnet->swept) {
		note_wait(startup, "waiting for OpenSM's first sweep");
		return false;
	}
	count_active(subnet, &active, &linked);
	if (active < linked) {
		snprintf(text, sizeof(text), "waiting for ports: %u of %u are active", active,
			 linked);
		note_wait(startup, text);
		return false;
	}
	if (!subnet->sa_answers) {
		note_wait(startup, "waiting for the SA to answer");
		if (startup->pinged_round != subnet->port_pass.rounds)
			ibsim_ping_sa(subnet);
		startup->pinged_round = subnet->port_pass.rounds;
		return false;
	}
	note_wait(startup, "waiting for the forwarding tables");
	return tables_are_whole(subnet) && subnet->multicast_pass.rounds > 0;
}

static int wait_for_subnet(struct startup *startup)
{
	struct ibsim_subnet *subnet = startup->subnet;
	struct sim_control *control = &subnet->control;

	while (!is_up(startup)) {
		int error = wait_for_events(startup, control->ops->deadline(control));

		if (error)
			return wait_failed(startup, error, IBSIM_OPENSM_LOG);
		error = control->ops->process(control, sim_real_time());
		if (error)
			return wait_failed(startup, error, NULL);
		if (subnet->died)
			return fail(startup, -EPIPE, NULL, "%s", subnet->died_text);
		if (subnet->opensm.pid <= 0)
			return fail(startup, -EPIPE, IBSIM_OPENSM_LOG,
				    "OpenSM ended before the fabric was up; its log ends with:");
	}
	/* The caller reads the state as it is now: what led to it is no event. */
	ibsim_events_free(&subnet->events);
	return 0;
}

/* ---- all of it ---- */

static int prepare(struct startup *startup)
{
	struct ibsim_subnet *subnet = startup->subnet;
	int error = ibsim_nodes_init(subnet);

	if (error == 0)
		error = ibsim_tables_init(&subnet->tables, subnet->topology);
	if (error == 0)
		error = ibsim_partitions_init(&subnet->partitions, subnet->topology);
	if (error == 0)
		error = name_sockets(startup);
	if (error == 0)
		error = make_folder(startup);
	subnet->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (error == 0 && subnet->epoll_fd < 0)
		error = -errno;
	if (error == 0)
		error = watch_files(subnet);
	if (error)
		fail(startup, error, NULL,
		     "the fabric's scratch files cannot be set up in %s: %s; name a folder that "
		     "can "
		     "be written with --scratch or TMPDIR",
		     startup->options->scratch ? startup->options->scratch : "$TMPDIR or /tmp",
		     strerror(-error));
	return error;
}

static int open_pool(struct ibsim_subnet *subnet)
{
	struct sim_port_ref sm_port = {.node = subnet->topology->sm, .port = 1};
	uint32_t sm = subnet->port_targets[ibsim_port_index(subnet, sm_port)].node;
	int error = ibsim_pool_create(subnet->socket_name,
				      (const char(*)[IBSIM_NAME_SIZE])subnet->names,
				      subnet->node_count, &subnet->pool);

	if (error)
		return error;
	subnet->ports.subnet_timeout = IBSIM_SUBNET_TIMEOUT;
	subnet->ports.changed = ibsim_port_changed;
	subnet->ports.context = subnet;
	ibsim_pass_init(&subnet->port_pass, &ibsim_ports_ops, &subnet->ports, subnet->pool, sm,
			subnet->port_targets, subnet->port_count);
	ibsim_pass_init(&subnet->unicast_pass, &ibsim_unicast_ops, &subnet->tables, subnet->pool,
			sm, subnet->switch_targets, subnet->topology->switch_count);
	ibsim_pass_init(&subnet->multicast_pass, &ibsim_multicast_ops, &subnet->tables,
			subnet->pool, sm, subnet->switch_targets, subnet->topology->switch_count);
	return ibsim_watch(subnet, ibsim_pool_fd(subnet->pool), IBSIM_SOURCE_POOL);
}

static int bring_up(struct startup *startup)
{
	struct ibsim_subnet *subnet = startup->subnet;
	char ibsim[PATH_MAX];
	int error = find_programs(startup, ibsim);

	if (error)
		return error;
	if (sim_topology_fits_ibsim(subnet->topology, startup->why, startup->size) < 0)
		return -E2BIG;
	error = prepare(startup);
	if (error)
		return error;
	error = start_ibsim(subnet, ibsim);
	if (error)
		return fail(startup, error, NULL, "ibsim (%s) cannot be started: %s", ibsim,
			    strerror(-error));
	error = wait_for_ibsim(startup);
	if (error)
		return error;
	error = open_pool(subnet);
	if (error)
		return fail(startup, error, NULL, "ibsim's sockets cannot be reached: %s",
			    strerror(-error));
	error = ibsim_start_opensm(subnet);
	if (error)
		return fail(startup, error, NULL, "OpenSM (%s) cannot be started: %s",
			    subnet->opensm_program, strerror(-error));
	return wait_for_subnet(startup);
}

void sim_ibsim_options_default(struct sim_ibsim_options *options)
{
	*options = (struct sim_ibsim_options){.ready_timeout_ms = 30000, .cancel_fd = -1};
}

int sim_ibsim_control_create(const struct sim_topology *topology,
			     const struct sim_ibsim_options *options, struct sim_control **control,
			     char *why, size_t size)
{
	struct ibsim_subnet *subnet = calloc(1, sizeof(*subnet));
	struct startup startup = {.subnet = subnet, .options = options, .why = why, .size = size};
	int error;

	if (!subnet)
		return fail(&startup, -ENOMEM, NULL, "there is no memory for the fabric");
	subnet->control.ops = &ibsim_control_ops;
	subnet->topology = topology;
	subnet->sm = topology->sm;
	subnet->prefix = SIM_PREFIX_DEFAULT;
	subnet->keep_scratch = options->keep_scratch;
	subnet->epoll_fd = subnet->inotify_fd = -1;
	subnet->ibsim = subnet->opensm = (struct ibsim_child){.pidfd = -1, .input_fd = -1};
	startup.deadline = sim_real_time() + options->ready_timeout_ms * ACM_NSEC_PER_MSEC;
	error = bring_up(&startup);
	if (error) {
		subnet->control.ops->destroy(&subnet->control);
		return error;
	}
	subnet->notice = options->notice;
	subnet->notice_context = options->context;
	*control = &subnet->control;
	return 0;
}
