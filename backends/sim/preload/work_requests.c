/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "work_requests.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include "address_handle.h"
#include "call.h"
#include "completion_queue.h"
#include "memory_region.h"

#define GRH_LENGTH   40
#define QKEY_OWN     0x80000000u /* in a request: the queue pair's own counts (IBA 10.2.5) */
#define NEXT_IBA     0x1b        /* what follows a GRH: a base transport header */
#define HEADERS_TAIL 24          /* base and datagram headers and the invariant CRC */

/* ---- completions ---- */

static void complete_receive(struct preload_queue_pair *queue_pair, enum ibv_wc_status status,
			     const struct sim_attach_datagram *datagram)
{
	const struct preload_receive *receive = &queue_pair->receives[queue_pair->first_receive];
	struct preload_completion completion = {.queue_pair = queue_pair};
	struct ibv_wc *wc = &completion.wc;

	wc->wr_id = receive->wr_id;
	wc->status = status;
	wc->opcode = IBV_WC_RECV;
	wc->qp_num = queue_pair->verbs.qp_num;
	if (datagram) {
		wc->byte_len = GRH_LENGTH + datagram->length;
		wc->src_qp = datagram->source_qpn;
		wc->pkey_index = queue_pair->attributes.pkey_index;
		wc->slid = datagram->slid;
		wc->sl = datagram->sl;
		wc->dlid_path_bits = datagram->dlid_path_bits;
		/* Every packet of the fabric has a GRH; an empty one stands for none. */
		if (memcmp(&datagram->dgid, &(struct acm_gid){0}, sizeof(datagram->dgid)) != 0)
			wc->wc_flags = IBV_WC_GRH;
	}
	queue_pair->first_receive =
		(queue_pair->first_receive + 1) % queue_pair->made_with.cap.max_recv_wr;
	queue_pair->receive_count--;
	preload_completion_queue_add(queue_pair->verbs.recv_cq, &completion);
}

void preload_flush_receives(struct preload_queue_pair *queue_pair)
{
	while (queue_pair->receive_count)
		complete_receive(queue_pair, IBV_WC_WR_FLUSH_ERR, NULL);
}

/* Its slot of the send queue comes back when a completion is seen. */
static void complete_send(struct preload_queue_pair *queue_pair, const struct ibv_send_wr *request,
			  enum ibv_wc_status status)
{
	struct preload_completion completion = {.queue_pair = queue_pair};

	queue_pair->sends_silent++;
	if (status == IBV_WC_SUCCESS && !queue_pair->made_with.sq_sig_all &&
	    !(request->send_flags & IBV_SEND_SIGNALED))
		return;
	completion.send_slots = queue_pair->sends_silent;
	queue_pair->sends_silent = 0;
	completion.wc.wr_id = request->wr_id;
	completion.wc.status = status;
	completion.wc.opcode = IBV_WC_SEND;
	completion.wc.qp_num = queue_pair->verbs.qp_num;
	preload_completion_queue_add(queue_pair->verbs.send_cq, &completion);
}

/* ---- receiving ---- */

static void put_grh(uint8_t *buffer, const struct sim_attach_datagram *datagram)
{
	struct ibv_grh grh = {
		.version_tclass_flow = htobe32(6u << 28 | (uint32_t)datagram->traffic_class << 20 |
					       (datagram->flow_label & 0xfffff)),
		.paylen = htobe16((uint16_t)(datagram->length + HEADERS_TAIL)),
		.next_hdr = NEXT_IBA,
		.hop_limit = datagram->hop_limit,
	};

	memcpy(grh.sgid.raw, datagram->sgid.raw, sizeof(grh.sgid.raw));
	memcpy(grh.dgid.raw, datagram->dgid.raw, sizeof(grh.dgid.raw));
	memcpy(buffer, &grh, GRH_LENGTH);
}

