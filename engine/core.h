/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine's objects and who owns whom:
 *
 *   engine -> ports -> SA queue (window of transactions)
 *          -> endpoints (port and P_Key) -> groups (memberships), local addresses, look-ups
 *          -> destination cache -> destinations; one that is being resolved is held by its look-up
 *          -> waiters (client requests without an answer yet), hanging on look-ups
 */
#ifndef ACMITE_ENGINE_CORE_H
#define ACMITE_ENGINE_CORE_H

#include <acmite/engine.h>
#include <acmite/trace.h>

#include "action_queue.h"
#include "deadlines.h"
#include "destination_cache.h"
#include "multicast_window.h"
#include "policy.h"
#include "random.h"
#include "slot_table.h"

enum acm_timer_kind {
	ACM_TIMER_SA,       /* acm_sa_exchange.timer */
	ACM_TIMER_GROUP,    /* acm_group.timer */
	ACM_TIMER_ENDPOINT, /* acm_endpoint.timer */
	ACM_TIMER_RECOVERY, /* acm_endpoint.recovery */
	ACM_TIMER_LOOKUP,   /* acm_lookup.retry */
	ACM_TIMER_BOUND,    /* acm_lookup.bound */
	ACM_TIMER_SOURCE,   /* acm_waiter.timer */
	ACM_TIMER_REPAIR,   /* acm_engine.repair */
};

enum acm_slot_kind {
	ACM_SLOT_SA,     /* acm_sa_exchange */
	ACM_SLOT_GROUP,  /* acm_group, an attach under way */
	ACM_SLOT_LOOKUP, /* acm_lookup */
	ACM_SLOT_SOURCE, /* acm_waiter that waits for its source */
};

enum acm_sa_kind { ACM_SA_JOIN, ACM_SA_EXPLAIN, ACM_SA_LEAVE, ACM_SA_PATH };
enum acm_sa_state { ACM_SA_IDLE, ACM_SA_QUEUED, ACM_SA_SENT, ACM_SA_PAUSED };

/* One request to the SA with its retries. Part of the object it serves. */
struct acm_sa_exchange {
	struct acm_timer timer;
	struct acm_port *port;
	struct acm_sa_exchange *next; /* in the port's queue */
	struct acm_sa_exchange *previous;
	uint64_t cookie; /* of the try in flight, 0: none */
	uint32_t tid;
	uint8_t kind;  /* enum acm_sa_kind */
	uint8_t state; /* enum acm_sa_state */
	uint8_t tries; /* begun */
	int error;     /* of the last try, when the transport could not do it; 0: it is out */
};

struct acm_port {
	struct acm_port *next;
	struct acm_port_facts facts;
	uint32_t window; /* SA transactions that may be in flight */
	uint32_t in_flight;
	struct acm_sa_exchange *queue_first;
	struct acm_sa_exchange *queue_last;
};

enum acm_group_state {
	ACM_GROUP_OFF,
	ACM_GROUP_JOINING,
	ACM_GROUP_ATTACHING,
	ACM_GROUP_LIVE,
	ACM_GROUP_BACKOFF,
};

/* One membership of an endpoint. */
struct acm_group {
	struct acm_timer timer; /* the next try, or the next check */
	struct acm_sa_exchange sa;
	struct acm_endpoint *endpoint;
	uint64_t backoff;
	uint64_t attach_cookie;
	struct acm_mcmember record; /* as the SA gave it */
	struct acm_gid mgid;
	uint8_t state; /* enum acm_group_state */
	uint8_t rate;
	uint8_t mtu;
	bool attached; /* to record.mlid */
};

/* A membership that is being given up; lives until the SA has answered or all tries are used. */
struct acm_leave {
	struct acm_leave *next;
	struct acm_sa_exchange sa;
	struct acm_mcmember record;
};

#define ACM_GROUPS_MAX 2

enum acm_endpoint_state {
	ACM_ENDPOINT_CLOSED,
	ACM_ENDPOINT_OPENING,
	ACM_ENDPOINT_OPEN,
};

