/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first words with a fabric server: a connection on which a program has been made welcome. */
#ifndef ACMITE_SIM_ATTACH_WELCOME_H
#define ACMITE_SIM_ATTACH_WELCOME_H

#include "attach_channel.h"

/* How long people and programs wait for a word of the server before they take it for stopped. */
#define SIM_ATTACH_PATIENCE_MS 10000

/*
 * Connects to the server at `path` and says hello as `role` on `node` ("" for an observer). Waits
 * for the answer, `timeout_ms` at most. A socket with `welcome` filled in, or negative errno with
 * one sentence in `why`.
 */
int sim_attach_welcome(const char *path, enum sim_attach_role role, const char *node,
		       int timeout_ms, struct sim_attach_welcome *welcome, char *why, size_t size);

/* The same on a connection to `path` that is there, and stays the caller's. 0 or negative errno. */
int sim_attach_greet(int fd, const char *path, enum sim_attach_role role, const char *node,
		     int timeout_ms, struct sim_attach_welcome *welcome, char *why, size_t size);

/*
 * As sim_channel_receive(), but waits for a message: 1; -ETIMEDOUT after `timeout_ms`; or why none
 * comes.
 */
int sim_attach_await(int fd, union sim_attach_message *message, int timeout_ms);
/* Why that, or sim_channel_send(), failed, as a sentence. */
void sim_attach_explain(const char *path, int error, char *why, size_t size);

#endif
