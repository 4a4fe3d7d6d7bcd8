/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages that a client should not send, and what must come of them. */
#ifndef ACMITE_TESTS_HOSTILE_MESSAGES_H
#define ACMITE_TESTS_HOSTILE_MESSAGES_H

#include <acmite/wire.h>

struct message {
	uint8_t bytes[ACM_CLIENT_REQUEST_MAX];
	size_t length;
};

enum aftermath { CLIENT_STAYS, CLIENT_IS_CLOSED };

struct hostile_message {
	const char *what;
	void (*make)(struct message *message);
	enum acm_status status; /* of the answer */
	enum aftermath aftermath;
};

extern const struct hostile_message hostile_messages[];
extern const unsigned int hostile_message_count;

/* A request as it should be: `destination` from node01, by name. */
void message_resolve(struct message *message, const char *destination, uint64_t tid);

#endif
