/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How those who watch a run tell that a rule is broken. */
#ifndef ACMITE_SIM_BREACH_H
#define ACMITE_SIM_BREACH_H

/* Who is told: the rule as a sentence that names it, and what breaks it. Both are lent. */
struct sim_breach_hook {
	void (*told)(void *context, const char *rule, const char *text);
	void *context;
};

void sim_breach(const struct sim_breach_hook *hook, const char *rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