struct acm_endpoint {
	struct acm_endpoint *next;
	struct acm_port *port;
	uint32_t id;
	uint32_t qpn;
	uint16_t pkey; /* the table's value */
	uint16_t pkey_index;
	uint8_t state;          /* enum acm_endpoint_state */
	bool failed;            /* the last open or join failed; cleared when all holds */
	struct acm_timer timer; /* the next try to open */
	uint64_t backoff;
	uint16_t address_epoch; /* what was learned under an older number is in doubt */
	uint16_t route_epoch;
	uint64_t settled;    /* a datagram that comes sooner may be older than the latest doubt */
	uint64_t claim_told; /* when a claim to an address here may be told of again */
	uint8_t group_count;
	struct acm_group groups[ACM_GROUPS_MAX]; /* least preferred first */
	/* This node's addresses here. */
	uint32_t address_count;
	uint32_t address_capacity;
	uint64_t *address_fingerprints;
	struct acm_address *addresses;
	char (*address_texts)[ACM_ADDRESS_MAX];
	/* Multicast requests: the window, and those that wait for it. */
	struct acm_multicast_window window;
	struct acm_timer recovery; /* of places that are spent */
	struct acm_lookup *queue_first;
	struct acm_lookup *queue_last;
	struct acm_lookup *lookups; /* all, also those in the queue */
	uint64_t counters[ACM_COUNTER_WIRE_COUNT];
};

enum acm_lookup_phase {
	ACM_LOOKUP_NEW,
	ACM_LOOKUP_BLOCKED, /* the endpoint is not ready yet */
	ACM_LOOKUP_QUEUED,  /* for the multicast window */
	ACM_LOOKUP_FRESH,   /* sent, in the window */
	ACM_LOOKUP_SENT,    /* sent, out of the window */
	ACM_LOOKUP_ROUTE,   /* the SA is asked */
};

/* The answer to a peer that gets it when the route to it is known. */
struct acm_owed_answer {
	uint64_t tid;
	uint32_t qpn; /* 0: none is owed */
	struct acm_gid mgid;
	struct acm_address asked; /* this node's, for the trace */
};

/* The resolution of one destination that is under way. */
struct acm_lookup {
	struct acm_timer retry;
	struct acm_timer bound; /* the latest moment for an answer */
	struct acm_sa_exchange sa;
	struct acm_endpoint *endpoint;
	struct acm_destination *destination;
	struct acm_waiter *first;
	struct acm_waiter *last;
	struct acm_lookup *next; /* of the endpoint's */
	struct acm_lookup *previous;
	struct acm_lookup *queue_next;
	struct acm_lookup *queue_previous;
	uint64_t cookie;
	uint64_t tid;
	uint64_t began;
	uint64_t sent; /* when the current try was */
	struct acm_owed_answer owed;
	uint8_t phase; /* enum acm_lookup_phase */
	uint8_t tries;
	struct acm_address source;
	struct acm_path constraint; /* by path; else zero */
};

/* A request without an answer yet. Its reply is kept in it, so answering needs no memory. */
struct acm_waiter {
	struct acm_waiter *next; /* on its look-up, or among the answered */
	struct acm_waiter *hash_next;
	struct acm_lookup *lookup; /* NULL while its source is searched for */
	struct acm_reply reply;
	/* While the source is searched for: */
	struct acm_timer timer;
	uint64_t cookie;
	struct acm_request *request;
};

struct acm_local_fact {
	struct acm_local_fact *next; /* in order of address, port, P_Key */
	uint64_t fingerprint;        /* of the address */
	struct acm_local_address local;
};

