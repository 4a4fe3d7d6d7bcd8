/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* acmite fabric: checks topology files and writes them in other forms. */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "fabric_exec.h"
#include "fabric_observer.h"
#include "fabric_opensm.h"
#include "fabric_serve.h"
#include "topology.h"
#include "topology_import.h"
#include "topology_json.h"

static const char usage[] =
	"Usage: acmite fabric check [--json] [--against-opensm] FILE...\n"
	"       acmite fabric export --format yaml|ibsim|dot|json FILE\n"
	"       acmite fabric import FILE\n"
	"       acmite fabric serve --socket PATH [--control builtin|ibsim] FILE\n"
	"       acmite fabric show --fabric PATH [--json] [nodes|groups|members|tables|drops]\n"
	"       acmite fabric fault --fabric PATH FAULT\n"
	"       acmite fabric exec --fabric PATH --node NAME [--] COMMAND [ARGUMENT...]\n"
	"\n"
	"check   says what is in each topology file, or everything that is wrong with it\n"
	"        with --against-opensm, starts OpenSM on ibsim for it too, and says where the\n"
	"        path records and ways of the built-in subnet manager differ from its\n"
	"export  writes a topology to standard output: a topology file in which every\n"
	"        port is named, ibsim's netlist, Graphviz, or JSON\n"
	"import  reads what ibnetdiscover prints of a fabric, or a netlist of ibsim's, and\n"
	"        writes it as a topology file\n"
	"serve   runs a fabric in real time, for programs that attach to its socket\n"
	"show    tells what a served fabric looks like now\n"
	"fault   harms a served fabric; serve, show, fault and exec --help tell more\n"
	"exec    runs a program built for hardware on a node of a served fabric\n"
	"\n"
	"  -f, --format FORMAT  what to write\n"
	"  -j, --json           report as JSON\n"
	"  -o, --against-opensm compare all pairs of ports, 2000 of them above 100 hosts\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit: 0 all is well, 1 it cannot be written so, or something differs, 2 a file or the\n"
	"command line is wrong.\n"
	"The files are described in docs/topology.md.\n";

static int usage_error(const char *text, const char *value)
{
	fprintf(stderr, "acmite fabric: %s%s; see acmite fabric --help\n", text, value);
	return EXIT_USAGE;
}

static const char *plural(uint32_t count)
{
	return count == 1 ? "" : "s";
}

static void print_counts(const char *path, const struct sim_topology *topology)
{
	printf("%s: %" PRIu32 " switch%s, %" PRIu32 " host%s, %" PRIu32 " link%s, %" PRIu32
	       " partition%s\n",
	       path, topology->switch_count, topology->switch_count == 1 ? "" : "es",
	       topology->host_count, plural(topology->host_count), topology->link_count,
	       plural(topology->link_count), topology->partition_count,
	       plural(topology->partition_count));
}

static void print_errors(const struct sim_errors *errors)
{
	for (uint32_t i = 0; i < errors->count; i++)
		fprintf(stderr, "%s\n", errors->lines[i]);
}

static json_t *json_report(const char *path, const struct sim_topology *topology,
			   const struct sim_errors *errors)
{
	json_t *report = json_pack("{s:s, s:b}", "file", path, "valid", topology != NULL);
	json_t *lines;

	if (topology) {
		json_object_set_new(report, "fabric", json_string(topology->name));
		json_object_set_new(report, "switches", json_integer(topology->switch_count));
		json_object_set_new(report, "hosts", json_integer(topology->host_count));
		json_object_set_new(report, "links", json_integer(topology->link_count));
		json_object_set_new(report, "partitions", json_integer(topology->partition_count));
		return report;
	}
	lines = json_array();
	for (uint32_t i = 0; i < errors->count; i++)
		json_array_append_new(lines, json_string(errors->lines[i]));
	json_object_set_new(report, "errors", lines);
	return report;
}

/* Loads, and reports to standard error only what is not about the file. */
static int load(const char *path, struct sim_topology **topology, struct sim_errors *errors)
{
	int ret;

	*topology = NULL;
	ret = sim_topology_load(path, topology, errors);
	if (ret == -ENOMEM)
		fprintf(stderr, "acmite fabric: %s: out of memory\n", path);
	return ret;
}

/* `reports` is NULL for text. */
static int check_file(const char *path, json_t *reports)
{
	struct sim_topology *topology;
	struct sim_errors errors;
	int ret = load(path, &topology, &errors);

	if (reports)
		json_array_append_new(reports, json_report(path, topology, &errors));
	else if (topology)
		print_counts(path, topology);
	else
		print_errors(&errors);
	sim_errors_free(&errors);
	sim_topology_free(topology);
	return ret ? EXIT_USAGE : EXIT_OK;
}

static int flush_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	fprintf(stderr, "acmite fabric: cannot write to standard output: %s\n", strerror(errno));
	return EXIT_FAILED;
}

