/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NSEC_PER_MIN (60 * ACM_NSEC_PER_SEC)
/* 100 years: no overflow of a time, and nobody waits for it. */
#define MINUTES_MAX (100ull * 366 * 24 * 60)

struct option {
	const char *name;
	/* False: the value is not one of those expected, and nothing was changed. */
	bool (*set)(struct options *options, const char *value);
	const char *expected;
	const char *warning; /* what the reader should know although the value is right */
};

void options_default(struct options *options)
{
	memset(options, 0, sizeof(*options));
	acm_engine_config_default(&options->engine);
	options->server_port = 6125;
	options->socket_mode = 0666;
}

/* ---- values ---- */

static bool read_number(const char *value, unsigned long long max, unsigned long long *number)
{
	char *end;

	if (!isdigit((unsigned char)value[0]))
		return false;
	errno = 0;
	*number = strtoull(value, &end, 10);
	return !errno && !*end && *number <= max;
}

static bool read_u32(const char *value, uint32_t min, uint32_t max, uint32_t *number)
{
	unsigned long long read;

	if (!read_number(value, max, &read) || read < min)
		return false;
	*number = (uint32_t)read;
	return true;
}

static bool read_bool(const char *value, bool *truth)
{
	static const char *const words[2][3] = {{"0", "no", "false"}, {"1", "yes", "true"}};

	for (int word = 0; word < 3; word++) {
		for (int state = 0; state < 2; state++) {
			if (strcasecmp(value, words[state][word]))
				continue;
			*truth = state;
			return true;
		}
	}
	return false;
}

static bool read_life(const char *value, uint64_t *life)
{
	unsigned long long minutes;

	if (!strcmp(value, "-1")) {
		*life = ACM_NEVER;
		return true;
	}
	if (!read_number(value, MINUTES_MAX, &minutes))
		return false;
	*life = minutes * NSEC_PER_MIN;
	return true;
}

static bool read_path(const char *value, char *path)
{
	size_t length = strlen(value);

	if (length >= PATH_MAX)
		return false;
	memcpy(path, value, length + 1);
	return true;
}

/* ---- options that have an effect ---- */

static bool set_log_file(struct options *options, const char *value)
{
	return read_path(value, options->log_file);
}

static bool set_log_level(struct options *options, const char *value)
{
	unsigned long long level;

	if (!read_number(value, 2, &level))
		return false;
	options->log_level = (int)level;
	return true;
}

static bool set_lock_file(struct options *options, const char *value)
{
	return read_path(value, options->lock_file);
}

static bool set_addr_prot(struct options *options, const char *value)
{
	(void)options;
	return !strcasecmp(value, "acm");
}

static bool set_addr_timeout(struct options *options, const char *value)
{
	return read_life(value, &options->engine.address_life);
}

static bool set_route_prot(struct options *options, const char *value)
{
	if (!strcasecmp(value, "sa"))
		options->engine.route_protocol = ACM_ROUTE_SA;
	else if (!strcasecmp(value, "acm"))
		options->engine.route_protocol = ACM_ROUTE_ACM;
	else
		return false;
	return true;
}

static bool set_route_timeout(struct options *options, const char *value)
{
	return read_life(value, &options->engine.route_life);
}

static bool set_loopback_prot(struct options *options, const char *value)
{
	if (!strcasecmp(value, "local"))
		options->engine.loopback = true;
	else if (!strcasecmp(value, "none"))
		options->engine.loopback = false;
	else
		return false;
	return true;
}

static bool set_server_port(struct options *options, const char *value)
{
	unsigned long long port;

	if (!read_number(value, UINT16_MAX, &port))
		return false;
	options->server_port = (uint16_t)port;
	return true;
}

static bool set_server_mode(struct options *options, const char *value)
{
	if (!strcasecmp(value, "unix"))
		options->server_mode = SERVER_UNIX;
	else if (!strcasecmp(value, "loop"))
		options->server_mode = SERVER_LOOP;
	else if (!strcasecmp(value, "open"))
		options->server_mode = SERVER_OPEN;
	else
		return false;
	return true;
}

static bool set_socket_mode(struct options *options, const char *value)
{
	char *end;
	unsigned long mode;

	if (!isdigit((unsigned char)value[0]))
		return false;
	mode = strtoul(value, &end, 8);
	if (*end || mode > 0777)
		return false;
	options->socket_mode = (mode_t)mode;
	return true;
}