static enum ibv_wc_status scatter(const struct preload_queue_pair *queue_pair,
				  const struct preload_receive *receive, const uint8_t *bytes,
				  size_t length)
{
	for (int i = 0; i < receive->element_count && length; i++) {
		const struct ibv_sge *element = &receive->elements[i];
		size_t part = length < element->length ? length : element->length;

		if (!element->length)
			continue;
		if (!preload_domain_holds(queue_pair->verbs.pd, element, IBV_ACCESS_LOCAL_WRITE))
			return IBV_WC_LOC_PROT_ERR;
		memcpy((void *)(uintptr_t)element->addr, bytes, part);
		bytes += part;
		length -= part;
	}
	return length ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

static void receive_datagram(struct preload_queue_pair *queue_pair,
			     const struct sim_attach_datagram *datagram)
{
	uint8_t bytes[GRH_LENGTH + ACM_DATAGRAM_MAX];
	enum ibv_wc_status status;

	put_grh(bytes, datagram);
	memcpy(bytes + GRH_LENGTH, datagram->payload, datagram->length);
	status = scatter(queue_pair, &queue_pair->receives[queue_pair->first_receive], bytes,
			 GRH_LENGTH + datagram->length);
	complete_receive(queue_pair, status, datagram);
	if (status == IBV_WC_SUCCESS)
		return;
	queue_pair->verbs.state = IBV_QPS_ERR;
	preload_flush_receives(queue_pair);
}

static bool can_receive(const struct preload_queue_pair *queue_pair)
{
	switch (queue_pair->verbs.state) {
	case IBV_QPS_RTR:
	case IBV_QPS_RTS:
	case IBV_QPS_SQE:
		return queue_pair->receive_count > 0;
	default:
		return false;
	}
}

void preload_queue_pairs_receive(struct preload_attachment *attachment,
				 const struct sim_attach_datagram *datagram)
{
	struct preload_queue_pair *at = attachment->queue_pairs;

	while (at && (!at->open || at->endpoint != datagram->endpoint))
		at = at->next;
	if (at && can_receive(at))
		receive_datagram(at, datagram);
}

static int post_receive(struct preload_queue_pair *queue_pair, const struct ibv_recv_wr *request)
{
	const struct ibv_qp_cap *cap = &queue_pair->made_with.cap;
	struct preload_receive *receive;

	if (queue_pair->verbs.state == IBV_QPS_RESET || request->num_sge < 0 ||
	    (uint32_t)request->num_sge > cap->max_recv_sge)
		return EINVAL;
	if (queue_pair->receive_count == cap->max_recv_wr)
		return ENOMEM;
	receive = &queue_pair->receives[(queue_pair->first_receive + queue_pair->receive_count) %
					cap->max_recv_wr];
	receive->wr_id = request->wr_id;
	receive->element_count = request->num_sge;
	for (int i = 0; i < request->num_sge; i++)
		receive->elements[i] = request->sg_list[i];
	queue_pair->receive_count++;
	if (queue_pair->verbs.state == IBV_QPS_ERR)
		preload_flush_receives(queue_pair);
	return 0;
}

int preload_post_receive(struct ibv_qp *verbs, struct ibv_recv_wr *request,
			 struct ibv_recv_wr **bad)
{
	int error = 0;

	preload_lock();
	for (; request && !error; request = request->next) {
		error = post_receive((struct preload_queue_pair *)verbs, request);
		if (error)
			*bad = request;
	}
	preload_unlock();
	return error;
}

/* ---- sending ---- */

static enum ibv_wc_status gather(const struct preload_queue_pair *queue_pair,
				 const struct ibv_send_wr *request, struct sim_attach_send *message)
{
	for (int i = 0; i < request->num_sge; i++) {
		const struct ibv_sge *element = &request->sg_list[i];

		if (!element->length)
			continue;
		if (element->length > ACM_DATAGRAM_MAX - (uint32_t)message->length) {
			preload_complain("datagrams of more than %d bytes cannot be sent on a "
					 "simulated node",
					 ACM_DATAGRAM_MAX);
			return IBV_WC_LOC_LEN_ERR;
		}
		if (!(request->send_flags & IBV_SEND_INLINE) &&
		    !preload_domain_holds(queue_pair->verbs.pd, element, 0))
			return IBV_WC_LOC_PROT_ERR;
		memcpy(message->payload + message->length, (void *)(uintptr_t)element->addr,
		       element->length);
		message->length = (uint16_t)(message->length + element->length);
	}
	return IBV_WC_SUCCESS;
}

static void address_message(const struct preload_queue_pair *queue_pair,
			    const struct ibv_send_wr *request, struct sim_attach_send *message)
{
	const struct ibv_ah_attr *address =
		&((const struct preload_address_handle *)request->wr.ud.ah)->address;
	const struct acm_port_facts *facts =
		preload_attachment_port(queue_pair->attachment, address->port_num);

	message->header.type = SIM_ATTACH_SEND;
	message->endpoint = queue_pair->endpoint;
	message->qpn = request->wr.ud.remote_qpn;
	message->qkey = request->wr.ud.remote_qkey;
	if (message->qkey & QKEY_OWN)
		message->qkey = queue_pair->attributes.qkey;
	message->dlid = address->dlid;
	message->sl = address->sl;
	/* Programs give more bits than the port has, and hardware ignores those. */
	message->path_bits = (uint8_t)(address->src_path_bits & ((1u << facts->lmc) - 1));
	message->static_rate = address->static_rate;
	if (!address->is_global)
		return;
	memcpy(message->dgid.raw, address->grh.dgid.raw, sizeof(message->dgid.raw));
	message->flow_label = address->grh.flow_label;
	message->hop_limit = address->grh.hop_limit;
	message->traffic_class = address->grh.traffic_class;
}

/* What goes wrong here is told by a completion. */
static int send_datagram(struct preload_queue_pair *queue_pair, const struct ibv_send_wr *request)
{
	struct sim_attach_send message = {0};
	enum ibv_wc_status status = gather(queue_pair, request, &message);
	int error;

	if (status != IBV_WC_SUCCESS) {
		queue_pair->verbs.state = IBV_QPS_SQE;
		complete_send(queue_pair, request, status);
		return 0;
	}
	address_message(queue_pair, request, &message);
	error = preload_attachment_send(queue_pair->attachment, &message);
	if (queue_pair->verbs.state == IBV_QPS_RESET || queue_pair->endpoint != message.endpoint)
		return 0; /* reset meanwhile by another thread: nothing completes */
	/* What the server does not take is lost as on a fabric; without a server there is no
	 * device. */
	complete_send(queue_pair, request, error == -ENODEV ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS);
	return 0;
}

static uint64_t length_of(const struct ibv_send_wr *request)
{
	uint64_t length = 0;

	for (int i = 0; i < request->num_sge; i++)
		length += request->sg_list[i].length;
	return length;
}

static int check_send(const struct preload_queue_pair *queue_pair,
		      const struct ibv_send_wr *request)
{
	const struct ibv_qp_cap *cap = &queue_pair->made_with.cap;

	if (request->opcode != IBV_WR_SEND) {
		preload_complain("only IBV_WR_SEND can be posted on a simulated node");
		return ENOSYS;
	}
	if (!request->wr.ud.ah || request->num_sge < 0 ||
	    (uint32_t)request->num_sge > cap->max_send_sge)
		return EINVAL;
	if (request->send_flags & IBV_SEND_INLINE && length_of(request) > cap->max_inline_data)
		return ENOMEM; /* as drivers have it */
	return queue_pair->sends_held >= cap->max_send_wr ? ENOMEM : 0;
}

static int post_send(struct preload_queue_pair *queue_pair, const struct ibv_send_wr *request)
{
	int error = check_send(queue_pair, request);

	if (error)
		return error;
	/* Before the lock is given up to wait for room at the server. */
	queue_pair->sends_held++;
	switch (queue_pair->verbs.state) {
	case IBV_QPS_RTS:
		return send_datagram(queue_pair, request);
	case IBV_QPS_SQE:
	case IBV_QPS_ERR:
		complete_send(queue_pair, request, IBV_WC_WR_FLUSH_ERR);
		return 0;
	default:
		queue_pair->sends_held--;
		return EINVAL;
	}
}

int preload_post_send(struct ibv_qp *verbs, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
	int error = 0;

	preload_lock();
	for (; request && !error; request = request->next) {
		error = post_send((struct preload_queue_pair *)verbs, request);
		if (error)
			*bad = request;
	}
	preload_unlock();
	return error;
}
