/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The host's name is the node's, as on a cluster: who goes by it is found by it, and programs on
 * several nodes do not all go by this machine's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "attach_environment.h"
#include "call.h"

PRELOAD_CALL int uname(struct utsname *name)
{
	const char *node = getenv(SIM_ATTACH_NODE_VARIABLE);

	if (syscall(SYS_uname, name))
		return -1;
	if (node && *node && strlen(node) < sizeof(name->nodename))
		strcpy(name->nodename, node);
	return 0;
}

PRELOAD_CALL int gethostname(char *name, size_t size)
{
	struct utsname host;

	if (uname(&host))
		return -1;
	if (strlen(host.nodename) >= size) {
		if (size)
			memcpy(name, host.nodename, size);
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(name, host.nodename);
	return 0;
}
