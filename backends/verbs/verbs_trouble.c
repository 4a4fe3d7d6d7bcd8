/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_trouble.h"

#include <errno.h>
#include <infiniband/umad.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

void verbs_say(const struct verbs_transport *transport, const char *format, ...)
{
	char text[512];
	va_list arguments;

	if (!transport->options.notice)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	transport->options.notice(transport->options.context, text);
}

static bool is_refusal(int error)
{
	return error == -EACCES || error == -EPERM;
}

/* Hardware's memory is locked: it counts against a limit that is small where nobody raised it. */
static void explain(int error, char *why, size_t size)
{
	struct rlimit limit;

	if (error != -ENOMEM)
		snprintf(why, size, "%s", strerror(-error));
	else if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		snprintf(
			why, size,
			"no memory; at most %llu KiB may be locked, which LimitMEMLOCK=infinity in "
			"the unit or ulimit -l unlimited raises",
			(unsigned long long)limit.rlim_cur / 1024);
	else
		snprintf(why, size, "the host or the device has no memory left for it");
}

void verbs_trouble_list(const struct verbs_transport *transport, int error)
{
	if (error == -ENODEV)
		verbs_say(transport,
			  "there is no InfiniBand device: none is installed, or its driver is not "
			  "loaded (ibv_devinfo shows what there is); it is served when it comes");
	else if (error == -ENOSYS)
		verbs_say(transport, "the kernel shows no RDMA devices: ib_uverbs is not loaded; "
				     "modprobe ib_uverbs loads it");
	else
		verbs_say(transport, "devices cannot be listed: %s", strerror(-error));
}

void verbs_trouble_device(const struct verbs_transport *transport, const char *device, int error)
{
	char why[256];

	if (is_refusal(error))
		verbs_say(transport,
			  "%s cannot be opened: no permission for /dev/infiniband/uverbs*; run "
			  "acmited as root, or give its user these files",
			  device);
	else if (error == -ENOENT || error == -ENXIO)
		verbs_say(transport,
			  "%s cannot be opened: its file is not in /dev/infiniband; modprobe "
			  "ib_uverbs makes it, a container has to be given it",
			  device);
	else {
		explain(error, why, sizeof(why));
		verbs_say(transport, "%s cannot be opened: %s; it is tried again", device, why);
	}
}

void verbs_trouble_sa(const struct verbs_transport *transport, const struct verbs_port *port,
		      int error)
{
	const char *device = port->device->name;

	if (is_refusal(error))
		verbs_say(transport,
			  "%s port %u is not served: no permission for /dev/infiniband/umad*; run "
			  "acmited as root, or give its user these files",
			  device, port->number);
	else if (error == -EOPNOTSUPP)
		verbs_say(transport,
			  "%s port %u is not served: ib_umad is not loaded; modprobe ib_umad loads "
			  "it",
			  device, port->number);
	else if (error == -ENXIO && strlen(device) >= UMAD_CA_NAME_LEN)
		verbs_say(
			transport,
			"%s port %u is not served: libibumad finds no device whose name is longer "
			"than %d letters; rdma dev set %s name NAME gives it another",
			device, port->number, UMAD_CA_NAME_LEN - 1, device);
	else if (error == -ENXIO)
		verbs_say(transport,
			  "%s port %u is not served: ib_umad does not have it; it is looked for "
			  "again",
			  device, port->number);
	else if (error == -ENOENT)
		verbs_say(
			transport,
			"%s port %u is not served: its file is not in /dev/infiniband; udev makes "
			"it, a container has to be given it",
			device, port->number);
	else
		verbs_say(transport,
			  "%s port %u is not served: its SA cannot be asked: %s; it is tried again",
			  device, port->number, strerror(-error));
}

void verbs_trouble_sa_lost(struct verbs_port *port)
{
	if (port->loss != VERBS_LOSS_NONE && !port->sa.answered)
		return;
	port->loss = VERBS_LOSS_TOLD;
	verbs_say(port->device->transport,
		  "%s port %u: its SA cannot be asked any more: %s; it is tried again",
		  port->device->name, port->number, strerror(-port->sa.failure));
}

void verbs_trouble_sa_over(struct verbs_port *port)
{
	if (port->loss != VERBS_LOSS_TOLD)
		return;
	port->loss = VERBS_LOSS_OVER;
	verbs_say(port->device->transport, "%s port %u: its SA can be asked again",
		  port->device->name, port->number);
}

/* Whether it has to be told; notes that it was. */
static bool is_news(struct verbs_trouble *told, uint16_t pkey, int error)
{
	if (told->error == error)
		return false; /* of another partition, perhaps: one line is enough */
	if (!error && told->pkey != pkey)
		return false; /* what failed was another */
	*told = (struct verbs_trouble){.pkey = pkey, .error = error};
	return error != 0;
}

void verbs_trouble_opening(struct verbs_port *port, uint16_t pkey, int error)
{
	char why[256];

	if (!is_news(&port->opening, pkey, error))
		return;
	if (is_refusal(error))
		snprintf(why, sizeof(why),
			 "the kernel wants CAP_NET_RAW for its Q_Key; run acmited as root, or give "
			 "it this capability");
	else
		explain(error, why, sizeof(why));
	verbs_say(port->device->transport,
		  "%s port %u: no queue pair for P_Key 0x%04x: %s; it is tried again",
		  port->device->name, port->number, pkey, why);
}

void verbs_trouble_joining(struct verbs_port *port, uint16_t pkey, int error)
{
	const char *why =
		error == -ENOMEM ? "the device's table of groups is full" : strerror(-error);

	if (is_news(&port->joining, pkey, error))
		verbs_say(port->device->transport,
			  "%s port %u: the queue pair for P_Key 0x%04x cannot be attached to its "
			  "multicast group: %s; it is tried again",
			  port->device->name, port->number, pkey, why);
}

void verbs_trouble_sending(const struct verbs_port *port, uint16_t pkey, int error)
{
	verbs_say(port->device->transport,
		  "%s port %u: a datagram with P_Key 0x%04x cannot be sent: %s", port->device->name,
		  port->number, pkey, strerror(-error));
}

void verbs_trouble_missing(struct verbs_port *port, const char *what)
{
	if (what && what != port->missing)
		verbs_say(port->device->transport,
			  "%s port %u is active without %s: nothing is resolved through it until "
			  "it has one",
			  port->device->name, port->number, what);
	port->missing = what;
}
