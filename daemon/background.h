/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_BACKGROUND_H
#define ACMITE_DAEMON_BACKGROUND_H

/*
 * Goes on in a child of its own session; the parent exits with 0 when the child says that it
 * serves, or with the child's status when that ends before. Returns in the child: a descriptor for
 * background_ready(), or negative errno where there is none.
 */
int background_start(void);
/* Lets the parent go, and the terminal. */
void background_ready(int fd);

#endif
