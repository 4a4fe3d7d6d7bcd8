/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "umad_transactions.h"

#include <acmite/bytes.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "call.h"
#include "real_time.h"

#define MAD_HEADER     24
#define SENT_LEAST     36 /* the kernel wants the RMPP header, too */
#define OFFSET_CLASS   1
#define OFFSET_METHOD  3
#define OFFSET_TID     8
#define CLASS_SA       0x03
#define METHOD_ANSWER  0x80
#define METHOD_REPRESS 0x07 /* of a trap: an answer too */
#define TRIES_MAX      255  /* one byte of a cookie */
#define ANSWER_MAX     (1u << 26)
#define NONE           0 /* no cookie: numbers begin at 1 */
/* For a MAD whose sender wants no answer: after that the server need not wait for one either. */
#define SILENT_MS 10000

struct preload_transaction {
	uint64_t number; /* cookies are this << 8, plus the try */
	uint32_t agent;
	bool silent; /* the program waits for nothing */
	bool to_sa;
	uint32_t tries;
	uint32_t tries_left;
	uint64_t timeout_ns;
	uint64_t deadline;
	struct ib_user_mad header;
	uint8_t mad[ACM_MAD_LENGTH];
	struct preload_received_mad *answer; /* as far as it is there */
	struct preload_transaction *next;
};

static bool is_answer(const uint8_t *mad)
{
	return mad[OFFSET_METHOD] & METHOD_ANSWER || mad[OFFSET_METHOD] == METHOD_REPRESS;
}

/* ---- the list ---- */

static void free_received(struct preload_received_mad *mad)
{
	if (!mad)
		return;
	free(mad->umad);
	free(mad);
}

static struct preload_received_mad *make_received(const struct preload_transaction *transaction,
						  uint32_t length)
{
	struct preload_received_mad *mad = calloc(1, sizeof(*mad));

	if (!mad)
		return NULL;
	mad->length = length;
	mad->umad = calloc(1, sizeof(*mad->umad) + length);
	if (!mad->umad) {
		free(mad);
		return NULL;
	}
	*mad->umad = transaction->header;
	mad->umad->length = (uint32_t)sizeof(*mad->umad) + length;
	return mad;
}

/* The server need not wait for answers to its tries; of one that was answered it knows. */
static void cancel_tries(const struct preload_umad_port *port,
			 const struct preload_transaction *transaction, uint64_t answered)
{
	struct sim_attach_status message = {.header.type = SIM_ATTACH_MAD_CANCEL};

	for (uint32_t i = 0; i < transaction->tries && !port->attachment->lost; i++) {
		message.cookie = transaction->number << 8 | i;
		if (message.cookie != answered)
			sim_channel_send(port->attachment->socket, &message);
	}
}

static void end(struct preload_umad_port *port, struct preload_transaction *transaction)
{
	struct preload_transaction **link = &port->transactions;

	while (*link != transaction)
		link = &(*link)->next;
	*link = transaction->next;
	free_received(transaction->answer);
	free(transaction);
}

void preload_transactions_cancel(struct preload_umad_port *port, uint32_t agent)
{
	struct preload_transaction *next;

	for (struct preload_transaction *at = port->transactions; at; at = next) {
		next = at->next;
		if (at->agent != agent)
			continue;
		cancel_tries(port, at, NONE);
		end(port, at);
	}
}

/* ---- sending ---- */

/* One try. What the server cannot take now is lost, as on a busy link. */
static void send_try(struct preload_umad_port *port, struct preload_transaction *transaction)
{
	struct sim_attach_mad message = {
		.header.type = transaction->to_sa ? SIM_ATTACH_SA_SEND : SIM_ATTACH_MAD_SEND,
		.cookie = transaction->number << 8 | transaction->tries,
		.port = port->index,
		.qpn = be32toh(transaction->header.addr.qpn),
		.qkey = be32toh(transaction->header.addr.qkey),
		.dlid = be16toh(transaction->header.addr.lid),
		.pkey_index = transaction->header.addr.pkey_index,
		.sl = transaction->header.addr.sl,
	};

	memcpy(message.mad, transaction->mad, sizeof(message.mad));
	transaction->tries++;
	transaction->deadline = sim_real_time() + transaction->timeout_ns;
	sim_channel_send(port->attachment->socket, &message);
}

/* As the kernel has it: two requests under way with one id could not be told apart. */
static bool is_duplicate(const struct preload_umad_port *port,
			 const struct preload_transaction *transaction)
{
	for (const struct preload_transaction *at = port->transactions; at; at = at->next) {
		if (!at->silent && !is_answer(at->mad) &&
		    load_be64(at->mad + OFFSET_TID) == load_be64(transaction->mad + OFFSET_TID) &&
		    at->mad[OFFSET_CLASS] == transaction->mad[OFFSET_CLASS])
			return true;
	}
	return false;
}

static void fill(struct preload_transaction *transaction, const struct preload_umad_port *port,
		 const struct ib_user_mad *umad, size_t length)
{
	const struct acm_port_facts *facts = &port->attachment->ports[port->index];
	const struct preload_agent *agent = &port->agents[umad->agent_id];
	uint32_t retries = umad->retries < TRIES_MAX ? umad->retries : TRIES_MAX - 1;

	transaction->header = *umad;
	transaction->header.status = 0;
	transaction->agent = umad->agent_id;
	memcpy(transaction->mad, umad->data, length);
	if (!is_answer(transaction->mad))
		store_be64(transaction->mad + OFFSET_TID,
			   (uint64_t)agent->tid_high << 32 |
				   (load_be64(transaction->mad + OFFSET_TID) & UINT32_MAX));
	transaction->silent = umad->timeout_ms == 0 || is_answer(transaction->mad);
	transaction->tries_left = transaction->silent ? 0 : retries;
	transaction->timeout_ns =
		(transaction->silent ? SILENT_MS : umad->timeout_ms) * ACM_NSEC_PER_MSEC;
	transaction->to_sa = transaction->mad[OFFSET_CLASS] == CLASS_SA &&
			     be32toh(umad->addr.qpn) == 1 &&
			     be16toh(umad->addr.lid) == facts->sm_lid;
}

