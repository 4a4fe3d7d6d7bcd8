/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_observer.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "arguments.h"
#include "attach_welcome.h"
#include "commands.h"
#include "table.h"

#define COLUMNS_MAX 12

static const char show_usage[] =
	"Usage: acmite fabric show --fabric PATH [--json] [nodes|groups|members|tables|drops]\n"
	"\n"
	"Tells what a served fabric looks like now.\n"
	"\n"
	"nodes   (the default) switches and hosts' ports: state, LID, what is at the other end,\n"
	"        who is attached\n"
	"groups  the queue pairs that are attached to multicast groups, and whether the group's\n"
	"        tree leads to their port\n"
	"members the ports that the SA has as members of groups, as what, and those where a queue\n"
	"        pair is attached and the port is none\n"
	"tables  the switches' forwarding tables, unicast and multicast\n"
	"drops   datagrams sent, delivered, and lost by cause\n"
	"\n"
	"  -f, --fabric PATH  the socket of acmite fabric serve\n"
	"  -j, --json         an array of objects instead of a table\n"
	"      --timeout S    give up when no answer comes for S seconds (default 10)\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit: 0 told, 1 there is no such server, 2 the command line is wrong.\n";

static const char fault_usage[] =
	"Usage: acmite fabric fault --fabric PATH FAULT\n"
	"       acmite fabric fault --fabric PATH --file FILE\n"
	"       acmite fabric fault --fabric PATH none\n"
	"\n"
	"Brings about a fault, as in a scenario file:\n"
	"  acmite fabric fault -f PATH 'kind: link_down, link: \"leaf1 -- spine1\", for: 2s'\n"
	"  acmite fabric fault -f PATH kind: stop, node: node03\n"
	"With for: it ends by itself; none ends all that are in force. docs/scenarios.md lists "
	"the\n"
	"kinds.\n"
	"\n"
	"  -f, --fabric PATH  the socket of acmite fabric serve\n"
	"  -F, --file FILE    read the fault from there; - is standard input\n"
	"      --timeout S    give up when no answer comes for S seconds (default 10)\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit: 0 the fault is in force, 1 it cannot be brought about, or there is no such server,\n"
	"2 the command line is wrong.\n";

struct arguments {
	const char *command;
	const char *fabric;
	const char *file;
	uint32_t timeout_ms;
	bool json;
	bool help;
	char **words;
};

/* ---- arguments ---- */

static int parse(int argc, char **argv, const char *letters, const struct option *options,
		 struct arguments *arguments)
{
	char why[256];
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		switch (option) {
		case 'f':
			arguments->fabric = optarg;
			break;
		case 'F':
			arguments->file = optarg;
			break;
		case 't':
			if (!argument_timeout(optarg, &arguments->timeout_ms, why, sizeof(why)))
				return usage_error(arguments->command, why);
			break;
		case 'j':
			arguments->json = true;
			break;
		case 'h':
			arguments->help = true;
			break;
		default:
			argument_fault(option, argv, why, sizeof(why));
			return usage_error(arguments->command, why);
		}
	}
	arguments->words = argv + optind;
	if ((!arguments->fabric || !*arguments->fabric) && !arguments->help)
		return usage_error(arguments->command, "--fabric PATH is missing");
	return 0;
}

/* ---- asking ---- */

/* A connection, or negative errno, told. */
static int observe(const struct arguments *arguments)
{
	struct sim_attach_welcome welcome;
	char why[SIM_ATTACH_TEXT + 256];
	int fd = sim_attach_welcome(arguments->fabric, SIM_ATTACH_OBSERVER, "",
				    (int)arguments->timeout_ms, &welcome, why, sizeof(why));

	if (fd < 0)
		command_failed(arguments->command, why);
	return fd;
}

static int lost(const struct arguments *arguments, int error)
{
	char why[SIM_ATTACH_TEXT + 256];

	sim_attach_explain(arguments->fabric, error, why, sizeof(why));
	return command_failed(arguments->command, why);
}

