/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fake_hardware.h"

#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

struct fake_hardware fake;

/* An address handle and how many sends under way use it. */
struct fake_handle {
	struct ibv_ah ah;
	struct ibv_ah_attr attr;
	uint32_t sending;
};

static struct fake_handle *held_handles[FAKE_QUEUE_PAIRS][FAKE_DEPTH];

static void signal_fd(int fd)
{
	uint64_t one = 1;

	assert(write(fd, &one, sizeof(one)) == sizeof(one));
}

static void clear_fd(int fd)
{
	uint64_t count;

	(void)!read(fd, &count, sizeof(count));
}

static struct fake_device *device_of(struct ibv_context *context)
{
	return (struct fake_device *)((char *)context - offsetof(struct fake_device, context));
}

static struct fake_queue_pair *pair_of(struct ibv_qp *pair)
{
	return (struct fake_queue_pair *)pair;
}

static struct fake_queue *queue_of(struct ibv_cq *cq)
{
	return (struct fake_queue *)cq;
}

/* Whether the call that begins is to fail. */
static bool fails(const char *call)
{
	uint32_t number = ++fake.calls;

	if (!fake.fail_first || number < fake.fail_first ||
	    number >= fake.fail_first + fake.fail_count)
		return false;
	fake.failed = call;
	errno = EIO;
	return true;
}

/* ---- memory: the linker has these called in place of the library's ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

/* The devices' own does not count. */
#define malloc __real_malloc
#define calloc __real_calloc

static bool is_out_of_memory(void)
{
	bool failed = fails("memory");

	if (failed)
		errno = ENOMEM;
	return failed;
}

