/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server that does what a test tells it. It makes programs welcome, shows its ports, and
 * says yes to queue pairs and groups; all else that is sent to it waits for the test.
 */
#ifndef FAKE_SERVER_H
#define FAKE_SERVER_H

#include "attach_channel.h"

#define FAKE_PORTS    2
#define FAKE_QPN_BASE 0x100 /* plus the endpoint's number */

struct fake_server;

/* At a path of its own, which the library's environment variables then name. */
struct fake_server *fake_server_start(void);
/* Closes every connection at once, as a server that is killed. */
void fake_server_stop(struct fake_server *server);

/* The port as the server shows it at first; `index` from 0. */
void fake_server_facts(uint32_t index, struct acm_port_facts *facts);

/* The next message of that type that no test has taken; waits for it. */
void fake_server_take(struct fake_server *server, enum sim_attach_type type,
		      union sim_attach_message *message);
/* How many of that type wait to be taken. */
uint32_t fake_server_count(struct fake_server *server, enum sim_attach_type type);
/* To the program that connected last. */
void fake_server_say(struct fake_server *server, const void *message);
/* From now on it does nothing, as one that was sent SIGSTOP; until it goes on. */
void fake_server_hold(struct fake_server *server);
void fake_server_go_on(struct fake_server *server);
/* From now on it says nothing by itself. */
void fake_server_silence(struct fake_server *server);
/* How many programs have been made welcome. */
uint32_t fake_server_guests(struct fake_server *server);

#endif