static bool set_acme_plus_kernel_only(struct options *options, const char *value)
{
	return read_bool(value, &options->acme_plus_kernel_only);
}

static bool set_support_ips_in_addr_cfg(struct options *options, const char *value)
{
	return read_bool(value, &options->ips_in_address_file);
}

static bool set_timeout(struct options *options, const char *value)
{
	uint32_t milliseconds;

	if (!read_u32(value, 1, 3600000, &milliseconds))
		return false;
	options->engine.timeout = milliseconds * ACM_NSEC_PER_MSEC;
	return true;
}

static bool set_negative_timeout(struct options *options, const char *value)
{
	uint32_t milliseconds;

	if (!read_u32(value, 0, 3600000, &milliseconds))
		return false;
	options->engine.negative_life = milliseconds * ACM_NSEC_PER_MSEC;
	return true;
}

static bool set_retries(struct options *options, const char *value)
{
	return read_u32(value, 0, 16, &options->engine.retries);
}

static bool set_resolve_depth(struct options *options, const char *value)
{
	return read_u32(value, 1, 1024, &options->engine.resolve_depth);
}

static bool set_sa_depth(struct options *options, const char *value)
{
	return read_u32(value, 1, 64, &options->engine.sa_depth);
}

static bool set_recv_depth(struct options *options, const char *value)
{
	return read_u32(value, 1, 65536, &options->engine.recv_depth);
}

static bool set_request_limit(struct options *options, const char *value)
{
	return read_u32(value, 1, 10000000, &options->engine.request_limit);
}

static bool set_memory_budget(struct options *options, const char *value)
{
	uint32_t mebibytes;

	if (!read_u32(value, 1, 1048576, &mebibytes))
		return false;
	options->engine.memory_budget = (uint64_t)mebibytes << 20;
	return true;
}

static bool set_compat(struct options *options, const char *value)
{
	if (!strcasecmp(value, "ibacm"))
		options->engine.compat = ACM_COMPAT_IBACM;
	else if (!strcasecmp(value, "none"))
		options->engine.compat = ACM_COMPAT_NONE;
	else
		return false;
	return true;
}

static bool set_min_mtu(struct options *options, const char *value)
{
	uint32_t bytes;
	uint8_t code;

	if (!read_u32(value, 256, 4096, &bytes))
		return false;
	code = acm_mtu_code(bytes);
	if (!code)
		return false;
	options->engine.min_mtu = code;
	return true;
}

static bool set_min_rate(struct options *options, const char *value)
{
	uint32_t gbps;
	uint8_t code;

	if (!strcmp(value, "2.5"))
		code = acm_rate_code(25);
	else if (read_u32(value, 1, 100000, &gbps))
		code = acm_rate_code(gbps * 10);
	else
		return false;
	if (!code)
		return false;
	options->engine.min_rate = code;
	return true;
}

/* ---- options of ibacm that have none ---- */

static bool accept_none(struct options *options, const char *value)
{
	(void)options;
	return !strcasecmp(value, "none");
}

static bool accept_zero(struct options *options, const char *value)
{
	(void)options;
	return !strcmp(value, "0");
}

static bool accept_one(struct options *options, const char *value)
{
	(void)options;
	return !strcmp(value, "1");
}

static bool accept_any(struct options *options, const char *value)
{
	(void)options;
	(void)value;
	return true;
}

static bool accept_default_provider(struct options *options, const char *value)
{
	size_t name = strcspn(value, " \t");

	(void)options;
	return name == 6 && !strncasecmp(value, "ibacmp", name) &&
	       !strcasecmp(value + name + strspn(value + name, " \t"), "default");
}

#define MINUTES    "minutes, or -1 for ever"
#define YES_NO     "1, yes or true; or 0, no or false"
#define NO_PRELOAD "none (preloaded caches are not built yet)"
#define NO_EFFECT  "has no effect here; the line can be left out"

