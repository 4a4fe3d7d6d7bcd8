/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "inquiries.h"

#include <acmite/wire.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An SA that says that it is busy is asked again after this at the soonest. */
#define BUSY_PAUSE_LEAST (43 * ACM_NSEC_PER_MSEC)

#define RULE "one inquiry in flight for a destination"

struct sim_inquiry {
	uint32_t next;
	uint32_t endpoint;
	bool of_sa;
	bool bypass;
	uint16_t lid; /* that a path is asked for by; 0: by GID or address */
	uint64_t tries;
	uint64_t began;
	uint64_t tried; /* the latest time */
	struct acm_address address;
};

int sim_inquiries_init(struct sim_inquiries *inquiries, const struct sim_topology *topology,
		       const struct sim_breach_hook *hook)
{
	*inquiries = (struct sim_inquiries){.topology = topology, .hook = *hook};
	inquiries->first = calloc(topology->node_count + 1, sizeof(*inquiries->first));
	inquiries->count = calloc(topology->node_count + 1, sizeof(*inquiries->count));
	return inquiries->first && inquiries->count ? 0 : -ENOMEM;
}

void sim_inquiries_free(struct sim_inquiries *inquiries)
{
	free(inquiries->all);
	free(inquiries->first);
	free(inquiries->count);
	*inquiries = (struct sim_inquiries){0};
}

/* ---- the list of each node ---- */

static bool make_room(struct sim_inquiries *inquiries)
{
	uint32_t room = inquiries->room * 2 + 64;
	struct sim_inquiry *all = realloc(inquiries->all, room * sizeof(*all));

	if (!all)
		return false;
	for (uint32_t place = inquiries->room; place < room; place++) {
		all[place].next = inquiries->free;
		inquiries->free = place + 1;
	}
	inquiries->all = all;
	inquiries->room = room;
	return true;
}

static bool add(struct sim_inquiries *inquiries, uint32_t node, const struct sim_inquiry *inquiry)
{
	uint32_t place;

	if (!inquiries->free && !make_room(inquiries))
		return false;
	place = inquiries->free;
	inquiries->free = inquiries->all[place - 1].next;
	inquiries->all[place - 1] = *inquiry;
	inquiries->all[place - 1].next = inquiries->first[node];
	inquiries->first[node] = place;
	inquiries->count[node]++;
	return true;
}

/* *link is the place of one that is under way; becomes the next one's. */
static void take_out(struct sim_inquiries *inquiries, uint32_t node, uint32_t *link)
{
	uint32_t place = *link;

	*link = inquiries->all[place - 1].next;
	inquiries->all[place - 1].next = inquiries->free;
	inquiries->free = place;
	inquiries->count[node]--;
}

void sim_inquiries_forget(struct sim_inquiries *inquiries, uint32_t node)
{
	while (inquiries->first[node])
		take_out(inquiries, node, &inquiries->first[node]);
}

uint32_t sim_inquiries_count(const struct sim_inquiries *inquiries, uint32_t node)
{
	return inquiries->count[node];
}

uint64_t sim_inquiries_oldest(const struct sim_inquiries *inquiries, uint32_t node,
			      const struct acm_address *address)
{
	uint64_t oldest = ACM_NEVER;

	for (uint32_t at = inquiries->first[node]; at; at = inquiries->all[at - 1].next) {
		const struct sim_inquiry *inquiry = &inquiries->all[at - 1];

		if (inquiry->began < oldest &&
		    (!address || acm_address_equal(&inquiry->address, address)))
			oldest = inquiry->began;
	}
	return oldest;
}

/* ---- what the trace says ---- */

/*
 * A path's answer names the LID that was not asked for. Who is heard of is the source of what was
 * heard.
 */
static bool concerns(const struct sim_inquiry *inquiry, const struct acm_trace *trace)
{
	const struct acm_address *address =
		trace->type == ACM_TRACE_LEARNED ? &trace->source : &trace->destination;

	return inquiry->endpoint == trace->endpoint && inquiry->bypass == trace->bypass &&
	       acm_address_equal(&inquiry->address, address) &&
	       (address->type <= ACM_ADDRESS_IP6 || !inquiry->lid || inquiry->lid == trace->lid);
}

