/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the calls of libibverbs and libibumad are marked, and what is said when one cannot be had. */
#ifndef PRELOAD_CALL_H
#define PRELOAD_CALL_H

/* A call that programs find here before they find it in its own library. */
#define PRELOAD_CALL __attribute__((visibility("default")))

/* One sentence to standard error, with this library's name in front. */
__attribute__((format(printf, 1, 2))) void preload_complain(const char *format, ...);

/* Gives `result` back; when it is a negative errno, errno says so too, as after a failed system
 * call. */
int preload_result(int result);

#endif
