/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command_line.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
	"Usage: acmited [-D | -P] [-A FILE] [-O FILE] [OPTION...]\n"
	"       acmited [-D | -P] [-A FILE] [-O FILE] --backend sim --fabric FILE --node NAME "
	"[OPTION...]\n"
	"Answers ACM clients: resolves names and addresses on InfiniBand to path records.\n"
	"\n"
	"  -D, --daemon          run in the background (the default)\n"
	"  -P, --foreground      run in the foreground; READY on standard output tells when it "
	"serves\n"
	"  -A, --addresses FILE  the node's addresses: lines of address, device, port, P_Key\n"
	"  -O, --options FILE    options: lines of name and value\n"
	"      --lenient         warn of faults in these files and go on, as ibacm does\n"
	"      --check-config    read all files, tell what is wrong, start nothing\n"
	"      --backend NAME    verbs (the default): this host's InfiniBand ports;\n"
	"                        sim: a simulated fabric\n"
	"      --fabric PATH     sim: the fabric's topology file, for a fabric in this process; "
	"or\n"
	"                        the socket of acmite fabric serve, which has one already\n"
	"      --control NAME    sim: builtin (the default), a model that needs nothing else;\n"
	"                        ibsim, with OpenSM\n"
	"      --node NAME       sim: the host that this daemon serves\n"
	"      --no-peers        sim: nobody answers on the other hosts\n"
	"      --scratch DIR     sim: where the scratch folder is made (default: $TMPDIR or /tmp)\n"
	"      --seed NUMBER     random choices repeat with it (default: another one each time)\n"
	"      --socket PATH     serve this Unix socket instead of /run/ibacm-unix.sock\n"
	"      --ready-timeout S give up when not serving after so many seconds (default 60)\n"
	"      --help, --version\n";

enum {
	LENIENT = 256,
	CHECK_CONFIG,
	BACKEND,
	FABRIC,
	CONTROL,
	NODE,
	NO_PEERS,
	SCRATCH,
	SEED,
	SOCKET,
	READY_TIMEOUT,
	HELP,
	VERSION
};

static const struct option long_options[] = {
	{"daemon", no_argument, NULL, 'D'},
	{"foreground", no_argument, NULL, 'P'},
	{"addresses", required_argument, NULL, 'A'},
	{"options", required_argument, NULL, 'O'},
	{"lenient", no_argument, NULL, LENIENT},
	{"check-config", no_argument, NULL, CHECK_CONFIG},
	{"backend", required_argument, NULL, BACKEND},
	{"fabric", required_argument, NULL, FABRIC},
	{"control", required_argument, NULL, CONTROL},
	{"node", required_argument, NULL, NODE},
	{"no-peers", no_argument, NULL, NO_PEERS},
	{"scratch", required_argument, NULL, SCRATCH},
	{"seed", required_argument, NULL, SEED},
	{"socket", required_argument, NULL, SOCKET},
	{"ready-timeout", required_argument, NULL, READY_TIMEOUT},
	{"help", no_argument, NULL, HELP},
	{"version", no_argument, NULL, VERSION},
	{NULL, 0, NULL, 0},
};

struct words {
	const char *backend;
	const char *control; /* NULL: not given */
	const char *seed;
	const char *ready_timeout;
};

static void take(struct command_line *line, struct words *words, int option)
{
	switch (option) {
	case 'D':
		line->background = true;
		break;
	case 'P':
		line->background = false;
		break;
	case 'A':
		line->address_file = optarg;
		break;
	case 'O':
		line->option_file = optarg;
		break;
	case LENIENT:
		line->lenient = true;
		break;
	case CHECK_CONFIG:
		line->check_config = true;
		break;
	case BACKEND:
		words->backend = optarg;
		break;
	case FABRIC:
		line->fabric = optarg;
		break;
	case CONTROL:
		words->control = optarg;
		break;
	case NODE:
		line->node = optarg;
		break;
	case NO_PEERS:
		line->no_peers = true;
		break;
	case SCRATCH:
		line->scratch = optarg;
		break;
	case SEED:
		words->seed = optarg;
		break;
	case SOCKET:
		line->socket = optarg;
		break;
	case READY_TIMEOUT:
		words->ready_timeout = optarg;
		break;
	}
}

static bool read_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 0);
	return !errno && !*end && *number <= max;
}

