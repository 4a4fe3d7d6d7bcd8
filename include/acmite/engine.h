/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The resolution engine: a step function without I/O.
 *
 *   acm_engine_step(engine, &event)          one event, with its time
 *   acm_engine_next_action(engine, &action)  until it returns false
 *   acm_engine_deadline(engine)              when to come back with ACM_EVENT_DEADLINE at the
 * latest
 *
 * That is all. The engine owns every timer and never calls out. The same configuration (seed
 * included) and the same events give the same actions, to the byte, on every machine.
 *
 * Ownership: what an event points to is read during acm_engine_step() only. What an action points
 * to belongs to the engine and stays valid until the next acm_engine_step() or
 * acm_engine_destroy(). An engine belongs to one thread at a time.
 */
#ifndef ACMITE_ENGINE_H
#define ACMITE_ENGINE_H

#include <acmite/transport.h>
#include <acmite/types.h>
#include <acmite/wire.h>

struct acm_engine;

enum acm_route_protocol {
	ACM_ROUTE_SA,  /* path records from the SA */
	ACM_ROUTE_ACM, /* the chosen group's attributes with the peer's LID and GID */
};

enum acm_compat {
	ACM_COMPAT_NONE,
	ACM_COMPAT_IBACM, /* as the reference daemon where that differs: see policy.h,
			     docs/acmited.md */
};

struct acm_engine_config {
	uint64_t seed;          /* transaction ids, jitter, hash keys */
	uint64_t address_life;  /* ns, ACM_NEVER: for ever; 0: for those who wait for it alone */
	uint64_t route_life;    /* ns, likewise */
	uint64_t negative_life; /* ns a failure is remembered; 0: not at all */
	uint64_t timeout;       /* ns for one try, on top of the subnet time-out */
	uint32_t retries;       /* further tries after the first */
	uint32_t resolve_depth; /* most multicast requests in flight per endpoint, 1 to 1024 */
	uint32_t sa_depth;      /* most SA transactions in flight per port, 1 to 64 */
	uint32_t recv_depth;    /* receive buffers per endpoint */
	uint8_t min_mtu;        /* code */
	uint8_t min_rate;       /* code */
	enum acm_route_protocol route_protocol;
	enum acm_compat compat;    /* IBACM overrides depths, negative_life and memory_budget */
	bool loopback;             /* answer for own addresses without traffic */
	uint64_t memory_budget;    /* bytes for destinations; the least recently used leave first */
	uint32_t request_limit;    /* most requests waiting at once; more get ACM_STATUS_ENOMEM */
	uint64_t join_backoff_min; /* ns before a failed join is tried again, doubled up to ... */
	uint64_t join_backoff_max; /* ns */
	uint64_t join_verify;      /* ns between checks of a membership that holds; 0: never */
	uint64_t trace_mask;       /* bit per enum acm_trace_type that is wanted */
	char provider[ACM_ADDRESS_MAX]; /* what endpoint queries call the provider, NUL-terminated
					 */
};

/* Fills in every default. */
void acm_engine_config_default(struct acm_engine_config *config);

/* 0, or -EINVAL with `*field` naming the first member that is out of range (a static string). */
int acm_engine_config_check(const struct acm_engine_config *config, const char **field);

/*
 * Makes an engine. `config` and `allocator` are copied. Returns 0, -EINVAL or -ENOMEM; *engine is
 * written on success only and is then the caller's, to be given to acm_engine_destroy().
 */
int acm_engine_create(const struct acm_engine_config *config, const struct acm_allocator *allocator,
		      struct acm_engine **engine);
/* Frees everything. Requests that still wait get no answer. NULL is allowed. */
void acm_engine_destroy(struct acm_engine *engine);

enum acm_port_state {
	ACM_PORT_DOWN = 1,
	ACM_PORT_INIT = 2,
	ACM_PORT_ARMED = 3,
	ACM_PORT_ACTIVE = 4,
};

#define ACM_PORT_GIDS_MAX  16
#define ACM_PORT_PKEYS_MAX 128

