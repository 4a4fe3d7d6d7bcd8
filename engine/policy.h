/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an engine does where the reference daemon does something else: decided once, when the engine
 * is made, from `compat` in its configuration.
 */
#ifndef ACMITE_ENGINE_POLICY_H
#define ACMITE_ENGINE_POLICY_H

#include <acmite/engine.h>

struct acm_policy {
	bool window_until_answered; /* a multicast request holds its place through all its tries */
	bool asks_on;               /* also when the one asked for was overheard meanwhile */
	bool even_tries;            /* each try waits as long as the one before */
	bool unbounded;             /* a look-up waits for its turn, however long that takes */
	bool path_before_answer;    /* the SA is asked for the way back to who asks */
	bool refusals_final;        /* also of a path to where a peer was some time ago */
	bool bare_answers;          /* answers to peers name no addresses */
};

/* The policy of `config`, which is changed to fit where it has a value for it. */
struct acm_policy acm_policy_of(struct acm_engine_config *config);

#endif