static enum command_line_outcome check_numbers(struct command_line *line, const struct words *words,
					       FILE *err)
{
	uint64_t number;

	if (words->seed) {
		if (!read_number(words->seed, UINT64_MAX, &line->seed)) {
			fprintf(err, "acmited: --seed %s is no number of 64 bits\n", words->seed);
			return COMMAND_LINE_WRONG;
		}
		line->has_seed = true;
	}
	if (words->ready_timeout) {
		if (!read_number(words->ready_timeout, 86400, &number) || !number) {
			fprintf(err,
				"acmited: --ready-timeout %s: expected seconds from 1 to 86400\n",
				words->ready_timeout);
			return COMMAND_LINE_WRONG;
		}
		line->ready_timeout_s = (uint32_t)number;
	}
	return COMMAND_LINE_RUN;
}

static enum command_line_outcome check_verbs(struct command_line *line, const struct words *words,
					     FILE *err)
{
	const char *strange = line->fabric     ? "--fabric"
			      : line->node     ? "--node"
			      : line->scratch  ? "--scratch"
			      : line->no_peers ? "--no-peers"
			      : words->control ? "--control"
					       : NULL;

	if (strange) {
		fprintf(err, "acmited: %s is of a simulated fabric; --backend sim serves one\n",
			strange);
		return COMMAND_LINE_WRONG;
	}
#ifndef ACMITE_VERBS
	fprintf(err,
		"acmited: this build has no verbs backend: libibverbs-dev or libibumad-dev was "
		"not there; install them and build again, or use --backend sim\n");
	return COMMAND_LINE_NOT_BUILT;
#else
	line->backend = COMMAND_LINE_VERBS;
	return check_numbers(line, words, err);
#endif
}

static bool is_socket(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISSOCK(status.st_mode);
}

static enum command_line_outcome check_attached(struct command_line *line,
						const struct words *words, FILE *err)
{
	const char *strange = line->scratch    ? "--scratch"
			      : line->no_peers ? "--no-peers"
			      : words->control ? "--control"
					       : NULL;

	line->backend = COMMAND_LINE_ATTACHED;
	if (strange) {
		fprintf(err,
			"acmited: %s is of a fabric in this process, and %s is the socket of one in"
			" another\n",
			strange, line->fabric);
		return COMMAND_LINE_WRONG;
	}
	return check_numbers(line, words, err);
}

static bool is_given(const char *word)
{
	return word && *word;
}

static enum command_line_outcome check_sim(struct command_line *line, const struct words *words,
					   FILE *err)
{
	const char *control = words->control ? words->control : "builtin";

	line->backend = COMMAND_LINE_SIM;
	line->ibsim = !strcmp(control, "ibsim");
	if (!line->ibsim && strcmp(control, "builtin")) {
		fprintf(err, "acmited: there is no control %s; expected builtin or ibsim\n",
			control);
		return COMMAND_LINE_WRONG;
	}
	if (!is_given(line->fabric) || !is_given(line->node)) {
		fprintf(err, "acmited: --backend sim needs %s; acmited --help shows how\n",
			is_given(line->fabric) ? "--node NAME" : "--fabric PATH");
		return COMMAND_LINE_WRONG;
	}
	if (is_socket(line->fabric))
		return check_attached(line, words, err);
	return check_numbers(line, words, err);
}

static enum command_line_outcome check(struct command_line *line, const struct words *words,
				       FILE *err)
{
	if (!strcmp(words->backend, "verbs"))
		return check_verbs(line, words, err);
	if (!strcmp(words->backend, "sim"))
		return check_sim(line, words, err);
	fprintf(err, "acmited: there is no backend %s; expected verbs or sim\n", words->backend);
	return COMMAND_LINE_WRONG;
}

enum command_line_outcome command_line_parse(struct command_line *line, int argc, char **argv,
					     FILE *out, FILE *err)
{
	struct words words = {.backend = "verbs"};
	int option;

	memset(line, 0, sizeof(*line));
	line->background = true;
	line->ready_timeout_s = 60;
	optind = 0; /* the parser's own state is the process's; this starts it anew */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":DPA:O:", long_options, NULL)) != -1) {
		switch (option) {
		case HELP:
			fputs(help, out);
			return COMMAND_LINE_SHOWN;
		case VERSION:
			fputs("acmited " ACMITE_VERSION "\n", out);
			return COMMAND_LINE_SHOWN;
		case '?':
		case ':':
			fprintf(err, "acmited: %s %s; acmited --help lists the options\n",
				argv[optind - 1], option == '?' ? "is not known" : "needs a value");
			return COMMAND_LINE_WRONG;
		default:
			take(line, &words, option);
		}
	}
	if (optind < argc) {
		fprintf(err, "acmited: %s is not an option; acmited --help lists them\n",
			argv[optind]);
		return COMMAND_LINE_WRONG;
	}
	return check(line, &words, err);
}
