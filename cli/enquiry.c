/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "enquiry.h"

#include "arguments.h"
#include "commands.h"

#include <errno.h>

int enquiry_open(struct enquiry *enquiry)
{
	int error;

	enquiry->client = acm_client_create();
	if (!enquiry->client)
		return command_failed(enquiry->command, "there is no memory");
	error = acm_client_connect(enquiry->client, enquiry->socket, enquiry->timeout_ms);
	if (error == -EINVAL)
		return usage_error(enquiry->command, acm_client_error(enquiry->client));
	if (error)
		return command_failed(enquiry->command, acm_client_error(enquiry->client));
	return EXIT_OK;
}

void enquiry_close(struct enquiry *enquiry)
{
	acm_client_destroy(enquiry->client);
	enquiry->client = NULL;
}

bool enquiry_ask(struct enquiry *enquiry, const struct acm_request *request,
		 struct acm_reply *reply)
{
	uint64_t cookie;

	if (!acm_client_send(enquiry->client, request, 0) &&
	    !acm_client_receive(enquiry->client, enquiry->timeout_ms, &cookie, reply))
		return true;
	command_failed(enquiry->command, acm_client_error(enquiry->client));
	return false;
}
