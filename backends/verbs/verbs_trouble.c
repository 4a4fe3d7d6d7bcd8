/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_trouble.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
	if (is_refusal(error))
		verbs_say(transport,
			  "%s cannot be opened: no permission for /dev/infiniband/uverbs*; run "
			  "acmited as root, or give its user these files",
			  device);
	else if (error == -ENOENT || error == -ENXIO)
		verbs_say(transport,
			  "%s cannot be opened: it has no file in /dev/infiniband; modprobe "
			  "ib_uverbs makes it",
			  device);
	else
		verbs_say(transport, "%s cannot be opened: %s; it is tried again", device,
			  strerror(-error));
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
	else if (error == -EOPNOTSUPP || error == -ENOENT || error == -ENXIO)
		verbs_say(transport,
			  "%s port %u is not served: ib_umad is not loaded; modprobe ib_umad loads "
			  "it",
			  device, port->number);
	else
		verbs_say(transport,
			  "%s port %u is not served: its SA cannot be asked: %s; it is tried again",
			  device, port->number, strerror(-error));
}
