/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A command's talk with the service: options -S and --timeout, and one question at a time. */
#ifndef ENQUIRY_H
#define ENQUIRY_H

#include <acmite/client.h>

struct enquiry {
	const char *command; /* for messages */
	const char *socket;  /* NULL: the default */
	uint32_t timeout_ms;
	struct acm_client *client;
};

/*
 * Connects. EXIT_OK, or the exit status after saying why on standard error. enquiry_close() is
 * needed in any case.
 */
int enquiry_open(struct enquiry *enquiry);
void enquiry_close(struct enquiry *enquiry);

/* Asks and waits. False: there was no answer, and it has been said why on standard error. */
bool enquiry_ask(struct enquiry *enquiry, const struct acm_request *request,
		 struct acm_reply *reply);

#endif