struct acm_engine {
	struct acm_allocator allocator;
	struct acm_engine_config config;
	struct acm_policy policy;
	struct acm_random random;
	struct acm_hash_key hash_key;
	uint64_t now;
	struct acm_deadlines deadlines;
	struct acm_action_queue actions;
	struct acm_slot_table slots;
	struct acm_destination_cache cache;
	struct acm_port *ports;
	struct acm_endpoint *endpoints; /* in order of their ids */
	uint32_t last_endpoint;
	struct acm_leave *leaves;
	struct acm_local_fact *local_facts;
	struct acm_waiter **waiters; /* by request id */
	uint32_t waiter_buckets;
	uint32_t waiter_count; /* not answered yet */
	uint32_t unattended;   /* look-ups that no request waits for */
	struct acm_waiter *answered_first;
	struct acm_waiter *answered_last;
	struct acm_waiter *pulled; /* handed out; freed with the next step */
	bool immediate_set;
	struct acm_reply immediate; /* the answer to the request of this very step */
	uint64_t trace_sequence;
	struct acm_timer repair; /* what could not be made for want of memory is tried again */
	uint64_t counters[ACM_COUNTER_COUNT];
};

/* engine.c */
/* A new trace event, its time and sequence set; NULL when nobody wants it. Valid until the next. */
struct acm_trace *acm_engine_trace(struct acm_engine *engine, enum acm_trace_type type);
void acm_engine_trace_dropped(struct acm_engine *engine, uint32_t endpoint, const char *reason);
static inline void acm_engine_count(struct acm_engine *engine, struct acm_endpoint *endpoint,
				    enum acm_counter counter)
{
	engine->counters[counter]++;
	if (endpoint && counter < ACM_COUNTER_WIRE_COUNT)
		endpoint->counters[counter]++;
}
/* How long try `attempt` (from 0) waits: all tries together take (retries + 1) times the time-out.
 */
uint64_t acm_engine_try_time(struct acm_engine *engine, const struct acm_port *port,
			     uint32_t attempt);
/* All tries of one phase together. */
uint64_t acm_engine_phase_time(const struct acm_engine *engine, const struct acm_port *port);

/* port.c */
void acm_port_changed(struct acm_engine *engine, const struct acm_port_facts *facts);
void acm_port_removed(struct acm_engine *engine, uint32_t port);
void acm_port_reregister(struct acm_engine *engine, uint32_t port);
bool acm_port_active(const struct acm_port *port);
/* `lid` is one of the port's 2^LMC. */
bool acm_port_has_lid(const struct acm_port *port, uint16_t lid);
/* ns that a packet can be under way to another port, as the subnet manager has it. */
uint64_t acm_port_packet_life(const struct acm_port *port);
/* Index of a GID in the port's table, -1. */
int acm_port_gid_index(const struct acm_port *port, const struct acm_gid *gid);
void acm_ports_destroy(struct acm_engine *engine);
/* Endpoints and addresses that there was no memory for: made later. */
void acm_ports_repair_later(struct acm_engine *engine);
void acm_ports_repair(struct acm_engine *engine);

/* endpoint.c */
struct acm_endpoint *acm_endpoint_find(const struct acm_engine *engine, uint32_t id);
/* NULL: no memory. */
struct acm_endpoint *acm_endpoint_create(struct acm_engine *engine, struct acm_port *port,
					 uint16_t pkey_index);
/* Leaves its groups, closes it, answers what waits on it, forgets its destinations. */
void acm_endpoint_destroy(struct acm_engine *engine, struct acm_endpoint *endpoint);
/* Opens it where it can be of use, closes it where not, starts its memberships. */
void acm_endpoint_update(struct acm_engine *engine, struct acm_endpoint *endpoint);
/* The port went down: memberships end, look-ups fail. */
void acm_endpoint_suspend(struct acm_engine *engine, struct acm_endpoint *endpoint);
/* What was learned from datagrams is in doubt, and for a while what these tell, too. */
void acm_endpoint_doubt_addresses(const struct acm_engine *engine, struct acm_endpoint *endpoint);
/* A new queue pair under the same id. */
void acm_endpoint_reopen(struct acm_engine *engine, struct acm_endpoint *endpoint);
void acm_endpoint_opened(struct acm_engine *engine, uint32_t id, int status, uint32_t qpn);
void acm_endpoint_expired(struct acm_engine *engine, struct acm_endpoint *endpoint);
/* Multicast requests can go out. */
bool acm_endpoint_ready(const struct acm_endpoint *endpoint);
/* All memberships hold; one without addresses needs none. */
bool acm_endpoint_complete(const struct acm_endpoint *endpoint);
/* A membership changed: look-ups go on or fail. */
void acm_endpoint_membership_changed(struct acm_engine *engine, struct acm_endpoint *endpoint);
/* The endpoint on `port` for a P_Key (15 bits); 0: the default partition's, else the first. */
struct acm_endpoint *acm_endpoint_of(const struct acm_engine *engine, const struct acm_port *port,
				     uint16_t pkey);

