/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RDMA devices that do what a test tells them. Linking fake_hardware.c gives a program these calls
 * of libibverbs and libibumad instead of the libraries' own. One set of devices for each process.
 */
#ifndef ACMITE_TEST_FAKE_HARDWARE_H
#define ACMITE_TEST_FAKE_HARDWARE_H

#include <infiniband/umad.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_DEVICES     4
#define FAKE_PORTS       2
#define FAKE_PKEYS       4
#define FAKE_QUEUE_PAIRS 8
#define FAKE_QUEUES      (2 * FAKE_QUEUE_PAIRS)
#define FAKE_DEPTH       128
#define FAKE_GROUPS      8
#define FAKE_SENT        1024
#define FAKE_REQUESTS    256
#define FAKE_ANSWERS     128

struct fake_port {
	enum ibv_port_state state;
	uint8_t link_layer;
	uint16_t lid;
	uint16_t sm_lid;
	uint8_t sm_sl;
	uint8_t width;
	uint16_t speed; /* from XDR, 256, on the kernel gives NDR's to who knows no better */
	uint64_t prefix;
	uint64_t guid;
	uint8_t lmc;
	uint16_t pkeys[FAKE_PKEYS];
	bool unreadable; /* its tables are */
	/* libibumad's side */
	int umad_error;  /* what opening returns, negative; 0: it opens */
	int umad_errno;  /* and errno then */
	int umad_broken; /* errno that receiving gives; 0: it works */
	int umad_fd;     /* a stream's end, -1: closed */
	int umad_peer;   /* its other end, -1: hung up */
	uint32_t agents; /* registered: a bit for each */
	uint32_t answer_count;
	struct fake_answer {
		uint8_t *mad;
		uint32_t length;
		int status;
	} answers[FAKE_ANSWERS];
};

struct fake_device {
	struct ibv_device device; /* first: the library's users see only this */
	struct ibv_context context;
	bool present;
	bool open;
	bool gone;  /* its descriptors give EIO */
	bool ended; /* and before that, the end of the file */
	int index;
	int open_errno;
	bool without_pd;
	int most_requests; /* what it says of itself */
	int most_completions;
	uint32_t most_handles; /* there is no room for more */
	uint32_t most_groups;
	uint64_t guid;
	int port_count;
	struct fake_port ports[FAKE_PORTS];
	struct ibv_comp_channel channel;
	uint32_t async_count;
	struct ibv_async_event async[64];
};

struct fake_queue {
	struct ibv_cq cq; /* first */
	bool armed;
	bool errors_alone; /* it is armed for */
	bool event_pending;
	uint32_t count;
	struct ibv_wc completions[2 * FAKE_DEPTH];
};

struct fake_queue_pair {
	struct ibv_qp pair; /* first */
	struct fake_queue *received, *sent;
	bool used;
	uint16_t pkey_index;
	uint8_t port;
	uint32_t qkey;
	uint32_t posted_count;
	struct fake_posted {
		uint64_t id;
		uint8_t *bytes;
		uint32_t length;
	} posted[FAKE_DEPTH];
	int depth; /* of receives */
	int send_depth;
	bool keeps_completions; /* a reset does not take back what has completed */
	bool without_grh;       /* what is delivered has none */
	bool hold_sends;        /* sends stay under way */
	int post_send_result;
	enum ibv_wc_status send_status;
	uint32_t held_count;
	uint64_t held[FAKE_DEPTH];
	uint32_t group_count;
	struct fake_group {
		union ibv_gid gid;
		uint16_t lid;
	} groups[FAKE_GROUPS];
};

/* A request that went to an SA. */
struct fake_request {
	struct fake_port *port;
	int agent;
	uint16_t lid;
	uint8_t sl;
	uint32_t qpn;
	uint32_t qkey;
	int pkey_index;
	int timeout_ms;
	uint8_t mad[256];
};

struct fake_hardware {
	struct fake_device devices[FAKE_DEVICES];
	struct fake_queue_pair queue_pairs[FAKE_QUEUE_PAIRS];
	struct fake_queue queues[FAKE_QUEUES];
	uint32_t completion_events; /* that were taken */
	int list_errno;
	uint32_t handle_count; /* address handles that are there */
	uint32_t handles_made;
	uint32_t region_count;
	uint32_t sent_count;
	struct fake_sent {
		struct ibv_ah_attr to;
		uint32_t qpn;
		uint32_t length;
		uint8_t bytes[256];
	} sent[FAKE_SENT];
	uint32_t request_count;
	struct fake_request requests[FAKE_REQUESTS];
	int request_errno; /* that sending gives; 0: it works */
	/* What opening a queue pair meets; 0: it works. */
	int region_errno;
	int modify_error;
	/*
	 * Every call that may fail is counted, for memory too. The one with this number, and so
	 * many after it, fail; 0: none does.
	 */
	uint32_t calls;
	uint32_t fail_first;
	uint32_t fail_count;
	const char *failed; /* the name of the last that did */
	/* What the rules of the libraries forbid; must stay 0. */
	uint32_t events_unacknowledged;
	uint32_t handles_missed; /* destroyed while a send needed it */
	uint32_t buffers_shared; /* posted while another queue pair had it */
	uint32_t agents_lost;    /* opened anew before they were closed */
};

extern struct fake_hardware fake;

/* Nothing is there. */
void fake_reset(void);
/* With one active InfiniBand port, LID 5, SM at 1, P_Keys ffff and 8123. */
struct fake_device *fake_add_device(const char *name);
/* The device goes as when it is pulled out; `present` again when it is to come back. */
void fake_remove_device(struct fake_device *device);
/* Receiving from its umad file fails. */
void fake_break_umad(struct fake_port *port);
/* Its umad file is at its end, and says only that there is nothing to read. */
void fake_hang_up_umad(struct fake_port *port);
void fake_async(struct fake_device *device, enum ibv_event_type type, int port);
/* As the kernel registers it anew, with all as it was, under the same name. */
void fake_replace_device(struct fake_device *device);

/* The queue pair opened last, or of this number. */
struct fake_queue_pair *fake_queue_pair(uint32_t number);
struct fake_queue_pair *fake_last_queue_pair(void);
/* A datagram, with a GRH, into its next receive buffer. False: there is none. */
bool fake_deliver(struct fake_queue_pair *pair, const void *payload, uint32_t length);
/* The next receive buffer completes so. */
void fake_fail_receive(struct fake_queue_pair *pair, enum ibv_wc_status status);
/* As hardware must not: what completed last, and was not taken yet, completes again. */
void fake_repeat_completion(struct fake_queue_pair *pair);
/* What is held completes. */
void fake_complete_sends(struct fake_queue_pair *pair);
/* The queue pair goes to this state; in ERR all that is posted is flushed. */
void fake_break(struct fake_queue_pair *pair, enum ibv_qp_state state);

/* Answers a request as the kernel does: its number for the agent in the high half of the tid. */
void fake_answer(const struct fake_request *request, const uint8_t *mad, uint32_t length);
/* The kernel gives up a request. */
void fake_give_up(const struct fake_request *request, int status);

#endif