static const struct option table[] = {
	{"log_file", set_log_file, "stdout, stderr, or a path", NULL},
	{"log_level", set_log_level, "0, 1 or 2", NULL},
	{"umad_debug_level", accept_zero, "0 (libibumad is not used here)", NO_EFFECT},
	{"lock_file", set_lock_file, "a path", NULL},
	{"addr_prot", set_addr_prot, "acm", NULL},
	{"addr_timeout", set_addr_timeout, MINUTES, NULL},
	{"route_prot", set_route_prot, "sa or acm", NULL},
	{"route_timeout", set_route_timeout, MINUTES, NULL},
	{"loopback_prot", set_loopback_prot, "local or none", NULL},
	{"server_port", set_server_port, "a TCP port from 1 to 65535, or 0 for any free one", NULL},
	{"server_mode", set_server_mode, "unix, loop or open", NULL},
	{"socket_mode", set_socket_mode, "an octal file mode from 0 to 777", NULL},
	{"acme_plus_kernel_only", set_acme_plus_kernel_only, YES_NO, NULL},
	{"timeout", set_timeout, "milliseconds from 1 to 3600000", NULL},
	{"negative_timeout", set_negative_timeout, "milliseconds from 0 to 3600000", NULL},
	{"retries", set_retries, "a number from 0 to 16", NULL},
	{"resolve_depth", set_resolve_depth, "a number from 1 to 1024", NULL},
	{"sa_depth", set_sa_depth, "a number from 1 to 64", NULL},
	{"send_depth", accept_one, "1 (sending is not limited that way here)", NO_EFFECT},
	{"recv_depth", set_recv_depth, "a number from 1 to 65536", NULL},
	{"request_limit", set_request_limit, "a number from 1 to 10000000", NULL},
	{"memory_budget", set_memory_budget, "MiB from 1 to 1048576", NULL},
	{"compat", set_compat, "ibacm or none", NULL},
	{"min_mtu", set_min_mtu, "256, 512, 1024, 2048 or 4096", NULL},
	{"min_rate", set_min_rate, "an InfiniBand rate in Gb/s (2.5, 10, 20, 40, 56, 100, ...)",
	 NULL},
	{"route_preload", accept_none, NO_PRELOAD, NULL},
	{"route_data_file", accept_any, "a path", NO_EFFECT},
	{"addr_preload", accept_none, NO_PRELOAD, NULL},
	{"addr_data_file", accept_any, "a path", NO_EFFECT},
	{"support_ips_in_addr_cfg", set_support_ips_in_addr_cfg, YES_NO, NULL},
	{"provider_lib_path", accept_any, "a path", NO_EFFECT},
	{"provider", accept_default_provider, "ibacmp default (there are no other providers here)",
	 NO_EFFECT},
};

static const struct option *find_option(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!strcasecmp(table[i].name, name))
			return &table[i];
	}
	return NULL;
}

static void apply(struct options *options, const char *path, unsigned int line, const char *name,
		  const char *value, struct problems *problems)
{
	const struct option *option = find_option(name);
	struct options changed = *options;
	const char *field;

	if (!option) {
		problems_error(problems, path, line,
			       "there is no option %s; docs/acmited.md lists them", name);
		return;
	}
	if (!*value) {
		problems_error(problems, path, line, "%s has no value; expected: %s", option->name,
			       option->expected);
		return;
	}
	if (!option->set(&changed, value) || acm_engine_config_check(&changed.engine, &field)) {
		problems_error(problems, path, line, "%s cannot be %s; expected: %s", option->name,
			       value, option->expected);
		return;
	}
	if (option->warning)
		problems_warning(problems, path, line, "%s %s", option->name, option->warning);
	*options = changed;
}

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t\r\n");
	length = strlen(text);
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

int options_read(struct options *options, const char *path, FILE *in, struct problems *problems)
{
	char *line = NULL;
	size_t size = 0;
	unsigned int number = 0;
	ssize_t length;

	while ((length = getline(&line, &size, in)) >= 0) {
		char *name;
		char *value;

		number++;
		if (strlen(line) != (size_t)length) {
			problems_error(problems, path, number, "a NUL byte; expected: text");
			continue;
		}
		name = trim(line);
		if (!*name || *name == '#')
			continue;
		value = name + strcspn(name, " \t");
		if (*value)
			*value++ = '\0';
		apply(options, path, number, name, trim(value), problems);
	}
	free(line);
	if (ferror(in)) {
		problems_error(problems, path, 0, "cannot be read: %s", strerror(errno));
		return -EIO;
	}
	return 0;
}

int options_load(struct options *options, const char *path, struct problems *problems)
{
	FILE *in = fopen(path, "re");
	int error;

	if (!in) {
		error = -errno;
		problems_error(problems, path, 0, "cannot be read: %s", strerror(-error));
		return error;
	}
	error = options_read(options, path, in, problems);
	fclose(in);
	return error;
}