static int check(char **paths, json_t *reports)
{
	int ret = 0, flushed;

	if (!*paths)
		return usage_error("check needs at least one FILE", "");
	for (; *paths; paths++) {
		if (check_file(*paths, reports))
			ret = EXIT_USAGE;
	}
	if (reports) {
		json_dumpf(reports, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	flushed = flush_output();
	return ret ? ret : flushed;
}

static int export_ibsim(const struct sim_topology *topology, FILE *out)
{
	char why[256];

	if (!sim_topology_fits_ibsim(topology, why, sizeof(why)))
		return sim_topology_write_ibsim(topology, out);
	fprintf(stderr, "acmite fabric: %s\n", why);
	return -E2BIG;
}

struct format {
	const char *name;
	int (*write)(const struct sim_topology *topology, FILE *out);
};

static const struct format formats[] = {
	{"yaml", sim_topology_write_yaml},
	{"ibsim", export_ibsim},
	{"dot", sim_topology_write_dot},
	{"json", acmite_topology_write_json},
};

static const struct format *find_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	}
	return NULL;
}

static int export_file(const char *path, const struct format *format)
{
	struct sim_topology *topology;
	struct sim_errors errors;
	int ret = load(path, &topology, &errors);

	if (ret) {
		print_errors(&errors);
		sim_errors_free(&errors);
		return EXIT_USAGE;
	}
	ret = format->write(topology, stdout);
	sim_topology_free(topology);
	if (ret && ret != -E2BIG)
		fprintf(stderr, "acmite fabric: cannot write to standard output: %s\n",
			strerror(-ret));
	return ret ? EXIT_FAILED : EXIT_OK;
}

static int export(char **paths, const char *format_name)
{
	const struct format *format;

	if (!format_name)
		return usage_error("export needs --format yaml, ibsim, dot or json", "");
	format = find_format(format_name);
	if (!format)
		return usage_error("yaml, ibsim, dot or json was expected, not --format ",
				   format_name);
	if (!paths[0] || paths[1])
		return usage_error("export needs exactly one FILE", "");
	return export_file(paths[0], format);
}

static int import_file(char **paths)
{
	struct sim_topology *topology;
	struct sim_errors errors;
	int ret;

	if (!paths[0] || paths[1])
		return usage_error("import needs exactly one FILE", "");
	ret = sim_topology_import(paths[0], &topology, &errors);
	if (ret) {
		print_errors(&errors);
		if (ret == -ENOMEM)
			fprintf(stderr, "acmite fabric: %s: out of memory\n", paths[0]);
		sim_errors_free(&errors);
		return EXIT_USAGE;
	}
	ret = sim_topology_write_yaml(topology, stdout);
	sim_topology_free(topology);
	if (ret)
		fprintf(stderr, "acmite fabric: cannot write to standard output: %s\n",
			strerror(-ret));
	return ret ? EXIT_FAILED : EXIT_OK;
}

struct arguments {
	const char *format;
	bool json;
	bool against_opensm;
	bool help;
};

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"format", required_argument, NULL, 'f'},
		{"json", no_argument, NULL, 'j'},
		{"against-opensm", no_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "f:joh", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			arguments->format = optarg;
			break;
		case 'j':
			arguments->json = true;
			break;
		case 'o':
			arguments->against_opensm = true;
			break;
		case 'h':
			arguments->help = true;
			break;
		default:
			return EXIT_USAGE; /* getopt has said why */
		}
	}
	return 0;
}

static int compare_file(const char *path)
{
	struct sim_topology *topology;
	struct sim_errors errors;
	int ret = load(path, &topology, &errors) ? EXIT_USAGE : EXIT_OK;

	if (ret)
		print_errors(&errors);
	else
		ret = acmite_fabric_against_opensm(path, topology);
	sim_errors_free(&errors);
	sim_topology_free(topology);
	return ret;
}

static int compare_files(char **paths)
{
	int worst = EXIT_OK, flushed;

	if (!*paths)
		return usage_error("check needs at least one FILE", "");
	for (; *paths; paths++) {
		int ret = compare_file(*paths);

		if (ret > worst)
			worst = ret;
	}
	flushed = flush_output();
	return worst ? worst : flushed;
}

static int run_check(char **paths, const struct arguments *arguments)
{
	json_t *reports;
	int ret;

	if (arguments->format)
		return usage_error("check has no --format", "");
	if (arguments->against_opensm && arguments->json)
		return usage_error("--against-opensm reports as text, it has no --json", "");
	if (arguments->against_opensm)
		return compare_files(paths);
	reports = arguments->json ? json_array() : NULL;
	ret = check(paths, reports);
	json_decref(reports);
	return ret;
}

/* Those with arguments of their own. */
static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} commands[] = {
	{"serve", acmite_fabric_serve},
	{"show", acmite_fabric_show},
	{"fault", acmite_fabric_fault},
	{"exec", acmite_fabric_exec},
};

static bool is_known(const char *command)
{
	return !strcmp(command, "check") || !strcmp(command, "export") ||
	       !strcmp(command, "import");
}

int acmite_fabric_main(int argc, char **argv)
{
	struct arguments arguments = {0};
	const char *command;

	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].main(argc - 1, argv + 1);
	if (parse_arguments(argc, argv, &arguments))
		return EXIT_USAGE;
	command = argv[optind];
	if (command && !is_known(command))
		return usage_error("a command was expected, not ", command);
	if (arguments.help) {
		fputs(usage, stdout);
		return flush_output();
	}
	if (!command)
		return usage_error("a command was expected", "");
	if (!strcmp(command, "check"))
		return run_check(argv + optind + 1, &arguments);
	if (!strcmp(command, "import"))
		return import_file(argv + optind + 1);
	if (arguments.against_opensm)
		return usage_error("export has no --against-opensm", "");
	if (arguments.json)
		return usage_error("export writes JSON with --format json, it has no --json", "");
	return export(argv + optind + 1, arguments.format);
}
