/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a fabric server says to an attached transport, and what its user does meanwhile: a byte says
 * which, two bytes how long the message is that follows.
 */
#include "attached_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct acm_gid group = {.raw = {0xff, 0x15, 0x40, 0x01}};

static void act(struct acm_transport *transport, uint8_t choice)
{
	static const uint8_t mad[ACM_MAD_LENGTH];
	const struct acm_datagram datagram = {.endpoint = 1, .dlid = 1, .qpn = 2};

	switch (choice % 8) {
	case 0:
		transport->ops->start(transport);
		break;
	case 1:
		transport->ops->open_endpoint(transport, 1, 0, ACM_PKEY_DEFAULT, 0, 8);
		break;
	case 2:
		transport->ops->close_endpoint(transport, 1);
		break;
	case 3:
		transport->ops->attach(transport, 1, &group, ACM_LID_MULTICAST, 1);
		break;
	case 4:
		transport->ops->detach(transport, 1, &group, ACM_LID_MULTICAST);
		break;
	case 5:
		transport->ops->send(transport, &datagram, 1);
		break;
	case 6:
		transport->ops->sa_send(transport, 0, 0, mad, 1);
		break;
	default:
		transport->ops->sa_cancel(transport, 1);
	}
}

/* All that an event points to can be read. */
static void pull(struct acm_transport *transport)
{
	struct acm_event event;
	uint8_t *copy = NULL;

	while (transport->ops->next_event(transport, &event)) {
		const uint8_t *bytes = NULL;
		size_t length = 0;

		if (event.type == ACM_EVENT_DATAGRAM) {
			bytes = event.datagram.payload;
			length = event.datagram.length;
		} else if (event.type == ACM_EVENT_SA_ANSWER) {
			bytes = event.sa.mad;
			length = event.sa.length;
		} else if (event.type == ACM_EVENT_PORT_CHANGED &&
			   (event.port_facts->gid_count > ACM_PORT_GIDS_MAX ||
			    event.port_facts->pkey_count > ACM_PORT_PKEYS_MAX)) {
			abort();
		}
		if (!length)
			continue;
		copy = malloc(length);
		if (!copy)
			abort();
		memcpy(copy, bytes, length);
		free(copy);
	}
}

static void connect_to(struct acm_transport *base, int fd)
{
	struct attached_transport *transport = (struct attached_transport *)base;

	transport->fd = fd;
	transport->state = SIM_ATTACHED_GREETING;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct acm_transport *transport;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds) ||
	    sim_attached_create("socket", SIM_ATTACH_OWNER, "node1", &transport))
		abort();
	connect_to(transport, fds[0]);
	while (size) {
		size_t length;

		if (data[0]) {
			act(transport, data[0]);
			data++;
			size--;
		} else {
			if (size < 3)
				break;
			length = (size_t)(data[1] | data[2] << 8);
			data += 3;
			size -= 3;
			if (length > size)
				length = size;
			(void)!send(fds[1], data, length, MSG_NOSIGNAL);
			data += length;
			size -= length;
		}
		pull(transport);
	}
	transport->ops->destroy(transport);
	close(fds[1]);
	return 0;
}