/* Waits for the end of what was asked for, and takes each row before that. */
static int await_result(const struct arguments *arguments, int fd,
			bool (*take)(void *context, const struct sim_attach_row *row),
			void *context)
{
	union sim_attach_message message;
	int received;

	while ((received = sim_attach_await(fd, &message, (int)arguments->timeout_ms)) == 1) {
		if (message.header.type == SIM_ATTACH_ROW && !take(context, &message.row))
			return command_failed(arguments->command,
					      "there is no memory for the output");
		if (message.header.type != SIM_ATTACH_RESULT)
			continue;
		if (!message.status.status)
			return EXIT_OK;
		return command_failed(arguments->command, message.status.text);
	}
	return lost(arguments, received);
}

static int ask(const struct arguments *arguments, const void *question,
	       bool (*take)(void *context, const struct sim_attach_row *row), void *context)
{
	int fd = observe(arguments), ret;

	if (fd < 0)
		return EXIT_FAILED;
	ret = sim_channel_send(fd, question); /* the socket is empty: it has room */
	ret = ret ? lost(arguments, ret) : await_result(arguments, fd, take, context);
	close(fd);
	return ret;
}

/* ---- show ---- */

/* In the order of docs/attach.md. Numbers are so in JSON too, where they are decimal ones. */
static const struct view {
	const char *name;
	enum sim_attach_table table;
	struct table_column columns[COLUMNS_MAX];
	const char *members[COLUMNS_MAX];
	size_t count;
} views[] = {
	{"nodes",
	 SIM_ATTACH_NODES,
	 {{"NODE", false},
	  {"KIND", false},
	  {"PORT", true},
	  {"STATE", false},
	  {"LID", true},
	  {"GUID", false},
	  {"PEER", false},
	  {"ATTACHED", false}},
	 {"node", "kind", "port", "state", "lid", "guid", "peer", "attached"},
	 8},
	{"groups",
	 SIM_ATTACH_GROUPS,
	 {{"MLID", false},
	  {"MGID", false},
	  {"NODE", false},
	  {"PORT", true},
	  {"QPN", false},
	  {"IN TREE", false}},
	 {"mlid", "mgid", "node", "port", "qpn", "in_tree"},
	 6},
	{"members",
	 SIM_ATTACH_MEMBERS,
	 {{"MGID", false},
	  {"MLID", false},
	  {"NODE", false},
	  {"PORT", true},
	  {"JOIN STATE", false},
	  {"P_KEY", false},
	  {"Q_KEY", false},
	  {"MTU", true},
	  {"RATE", true},
	  {"SL", true},
	  {"QPS", true},
	  {"IN TREE", false}},
	 {"mgid", "mlid", "node", "port", "join_state", "pkey", "qkey", "mtu", "rate", "sl",
	  "queue_pairs", "in_tree"},
	 12},
	{"tables",
	 SIM_ATTACH_TABLES,
	 {{"SWITCH", false}, {"LID", true}, {"PORTS", false}, {"TO", false}},
	 {"switch", "lid", "ports", "to"},
	 4},
	{"drops", SIM_ATTACH_DROPS, {{"WHAT", false}, {"PACKETS", true}}, {"what", "packets"}, 2},
};

struct display {
	const struct view *view;
	struct libscols_table *table; /* or */
	json_t *array;
};

/* The columns of a row; those that it does not have are empty. */
static void split(const struct sim_attach_row *row, const char *texts[COLUMNS_MAX])
{
	uint32_t at = 0;

	for (size_t i = 0; i < COLUMNS_MAX; i++) {
		texts[i] = "";
		if (i >= row->columns || at >= row->length)
			continue;
		texts[i] = row->text + at;
		at += (uint32_t)strlen(row->text + at) + 1;
	}
}

static json_t *value_of(const struct table_column *column, const char *text)
{
	size_t whole = strspn(text, "0123456789");

	if (!column->right || !whole || text[whole + strspn(text + whole, ".0123456789")])
		return json_text(text);
	return text[whole] ? json_real(strtod(text, NULL)) : json_integer(strtoll(text, NULL, 10));
}

static bool take_row(void *context, const struct sim_attach_row *row)
{
	const struct display *display = context;
	const struct view *view = display->view;
	const char *texts[COLUMNS_MAX];
	json_t *object;

	split(row, texts);
	if (display->table)
		return table_add(display->table, texts);
	object = json_object();
	for (size_t i = 0; i < view->count; i++)
		if (json_object_set_new(object, view->members[i],
					value_of(&view->columns[i], texts[i])))
			return false;
	return !json_array_append_new(display->array, object);
}