void *__wrap_malloc(size_t size)
{
	return is_out_of_memory() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return is_out_of_memory() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return is_out_of_memory() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return is_out_of_memory() ? NULL : __real_reallocarray(old, count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return is_out_of_memory() ? NULL : __real_aligned_alloc(alignment, size);
}

/* ---- what tests do ---- */

void fake_reset(void)
{
	for (int i = 0; i < FAKE_DEVICES; i++) {
		for (int port = 0; port < FAKE_PORTS; port++) {
			struct fake_port *at = &fake.devices[i].ports[port];

			for (uint32_t j = 0; j < at->answer_count; j++)
				free(at->answers[j].mad);
		}
	}
	memset(&fake, 0, sizeof(fake));
}

struct fake_device *fake_add_device(const char *name)
{
	static int last_index;
	struct fake_device *device = fake.devices;

	while (device->present)
		device++;
	memset(device, 0, sizeof(*device));
	device->present = true;
	strcpy(device->device.name, name);
	device->device.node_type = IBV_NODE_CA;
	device->device.transport_type = IBV_TRANSPORT_IB;
	device->index = ++last_index;
	device->most_requests = FAKE_DEPTH;
	device->most_completions = 4 * FAKE_DEPTH;
	device->most_handles = UINT32_MAX;
	device->most_groups = UINT32_MAX;
	device->guid = 0x1000 + (uint64_t)(device - fake.devices);
	device->port_count = 1;
	for (int i = 0; i < FAKE_PORTS; i++)
		device->ports[i] = (struct fake_port){
			.state = IBV_PORT_ACTIVE,
			.link_layer = IBV_LINK_LAYER_INFINIBAND,
			.lid = (uint16_t)(5 + i),
			.sm_lid = 1,
			.sm_sl = 3,
			.width = 2,
			.speed = 32,
			.prefix = 0xfe80000000000000,
			.guid = 0x2000 + (uint64_t)(device - fake.devices) * 16 + (uint64_t)i,
			.pkeys = {0xffff, 0x8123},
			.umad_fd = -1,
			.umad_peer = -1,
		};
	return device;
}

void fake_break_umad(struct fake_port *port)
{
	port->umad_broken = EIO;
	if (port->umad_fd >= 0)
		signal_fd(port->umad_peer);
}

void fake_hang_up_umad(struct fake_port *port)
{
	close(port->umad_peer);
	port->umad_peer = -1;
}

void fake_remove_device(struct fake_device *device)
{
	device->present = false;
	fake_async(device, IBV_EVENT_DEVICE_FATAL, 0);
	for (int i = 0; i < FAKE_PORTS; i++)
		fake_break_umad(&device->ports[i]);
	device->gone = true;
}

void fake_replace_device(struct fake_device *device)
{
	device->index += 100;
	device->gone = device->open;
}

void fake_async(struct fake_device *device, enum ibv_event_type type, int port)
{
	struct ibv_async_event *event = &device->async[device->async_count++];

	event->event_type = type;
	event->element.port_num = port;
	if (type == IBV_EVENT_QP_FATAL)
		event->element.qp = &fake_last_queue_pair()->pair;
	signal_fd(device->context.async_fd);
}

struct fake_queue_pair *fake_queue_pair(uint32_t number)
{
	for (int i = 0; i < FAKE_QUEUE_PAIRS; i++) {
		if (fake.queue_pairs[i].used && fake.queue_pairs[i].pair.qp_num == number)
			return &fake.queue_pairs[i];
	}
	return NULL;
}

struct fake_queue_pair *fake_last_queue_pair(void)
{
	struct fake_queue_pair *last = NULL;

	for (int i = 0; i < FAKE_QUEUE_PAIRS; i++) {
		struct fake_queue_pair *at = &fake.queue_pairs[i];

		if (at->used && (!last || at->pair.qp_num > last->pair.qp_num))
			last = at;
	}
	return last;
}

static void complete(struct fake_queue *queue, const struct ibv_wc *completion)
{
	assert(queue->count < 2 * FAKE_DEPTH);
	queue->completions[queue->count++] = *completion;
	if (!queue->armed || (queue->errors_alone && completion->status == IBV_WC_SUCCESS))
		return;
	queue->armed = false;
	queue->event_pending = true;
	signal_fd(queue->cq.channel->fd);
}

static bool take_posted(struct fake_queue_pair *pair, struct fake_posted *posted)
{
	if (!pair->posted_count)
		return false;
	*posted = pair->posted[0];
	memmove(pair->posted, pair->posted + 1, --pair->posted_count * sizeof(*posted));
	return true;
}

bool fake_deliver(struct fake_queue_pair *pair, const void *payload, uint32_t length)
{
	/* Version 6, traffic class 0x5a, flow label 0xabcde; hop limit 7; SGID fe80::..77. */
	static const uint8_t grh[40] = {0x65, 0xaa, 0xbc, 0xde, 0,    0,    0x1b, 7, 0xfe, 0x80,
					0,    0,    0,    0,    0,    0,    0,    0, 0,    0,
					0,    0,    0,    0x77, 0xfe, 0x80, 0,    0, 0,    0,
					0,    0,    0,    0,    0,    0,    0,    0, 0x20, 0};
	struct fake_posted posted;

	if (!take_posted(pair, &posted))
		return false;
	assert(length + 40 <= posted.length);
	memcpy(posted.bytes, grh, sizeof(grh));
	memcpy(posted.bytes + 40, payload, length);
	complete(pair->received, &(struct ibv_wc){.wr_id = posted.id,
						  .status = IBV_WC_SUCCESS,
						  .opcode = IBV_WC_RECV,
						  .byte_len = length + 40,
						  .src_qp = 0x99,
						  .slid = 9,
						  .sl = 2,
						  .dlid_path_bits = 1,
						  .wc_flags = pair->without_grh ? 0 : IBV_WC_GRH});
	return true;
}

void fake_fail_receive(struct fake_queue_pair *pair, enum ibv_wc_status status)
{
	struct fake_posted posted;

	assert(take_posted(pair, &posted));
	complete(pair->received, &(struct ibv_wc){.wr_id = posted.id, .status = status});
}

void fake_repeat_completion(struct fake_queue_pair *pair)
{
	struct fake_queue *queue = pair->received->count ? pair->received : pair->sent;
	struct ibv_wc again = queue->completions[queue->count - 1];

	complete(queue, &again);
}

static void end_held(struct fake_queue_pair *pair, enum ibv_wc_status status)
{
	for (uint32_t i = 0; i < pair->held_count; i++) {
		held_handles[pair - fake.queue_pairs][i]->sending--;
		complete(pair->sent, &(struct ibv_wc){.wr_id = pair->held[i], .status = status});
	}
	pair->held_count = 0;
}

void fake_complete_sends(struct fake_queue_pair *pair)
{
	end_held(pair, IBV_WC_SUCCESS);
}

void fake_break(struct fake_queue_pair *pair, enum ibv_qp_state state)
{
	pair->pair.state = state;
	end_held(pair, IBV_WC_WR_FLUSH_ERR);
	while (state == IBV_QPS_ERR && pair->posted_count)
		fake_fail_receive(pair, IBV_WC_WR_FLUSH_ERR);
}

static void queue_answer(struct fake_port *port, const uint8_t *mad, uint32_t length, int status)
{
	struct fake_answer *answer = &port->answers[port->answer_count++];

	assert(port->answer_count <= FAKE_ANSWERS);
	answer->mad = malloc(length);
	assert(answer->mad);
	memcpy(answer->mad, mad, length);
	answer->mad[8] = 0xaa; /* the kernel's number for the agent */
	memcpy(answer->mad + 9, "gen", 3);
	answer->length = length;
	answer->status = status;
	signal_fd(port->umad_peer);
}

void fake_answer(const struct fake_request *request, const uint8_t *mad, uint32_t length)
{
	queue_answer(request->port, mad, length, 0);
}

void fake_give_up(const struct fake_request *request, int status)
{
	queue_answer(request->port, request->mad, 24, status);
}

/* ---- libibverbs: devices ---- */

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list;

	if (fails("ibv_get_device_list"))
		return NULL;
	if (fake.list_errno) {
		errno = fake.list_errno;
		return NULL;
	}
	list = calloc(FAKE_DEVICES + 1, sizeof(*list));
	*count = 0;
	for (int i = 0; i < FAKE_DEVICES; i++) {
		if (fake.devices[i].present)
			list[(*count)++] = &fake.devices[i].device;
	}
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(((struct fake_device *)device)->guid);
}

