/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is wrong with devices and permissions, as sentences with the remedy. */
#ifndef ACMITE_VERBS_TROUBLE_H
#define ACMITE_VERBS_TROUBLE_H

#include "verbs_state.h"

/* Why no devices can be seen at all; -ENODEV: there are none. `error` is a negative errno. */
void verbs_trouble_list(const struct verbs_transport *transport, int error);
/* Why a device cannot be opened. */
void verbs_trouble_device(const struct verbs_transport *transport, const char *device, int error);
/* Why a port's SA cannot be asked. */
void verbs_trouble_sa(const struct verbs_transport *transport, const struct verbs_port *port,
		      int error);

#endif
