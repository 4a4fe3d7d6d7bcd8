/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_queue_pair.h"

#include "verbs_completion.h"
#include "verbs_device.h"
#include "verbs_error.h"
#include "verbs_groups.h"
#include "verbs_pair_states.h"
#include "verbs_trouble.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In a work request's id, beside the number of its buffer. */
#define SENT (UINT64_C(1) << 32)

/* Completions that are taken from the hardware at once. */
#define BATCH 16

/* A queue pair that breaks so often between two looks is left alone until the next. */
#define REPAIRS_MAX 8

enum buffer_state {
	BUFFER_IDLE,   /* nobody has it: to be posted */
	BUFFER_POSTED, /* the hardware has it */
	BUFFER_HELD,   /* the user has it, or will */
};

/* Of its breaking; forgotten when it has not broken between two looks. */
enum told { TOLD_NOTHING, TOLD_BROKE, TOLD_NOT_BACK };

struct sending {
	uint64_t cookie;
	struct verbs_handle *handle; /* NULL: the place is free */
};

struct verbs_queue_pair {
	struct verbs_device *device;
	struct verbs_queue_pair *next;
	struct verbs_queue_pair_options options;
	struct ibv_cq *received;
	struct ibv_cq *sent; /* tells of errors alone, unless a send waits for room */
	struct ibv_qp *pair;
	struct verbs_groups groups;
	struct verbs_buffers receiving;
	uint8_t *states; /* of the receive buffers: enum buffer_state */
	uint32_t idle;   /* receive buffers to be posted */
	struct verbs_buffers sending;
	struct sending sends[VERBS_SEND_DEPTH];
	uint32_t send_depth;
	uint32_t send_count;
	bool full;        /* the latest send found no room, and none has ended since */
	bool stuck;       /* at the last look sends were under way, and none has ended since */
	bool suspect;     /* a completion said that something is wrong */
	bool broken;      /* of no use until it has been brought back */
	uint32_t repairs; /* since the last look */
	enum told told;
	bool refused;      /* some datagram was, since the last look */
	bool refusal_told; /* until there was none from one look to the next */
};

/* ---- receive buffers ---- */

static int post(struct verbs_queue_pair *queue_pair, uint32_t number)
{
	struct ibv_sge sge = verbs_buffer_sge(&queue_pair->receiving, number);
	struct ibv_recv_wr request = {.wr_id = number, .sg_list = &sge, .num_sge = 1}, *bad;
	int error = verbs_error(ibv_post_recv(queue_pair->pair, &request, &bad));

	if (!error) {
		queue_pair->states[number] = BUFFER_POSTED;
		queue_pair->idle--;
	}
	return error;
}

static int post_idle(struct verbs_queue_pair *queue_pair)
{
	int error = 0;

	for (uint32_t i = 0; i < queue_pair->receiving.count && queue_pair->idle && !error; i++) {
		if (queue_pair->states[i] == BUFFER_IDLE)
			error = post(queue_pair, i);
	}
	return error;
}

static void retire(struct verbs_queue_pair *queue_pair, uint32_t number)
{
	queue_pair->states[number] = BUFFER_IDLE;
	queue_pair->idle++;
}

void verbs_queue_pair_release(struct verbs_queue_pair *queue_pair, uint32_t buffer)
{
	retire(queue_pair, buffer);
	/* What cannot be posted now is tried again with the next one. */
	if (queue_pair->idle == 1)
		post(queue_pair, buffer);
	else
		post_idle(queue_pair);
}

/* ---- completions ---- */

static void take_datagram(struct verbs_queue_pair *queue_pair, const struct ibv_wc *completion)
{
	uint32_t number = (uint32_t)completion->wr_id;
	const uint8_t *bytes = verbs_buffer_bytes(&queue_pair->receiving, number);
	struct verbs_event event = {.queue_pair = queue_pair, .buffer = number};

	event.event.type = ACM_EVENT_DATAGRAM;
	event.event.datagram.endpoint = queue_pair->options.endpoint;
	if (!verbs_completion_datagram(completion, bytes, &event.event.datagram)) {
		retire(queue_pair, number);
		return;
	}
	queue_pair->states[number] = BUFFER_HELD;
	if (verbs_push(queue_pair->device->transport, &event))
		retire(queue_pair, number); /* lost, as on a full link */
}

