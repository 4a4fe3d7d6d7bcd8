/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_process.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static size_t name_length(const char *assignment)
{
	const char *equals = strchr(assignment, '=');

	return equals ? (size_t)(equals - assignment) + 1 : strlen(assignment);
}

static bool is_replaced(const char *assignment, const char *const *added)
{
	if (strncmp(assignment, "LD_PRELOAD=", 11) == 0)
		return true;
	for (; *added; added++)
		if (strncmp(assignment, *added, name_length(*added)) == 0)
			return true;
	return false;
}

/* The strings stay where they are; only the array is the caller's. */
static char **merge_environment(const char *const *added)
{
	size_t count = 0, n = 0;
	char **merged;

	for (char **e = environ; *e; e++)
		count++;
	for (const char *const *a = added; *a; a++)
		count++;
	merged = calloc(count + 1, sizeof(*merged));
	if (!merged)
		return NULL;
	for (char **e = environ; *e; e++)
		if (!is_replaced(*e, added))
			merged[n++] = *e;
	for (const char *const *a = added; *a; a++)
		merged[n++] = (char *)(uintptr_t)*a;
	return merged;
}

/* What the child's side needs, all made before fork(). */
struct launch {
	const struct ibsim_command *command;
	char **environment;
	int input;
	int output;
	int failure; /* exec's errno goes here; closed by a successful exec */
	pid_t parent;
};