static int send_mad(struct preload_umad_port *port, const struct ib_user_mad *umad, size_t length)
{
	struct preload_transaction *transaction;

	if (!port)
		return EBADF;
	if (port->attachment->lost)
		return ENODEV;
	if (umad->agent_id >= UMAD_CA_MAX_AGENTS || length < SENT_LEAST)
		return EINVAL;
	if (!port->agents[umad->agent_id].used)
		return EIO;
	if (length > ACM_MAD_LENGTH) {
		preload_complain(
			"MADs of several RMPP segments cannot be sent on a simulated node");
		return EINVAL;
	}
	transaction = calloc(1, sizeof(*transaction));
	if (!transaction)
		return ENOMEM;
	fill(transaction, port, umad, length);
	if (!transaction->silent && is_duplicate(port, transaction)) {
		free(transaction);
		return EINVAL;
	}
	transaction->number = port->attachment->next_cookie++;
	transaction->next = port->transactions;
	port->transactions = transaction;
	send_try(port, transaction);
	preload_attachment_arm(port->attachment, transaction->deadline);
	return 0;
}

PRELOAD_CALL int umad_send(int fd, int agent, void *buffer, int length, int timeout_ms, int retries)
{
	struct ib_user_mad *umad = buffer;
	int error;

	umad->timeout_ms = (uint32_t)timeout_ms; /* less than 0: as good as for ever */
	umad->retries = (uint32_t)retries;
	umad->agent_id = (uint32_t)agent;
	preload_lock();
	error = send_mad(preload_umad_port(fd), umad, length < 0 ? 0 : (size_t)length);
	preload_unlock();
	errno = error;
	return error ? -EIO : 0;
}

/* ---- answers ---- */

static void deliver(struct preload_umad_port *port, struct preload_received_mad *mad)
{
	preload_inbox_put(&port->inbox, &mad->item);
}

/* False: the answer is not all there yet. */
static bool add_chunk(struct preload_transaction *transaction,
		      const struct sim_attach_answer *chunk)
{
	struct preload_received_mad *answer = transaction->answer;

	if (chunk->offset == 0 && !answer && chunk->total >= MAD_HEADER &&
	    chunk->total <= ANSWER_MAX)
		answer = transaction->answer = make_received(transaction, chunk->total);
	if (!answer || chunk->offset > answer->length ||
	    chunk->length > answer->length - chunk->offset)
		return false;
	memcpy(answer->umad->data + chunk->offset, chunk->bytes, chunk->length);
	return chunk->offset + chunk->length == answer->length;
}

static void take_chunk(struct preload_umad_port *port, struct preload_transaction *transaction,
		       const struct sim_attach_answer *chunk)
{
	struct preload_received_mad *answer;

	if (!add_chunk(transaction, chunk))
		return;
	answer = transaction->answer;
	transaction->answer = NULL;
	store_be64(answer->umad->data + OFFSET_TID, load_be64(transaction->mad + OFFSET_TID));
	if (transaction->silent)
		free_received(answer);
	else
		deliver(port, answer);
	cancel_tries(port, transaction, chunk->cookie);
	end(port, transaction);
}

void preload_transactions_answer(struct preload_attachment *attachment,
				 const struct sim_attach_answer *chunk)
{
	for (struct preload_umad_port *port = preload_umad_ports(); port; port = port->next) {
		struct preload_transaction *at = port->transactions;

		while (at && at->number != chunk->cookie >> 8)
			at = at->next;
		if (at && port->attachment == attachment) {
			take_chunk(port, at, chunk);
			return;
		}
	}
}

/* ---- time ---- */

/* The kernel gives back the header of what was sent. */
static void give_back(struct preload_umad_port *port, const struct preload_transaction *transaction)
{
	struct preload_received_mad *mad = make_received(transaction, MAD_HEADER);

	if (!mad) {
		preload_complain("out of memory: a MAD that timed out is not given back");
		return;
	}
	mad->umad->status = ETIMEDOUT;
	memcpy(mad->umad->data, transaction->mad, MAD_HEADER);
	deliver(port, mad);
}

static void expire(struct preload_umad_port *port, struct preload_transaction *transaction)
{
	if (transaction->tries_left) {
		transaction->tries_left--;
		send_try(port, transaction);
		preload_attachment_arm(port->attachment, transaction->deadline);
		return;
	}
	if (!transaction->silent)
		give_back(port, transaction);
	cancel_tries(port, transaction, NONE);
	end(port, transaction);
}

void preload_transactions_expire(struct preload_attachment *attachment)
{
	uint64_t time = sim_real_time();

	for (struct preload_umad_port *port = preload_umad_ports(); port; port = port->next) {
		struct preload_transaction *next;

		if (port->attachment != attachment || attachment->lost)
			continue;
		for (struct preload_transaction *at = port->transactions; at; at = next) {
			next = at->next;
			if (at->deadline <= time)
				expire(port, at);
			else
				preload_attachment_arm(attachment, at->deadline);
		}
	}
}