static void end_send(struct verbs_queue_pair *queue_pair, uint32_t number, int status)
{
	struct sending *sending = &queue_pair->sends[number];
	struct verbs_event event = {.queue_pair = queue_pair};

	verbs_handle_release(sending->handle);
	sending->handle = NULL;
	queue_pair->send_count--;
	queue_pair->stuck = queue_pair->full = false;
	verbs_note_progress(queue_pair->device->transport);
	if (!status)
		return;
	event.event.type = ACM_EVENT_SEND_FAILED;
	event.event.failed.cookie = sending->cookie;
	event.event.failed.status = status;
	verbs_push(queue_pair->device->transport, &event);
}

/* Hardware may be wrong, and its driver: what is not under way cannot end. */
static bool is_ours(const struct verbs_queue_pair *queue_pair, uint64_t id)
{
	uint32_t number = (uint32_t)id;

	if (id & SENT)
		return number < queue_pair->send_depth && queue_pair->sends[number].handle;
	return number < queue_pair->receiving.count && queue_pair->states[number] == BUFFER_POSTED;
}

static void take(struct verbs_queue_pair *queue_pair, const struct ibv_wc *completion)
{
	uint32_t number = (uint32_t)completion->wr_id;
	int status = verbs_completion_status(completion);

	if (!is_ours(queue_pair, completion->wr_id))
		return;
	if (status)
		queue_pair->suspect = true;
	if (completion->wr_id & SENT)
		end_send(queue_pair, number, status);
	else if (status)
		retire(queue_pair, number);
	else
		take_datagram(queue_pair, completion);
}

static void poll_dry(struct verbs_queue_pair *queue_pair, struct ibv_cq *queue)
{
	struct ibv_wc completions[BATCH];
	int count;

	do {
		count = ibv_poll_cq(queue, BATCH, completions);
		for (int i = 0; i < count; i++)
			take(queue_pair, &completions[i]);
	} while (count == BATCH);
	if (count < 0)
		verbs_device_fail(queue_pair->device);
}

static void poll_all(struct verbs_queue_pair *queue_pair)
{
	poll_dry(queue_pair, queue_pair->received);
	poll_dry(queue_pair, queue_pair->sent);
}

/*
 * Asks for an event, before looking: what comes in between is told of, or seen. That a send has
 * ended well is no news to anybody, and worth no interrupt, unless another waits for its place.
 */
static int arm(struct verbs_queue_pair *queue_pair, struct ibv_cq *queue)
{
	int errors_alone = queue == queue_pair->sent && !queue_pair->full;

	return verbs_error(ibv_req_notify_cq(queue, errors_alone));
}

/* ---- repair ---- */

/* What the hardware held is ours again, and nothing of it will complete any more. */
static void reclaim(struct verbs_queue_pair *queue_pair)
{
	for (uint32_t i = 0; i < queue_pair->receiving.count; i++) {
		if (queue_pair->states[i] == BUFFER_POSTED)
			retire(queue_pair, i);
	}
	for (uint32_t i = 0; i < queue_pair->send_depth; i++) {
		if (queue_pair->sends[i].handle)
			end_send(queue_pair, i, -ECANCELED);
	}
}

/* From the reset state. */
static int set_going(struct verbs_queue_pair *queue_pair)
{
	const struct verbs_pair_attributes attributes = {
		.port = queue_pair->options.port,
		.pkey_index = queue_pair->options.pkey_index,
		.qkey = queue_pair->options.qkey,
	};
	int error = verbs_pair_initialise(queue_pair->pair, &attributes);

	if (!error)
		error = post_idle(queue_pair);
	if (!error)
		error = verbs_pair_start(queue_pair->pair);
	return error;
}

static void tell(struct verbs_queue_pair *queue_pair, enum told what, const char *outcome)
{
	if (queue_pair->told >= what)
		return;
	queue_pair->told = what;
	verbs_say(queue_pair->device->transport, "%s port %u: queue pair 0x%06x %s",
		  queue_pair->device->name, queue_pair->options.port, queue_pair->pair->qp_num,
		  outcome);
}

