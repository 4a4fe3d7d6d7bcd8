/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "umad_agents.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "call.h"
#include "umad_ports.h"
#include "umad_transactions.h"

#define CLASS_LAST          0x4f /* but for the directed route */
#define CLASS_DIRECTED      0x81
#define VERSION_LAST        0x82
#define VENDOR_RANGE2_FIRST 0x30
#define VENDOR_RANGE2_LAST  0x4f
#define OUI_DEFAULT         0x001405 /* what umad_register() stands for */

static struct preload_umad_port *ports; /* of all attachments */
static uint32_t last_tid_high;

/* ---- opening ---- */

struct preload_umad_port *preload_umad_port(int fd)
{
	struct preload_umad_port *at = ports;

	while (at && at->inbox.fd != fd)
		at = at->next;
	return at;
}

struct preload_umad_port *preload_umad_ports(void)
{
	return ports;
}

void preload_umad_end_all(struct preload_attachment *attachment, int error)
{
	for (struct preload_umad_port *at = ports; at; at = at->next) {
		if (at->attachment == attachment)
			preload_inbox_end(&at->inbox, error);
	}
}

int preload_umad_open(struct preload_attachment *attachment, const char *name, int number)
{
	struct preload_umad_port *port;
	int error;

	number = preload_umad_choose(attachment, name, number);
	if (number < 0)
		return number;
	port = calloc(1, sizeof(*port));
	if (!port)
		return -ENOMEM;
	error = preload_inbox_init(&port->inbox);
	if (error) {
		free(port);
		return error;
	}
	port->attachment = attachment;
	port->index = (uint32_t)number - 1;
	port->next = ports;
	ports = port;
	return port->inbox.fd;
}

PRELOAD_CALL int umad_open_port(const char *name, int number)
{
	struct preload_attachment *attachment;
	int fd = -ENODEV;

	preload_lock();
	attachment = preload_attachment_get();
	if (attachment)
		fd = preload_umad_open(attachment, name, number);
	preload_unlock();
	return preload_result(fd);
}

static void drop(struct preload_umad_port *port, struct preload_item *item)
{
	struct preload_received_mad *mad = (struct preload_received_mad *)item;

	preload_inbox_drop(&port->inbox, item);
	free(mad->umad);
	free(mad);
}

/* Frees what waits for it. */
static void forget_agent(struct preload_umad_port *port, uint32_t agent)
{
	struct preload_item *next;

	for (struct preload_item *item = port->inbox.first; item; item = next) {
		next = item->next;
		if (((struct preload_received_mad *)item)->umad->agent_id == agent)
			drop(port, item);
	}
}

static void close_port(struct preload_umad_port *port)
{
	struct preload_umad_port **link = &ports;

	while (*link != port)
		link = &(*link)->next;
	*link = port->next;
	for (uint32_t agent = 0; agent < UMAD_CA_MAX_AGENTS; agent++)
		preload_transactions_cancel(port, agent);
	while (port->inbox.first)
		drop(port, port->inbox.first);
	preload_inbox_close(&port->inbox);
	free(port);
}

PRELOAD_CALL int umad_close_port(int fd)
{
	struct preload_umad_port *port;

	preload_lock();
	port = preload_umad_port(fd);
	if (port)
		close_port(port);
	preload_unlock();
	return 0;
}

PRELOAD_CALL int umad_get_fd(int fd)
{
	return fd;
}

PRELOAD_CALL int umad_poll(int fd, int timeout_ms)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	int ready = poll(&polled, 1, timeout_ms);

	if (ready == 1)
		return 0;
	return ready ? -EIO : -ETIMEDOUT;
}

/* ---- agents ---- */

/* What the kernel refuses. */
static bool is_sound(const struct preload_agent *wanted)
{
	return wanted->class_version <= VERSION_LAST &&
	       (wanted->management_class <= CLASS_LAST ||
		wanted->management_class == CLASS_DIRECTED);
}

/* One method of a class has one server on each port of the node; here, of those in this process. */
static bool is_taken(const struct preload_umad_port *port, const struct preload_agent *wanted)
{
	for (const struct preload_umad_port *at = ports; at; at = at->next) {
		if (at->attachment != port->attachment || at->index != port->index)
			continue;
		for (int id = 0; id < UMAD_CA_MAX_AGENTS; id++) {
			const struct preload_agent *agent = &at->agents[id];

			if (agent->used && agent->management_class == wanted->management_class &&
			    agent->class_version == wanted->class_version &&
			    agent->oui == wanted->oui &&
			    (agent->methods[0] & wanted->methods[0] ||
			     agent->methods[1] & wanted->methods[1]))
				return true;
		}
	}
	return false;
}

/* The agent's id or negative errno. */
static int add_agent(struct preload_umad_port *port, const struct preload_agent *wanted)
{
	int id = 0;

	if (!port)
		return -EBADF;
	if (port->attachment->lost)
		return -ENODEV;
	if (!is_sound(wanted) || is_taken(port, wanted))
		return -EINVAL;
	while (id < UMAD_CA_MAX_AGENTS && port->agents[id].used)
		id++;
	if (id == UMAD_CA_MAX_AGENTS)
		return -ENOMEM;
	/* The low half tells programs on one node apart, where 16 bits are rewritten on the way. */
	if (!last_tid_high)
		last_tid_high = (uint32_t)getpid() * UMAD_CA_MAX_AGENTS;
	port->agents[id] = *wanted;
	port->agents[id].used = true;
	port->agents[id].tid_high = ++last_tid_high;
	return id;
}

static bool is_of_vendors(int management_class)
{
	return management_class >= VENDOR_RANGE2_FIRST && management_class <= VENDOR_RANGE2_LAST;
}