int ibv_get_device_index(struct ibv_device *device)
{
	return ((struct fake_device *)device)->index;
}

static int poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *completions)
{
	struct fake_queue *queue = queue_of(cq);
	uint32_t count = (uint32_t)most;

	if (fails("ibv_poll_cq"))
		return -1;
	if (count > queue->count)
		count = queue->count;
	memcpy(completions, queue->completions, count * sizeof(*completions));
	queue->count -= count;
	memmove(queue->completions, queue->completions + count,
		queue->count * sizeof(*completions));
	return (int)count;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	struct fake_queue *queue = queue_of(cq);

	if (fails("ibv_req_notify_cq"))
		return EIO;
	/* An adapter that was asked for more than errors still tells of all. */
	queue->errors_alone = solicited && (!queue->armed || queue->errors_alone);
	queue->armed = true;
	return 0;
}

/* Also one that could not be destroyed may still write to what it was given. */
static bool has_another(const struct fake_queue_pair *pair, const uint8_t *bytes)
{
	for (int i = 0; i < FAKE_QUEUE_PAIRS; i++) {
		const struct fake_queue_pair *at = &fake.queue_pairs[i];

		for (uint32_t j = 0; at != pair && at->used && j < at->posted_count; j++) {
			if (at->posted[j].bytes == bytes)
				return true;
		}
	}
	return false;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
	struct fake_queue_pair *pair = pair_of(qp);

	(void)bad;
	if (fails("ibv_post_recv"))
		return EIO;
	if (qp->state == IBV_QPS_RESET || (int)pair->posted_count == pair->depth)
		return ENOMEM;
	fake.buffers_shared += has_another(pair, (uint8_t *)(uintptr_t)request->sg_list[0].addr);
	pair->posted[pair->posted_count++] =
		(struct fake_posted){.id = request->wr_id,
				     .bytes = (uint8_t *)(uintptr_t)request->sg_list[0].addr,
				     .length = request->sg_list[0].length};
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
	struct fake_queue_pair *pair = pair_of(qp);
	struct fake_handle *handle = (struct fake_handle *)request->wr.ud.ah;
	struct fake_sent *sent;

	(void)bad;
	if (fails("ibv_post_send"))
		return EIO;
	if (pair->post_send_result)
		return pair->post_send_result;
	assert(qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQE);
	sent = &fake.sent[fake.sent_count++ % FAKE_SENT];
	sent->to = handle->attr;
	sent->qpn = request->wr.ud.remote_qpn;
	sent->length = request->num_sge ? request->sg_list[0].length : 0;
	if (sent->length)
		memcpy(sent->bytes, (const void *)(uintptr_t)request->sg_list[0].addr,
		       sent->length);
	if (pair->hold_sends) {
		handle->sending++;
		held_handles[pair - fake.queue_pairs][pair->held_count] = handle;
		pair->held[pair->held_count++] = request->wr_id;
	} else {
		if (pair->send_status)
			qp->state = IBV_QPS_SQE;
		complete(pair->sent,
			 &(struct ibv_wc){.wr_id = request->wr_id, .status = pair->send_status});
	}
	return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *listed)
{
	struct fake_device *device = (struct fake_device *)listed;

	if (fails("ibv_open_device"))
		return NULL;
	if (device->open_errno) {
		errno = device->open_errno;
		return NULL;
	}
	assert(!device->open);
	device->open = true;
	device->gone = false;
	device->ended = false;
	device->async_count = 0;
	device->context = (struct ibv_context){
		.device = listed,
		.ops = {.poll_cq = poll_cq,
			.req_notify_cq = req_notify_cq,
			.post_recv = post_recv,
			.post_send = post_send},
		.async_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC),
	};
	return &device->context;
}

