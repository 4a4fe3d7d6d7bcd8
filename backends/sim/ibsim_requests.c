/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_requests.h"

#include <errno.h>
#include <stdlib.h>

#define INDEX_BITS    17
#define SEQUENCE_BITS 31
#define INDEX_MASK    ((1u << INDEX_BITS) - 1)
#define SEQUENCE_MASK ((1u << SEQUENCE_BITS) - 1)

void ibsim_request_list_append(struct ibsim_request_list *list, struct ibsim_request *request)
{
	request->next = NULL;
	request->previous = list->last;
	if (list->last)
		list->last->next = request;
	else
		list->first = request;
	list->last = request;
}

void ibsim_request_list_remove(struct ibsim_request_list *list, struct ibsim_request *request)
{
	if (request->previous)
		request->previous->next = request->next;
	else
		list->first = request->next;
	if (request->next)
		request->next->previous = request->previous;
	else
		list->last = request->previous;
}

static int grow(struct ibsim_requests *requests)
{
	uint32_t limit = requests->limit ? 2 * requests->limit : 64;
	struct ibsim_request **all;

	if (requests->limit >= IBSIM_POOL_REQUESTS_MAX)
		return -EAGAIN;
	all = realloc(requests->all, limit * sizeof(struct ibsim_request *));
	if (!all)
		return -ENOMEM;
	requests->all = all;
	requests->limit = limit;
	return 0;
}

static int make(struct ibsim_requests *requests, struct ibsim_request **request)
{
	int error = requests->count == requests->limit ? grow(requests) : 0;

	if (error)
		return error;
	*request = calloc(1, sizeof(struct ibsim_request));
	if (!*request)
		return -ENOMEM;
	(*request)->index = requests->count;
	requests->all[requests->count++] = *request;
	return 0;
}

int ibsim_requests_take(struct ibsim_requests *requests, struct ibsim_request **request)
{
	int error = 0;

	*request = requests->unused.first;
	if (*request)
		ibsim_request_list_remove(&requests->unused, *request);
	else
		error = make(requests, request);
	if (!error)
		(*request)->sequence = ((*request)->sequence + 1) & SEQUENCE_MASK;
	return error;
}

void ibsim_requests_give_back(struct ibsim_requests *requests, struct ibsim_request *request)
{
	request->state = IBSIM_REQUEST_FREE;
	request->answer = NULL;
	ibsim_request_list_append(&requests->unused, request);
}

uint64_t ibsim_request_wire_tid(const struct ibsim_request *request)
{
	return (uint64_t)request->sequence << INDEX_BITS | request->index;
}

struct ibsim_request *ibsim_requests_find_sent(const struct ibsim_requests *requests, uint64_t tid)
{
	uint32_t index = (uint32_t)tid & INDEX_MASK;
	uint32_t sequence = (uint32_t)(tid >> INDEX_BITS) & SEQUENCE_MASK;
	struct ibsim_request *request = index < requests->count ? requests->all[index] : NULL;

	if (!request || request->state != IBSIM_REQUEST_SENT || request->sequence != sequence)
		return NULL;
	return request;
}

void ibsim_requests_free(struct ibsim_requests *requests)
{
	for (uint32_t i = 0; i < requests->count; i++)
		free(requests->all[i]);
	free(requests->all);
}