/* local_address.c */
int acm_local_address_add(struct acm_engine *engine, const struct acm_local_address *local);
void acm_local_address_remove(struct acm_engine *engine, const struct acm_local_address *local);
/* Makes the endpoint's addresses what the facts say. */
void acm_local_address_apply(struct acm_engine *engine, struct acm_endpoint *endpoint);
void acm_local_addresses_destroy(struct acm_engine *engine);
bool acm_local_address_is_of(const struct acm_endpoint *endpoint,
			     const struct acm_address *address);
/* The first endpoint that holds it; one on an active port before others. */
struct acm_endpoint *acm_local_address_endpoint(const struct acm_engine *engine,
						const struct acm_address *address);

/* membership.c */
int acm_group_init(struct acm_engine *engine, struct acm_group *group,
		   struct acm_endpoint *endpoint, uint8_t rate, uint8_t mtu);
/* Without a word to the SA. */
void acm_group_fini(struct acm_engine *engine, struct acm_group *group);
/* Joins, or joins anew: the membership is in doubt until the SA has confirmed it. */
void acm_group_join(struct acm_engine *engine, struct acm_group *group);
/* The port is down: the membership is gone. */
void acm_group_lost(struct acm_engine *engine, struct acm_group *group);
/* Tells the SA, where the membership may exist, and forgets it. */
void acm_group_leave(struct acm_engine *engine, struct acm_group *group);
/* The queue pair is closed: its attachments are gone. */
void acm_group_detached(struct acm_engine *engine, struct acm_group *group);
/* The port goes away: nothing is left to tell its SM. */
void acm_leaves_forget(struct acm_engine *engine, const struct acm_port *port);
void acm_group_attached(struct acm_engine *engine, uint64_t cookie, int status);
void acm_group_expired(struct acm_engine *engine, struct acm_group *group);
void acm_group_encode(struct acm_engine *engine, struct acm_sa_exchange *sa, uint8_t *mad);
/* The outcome of a JOIN, EXPLAIN or LEAVE; `mad` NULL: no answer. */
void acm_group_sa_done(struct acm_engine *engine, struct acm_sa_exchange *sa, const uint8_t *mad,
		       uint32_t length, uint16_t status);

/* sa_exchange.c */
int acm_sa_exchange_init(struct acm_engine *engine, struct acm_sa_exchange *sa,
			 struct acm_port *port);
void acm_sa_exchange_fini(struct acm_engine *engine, struct acm_sa_exchange *sa);
/* Queues it, behind others; memberships go before paths. An exchange under way begins anew. */
void acm_sa_exchange_begin(struct acm_engine *engine, struct acm_sa_exchange *sa,
			   enum acm_sa_kind kind);
/* Takes it back, and gives its place in the window to no other before acm_sa_exchange_pump(). */
void acm_sa_exchange_withdraw(struct acm_engine *engine, struct acm_sa_exchange *sa);
void acm_sa_exchange_pump(struct acm_engine *engine, struct acm_port *port);
/* Its owner wants no answer any more. */
void acm_sa_exchange_stop(struct acm_engine *engine, struct acm_sa_exchange *sa);
void acm_sa_exchange_expired(struct acm_engine *engine, struct acm_sa_exchange *sa);
void acm_sa_exchange_answered(struct acm_engine *engine, uint64_t cookie, const uint8_t *mad,
			      uint32_t length);