/* The kernel takes back whatever could not be destroyed. */
int ibv_close_device(struct ibv_context *context)
{
	for (int i = 0; i < FAKE_QUEUE_PAIRS; i++) {
		if (fake.queue_pairs[i].pair.context == context)
			memset(&fake.queue_pairs[i], 0, sizeof(fake.queue_pairs[i]));
	}
	for (int i = 0; i < FAKE_QUEUES; i++) {
		if (fake.queues[i].cq.context == context)
			memset(&fake.queues[i], 0, sizeof(fake.queues[i]));
	}
	close(context->async_fd);
	device_of(context)->open = false;
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct fake_device *device = device_of(context);

	if (fails("ibv_query_device"))
		return EIO;
	memset(attr, 0, sizeof(*attr));
	attr->phys_port_cnt = (uint8_t)device->port_count;
	attr->max_qp_wr = device->most_requests;
	attr->max_cqe = device->most_completions;
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t number,
		   struct _compat_ibv_port_attr *compatible)
{
	const struct fake_port *port = &device_of(context)->ports[number - 1];
	struct ibv_port_attr *attr = (struct ibv_port_attr *)compatible;

	if (device_of(context)->gone || fails("ibv_query_port"))
		return EIO;
	attr->state = port->state;
	attr->active_mtu = IBV_MTU_4096;
	attr->gid_tbl_len = 2;
	attr->pkey_tbl_len = FAKE_PKEYS;
	attr->lid = port->lid;
	attr->lmc = port->lmc;
	attr->sm_lid = port->sm_lid;
	attr->sm_sl = port->sm_sl;
	attr->subnet_timeout = 18;
	attr->active_width = port->width;
	attr->active_speed = (uint8_t)(port->speed < 128 ? port->speed : 128);
#ifdef VERBS_ACTIVE_SPEED_EX
	attr->active_speed_ex = port->speed;
#endif
	attr->link_layer = port->link_layer;
	return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t number, int index, union ibv_gid *gid)
{
	const struct fake_port *port = &device_of(context)->ports[number - 1];

	if (fails("ibv_query_gid") || port->unreadable)
		return -1;
	gid->global.subnet_prefix = htobe64(port->prefix);
	gid->global.interface_id = index ? 0 : htobe64(port->guid);
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t number, int index, __be16 *pkey)
{
	if (fails("ibv_query_pkey") || device_of(context)->ports[number - 1].unreadable)
		return -1;
	*pkey = htobe16(device_of(context)->ports[number - 1].pkeys[index]);
	return 0;
}