static struct sim_inquiry *find(struct sim_inquiries *inquiries, uint32_t node, bool of_sa,
				const struct acm_trace *trace)
{
	for (uint32_t at = inquiries->first[node]; at; at = inquiries->all[at - 1].next) {
		struct sim_inquiry *inquiry = &inquiries->all[at - 1];

		if (inquiry->of_sa == of_sa && concerns(inquiry, trace))
			return inquiry;
	}
	return NULL;
}

static void end(struct sim_inquiries *inquiries, uint32_t node, bool of_sa,
		const struct acm_trace *trace)
{
	uint32_t *link = &inquiries->first[node];

	while (*link) {
		struct sim_inquiry *inquiry = &inquiries->all[*link - 1];

		if (inquiry->of_sa == of_sa && concerns(inquiry, trace))
			take_out(inquiries, node, link);
		else
			link = &inquiry->next;
	}
}

/* Until the next try. An SA that was busy may be asked again sooner. */
static uint64_t least_time(const struct sim_inquiry *inquiry, const struct sim_patience *patience)
{
	uint64_t least = patience->first;

	for (uint64_t i = 1; i < inquiry->tries && patience->growth > 1 && i < 16; i++)
		least *= patience->growth;
	return inquiry->of_sa && least > BUSY_PAUSE_LEAST ? BUSY_PAUSE_LEAST : least;
}

static void check_try(const struct sim_inquiries *inquiries, uint32_t node,
		      const struct sim_inquiry *inquiry, const struct acm_trace *trace,
		      const struct sim_patience *patience)
{
	const char *name = inquiries->topology->nodes[node].name;
	const char *what = inquiry->of_sa ? "SA queries" : "multicasts";
	uint64_t least = least_time(inquiry, patience);
	char text[ACM_ADDRESS_MAX + 1];

	acm_address_format(&trace->destination, text, sizeof(text));
	if (trace->value <= 1 && !inquiry->of_sa && trace->time - inquiry->tried >= least)
		return; /* that one was given up: nobody answered its last try */
	if (trace->value <= 1)
		sim_breach(&inquiries->hook, RULE, "%s has two %s under way for %s", name, what,
			   text);
	else if (trace->value != inquiry->tries + 1)
		sim_breach(&inquiries->hook, RULE,
			   "%s: try %" PRIu64 " of the %s for %s follows try %" PRIu64, name,
			   trace->value, what, text, inquiry->tries);
	else if (trace->time - inquiry->tried < least)
		sim_breach(&inquiries->hook, RULE,
			   "%s: try %" PRIu64 " of the %s for %s comes %" PRIu64
			   " us after the one before",
			   name, trace->value, what, text,
			   (trace->time - inquiry->tried) / ACM_NSEC_PER_USEC);
}

static bool take_try(struct sim_inquiries *inquiries, uint32_t node, bool of_sa,
		     const struct acm_trace *trace, const struct sim_patience *patience)
{
	struct sim_inquiry *inquiry = find(inquiries, node, of_sa, trace);

	if (!inquiry)
		return add(inquiries, node,
			   &(struct sim_inquiry){.endpoint = trace->endpoint,
						 .of_sa = of_sa,
						 .bypass = trace->bypass,
						 .lid = trace->lid,
						 .tries = trace->value,
						 .began = trace->time,
						 .tried = trace->time,
						 .address = trace->destination});
	/* The trace does not tell all that a path was asked for by: there may be several. */
	if (trace->destination.type <= ACM_ADDRESS_IP6)
		check_try(inquiries, node, inquiry, trace, patience);
	if (trace->value <= 1)
		inquiry->began = trace->time;
	inquiry->tries = trace->value;
	inquiry->tried = trace->time;
	return true;
}

bool sim_inquiries_trace(struct sim_inquiries *inquiries, uint32_t node,
			 const struct acm_trace *trace, const struct sim_patience *patience)
{
	switch (trace->type) {
	case ACM_TRACE_SA_QUERY:
		return take_try(inquiries, node, true, trace, patience);
	case ACM_TRACE_MULTICAST:
		return take_try(inquiries, node, false, trace, patience);
	case ACM_TRACE_ADDRESS:
	case ACM_TRACE_LEARNED:
		end(inquiries, node, false, trace);
		break;
	case ACM_TRACE_ROUTE:
	case ACM_TRACE_SA_STATUS:
	case ACM_TRACE_SA_WITHDRAWN:
		end(inquiries, node, true, trace);
		break;
	case ACM_TRACE_FAILED:
		end(inquiries, node, true, trace);
		end(inquiries, node, false, trace);
		break;
	default:
		break;
	}
	return true;
}