static _Noreturn void run_child(const struct launch *launch)
{
	sigset_t none;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have ended before the line above took effect. */
	if (getppid() != launch->parent)
		_exit(127);
	if (dup2(launch->input, 0) >= 0 && dup2(launch->output, 1) >= 0 &&
	    dup2(launch->output, 2) >= 0 && chdir(launch->command->directory) == 0)
		execve(launch->command->program, (char *const *)(uintptr_t)launch->command->argv,
		       launch->environment);
	error = errno;
	if (write(launch->failure, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(127);
}

/* Waits for exec. 0, or its negative errno with the child reaped. */
static int exec_result(int fd, pid_t pid)
{
	int error;
	ssize_t n;

	do
		n = read(fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return n == sizeof(error) ? -error : -EIO;
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int spawn(struct launch *launch, int failure_read, struct ibsim_child *child)
{
	pid_t pid = fork();
	int error;

	if (pid < 0)
		return -errno;
	if (pid == 0)
		run_child(launch);
	setpgid(pid, pid); /* both sides do it, so that it holds for whoever comes first */
	close(launch->failure);
	launch->failure = -1;
	error = exec_result(failure_read, pid);
	if (error)
		return error;
	child->pid = pid;
	child->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (child->pidfd < 0) {
		error = -errno;
		ibsim_child_kill(child);
	}
	return error;
}

int ibsim_child_start(const struct ibsim_command *command, struct ibsim_child *child)
{
	struct launch launch = {.command = command, .input = -1, .output = -1, .failure = -1};
	int input[2] = {-1, -1}, failure[2] = {-1, -1};
	int error = 0;

	*child = (struct ibsim_child){.pidfd = -1, .input_fd = -1};
	launch.parent = getpid();
	launch.environment = merge_environment(command->environment);
	if (!launch.environment)
		return -ENOMEM;
	launch.output = open(command->output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (command->input)
		error = pipe2(input, O_CLOEXEC);
	else
		input[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (error || launch.output < 0 || input[0] < 0 || pipe2(failure, O_CLOEXEC) < 0) {
		error = -errno;
	} else {
		launch.input = input[0];
		launch.failure = failure[1];
		error = spawn(&launch, failure[0], child);
		failure[1] = launch.failure;
	}
	if (error == 0) {
		child->input_fd = input[1];
		input[1] = -1;
	}
	close_all(input, 2);
	close_all(failure, 2);
	close_all(&launch.output, 1);
	free(launch.environment);
	return error;
}

static void forget(struct ibsim_child *child)
{
	close_all(&child->pidfd, 1);
	close_all(&child->input_fd, 1);
	*child = (struct ibsim_child){.pidfd = -1, .input_fd = -1};
}

void ibsim_child_kill(struct ibsim_child *child)
{
	if (child->pid <= 0)
		return;
	kill(-child->pid, SIGKILL);
	kill(child->pid, SIGKILL);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	forget(child);
}

bool ibsim_child_ended(struct ibsim_child *child)
{
	if (child->pid <= 0 || waitpid(child->pid, NULL, WNOHANG) == 0)
		return false;
	kill(-child->pid, SIGKILL); /* what it may have started */
	forget(child);
	return true;
}

static int try_program(const char *folder, size_t length, const char *name, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, name);

	return n > 0 && n < PATH_MAX && access(path, X_OK) == 0 ? 0 : -ENOENT;
}

static int search_folders(const char *folders, const char *name, char path[PATH_MAX])
{
	while (*folders) {
		size_t length = strcspn(folders, ":");

		if (length > 0 && try_program(folders, length, name, path) == 0)
			return 0;
		folders += length;
		folders += *folders == ':';
	}
	return -ENOENT;
}

static int take_override(const char *value, int mode, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s", value);

	return n > 0 && n < PATH_MAX && access(path, mode) == 0 ? 0 : -ENOENT;
}

int ibsim_find_program(const char *name, const char *override, char path[PATH_MAX])
{
	const char *named = getenv(override);
	const char *folders = getenv("PATH");

	if (named)
		return take_override(named, X_OK, path);
	if (folders && search_folders(folders, name, path) == 0)
		return 0;
	return search_folders("/usr/local/sbin:/usr/sbin:/sbin", name, path);
}

int ibsim_find_umad2sim(char path[PATH_MAX])
{
	static const char *const patterns[] = {
		"/usr/lib/*/umad2sim/libumad2sim.so",
		"/usr/lib64/umad2sim/libumad2sim.so",
		"/usr/lib/umad2sim/libumad2sim.so",
		"/usr/local/lib*/umad2sim/libumad2sim.so",
	};
	const char *named = getenv("ACMITE_UMAD2SIM");
	int found = -ENOENT;

	if (named)
		return take_override(named, R_OK, path);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && found; i++) {
		glob_t matches;

		if (glob(patterns[i], 0, NULL, &matches) == 0)
			found = take_override(matches.gl_pathv[0], R_OK, path);
		globfree(&matches);
	}
	return found;
}

int ibsim_scratch_create(const char *parent, char path[PATH_MAX])
{
	char resolved[PATH_MAX];
	int n;

	if (!parent)
		parent = getenv("TMPDIR");
	if (!parent || !*parent)
		parent = "/tmp";
	if (!realpath(parent, resolved))
		return -errno;
	n = snprintf(path, PATH_MAX, "%s/acmite-XXXXXX", resolved);
	if (n < 0 || n >= PATH_MAX - 64) /* room for the names of the files in it */
		return -ENAMETOOLONG;
	return mkdtemp(path) ? 0 : -errno;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	remove(path);
	return 0;
}

void ibsim_scratch_remove(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void ibsim_log_tail(const char *path, unsigned int lines, char *text, size_t size)
{
	char buffer[4096];
	size_t used = strnlen(text, size), have, start;
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	if (fseek(file, -(long)sizeof(buffer), SEEK_END) < 0)
		rewind(file);
	have = fread(buffer, 1, sizeof(buffer), file);
	fclose(file);
	while (have > 0 && (buffer[have - 1] == '\n' || buffer[have - 1] == ' '))
		have--;
	for (start = have; start > 0; start--)
		if (buffer[start - 1] == '\n' && --lines == 0)
			break;
	if (have > start && used < size)
		snprintf(text + used, size - used, "\n%.*s", (int)(have - start), buffer + start);
}