/* ---- libibverbs: events ---- */

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct fake_device *device = device_of(context);

	if (fails("ibv_get_async_event"))
		return -1;
	if (device->ended)
		return -1; /* nothing was read: that is no error of the system's */
	if (!device->async_count) {
		errno = device->gone ? EIO : EAGAIN;
		return -1;
	}
	clear_fd(context->async_fd);
	*event = device->async[0];
	memmove(device->async, device->async + 1, --device->async_count * sizeof(*event));
	fake.events_unacknowledged++;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
	fake.events_unacknowledged--;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel = &device_of(context)->channel;

	if (fails("ibv_create_comp_channel"))
		return NULL;
	channel->context = context;
	channel->fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	if (fails("ibv_get_cq_event"))
		return -1;
	for (int i = 0; i < FAKE_QUEUES; i++) {
		struct fake_queue *queue = &fake.queues[i];

		if (queue->cq.channel != channel || !queue->event_pending)
			continue;
		queue->event_pending = false;
		clear_fd(channel->fd);
		*cq = &queue->cq;
		*context = queue->cq.cq_context;
		fake.completion_events++;
		fake.events_unacknowledged++;
		return 0;
	}
	errno = EAGAIN;
	return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	(void)cq;
	fake.events_unacknowledged -= count;
}

/* ---- libibverbs: objects ---- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd;

	if (fails("ibv_alloc_pd") || device_of(context)->without_pd)
		return NULL;
	pd = calloc(1, sizeof(*pd));
	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	struct ibv_mr *region;

	(void)access;
	if (fails("ibv_reg_mr"))
		return NULL;
	if (fake.region_errno) {
		errno = fake.region_errno;
		return NULL;
	}
	region = calloc(1, sizeof(*region));
	region->pd = pd;
	region->addr = address;
	region->length = length;
	fake.region_count++;
	return region;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, address, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *region)
{
	fake.region_count--;
	free(region);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct fake_handle *handle;

	if (fails("ibv_create_ah"))
		return NULL;
	if (fake.handle_count >= device_of(pd->context)->most_handles) {
		errno = ENOMEM;
		return NULL;
	}
	handle = calloc(1, sizeof(*handle));
	handle->ah.pd = pd;
	handle->attr = *attr;
	fake.handle_count++;
	fake.handles_made++;
	return &handle->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	fake.handles_missed += ((struct fake_handle *)ah)->sending;
	fake.handle_count--;
	free(ah);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int length, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct fake_queue *queue = fake.queues;

	(void)vector;
	if (fails("ibv_create_cq"))
		return NULL;
	assert(length <= device_of(context)->most_completions);
	while (queue->cq.context)
		queue++;
	memset(queue, 0, sizeof(*queue));
	queue->cq = (struct ibv_cq){
		.context = context, .channel = channel, .cq_context = cq_context, .cqe = length};
	return &queue->cq;
}

static bool is_in_use(const struct fake_queue *queue)
{
	for (int i = 0; i < FAKE_QUEUE_PAIRS; i++) {
		const struct fake_queue_pair *pair = &fake.queue_pairs[i];

		if (pair->used && (pair->received == queue || pair->sent == queue))
			return true;
	}
	return false;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	if (fails("ibv_destroy_cq") || is_in_use(queue_of(cq)))
		return EBUSY;
	/* The kernel drops the event of a completion queue that goes. */
	if (queue_of(cq)->event_pending)
		clear_fd(cq->channel->fd);
	memset(queue_of(cq), 0, sizeof(struct fake_queue));
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	static uint32_t last = 0x100;
	struct fake_queue_pair *pair = fake.queue_pairs;

	if (fails("ibv_create_qp"))
		return NULL;
	assert(attr->qp_type == IBV_QPT_UD);
	if ((int)attr->cap.max_recv_wr > device_of(pd->context)->most_requests ||
	    (int)attr->cap.max_send_wr > device_of(pd->context)->most_requests) {
		errno = EINVAL;
		return NULL;
	}
	while (pair->used)
		pair++;
	memset(pair, 0, sizeof(*pair));
	pair->depth = (int)attr->cap.max_recv_wr;
	pair->send_depth = (int)attr->cap.max_send_wr;
	pair->received = queue_of(attr->recv_cq);
	pair->sent = queue_of(attr->send_cq);
	assert(pair->depth <= attr->recv_cq->cqe && pair->send_depth <= attr->send_cq->cqe);
	pair->used = true;
	pair->pair = (struct ibv_qp){.context = pd->context,
				     .qp_context = attr->qp_context,
				     .pd = pd,
				     .qp_num = ++last,
				     .state = IBV_QPS_RESET,
				     .qp_type = attr->qp_type};
	return &pair->pair;
}