static void restart(struct verbs_queue_pair *queue_pair)
{
	int error;

	/* Completions of before must not be taken for those of after. */
	poll_all(queue_pair);
	verbs_groups_suspend(&queue_pair->groups, queue_pair->pair);
	error = verbs_pair_reset(queue_pair->pair);
	if (!error) {
		reclaim(queue_pair);
		error = set_going(queue_pair);
	}
	if (!error)
		error = verbs_groups_resume(&queue_pair->groups, queue_pair->pair);
	queue_pair->suspect = false;
	queue_pair->broken = error != 0;
	tell(queue_pair, error ? TOLD_NOT_BACK : TOLD_BROKE,
	     error ? "broke and could not be brought back; it is tried again"
		   : "broke and was brought back");
}

void verbs_queue_pair_repair(struct verbs_queue_pair *queue_pair)
{
	enum ibv_qp_state state;

	queue_pair->suspect = false;
	if (queue_pair->broken)
		return; /* until the next look */
	/* Of one that does not say how it is the worst is assumed, when it is looked at. */
	queue_pair->broken = verbs_pair_state(queue_pair->pair, &state) != 0;
	if (queue_pair->broken || (state != IBV_QPS_SQE && state != IBV_QPS_ERR))
		return; /* one work request was wrong, the queue pair is not */
	if (queue_pair->repairs == REPAIRS_MAX) {
		queue_pair->broken = true;
		tell(queue_pair, TOLD_NOT_BACK,
		     "breaks again and again and is left alone for a while");
		return;
	}
	queue_pair->repairs++;
	if (state != IBV_QPS_SQE || verbs_pair_resume(queue_pair->pair))
		restart(queue_pair);
}

void verbs_queue_pair_complete(struct verbs_queue_pair *queue_pair, struct ibv_cq *queue)
{
	if (arm(queue_pair, queue))
		verbs_device_fail(queue_pair->device);
	poll_all(queue_pair);
	if (queue_pair->suspect)
		verbs_queue_pair_repair(queue_pair);
	if (!queue_pair->broken)
		post_idle(queue_pair);
}

void verbs_queue_pair_look(struct verbs_queue_pair *queue_pair)
{
	if (!queue_pair->repairs && !queue_pair->broken)
		queue_pair->told = TOLD_NOTHING;
	queue_pair->refusal_told = queue_pair->refused;
	queue_pair->refused = false;
	queue_pair->repairs = 0;
	poll_all(queue_pair);
	/* A send that does not end keeps all others waiting, of other queue pairs too. */
	if (queue_pair->broken || queue_pair->stuck)
		restart(queue_pair);
	queue_pair->stuck = queue_pair->send_count > 0;
	if (arm(queue_pair, queue_pair->sent))
		verbs_device_fail(queue_pair->device);
	verbs_queue_pair_complete(queue_pair, queue_pair->received);
}

/* ---- sending and groups ---- */

static struct verbs_port *port_of(const struct verbs_queue_pair *queue_pair)
{
	return &queue_pair->device->ports[queue_pair->options.port - 1];
}

static uint32_t free_place(const struct verbs_queue_pair *queue_pair)
{
	uint32_t number = 0;

	while (queue_pair->sends[number].handle)
		number++;
	return number;
}

