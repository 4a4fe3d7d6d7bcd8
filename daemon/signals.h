/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_SIGNALS_H
#define ACMITE_DAEMON_SIGNALS_H

/*
 * Turns signals into descriptors. Handlers, not a signal mask or SIG_IGN, because a child that is
 * started inherits those two. SIGPIPE does nothing. Once in a process. 0 or negative errno.
 */
int signals_open(void);
void signals_close(void);

/* Readable from the first SIGTERM or SIGINT on. Nobody reads it. */
int signals_stop_fd(void);
/* Readable when SIGHUP came; read 8 bytes to take note. */
int signals_reopen_fd(void);

#endif