void acm_sa_exchange_failed(struct acm_engine *engine, uint64_t cookie, int status);

/* lookup.c */
/*
 * The look-up of a destination: the one under way, or a new one. NULL: no memory. It may be
 * finished, and gone, as soon as acm_lookup_run() is called.
 */
struct acm_lookup *acm_lookup_of(struct acm_engine *engine, struct acm_endpoint *endpoint,
				 struct acm_destination *destination,
				 const struct acm_address *source,
				 const struct acm_path *constraint);
void acm_lookup_run(struct acm_engine *engine, struct acm_lookup *lookup);
void acm_lookup_finish(struct acm_engine *engine, struct acm_lookup *lookup,
		       enum acm_status status);
/* No more look-ups may begin that nobody waits for. */
bool acm_lookups_crowded(const struct acm_engine *engine);
/* One that nobody would wait for is not begun. */
void acm_lookup_refuse(struct acm_engine *engine, const struct acm_endpoint *endpoint,
		       const struct acm_key *key);
/* A request for it is gone. Where nobody is left and too many are like that it ends. */
void acm_lookup_abandon(struct acm_engine *engine, struct acm_lookup *lookup);
void acm_lookups_fail(struct acm_engine *engine, struct acm_endpoint *endpoint,
		      enum acm_status status);
/* The port or its SM is another now: routes that are being asked for are asked for anew. */
void acm_lookups_ask_anew(struct acm_engine *engine, struct acm_endpoint *endpoint);
/* Those that were blocked by the endpoint go on or fail. */
void acm_lookups_unblock(struct acm_engine *engine, struct acm_endpoint *endpoint);
void acm_lookup_expired(struct acm_engine *engine, struct acm_lookup *lookup);
void acm_lookup_encode(struct acm_engine *engine, struct acm_sa_exchange *sa, uint8_t *mad);
/* A try of its path query went out. */
void acm_lookup_sa_sent(struct acm_engine *engine, const struct acm_sa_exchange *sa);
void acm_lookup_sa_withdrawn(struct acm_engine *engine, const struct acm_sa_exchange *sa);
void acm_lookup_sa_done(struct acm_engine *engine, struct acm_sa_exchange *sa, const uint8_t *mad,
			uint32_t length, uint16_t status);
/* The one that was asked answers, from `from`: its address is known now, the look-up goes on. */
void acm_lookup_learn(struct acm_engine *engine, struct acm_lookup *lookup,
		      const struct acm_datagram_received *from, const struct acm_group *group);
/* The same where nobody was asked: the destination itself asks for something. */
void acm_lookup_overhear(struct acm_engine *engine, struct acm_endpoint *endpoint,
			 struct acm_destination *destination,
			 const struct acm_datagram_received *from, const struct acm_group *group);
/* NULL when nobody wants it. */
struct acm_trace *acm_lookup_trace(struct acm_engine *engine, const struct acm_lookup *lookup,
				   enum acm_trace_type type);

/* multicast_request.c */
/* Queues it behind others; it goes out when the window has a place. */
void acm_multicast_request_begin(struct acm_engine *engine, struct acm_lookup *lookup);
/* What waits for the window goes out as far as that is open. */
void acm_multicast_requests_pump(struct acm_engine *engine, struct acm_endpoint *endpoint);
/* Once more, outside the window. */
void acm_multicast_request_repeat(struct acm_engine *engine, struct acm_lookup *lookup);
/* No answer came while it had its place in the window. */
void acm_multicast_request_missed(struct acm_engine *engine, struct acm_lookup *lookup);
void acm_multicast_request_answered(struct acm_engine *engine, struct acm_lookup *lookup);
/* Its answer is not needed any more, but may well be on its way: it keeps its place for a while. */
void acm_multicast_request_overtaken(struct acm_engine *engine, struct acm_lookup *lookup);
/* The end of that while. */
void acm_multicast_requests_recover(struct acm_engine *engine, struct acm_endpoint *endpoint);
/* Takes it out of the queue or the window. */
void acm_multicast_request_withdraw(struct acm_lookup *lookup);
/* It could not be sent. */
void acm_lookup_send_failed(struct acm_engine *engine, uint64_t cookie);
/* The one whose request has this transaction id and is out, NULL. */
struct acm_lookup *acm_lookup_by_tid(const struct acm_engine *engine, uint64_t tid);

