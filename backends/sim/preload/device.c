/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "device.h"

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "async_events.h"
#include "call.h"
#include "completion_queue.h"
#include "missing_operations.h"
#include "queue_pair.h"
#include "work_requests.h"

#undef ibv_get_device_list

/* ---- the list ---- */

void preload_device_init(struct preload_attachment *attachment)
{
	struct ibv_device *device = &attachment->device;
	const char *name = attachment->welcome.device;

	device->node_type = IBV_NODE_CA;
	device->transport_type = IBV_TRANSPORT_IB;
	snprintf(device->name, sizeof(device->name), "%s", name);
	snprintf(device->dev_name, sizeof(device->dev_name), "uverbs0");
	snprintf(device->dev_path, sizeof(device->dev_path), "/sys/class/infiniband_verbs/uverbs0");
	snprintf(device->ibdev_path, sizeof(device->ibdev_path), "/sys/class/infiniband/%s", name);
}

static struct preload_attachment *attachment_of(const struct ibv_device *device)
{
	return (struct preload_attachment *)((uintptr_t)device -
					     offsetof(struct preload_attachment, device));
}

PRELOAD_CALL struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = calloc(2, sizeof(struct ibv_device *));
	struct preload_attachment *attachment;

	if (count)
		*count = 0;
	if (!list)
		return NULL;
	preload_lock();
	attachment = preload_attachment_get();
	preload_unlock();
	if (!attachment) {
		free(list);
		return NULL;
	}
	list[0] = &attachment->device;
	if (count)
		*count = 1;
	return list;
}

PRELOAD_CALL void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

PRELOAD_CALL const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

PRELOAD_CALL __be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(attachment_of(device)->welcome.node_guid);
}

/* Whoever asks goes on without it. */
PRELOAD_CALL int ibv_get_device_index(struct ibv_device *device)
{
	(void)device;
	return -1;
}

PRELOAD_CALL int ibv_fork_init(void)
{
	return 0;
}

PRELOAD_CALL enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

/* ---- opening ---- */

static int no_shared_receives(struct ibv_srq *queue, struct ibv_recv_wr *request,
			      struct ibv_recv_wr **bad)
{
	(void)queue;
	*bad = request;
	preload_complain("ibv_post_srq_recv is not there on a simulated node");
	return ENOSYS;
}

static const struct ibv_context_ops operations = {
	.poll_cq = preload_poll,
	.req_notify_cq = preload_request_event,
	.post_send = preload_post_send,
	.post_recv = preload_post_receive,
	.post_srq_recv = no_shared_receives,
};

/* Before a context verbs.h looks for a table of later operations. */
static struct preload_context *make_context(void)
{
	struct verbs_context *extended =
		calloc(1, offsetof(struct verbs_context, context) + sizeof(struct preload_context));

	if (!extended)
		return NULL;
	extended->sz = sizeof(*extended);
	extended->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	extended->context.ops = operations;
	preload_miss_operations(extended);
	return (struct preload_context *)&extended->context;
}

static void free_context(struct preload_context *context)
{
	free(verbs_get_ctx(&context->verbs));
}

static void init_context(struct preload_context *context, struct preload_attachment *attachment)
{
	context->attachment = attachment;
	context->verbs.device = &attachment->device;
	context->verbs.cmd_fd = -1;
	context->verbs.async_fd = context->async.fd;
	context->verbs.num_comp_vectors = 1;
	pthread_mutex_init(&context->verbs.mutex, NULL);
	context->next = attachment->contexts;
	attachment->contexts = context;
}

PRELOAD_CALL struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct preload_attachment *attachment = attachment_of(device);
	struct preload_context *context;
	int error;

	if (attachment->lost) {
		errno = ENODEV;
		return NULL;
	}
	context = make_context();
	if (!context)
		return NULL;
	preload_lock();
	error = preload_inbox_init(&context->async);
	if (!error)
		init_context(context, attachment);
	preload_unlock();
	if (!error)
		return &context->verbs;
	free_context(context);
	errno = -error;
	return NULL;
}

PRELOAD_CALL int ibv_close_device(struct ibv_context *verbs)
{
	struct preload_context *context = (struct preload_context *)verbs, **link;

	preload_lock();
	preload_queue_pairs_close_of(context);
	link = &context->attachment->contexts;
	while (*link != context)
		link = &(*link)->next;
	*link = context->next;
	preload_async_drop_all(context);
	preload_inbox_close(&context->async);
	preload_unlock();
	pthread_mutex_destroy(&verbs->mutex);
	free_context(context);
	return 0;
}

PRELOAD_CALL int ibv_query_device(struct ibv_context *verbs, struct ibv_device_attr *attributes)
{
	const struct preload_attachment *attachment = ((struct preload_context *)verbs)->attachment;

	*attributes = (struct ibv_device_attr){
		.fw_ver = "simulated",
		.node_guid = htobe64(attachment->welcome.node_guid),
		.sys_image_guid = htobe64(attachment->welcome.system_guid),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffff000u,
		.max_qp = 1 << 16,
		.max_qp_wr = PRELOAD_WORK_REQUESTS_MAX,
		.device_cap_flags = IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_BAD_PKEY_CNTR |
				    IBV_DEVICE_BAD_QKEY_CNTR | IBV_DEVICE_PORT_ACTIVE_EVENT,
		.max_sge = PRELOAD_SGE_MAX,
		.max_cq = 1 << 16,
		.max_cqe = PRELOAD_COMPLETIONS_MAX,
		.max_mr = 1 << 20,
		.max_pd = 1 << 16,
		.atomic_cap = IBV_ATOMIC_NONE,
		.max_mcast_grp = 1 << 13,
		.max_mcast_qp_attach = 1 << 10,
		.max_total_mcast_qp_attach = 1 << 16,
		.max_ah = 1 << 20,
		.max_pkeys = ACM_PORT_PKEYS_MAX,
		.local_ca_ack_delay = 15,
		.phys_port_cnt = (uint8_t)attachment->welcome.port_count,
	};
	return 0;
}