static int register_agent(int fd, struct preload_agent *wanted)
{
	int id;

	if (!is_of_vendors(wanted->management_class))
		wanted->oui = 0;
	preload_lock();
	id = add_agent(preload_umad_port(fd), wanted);
	preload_unlock();
	return preload_result(id);
}

static int register_methods(int fd, struct preload_agent *wanted, const long *methods)
{
	int id;

	if (methods)
		memcpy(wanted->methods, methods, sizeof(wanted->methods));
	id = register_agent(fd, wanted);
	return id < 0 ? -EPERM : id;
}

/* Requests of others never come, and RMPP answers arrive joined whatever the version. */
PRELOAD_CALL int umad_register(int fd, int management_class, int version, uint8_t rmpp_version,
			       long methods[16 / sizeof(long)])
{
	struct preload_agent wanted = {.management_class = (uint8_t)management_class,
				       .class_version = (uint8_t)version,
				       .oui = OUI_DEFAULT};

	(void)rmpp_version;
	return register_methods(fd, &wanted, methods);
}

PRELOAD_CALL int umad_register_oui(int fd, int management_class, uint8_t rmpp_version,
				   uint8_t oui[3], long methods[16 / sizeof(long)])
{
	struct preload_agent wanted = {
		.management_class = (uint8_t)management_class,
		.class_version = 1,
	};

	(void)rmpp_version;
	if (!is_of_vendors(management_class))
		return preload_result(-EINVAL);
	wanted.oui = (uint32_t)(oui[0] << 16 | oui[1] << 8 | oui[2]);
	return register_methods(fd, &wanted, methods);
}

PRELOAD_CALL int umad_register2(int fd, struct umad_reg_attr *wanted, uint32_t *agent)
{
	struct preload_agent made = {0};
	int id;

	if (!wanted || !agent)
		return EINVAL;
	if (is_of_vendors(wanted->mgmt_class) &&
	    ((wanted->oui & 0xffffff) == 0 || (wanted->oui & 0xff000000) != 0))
		return EINVAL;
	if (wanted->flags) {
		preload_complain("agents that do RMPP themselves are not there on a simulated "
				 "node");
		wanted->flags = 0;
		return EINVAL;
	}
	made.management_class = wanted->mgmt_class;
	made.class_version = wanted->mgmt_class_version;
	made.oui = wanted->oui;
	memcpy(made.methods, wanted->method_mask, sizeof(made.methods));
	id = register_agent(fd, &made);
	if (id < 0)
		return errno;
	*agent = (uint32_t)id;
	return 0;
}

PRELOAD_CALL int umad_unregister(int fd, int agent)
{
	struct preload_umad_port *port;
	int error = 0;

	preload_lock();
	port = preload_umad_port(fd);
	if (!port) {
		error = EBADF;
	} else if (agent < 0 || agent >= UMAD_CA_MAX_AGENTS || !port->agents[agent].used) {
		error = EINVAL;
	} else {
		preload_transactions_cancel(port, (uint32_t)agent);
		forget_agent(port, (uint32_t)agent);
		port->agents[agent].used = false;
	}
	preload_unlock();
	if (!error)
		return 0;
	errno = error;
	return -1;
}

/* ---- receiving ---- */

/*
 * As the kernel: what does not fit waits on, and of several segments the first is shown, with the
 * length of all. A single MAD that does not fit is a mistake.
 */
static int refuse(const struct preload_received_mad *first, struct ib_user_mad *umad, int *length)
{
	bool shown = *length >= ACM_MAD_LENGTH;

	if (shown)
		memcpy(umad, first->umad, sizeof(*umad) + ACM_MAD_LENGTH);
	*length = (int)first->length;
	errno = shown ? ENOSPC : EINVAL;
	return -errno;
}

static int hand_over(struct preload_umad_port *port, struct ib_user_mad *umad, int *length)
{
	const struct preload_received_mad *first =
		(const struct preload_received_mad *)port->inbox.first;
	int agent = (int)first->umad->agent_id;

	if (*length < 0 || (uint32_t)*length < first->length)
		return refuse(first, umad, length);
	memcpy(umad, first->umad, sizeof(*umad) + first->length);
	*length = (int)first->length;
	drop(port, port->inbox.first);
	return agent;
}

static int receive(struct preload_umad_port *port, struct ib_user_mad *umad, int *length)
{
	if (port->inbox.first)
		return hand_over(port, umad, length);
	preload_inbox_take(&port->inbox); /* tells why there is nothing */
	return -errno;
}

PRELOAD_CALL int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	struct preload_umad_port *port;
	bool waits;
	int result;

	errno = 0;
	if (!umad || !length) {
		errno = EINVAL;
		return -EINVAL;
	}
	preload_lock();
	port = preload_umad_port(fd);
	waits = port && !port->inbox.first && !port->inbox.ended;
	preload_unlock();
	if (waits && timeout_ms) {
		result = umad_poll(fd, timeout_ms);
		if (result) {
			if (!errno)
				errno = -result;
			return result;
		}
	}
	preload_lock();
	port = preload_umad_port(fd);
	if (port) {
		result = receive(port, umad, length);
	} else {
		errno = EBADF;
		result = -EBADF;
	}
	preload_unlock();
	return result;
}

/* ---- the layout of a MAD in a program's buffer ---- */

PRELOAD_CALL size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

PRELOAD_CALL void *umad_get_mad(void *umad)
{
	return ((struct ib_user_mad *)umad)->data;
}

PRELOAD_CALL int umad_set_pkey(void *umad, int pkey_index)
{
	((struct ib_user_mad *)umad)->addr.pkey_index = (uint16_t)pkey_index;
	return 0;
}

PRELOAD_CALL int umad_get_pkey(void *umad)
{
	return ((struct ib_user_mad *)umad)->addr.pkey_index;
}
