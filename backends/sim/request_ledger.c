/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "request_ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

int sim_ledger_init(struct sim_ledger *ledger, const struct sim_topology *topology,
		    const struct sim_breach_hook *hook)
{
	*ledger = (struct sim_ledger){.topology = topology, .hook = *hook};
	ledger->open_of = calloc(topology->node_count + 1, sizeof(*ledger->open_of));
	return ledger->open_of ? 0 : -ENOMEM;
}

void sim_ledger_free(struct sim_ledger *ledger)
{
	free(ledger->asked);
	free(ledger->open_of);
	*ledger = (struct sim_ledger){0};
}

static bool is_open(const struct sim_asked *asked)
{
	return !asked->answered && !asked->excused;
}

static void close_one(struct sim_ledger *ledger, const struct sim_asked *asked)
{
	if (!is_open(asked))
		return;
	ledger->open--;
	ledger->open_of[asked->node]--;
}

uint32_t sim_ledger_enter(struct sim_ledger *ledger, const struct sim_asked *asked)
{
	if (ledger->count == ledger->room) {
		uint32_t room = ledger->room * 2 + 64;
		struct sim_asked *more = realloc(ledger->asked, room * sizeof(*more));

		if (!more)
			return 0;
		ledger->asked = more;
		ledger->room = room;
	}
	ledger->asked[ledger->count++] = *asked;
	if (is_open(asked)) {
		ledger->open++;
		ledger->open_of[asked->node]++;
	}
	return ledger->count;
}

struct sim_asked *sim_ledger_at(const struct sim_ledger *ledger, uint64_t id)
{
	return &ledger->asked[id - 1];
}

struct sim_asked *sim_ledger_next(const struct sim_ledger *ledger, uint32_t node, uint32_t *id)
{
	while (*id <= ledger->count) {
		struct sim_asked *asked = sim_ledger_at(ledger, (*id)++);

		if (asked->node == node && !asked->answered)
			return asked;
	}
	return NULL;
}

void sim_ledger_join(struct sim_ledger *ledger, uint32_t node, uint64_t id, uint64_t since)
{
	struct sim_asked *asked = id && id <= ledger->count ? sim_ledger_at(ledger, id) : NULL;
	uint64_t bound, least;

	if (!asked || asked->node != node)
		return;
	bound = asked->due - asked->time;
	least = asked->time > bound ? asked->time - bound : 0;
	if (since < least)
		since = least;
	if (since < asked->joined)
		asked->joined = since;
}

static const char *name_of(const struct sim_ledger *ledger, uint32_t node)
{
	return node == SIM_NONE ? "an address" : ledger->topology->nodes[node].name;
}

static void tell_late(struct sim_ledger *ledger, const struct sim_asked *asked, uint64_t now)
{
	sim_breach(&ledger->hook, "each request is answered within its bound",
		   "%s was asked for %s and has not answered for %" PRIu64 " ms",
		   name_of(ledger, asked->node), name_of(ledger, asked->target),
		   (now - asked->time) / ACM_NSEC_PER_MSEC);
}

struct sim_asked *sim_ledger_answer(struct sim_ledger *ledger, uint32_t node, uint64_t id,
				    uint64_t now)
{
	struct sim_asked *asked = id && id <= ledger->count ? sim_ledger_at(ledger, id) : NULL;

	if (!asked || asked->node != node || asked->answered) {
		sim_breach(&ledger->hook, "each request gets exactly one answer",
			   "%s answered request %" PRIu64 " once more, or after it was cancelled",
			   name_of(ledger, node), id);
		return NULL;
	}
	if (!asked->excused && now > asked->due)
		tell_late(ledger, asked, now);
	close_one(ledger, asked);
	asked->answered = true;
	return asked;
}

void sim_ledger_cancel(struct sim_ledger *ledger, struct sim_asked *asked)
{
	close_one(ledger, asked);
	asked->answered = true;
}

void sim_ledger_excuse(struct sim_ledger *ledger, struct sim_asked *asked)
{
	close_one(ledger, asked);
	asked->excused = true;
}

void sim_ledger_expect(struct sim_ledger *ledger, struct sim_asked *asked, uint64_t due)
{
	uint32_t place = (uint32_t)(asked - ledger->asked);

	if (asked->answered || !asked->excused)
		return;
	asked->excused = false;
	asked->due = due;
	ledger->open++;
	ledger->open_of[asked->node]++;
	if (place < ledger->oldest)
		ledger->oldest = place;
}

uint64_t sim_ledger_deadline(struct sim_ledger *ledger)
{
	while (ledger->oldest < ledger->count && !is_open(&ledger->asked[ledger->oldest]))
		ledger->oldest++;
	return ledger->oldest < ledger->count ? ledger->asked[ledger->oldest].due : ACM_NEVER;
}

void sim_ledger_check(struct sim_ledger *ledger, uint64_t now)
{
	struct sim_asked *asked;

	if (sim_ledger_deadline(ledger) > now)
		return;
	asked = &ledger->asked[ledger->oldest];
	tell_late(ledger, asked, now);
	sim_ledger_excuse(ledger, asked);
}