static void drop_held(struct fake_queue_pair *pair)
{
	for (uint32_t i = 0; i < pair->held_count; i++)
		held_handles[pair - fake.queue_pairs][i]->sending--;
	pair->held_count = 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_queue_pair *pair = pair_of(qp);

	if (device_of(qp->context)->gone || fails("ibv_modify_qp"))
		return EIO;
	if (fake.modify_error)
		return fake.modify_error;
	if (mask & IBV_QP_PKEY_INDEX)
		pair->pkey_index = attr->pkey_index;
	if (mask & IBV_QP_PORT)
		pair->port = attr->port_num;
	if (mask & IBV_QP_QKEY)
		pair->qkey = attr->qkey;
	if (attr->qp_state == IBV_QPS_RESET) {
		pair->posted_count = 0;
		if (!pair->keeps_completions)
			pair->received->count = pair->sent->count = 0;
		drop_held(pair);
	}
	qp->state = attr->qp_state;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	(void)mask;
	(void)init;
	if (device_of(qp->context)->gone || fails("ibv_query_qp"))
		return EIO;
	attr->qp_state = qp->state;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct fake_queue_pair *pair = pair_of(qp);

	if (fails("ibv_destroy_qp") || (pair->group_count && !device_of(qp->context)->gone))
		return EBUSY;
	drop_held(pair);
	pair->used = false;
	return 0;
}

static uint32_t find_group(const struct fake_queue_pair *pair, const union ibv_gid *gid,
			   uint16_t lid)
{
	uint32_t number = 0;

	while (number < pair->group_count &&
	       (pair->groups[number].lid != lid ||
		memcmp(&pair->groups[number].gid, gid, sizeof(*gid)) != 0))
		number++;
	return number;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	struct fake_queue_pair *pair = pair_of(qp);

	if (fails("ibv_attach_mcast"))
		return EIO;
	if (find_group(pair, gid, lid) < pair->group_count)
		return 0; /* attached twice is attached once */
	if (pair->group_count == device_of(qp->context)->most_groups)
		return ENOMEM;
	assert(pair->group_count < FAKE_GROUPS);
	pair->groups[pair->group_count++] = (struct fake_group){.gid = *gid, .lid = lid};
	return 0;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	struct fake_queue_pair *pair = pair_of(qp);
	uint32_t number = find_group(pair, gid, lid);

	if (fails("ibv_detach_mcast"))
		return EIO;
	if (number == pair->group_count)
		return EINVAL;
	pair->groups[number] = pair->groups[--pair->group_count];
	return 0;
}

/* ---- libibumad ---- */

size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

void *umad_get_mad(void *umad)
{
	return ((struct ib_user_mad *)umad)->data;
}

int umad_status(void *umad)
{
	return (int)((struct ib_user_mad *)umad)->status;
}

int umad_get_fd(int fd)
{
	return fd;
}

static struct fake_port *port_of(int fd)
{
	for (int i = 0; i < FAKE_DEVICES; i++) {
		for (int port = 0; port < FAKE_PORTS; port++) {
			if (fake.devices[i].ports[port].umad_fd == fd)
				return &fake.devices[i].ports[port];
		}
	}
	return NULL;
}