static int post_send(struct verbs_queue_pair *queue_pair, uint32_t number,
		     const struct acm_datagram *datagram)
{
	struct ibv_sge sge = verbs_buffer_sge(&queue_pair->sending, number);
	struct ibv_send_wr request = {.wr_id = number | SENT,
				      .sg_list = &sge,
				      .num_sge = 1,
				      .opcode = IBV_WR_SEND,
				      .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	if (datagram->length)
		memcpy(verbs_buffer_bytes(&queue_pair->sending, number), datagram->payload,
		       datagram->length);
	else
		request.num_sge = 0; /* a length of 0 means 2^31 to some hardware */
	sge.length = datagram->length;
	request.wr.ud.ah = queue_pair->sends[number].handle->ah;
	request.wr.ud.remote_qpn = datagram->qpn;
	request.wr.ud.remote_qkey = datagram->qkey;
	return verbs_error(ibv_post_send(queue_pair->pair, &request, &bad));
}

/* Nothing was taken. That a further try is worth it is told when a send has ended, which may be
 * now. */
static int refuse(struct verbs_queue_pair *queue_pair)
{
	int error;

	queue_pair->device->transport->refused = queue_pair->full = true;
	error = arm(queue_pair, queue_pair->sent);
	if (error)
		return error;
	poll_dry(queue_pair, queue_pair->sent);
	return -EAGAIN;
}

/* Sends of any queue pair may have the address handles that are wanted. */
static int refuse_all(struct verbs_device *device)
{
	int error = -EAGAIN;

	for (struct verbs_queue_pair *at = device->queue_pairs; at && error == -EAGAIN;
	     at = at->next)
		error = refuse(at);
	return error;
}

static int try_send(struct verbs_queue_pair *queue_pair, const struct acm_datagram *datagram,
		    uint64_t cookie)
{
	uint32_t number;
	int error;

	/* What has been sent meanwhile makes room. */
	poll_dry(queue_pair, queue_pair->sent);
	if (queue_pair->send_count == queue_pair->send_depth)
		return refuse(queue_pair);
	number = free_place(queue_pair);
	queue_pair->sends[number].cookie = cookie;
	error = verbs_handles_get(queue_pair->device->handles, queue_pair->options.port, datagram,
				  &queue_pair->sends[number].handle);
	if (error)
		return error == -EAGAIN ? refuse_all(queue_pair->device) : error;
	error = post_send(queue_pair, number, datagram);
	if (error) {
		verbs_handle_release(queue_pair->sends[number].handle);
		queue_pair->sends[number].handle = NULL;
		/* The hardware's queue is full, and has something of ours to finish. */
		return error == -ENOMEM && queue_pair->send_count ? refuse(queue_pair) : error;
	}
	queue_pair->send_count++;
	return 0;
}

static void note_refusal(struct verbs_queue_pair *queue_pair, int error)
{
	if (!queue_pair->refusal_told)
		verbs_trouble_sending(port_of(queue_pair), queue_pair->options.pkey, error);
	queue_pair->refused = queue_pair->refusal_told = true;
}

int verbs_queue_pair_send(struct verbs_queue_pair *queue_pair, const struct acm_datagram *datagram,
			  uint64_t cookie)
{
	int error;

	if (datagram->length > ACM_DATAGRAM_MAX)
		return -EMSGSIZE;
	/* It would wait for ever, and others behind it, of other ports too. */
	if (queue_pair->broken || port_of(queue_pair)->facts.state != ACM_PORT_ACTIVE)
		return -ENETDOWN;
	error = try_send(queue_pair, datagram, cookie);
	if (error && error != -EAGAIN)
		note_refusal(queue_pair, error);
	return error;
}

int verbs_queue_pair_attach(struct verbs_queue_pair *queue_pair, const struct acm_gid *mgid,
			    uint16_t mlid)
{
	int error = verbs_groups_attach(&queue_pair->groups, queue_pair->pair, mgid, mlid);

	verbs_trouble_joining(port_of(queue_pair), queue_pair->options.pkey, error);
	return error;
}

int verbs_queue_pair_detach(struct verbs_queue_pair *queue_pair, const struct acm_gid *mgid,
			    uint16_t mlid)
{
	return verbs_groups_detach(&queue_pair->groups, queue_pair->pair, mgid, mlid);
}

/* ---- opening and closing ---- */

static int create_queue(struct verbs_queue_pair *queue_pair, uint32_t depth, struct ibv_cq **queue)
{
	struct verbs_device *device = queue_pair->device;

	errno = ENOMEM;
	*queue = ibv_create_cq(device->context, (int)depth, queue_pair, device->channel, 0);
	if (!*queue)
		return errno == EAGAIN ? -ENOMEM : -errno;
	return arm(queue_pair, *queue);
}

static int create_pair(struct verbs_queue_pair *queue_pair, uint32_t depth)
{
	struct ibv_qp_init_attr attr = {
		.qp_context = queue_pair,
		.cap = {.max_send_wr = queue_pair->send_depth,
			.max_recv_wr = depth,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_UD,
	};
	int error = create_queue(queue_pair, depth, &queue_pair->received);

	if (!error)
		error = create_queue(queue_pair, queue_pair->send_depth, &queue_pair->sent);
	if (error)
		return error;
	attr.send_cq = queue_pair->sent;
	attr.recv_cq = queue_pair->received;
	errno = ENOMEM;
	queue_pair->pair = ibv_create_qp(queue_pair->device->pd, &attr);
	if (!queue_pair->pair)
		return errno == EAGAIN ? -ENOMEM : -errno;
	return 0;
}

static uint32_t least(uint32_t one, uint32_t other)
{
	return one < other ? one : other;
}

/* What the hardware has room for: of what was asked for, and of sends. */
static uint32_t set_depths(struct verbs_queue_pair *queue_pair)
{
	const struct verbs_device *device = queue_pair->device;
	uint32_t most = least(device->most_requests, device->most_completions);

	queue_pair->send_depth = least(VERBS_SEND_DEPTH, most);
	return least(queue_pair->options.recv_depth, most);
}

static int set_up(struct verbs_queue_pair *queue_pair)
{
	struct verbs_slab *slab = &queue_pair->device->slab;
	uint32_t depth = set_depths(queue_pair);
	int error = verbs_slab_take(slab, depth, &queue_pair->receiving);

	if (!error)
		error = verbs_slab_take(slab, queue_pair->send_depth, &queue_pair->sending);
	if (error)
		return error;
	queue_pair->states = calloc(depth + 1, 1);
	if (!queue_pair->states)
		return -ENOMEM;
	queue_pair->idle = depth;
	error = create_pair(queue_pair, depth);
	return error ? error : set_going(queue_pair);
}

/*
 * What the hardware does not give back it may still write to: then only closing the device ends it,
 * and nothing is opened on it until then.
 */
static void destroy_pair(struct verbs_queue_pair *queue_pair)
{
	if (queue_pair->pair) {
		verbs_groups_suspend(&queue_pair->groups, queue_pair->pair);
		if (ibv_destroy_qp(queue_pair->pair))
			verbs_device_fail(queue_pair->device);
	}
	if (queue_pair->received && ibv_destroy_cq(queue_pair->received))
		verbs_device_fail(queue_pair->device);
	if (queue_pair->sent && ibv_destroy_cq(queue_pair->sent))
		verbs_device_fail(queue_pair->device);
}

static void dismantle(struct verbs_queue_pair *queue_pair)
{
	destroy_pair(queue_pair);
	verbs_groups_free(&queue_pair->groups);
	for (uint32_t i = 0; i < VERBS_SEND_DEPTH; i++) {
		if (queue_pair->sends[i].handle)
			verbs_handle_release(queue_pair->sends[i].handle);
	}
	verbs_slab_give_back(&queue_pair->receiving);
	verbs_slab_give_back(&queue_pair->sending);
	free(queue_pair->states);
	free(queue_pair);
}

int verbs_queue_pair_open(struct verbs_device *device,
			  const struct verbs_queue_pair_options *options,
			  struct verbs_queue_pair **queue_pair)
{
	struct verbs_queue_pair *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return -ENOMEM;
	made->device = device;
	made->options = *options;
	error = set_up(made);
	if (error) {
		dismantle(made);
		return error;
	}
	made->next = device->queue_pairs;
	device->queue_pairs = made;
	*queue_pair = made;
	return 0;
}

void verbs_queue_pair_close(struct verbs_queue_pair *queue_pair)
{
	struct verbs_transport *transport = queue_pair->device->transport;
	struct verbs_queue_pair **at = &queue_pair->device->queue_pairs;

	while (*at != queue_pair)
		at = &(*at)->next;
	*at = queue_pair->next;
	verbs_events_forget(&transport->events, queue_pair);
	if (queue_pair->send_count)
		verbs_note_progress(transport);
	dismantle(queue_pair);
}

struct verbs_queue_pair *verbs_queue_pair_find(const struct verbs_transport *transport,
					       uint32_t endpoint)
{
	for (struct verbs_device *device = transport->devices; device; device = device->next) {
		for (struct verbs_queue_pair *at = device->queue_pairs; at; at = at->next) {
			if (at->options.endpoint == endpoint)
				return at;
		}
	}
	return NULL;
}

struct verbs_queue_pair *verbs_queue_pair_next(const struct verbs_queue_pair *queue_pair)
{
	return queue_pair->next;
}

uint32_t verbs_queue_pair_number(const struct verbs_queue_pair *queue_pair)
{
	return queue_pair->pair->qp_num;
}
