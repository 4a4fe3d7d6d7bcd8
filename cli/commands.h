/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands of acmite. Each takes its own name as argv[0], understands --help, writes results to
 * standard output and sentences to standard error, and returns the exit status: 0, 1 for what did
 * not work out, 2 for wrong usage.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

int acmite_resolve_main(int argc, char **argv);
int acmite_endpoints_main(int argc, char **argv);
int acmite_counters_main(int argc, char **argv);
int acmite_fabric_main(int argc, char **argv);
int acmite_simulate_main(int argc, char **argv);

#endif
