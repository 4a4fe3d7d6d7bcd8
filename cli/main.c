/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "commands.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

struct command {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *summary;
};

static const struct command commands[] = {
	{"resolve", acmite_resolve_main,
	 "resolve names, IP addresses, GIDs or LIDs to path records"},
	{"endpoints", acmite_endpoints_main, "show what the service serves: ports and addresses"},
	{"counters", acmite_counters_main, "show what the service has done"},
	{"fabric", acmite_fabric_main, "check, show and convert fabrics for the simulator"},
	{"simulate", acmite_simulate_main, "run scenarios on simulated fabrics"},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void show_help(FILE *out)
{
	fputs("Usage: acmite COMMAND [ARGUMENT...]\n"
	      "Asks the ACM service of this node, and simulates fabrics.\n\n",
	      out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].summary);
	fputs("  help COMMAND [COMMAND]\n\n"
	      "  --help, --version\n\n"
	      "Exit status: 0 all went well, 1 something did not work out, 2 wrong usage.\n",
	      out);
}

static int unknown(const char *name)
{
	fprintf(stderr, "acmite: there is no command '%s'; 'acmite --help' lists them\n", name);
	return EXIT_USAGE;
}

static int help(int argc, char **argv)
{
	const struct command *command;
	char *asked[] = {NULL, NULL, NULL, NULL};

	if (argc < 2) {
		show_help(stdout);
		return EXIT_OK;
	}
	command = find(argv[1]);
	if (!command)
		return unknown(argv[1]);
	asked[0] = argv[1];
	if (argc > 2) /* a command of that command */
		asked[1] = argv[2];
	asked[argc > 2 ? 2 : 1] = (char[]){"--help"};
	return command->main(argc > 2 ? 3 : 2, asked);
}

static int run(int argc, char **argv)
{
	const struct command *command;

	if (!argc) {
		fputs("acmite: a command is missing; 'acmite --help' lists them\n", stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[0], "--version")) {
		puts("acmite " ACMITE_VERSION);
		return EXIT_OK;
	}
	if (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h") || !strcmp(argv[0], "help"))
		return help(argc, argv);
	command = find(argv[0]);
	return command ? command->main(argc, argv) : unknown(argv[0]);
}

int main(int argc, char **argv)
{
	int status;

	setlocale(LC_CTYPE, "");
	status = run(argc - 1, argv + 1);
	if ((fflush(stdout) || ferror(stdout)) && status == EXIT_OK) {
		perror("acmite: the results cannot be written to standard output");
		status = EXIT_FAILED;
	}
	return status;
}
