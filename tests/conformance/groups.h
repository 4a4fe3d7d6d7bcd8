/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The suite's tests of groups. */
#ifndef ACMITE_TEST_GROUPS_H
#define ACMITE_TEST_GROUPS_H

void multicasts_reach_the_group(void **state);
void own_multicasts_come_back_as_promised(void **state);
void detached_endpoints_hear_nothing(void **state);
void closing_ends_attachments(void **state);

#endif