/* All that a transport knows of a port. The tables keep their indices: absent entries are zero. */
struct acm_port_facts {
	uint32_t port; /* the transport's number for it, stable while the device stays */
	char device[ACM_ADDRESS_MAX]; /* NUL-terminated */
	uint64_t device_guid;
	uint8_t number;     /* on the device, from 1 */
	uint8_t port_count; /* of the device */
	uint8_t state;      /* enum acm_port_state */
	uint16_t lid;
	uint8_t lmc;
	uint16_t sm_lid;
	uint8_t sm_sl;
	uint8_t subnet_timeout; /* 4.096 us * 2^n */
	uint8_t mtu;            /* active, code */
	uint8_t rate;           /* active, code */
	uint16_t gid_count;
	struct acm_gid gids[ACM_PORT_GIDS_MAX];
	uint16_t pkey_count;
	uint16_t pkeys[ACM_PORT_PKEYS_MAX];
};

enum acm_event_type {
	ACM_EVENT_DEADLINE,        /* time has passed; `time` says how far */
	ACM_EVENT_REQUEST,         /* .request */
	ACM_EVENT_CANCEL,          /* .cancel: the client is gone; no reply comes for it */
	ACM_EVENT_SOURCE_FOUND,    /* .source: answers ACM_ACTION_FIND_SOURCE */
	ACM_EVENT_ADDRESS_ADDED,   /* .address */
	ACM_EVENT_ADDRESS_REMOVED, /* .address */
	ACM_EVENT_RELOAD,          /* learned destinations are dropped, the rest stays */
	/* From a transport: */
	ACM_EVENT_WRITABLE,        /* for the driver; the engine ignores it */
	ACM_EVENT_PORT_CHANGED,    /* .port_facts: the port as it is now */
	ACM_EVENT_PORT_REMOVED,    /* .port */
	ACM_EVENT_REREGISTER,      /* .port: the SM asks for joins anew */
	ACM_EVENT_ENDPOINT_OPENED, /* .opened */
	ACM_EVENT_ATTACHED,        /* .attached */
	ACM_EVENT_DATAGRAM,        /* .datagram */
	ACM_EVENT_SEND_FAILED,     /* .failed */
	ACM_EVENT_SA_ANSWER,       /* .sa */
	ACM_EVENT_SA_FAILED,       /* .failed */
};

/* A datagram as received, its GRH read. */
struct acm_datagram_received {
	uint32_t endpoint;
	uint16_t slid;
	uint8_t sl;
	uint8_t dlid_path_bits;
	uint32_t source_qpn;
	struct acm_gid sgid;
	struct acm_gid dgid; /* the group for a multicast */
	uint32_t flow_label;
	uint8_t hop_limit;
	uint8_t traffic_class;
	const uint8_t *payload;
	uint16_t length;
};

/* An address of this node: on every endpoint of `port` whose P_Key matches in 15 bits. */
struct acm_local_address {
	uint32_t port;
	uint16_t pkey; /* 0: the default partition's endpoint, or the first where there is none */
	struct acm_address address;
	char text[ACM_ADDRESS_MAX]; /* as people wrote it, for endpoint queries; NUL-terminated */
};

struct acm_event {
	enum acm_event_type type;
	uint64_t time; /* ns; not before the previous event's */
	union {
		const struct acm_request *request;
		uint64_t cancel; /* the request's id */
		struct {
			uint64_t cookie;
			int status; /* 0 or negative errno: there is no source */
			struct acm_address address;
		} source;
		const struct acm_local_address *address;
		const struct acm_port_facts *port_facts;
		uint32_t port;
		struct {
			uint32_t endpoint;
			int status;
			uint32_t qpn;
		} opened;
		struct {
			uint64_t cookie;
			int status;
		} attached;
		struct acm_datagram_received datagram;
		struct {
			uint64_t cookie;
			int status; /* negative errno */
		} failed;
		struct {
			uint64_t cookie;
			const uint8_t *mad; /* header, and data of all segments joined */
			uint32_t length;    /* bytes, at least a MAD header's 24 or it is refused */
		} sa;
	};
};

enum acm_action_type {
	ACM_ACTION_OPEN_ENDPOINT,  /* .open */
	ACM_ACTION_CLOSE_ENDPOINT, /* .endpoint */
	ACM_ACTION_ATTACH,         /* .group */
	ACM_ACTION_DETACH,         /* .group */
	ACM_ACTION_SEND,           /* .send */
	ACM_ACTION_SA_SEND,        /* .sa */
	ACM_ACTION_SA_CANCEL,      /* .cookie */
	ACM_ACTION_FIND_SOURCE,    /* .find: which local address would this host use to reach it? */
	ACM_ACTION_REPLY,          /* .reply */
	ACM_ACTION_TRACE,          /* .trace */
};

