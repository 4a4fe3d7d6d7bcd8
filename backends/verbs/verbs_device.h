/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices: found, opened, listened to, closed. */
#ifndef ACMITE_VERBS_DEVICE_H
#define ACMITE_VERBS_DEVICE_H

#include "verbs_state.h"

/* Looks which there are, and opens what is not open. */
void verbs_devices_scan(struct verbs_transport *transport);
/* Marks one as failed: it is to be closed, and opened again by a later scan. */
void verbs_device_fail(struct verbs_device *device);
/* Closes those that failed, and SA agents that did. */
void verbs_devices_close_failed(struct verbs_transport *transport);
void verbs_devices_destroy(struct verbs_transport *transport);

#endif