int umad_open_port(const char *name, int number)
{
	int ends[2];

	if (fails("umad_open_port"))
		return -EIO;
	for (int i = 0; i < FAKE_DEVICES; i++) {
		struct fake_port *port = &fake.devices[i].ports[number - 1];

		if (!fake.devices[i].present || strcmp(fake.devices[i].device.name, name) != 0)
			continue;
		if (port->umad_error) {
			errno = port->umad_errno;
			return port->umad_error;
		}
		fake.agents_lost += port->umad_fd >= 0;
		assert(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
		port->umad_fd = ends[0];
		port->umad_peer = ends[1];
		return port->umad_fd;
	}
	return -ENODEV;
}

int umad_close_port(int fd)
{
	struct fake_port *port = port_of(fd);

	for (uint32_t i = 0; i < port->answer_count; i++)
		free(port->answers[i].mad);
	port->answer_count = 0;
	port->agents = 0;
	port->umad_fd = -1;
	if (port->umad_peer >= 0)
		close(port->umad_peer);
	port->umad_peer = -1;
	close(fd);
	return 0;
}

int umad_register(int fd, int class, int version, uint8_t rmpp_version,
		  long mask[16 / sizeof(long)])
{
	struct fake_port *port = port_of(fd);
	int agent = 0;

	if (fails("umad_register"))
		return -EPERM;
	assert(class == 3 && version == 2 && rmpp_version == 1 && !mask);
	while (port->agents & 1u << agent)
		agent++;
	port->agents |= 1u << agent;
	return agent;
}

int umad_unregister(int fd, int agent)
{
	struct fake_port *port = port_of(fd);

	if (!(port->agents & 1u << agent))
		return -EINVAL;
	port->agents &= ~(1u << agent);
	return 0;
}

int umad_set_addr(void *umad, int lid, int qpn, int sl, int qkey)
{
	struct ib_user_mad *mad = umad;

	mad->addr.lid = htobe16((uint16_t)lid);
	mad->addr.qpn = htobe32((uint32_t)qpn);
	mad->addr.sl = (uint8_t)sl;
	mad->addr.qkey = htobe32((uint32_t)qkey);
	return 0;
}

int umad_set_pkey(void *umad, int index)
{
	((struct ib_user_mad *)umad)->addr.pkey_index = (uint16_t)index;
	return 0;
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	const struct ib_user_mad *mad = umad;
	struct fake_request *request = &fake.requests[fake.request_count];

	if (fails("umad_send"))
		return -EIO;
	errno = 0;
	if (fake.request_errno) {
		errno = fake.request_errno;
		return -EIO;
	}
	/* Without a time the kernel waits for no answer; it must not repeat by itself. */
	assert(port_of(fd)->agents & 1u << agent && length == 256 && timeout_ms > 0 && !retries);
	assert(fake.request_count++ < FAKE_REQUESTS);
	*request = (struct fake_request){
		.port = port_of(fd),
		.agent = agent,
		.lid = be16toh(mad->addr.lid),
		.sl = mad->addr.sl,
		.qpn = be32toh(mad->addr.qpn),
		.qkey = be32toh(mad->addr.qkey),
		.pkey_index = mad->addr.pkey_index,
		.timeout_ms = timeout_ms,
	};
	memcpy(request->mad, mad->data, sizeof(request->mad));
	return 0;
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	struct fake_port *port = port_of(fd);
	struct ib_user_mad *mad = umad;
	struct fake_answer *answer = &port->answers[0];
	int room = *length;

	assert(timeout_ms == 0);
	if (fails("umad_recv"))
		return -EIO;
	if (port->umad_broken || !port->answer_count) {
		errno = port->umad_broken ? port->umad_broken : EAGAIN;
		return -errno;
	}
	*length = (int)answer->length;
	mad->status = (uint32_t)answer->status;
	memcpy(mad->data, answer->mad,
	       answer->length < (uint32_t)room ? answer->length : (uint32_t)room);
	if (answer->length > (uint32_t)room) {
		errno = ENOSPC; /* it stays first */
		return -ENOSPC;
	}
	clear_fd(fd);
	free(answer->mad);
	memmove(port->answers, port->answers + 1, --port->answer_count * sizeof(*answer));
	return 0;
}