static int show(const struct arguments *arguments, const struct view *view)
{
	struct sim_attach_show question = {.header.type = SIM_ATTACH_SHOW, .table = view->table};
	struct display display = {.view = view};
	bool good;
	int ret;

	if (arguments->json)
		display.array = json_array();
	else
		display.table = table_create(view->columns, view->count);
	if (!display.array && !display.table)
		return command_failed(arguments->command, "there is no memory for the output");
	ret = ask(arguments, &question, take_row, &display);
	if (ret) {
		if (display.table)
			table_drop(display.table);
		json_decref(display.array);
		return ret;
	}
	good = display.table ? table_finish(display.table) : json_finish(display.array);
	return good ? EXIT_OK
		    : command_failed(arguments->command, "there is no memory for the output");
}

int acmite_fabric_show(int argc, char **argv)
{
	static const struct option options[] = {
		{"fabric", required_argument, NULL, 'f'},
		{"json", no_argument, NULL, 'j'},
		{"timeout", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct arguments arguments = {.command = "fabric show",
				      .timeout_ms = SIM_ATTACH_PATIENCE_MS};
	int ret = parse(argc, argv, ":f:jh", options, &arguments);
	const char *name;

	if (ret)
		return ret;
	if (arguments.help) {
		fputs(show_usage, stdout);
		return EXIT_OK;
	}
	name = arguments.words[0] ? arguments.words[0] : "nodes";
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (!strcmp(name, views[i].name) && !(arguments.words[0] && arguments.words[1]))
			return show(&arguments, &views[i]);
	return usage_error(arguments.command,
			   "nodes, groups, members, tables or drops is expected");
}

/* ---- fault ---- */

/* The words with blanks between them. False: they are too long. */
static bool join_words(char **words, struct sim_attach_fault *fault)
{
	size_t length = 0;

	for (; *words; words++) {
		int added = snprintf(fault->text + length, sizeof(fault->text) - length, "%s%s",
				     length ? " " : "", *words);

		if ((size_t)added >= sizeof(fault->text) - length)
			return false;
		length += (size_t)added;
	}
	fault->length = (uint32_t)length;
	return true;
}

static int read_fault(const char *path, struct sim_attach_fault *fault)
{
	bool standard = !strcmp(path, "-");
	FILE *file = standard ? stdin : fopen(path, "re");
	char why[300];
	size_t length;
	bool whole;

	if (!file) {
		snprintf(why, sizeof(why), "cannot read %s: %s", path, strerror(errno));
		return command_failed("fabric fault", why);
	}
	length = fread(fault->text, 1, sizeof(fault->text), file);
	whole = !ferror(file) && length < sizeof(fault->text);
	if (!standard)
		fclose(file);
	fault->length = (uint32_t)length;
	if (whole)
		return 0;
	snprintf(why, sizeof(why), "%s cannot be read, or is no single fault: it has %zu bytes",
		 path, length);
	return command_failed("fabric fault", why);
}

static bool take_no_row(void *context, const struct sim_attach_row *row)
{
	(void)context;
	(void)row;
	return true;
}

int acmite_fabric_fault(int argc, char **argv)
{
	static const struct option options[] = {
		{"fabric", required_argument, NULL, 'f'},
		{"file", required_argument, NULL, 'F'},
		{"timeout", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct sim_attach_fault fault = {.header.type = SIM_ATTACH_FAULT};
	struct arguments arguments = {.command = "fabric fault",
				      .timeout_ms = SIM_ATTACH_PATIENCE_MS};
	int ret = parse(argc, argv, ":f:F:h", options, &arguments);

	if (ret)
		return ret;
	if (arguments.help) {
		fputs(fault_usage, stdout);
		return EXIT_OK;
	}
	if (!arguments.words[0] == !arguments.file)
		return usage_error(arguments.command, "either a FAULT or --file is expected");
	if (arguments.file)
		ret = read_fault(arguments.file, &fault);
	else if (!join_words(arguments.words, &fault))
		ret = usage_error(arguments.command, "the FAULT is too long");
	return ret ? ret : ask(&arguments, &fault, take_no_row, NULL);
}