struct acm_trace;

struct acm_action {
	enum acm_action_type type;
	union {
		struct {
			uint32_t endpoint;
			uint32_t port;
			uint16_t pkey;
			uint32_t qkey;
			uint32_t recv_depth;
		} open;
		uint32_t endpoint;
		struct {
			uint64_t cookie;
			uint32_t endpoint;
			uint16_t mlid;
			struct acm_gid mgid;
		} group;
		struct {
			struct acm_datagram datagram;
			uint64_t cookie;
		} send;
		struct {
			uint32_t port;
			uint16_t pkey_index;
			const uint8_t *mad; /* ACM_MAD_LENGTH bytes */
			uint64_t cookie;
		} sa;
		uint64_t cookie;
		struct {
			uint64_t cookie;
			struct acm_address destination;
		} find;
		const struct acm_reply *reply;
		const struct acm_trace *trace;
	};
};

/*
 * Takes one event. 0, or a negative errno when that cannot be (-EINVAL: time went back, unknown
 * type; -EBUSY: actions of the step before were not pulled); then nothing changed. Lack of memory
 * is not an error of the step: who asked is told (ACM_STATUS_ENOMEM), the rest goes on.
 */
int acm_engine_step(struct acm_engine *engine, const struct acm_event *event);
bool acm_engine_next_action(struct acm_engine *engine, struct acm_action *action);
/* ACM_NEVER when nothing is due. */
uint64_t acm_engine_deadline(const struct acm_engine *engine);

/* What the engine has done since it was made. The first seven are the client protocol's. */
enum acm_counter {
	ACM_COUNTER_ERROR,
	ACM_COUNTER_RESOLVE,
	ACM_COUNTER_NODATA,
	ACM_COUNTER_ADDR_QUERY,  /* multicast requests begun */
	ACM_COUNTER_ADDR_CACHE,  /* addresses answered from the cache */
	ACM_COUNTER_ROUTE_QUERY, /* SA path queries begun */
	ACM_COUNTER_ROUTE_CACHE,
	ACM_COUNTER_WIRE_COUNT, /* that many go to clients */
	ACM_COUNTER_REQUESTS = ACM_COUNTER_WIRE_COUNT,
	ACM_COUNTER_ANSWERS,
	ACM_COUNTER_CANCELLED,
	ACM_COUNTER_COALESCED,      /* requests that joined one already under way */
	ACM_COUNTER_NEGATIVE_CACHE, /* requests answered by a remembered failure */
	ACM_COUNTER_MULTICASTS,     /* datagrams, retries included */
	ACM_COUNTER_SA_SENT,        /* MADs, retries and joins included */
	ACM_COUNTER_RETRIES,
	ACM_COUNTER_HEARD,    /* requests of others */
	ACM_COUNTER_ANSWERED, /* of those, for an address of this node */
	ACM_COUNTER_LEARNED,
	ACM_COUNTER_EVICTED,
	ACM_COUNTER_EXPIRED,
	ACM_COUNTER_DROPPED, /* datagrams and SA answers that were wrong or unexpected */
	ACM_COUNTER_JOINS,
	ACM_COUNTER_JOIN_FAILURES,
	ACM_COUNTER_UNATTENDED, /* look-ups not begun, or ended, as too many go on unattended */
	ACM_COUNTER_COUNT,
};

/* The snake_case name of a counter, static. */
const char *acm_counter_name(enum acm_counter counter);

struct acm_engine_stats {
	uint64_t counters[ACM_COUNTER_COUNT];
	uint64_t destinations; /* cached now */
	uint64_t memory;       /* bytes of destinations now, table included */
	uint64_t waiting;      /* requests not answered yet */
	uint32_t endpoints;
	uint32_t endpoints_ready; /* all memberships hold, or there is no address to need them */
};
void acm_engine_stats(const struct acm_engine *engine, struct acm_engine_stats *stats);

/*
 * The ports that the engine was told of, as it was told last, in the order of their numbers: the
 * `index`-th from 0, NULL behind the last. Valid until the next acm_engine_step().
 */
const struct acm_port_facts *acm_engine_port(const struct acm_engine *engine, uint32_t index);

#endif
