/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ibsim control's own object: what its files share. */
#ifndef ACMITE_SIM_IBSIM_SUBNET_H
#define ACMITE_SIM_IBSIM_SUBNET_H

#include "control.h"
#include "ibsim_events.h"
#include "ibsim_members.h"
#include "ibsim_partitions.h"
#include "ibsim_pool.h"
#include "ibsim_ports.h"
#include "ibsim_process.h"
#include "ibsim_survey.h"
#include "ibsim_tables.h"

/* Files in the scratch folder. */
#define IBSIM_NETLIST        "netlist"
#define IBSIM_LOG            "ibsim.log"
#define IBSIM_PARTITIONS     "partitions.conf"
#define IBSIM_OPENSM_OPTIONS "opensm.conf"
#define IBSIM_OPENSM_LOG     "opensm.log"
#define IBSIM_OPENSM_OUTPUT  "opensm.out"
#define IBSIM_OPENSM_FOLDER  "opensm"            /* where it runs, caches and dumps */
#define IBSIM_DUMP           "opensm-subnet.lst" /* in that; written when a sweep is done */

/*
 * 4.096 us * 2^14 is 67 ms, for OpenSM and for what ports say. ibsim's ports keep 31, over two
 * hours, whatever the SM sets.
 */
#define IBSIM_SUBNET_TIMEOUT 14

struct ibsim_subnet {
	struct sim_control control; /* first */
	const struct sim_topology *topology;
	char scratch[PATH_MAX];
	char socket_name[64];
	char opensm_program[PATH_MAX];
	char umad2sim[PATH_MAX];
	bool keep_scratch;
	void (*notice)(void *context, const char *text); /* NULL: not, or not yet */
	void *notice_context;
	struct ibsim_child ibsim, opensm;
	bool sweep_again;          /* when it has swept for the first time */
	bool swept;                /* OpenSM has dumped since it was started */
	bool sa_answers;           /* to the ping, since then */
	uint32_t sm;               /* node on which it runs */
	enum sim_lids lids;        /* what it does with them when it starts */
	uint64_t prefix;           /* of the ports' GIDs, that it sets */
	bool asks_nobody;          /* to register again */
	bool reregister;           /* all ports are to be told when it is up ... */
	uint64_t reregister_after; /* ... and their passes have come so far; 0: they need not */
	struct ibsim_partitions partitions;
	bool died;
	bool listing;    /* ibsim was asked for its clients, and has not told them yet */
	long log_offset; /* in its log, of the list */
	char died_text[512];
	int epoll_fd;
	int inotify_fd;
	int log_watch;
	uint32_t node_count;            /* of the pool: switches, then host ports */
	char (*names)[IBSIM_NAME_SIZE]; /* by node of the pool */
	uint32_t port_count;
	uint32_t *first_port;      /* by host's topology index: of its port 1 */
	struct sim_port_ref *refs; /* by port */
	struct ibsim_target *switch_targets, *port_targets;
	struct ibsim_pool *pool;
	struct ibsim_ports ports;
	struct ibsim_tables tables;
	struct ibsim_pass port_pass, unicast_pass, multicast_pass;
	struct ibsim_events events;
	struct ibsim_members members;
};

/* ---- ibsim_nodes.c: the netlist's nodes, and the directed routes to them ---- */

/* Fills in all arrays by node, port and target. 0 or -ENOMEM. */
int ibsim_nodes_init(struct ibsim_subnet *subnet);
void ibsim_nodes_free(struct ibsim_subnet *subnet);
/* Index of a host's port, SIM_NONE when there is none. */
uint32_t ibsim_port_index(const struct ibsim_subnet *subnet, struct sim_port_ref port);

/* ---- ibsim_mads.c ---- */

/* False: nobody on the subnet answers MADs of this class, and they must not get there. */
bool ibsim_takes_mad(const uint8_t *mad);
/* As sim_control_ops.mad_send. */
int ibsim_mad_send(struct sim_control *control, struct sim_port_ref port,
		   const struct sim_mad_route *route, const uint8_t *mad, uint64_t cookie);
/* As sim_control_ops.sa_cancel, for what ibsim_mad_send() took. */
void ibsim_mad_cancel(struct ibsim_subnet *subnet, uint64_t cookie);

/* ---- ibsim_start.c ---- */

void ibsim_scratch_path(const struct ibsim_subnet *subnet, const char *name, char path[PATH_MAX]);
/* Writes OpenSM's file of the partitions as they are. */
int ibsim_write_partitions(const struct ibsim_subnet *subnet);

/* ---- ibsim_opensm.c ---- */

int ibsim_start_opensm(struct ibsim_subnet *subnet);
/* Its process has ended. */
void ibsim_opensm_gone(struct ibsim_subnet *subnet);
/* It has written its dump files. */
void ibsim_opensm_swept(struct ibsim_subnet *subnet);
/* Tells the ports to register again, when a new one has come and what it set has been read. */
void ibsim_opensm_reregister(struct ibsim_subnet *subnet);
/* Asks the SA for its class's PortInfo; the answer sets sa_answers. */
void ibsim_ping_sa(struct ibsim_subnet *subnet);

/* ---- ibsim_control.c ---- */

extern const struct sim_control_ops ibsim_control_ops;

/* What the epoll descriptor's events are about. */
enum ibsim_source {
	IBSIM_SOURCE_POOL,
	IBSIM_SOURCE_IBSIM,
	IBSIM_SOURCE_OPENSM,
	IBSIM_SOURCE_FILES
};
int ibsim_watch(struct ibsim_subnet *subnet, int fd, enum ibsim_source source);
/* Everything may have changed. */
void ibsim_hint_all(struct ibsim_subnet *subnet);
void ibsim_port_changed(void *context, uint32_t port, const struct acm_port_facts *before);
void ibsim_push_port(struct ibsim_subnet *subnet, enum sim_control_event_type type, uint32_t port);
/* From a port of ours; and what became of it, for the fabric. */
int ibsim_send_to_sa(struct ibsim_subnet *subnet, uint32_t port, const uint8_t *mad,
		     ibsim_answer *answer, uint64_t cookie);
void ibsim_sa_answered(void *context, uint64_t cookie, int status, const uint8_t *mad);
/* An SA may have answered so, whoever asked: what it tells of groups is noted. */
void ibsim_note_answer(struct ibsim_subnet *subnet, const uint8_t *mad);
/* One line for ibsim's console. 0, -EAGAIN or -EPIPE. */
int ibsim_console(struct ibsim_subnet *subnet, const char *line);

#endif