/* route.c: what is known of a destination */
bool acm_destination_has_address(const struct acm_engine *engine,
				 const struct acm_endpoint *endpoint,
				 const struct acm_destination *destination);
bool acm_destination_has_route(const struct acm_engine *engine, const struct acm_endpoint *endpoint,
			       const struct acm_destination *destination);
/* The failure that is remembered, ACM_STATUS_OK when none is. */
enum acm_status acm_destination_refusal(const struct acm_engine *engine,
					const struct acm_endpoint *endpoint,
					const struct acm_destination *destination);
void acm_destination_set_address(const struct acm_engine *engine,
				 const struct acm_endpoint *endpoint,
				 struct acm_destination *destination, uint16_t lid,
				 const struct acm_gid *gid);
void acm_destination_set_route(const struct acm_engine *engine, const struct acm_endpoint *endpoint,
			       struct acm_destination *destination, const struct acm_path *path);
void acm_destination_set_refusal(const struct acm_engine *engine,
				 struct acm_destination *destination, enum acm_status status);
void acm_destination_path(const struct acm_endpoint *endpoint,
			  const struct acm_destination *destination, struct acm_path *path);
/* The path of a group's attributes to a peer. */
void acm_route_from_group(const struct acm_endpoint *endpoint, const struct acm_group *group,
			  uint16_t lid, const struct acm_gid *gid, struct acm_path *path);
/* The path of an endpoint to itself. */
void acm_route_loopback(const struct acm_endpoint *endpoint, struct acm_path *path);

/* request.c */
void acm_request_take(struct acm_engine *engine, const struct acm_request *request);
void acm_request_source_found(struct acm_engine *engine, uint64_t cookie, int status,
			      const struct acm_address *source);
void acm_request_source_expired(struct acm_engine *engine, struct acm_waiter *waiter);

/* waiter.c */
/* NULL: no memory, too many, or the id waits already. */
struct acm_waiter *acm_waiter_create(struct acm_engine *engine, const struct acm_request *request);
/* Its source is found, or not: what the search needed is given back. */
void acm_waiter_end_search(struct acm_engine *engine, struct acm_waiter *waiter);
/* Hangs it on a look-up. */
void acm_waiter_append(struct acm_engine *engine, struct acm_lookup *lookup,
		       struct acm_waiter *waiter);
/*
 * Answers it: it moves to the answered; `reply` is filled in but for the status. `endpoint` counts
 * it, NULL: none does.
 */
void acm_waiter_answer(struct acm_engine *engine, struct acm_waiter *waiter,
		       struct acm_endpoint *endpoint, enum acm_status status);
void acm_waiter_cancel(struct acm_engine *engine, uint64_t id);
/* The oldest answer that was not pulled yet, NULL. */
const struct acm_reply *acm_waiter_pull(struct acm_engine *engine);
void acm_waiters_free_pulled(struct acm_engine *engine);
void acm_waiters_destroy(struct acm_engine *engine);
/* What all answers count and trace. */
void acm_reply_account(struct acm_engine *engine, struct acm_endpoint *endpoint,
		       const struct acm_reply *reply);

/* responder.c */
void acm_datagram_take(struct acm_engine *engine, const struct acm_datagram_received *datagram);
/* The route to the peer that a look-up owes an answer is known. */
void acm_responder_pay(struct acm_engine *engine, const struct acm_lookup *lookup);

#endif
