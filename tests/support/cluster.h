/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A handful of engines in virtual time, on a network that delivers every datagram after a fixed
 * time and an SA that answers from a table, both under the test's thumb. For tests of decisions:
 * what goes through tables and queues is tested on the simulated fabric.
 *
 * Node i (from 1) has LID i, GID fe80::i, the name "node<i>", 10.0.0.i and fd00::i.
 */
#ifndef ACMITE_TESTS_CLUSTER_H
#define ACMITE_TESTS_CLUSTER_H

#include <acmite/engine.h>
#include <acmite/trace.h>

#define CLUSTER_NODES_MAX 16
#define CLUSTER_DELAY     (10 * ACM_NSEC_PER_USEC)
#define CLUSTER_SM_LID    100

struct cluster_packet {
	int from; /* node */
	int to;   /* node; of a multicast each copy is asked about */
	bool multicast;
	bool answer;
	uint64_t number;                       /* of all copies, from 0 */
	uint64_t delay;                        /* ns; may be changed */
	struct acm_datagram_received datagram; /* may be changed, as may the payload */
	uint8_t payload[ACM_DATAGRAM_MAX];
};

struct cluster_sa_query {
	int node;
	uint8_t method;
	uint16_t attribute;
	struct acm_gid dgid; /* of a path query */
	uint16_t dlid;
	uint16_t pkey_index;
	uint64_t number; /* from 0 */
	/* What to do: */
	bool silent;
	int failed;      /* negative errno: no answer, but word that none will come */
	uint16_t status; /* of the MAD */
	uint64_t delay;
};

struct cluster_node;

struct cluster_answer {
	bool given;
	bool cancelled;
	int node;
	int times;
	uint64_t time;
	struct acm_reply reply;
};

struct cluster {
	int node_count;
	struct cluster_node *nodes; /* [1 .. node_count] */
	uint64_t now;
	uint64_t sequence;
	struct cluster_due *due; /* sorted */
	uint64_t packets, sa_queries, path_queries, joins, multicasts;
	/* Return how many copies arrive (0: lost, 2: duplicated). NULL: 1. */
	int (*on_packet)(struct cluster *cluster, struct cluster_packet *packet);
	void (*on_sa)(struct cluster *cluster, struct cluster_sa_query *query);
	/* An SA answer on its way, to be spoilt. */
	void (*on_sa_answer)(struct cluster *cluster, const struct cluster_sa_query *query,
			     uint8_t *mad, uint32_t *length);
	/* Every action, before it is executed. */
	void (*on_action)(struct cluster *cluster, int node, const struct acm_action *action);
	/* Every trace event. */
	void (*on_trace)(struct cluster *cluster, int node, const struct acm_trace *trace);
	void *context;
	/* What transports do: a status that is not 0 is told by an event, a delay of ACM_NEVER:
	 * none. */
	int open_status, attach_status, send_status;
	uint64_t open_delay, attach_delay;
	/* How searches for a source end: -ENOENT at once unless told otherwise. */
	int search_status;
	uint64_t search_delay;
	struct acm_address search_result;
	uint64_t searches;
	uint64_t last_request;
	struct cluster_answer *answers; /* by request id */
	uint64_t answer_capacity;
	/* Memory: allocation number fail_at (from 1) fails, as do all from fail_from on; 0: none
	 * does. */
	uint64_t allocations;
	uint64_t fail_at;
	uint64_t fail_from;
	int64_t live_bytes;
};

/* Engines made, nothing started. Returns 0, or -ENOMEM when an allocation failed. */
int cluster_init(struct cluster *cluster, int nodes, const struct acm_engine_config *config);
/* The same with a configuration for each node, [0 .. nodes - 1]. */
int cluster_init_each(struct cluster *cluster, int nodes, const struct acm_engine_config *configs);
/* Ports and addresses appear; runs until all have joined, where they can. */
void cluster_start(struct cluster *cluster);
/* Fails the test where memory leaks. */
void cluster_destroy(struct cluster *cluster);
/* Every request was answered once, was cancelled, or waits; the engines agree. Fails the test else.
 */
void cluster_check(struct cluster *cluster);

/* Runs everything that is due up to `time`, which then is now. */
void cluster_run_until(struct cluster *cluster, uint64_t time);
void cluster_run_for(struct cluster *cluster, uint64_t duration);
/* Memberships of a node that the SA knows of. */
int cluster_memberships(const struct cluster *cluster, int node);
/* Groups that a node's endpoints are attached to. */
int cluster_attachments(const struct cluster *cluster, int node);
void cluster_cancel(struct cluster *cluster, int node, uint64_t request);
/* One event at one node, now. */
int cluster_step(struct cluster *cluster, int node, struct acm_event event);

struct acm_engine *cluster_engine(struct cluster *cluster, int node);
uint32_t cluster_counter(struct cluster *cluster, int node, enum acm_counter counter);
struct acm_engine_stats cluster_stats(struct cluster *cluster, int node);
struct acm_port_facts *cluster_port(struct cluster *cluster, int node);
/* Tells the node its port as cluster_port() has it. */
void cluster_port_changed(struct cluster *cluster, int node);
void cluster_add_address(struct cluster *cluster, int node, enum acm_address_type type,
			 const void *data, size_t length);
void cluster_remove_address(struct cluster *cluster, int node, enum acm_address_type type,
			    const void *data, size_t length);

/* A request by name from `node`, source its own name; `to` may be any text. Returns its id. */
uint64_t cluster_ask(struct cluster *cluster, int node, const char *to);
uint64_t cluster_ask_request(struct cluster *cluster, int node, struct acm_request *request);
/* A request to be changed before it is asked. */
struct acm_request cluster_request(struct cluster *cluster, int node, const char *to);
const struct cluster_answer *cluster_answer(struct cluster *cluster, uint64_t id);
/* Node `from` hears a datagram from node `sender` that carries `message`, now. */
void cluster_hear(struct cluster *cluster, int node, int sender, const struct acm_message *message);
struct acm_gid cluster_gid(int node);

#endif
