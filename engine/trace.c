/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include <acmite/engine.h>
#include <acmite/trace.h>

#include "path_record.h"
#include "text_writer.h"

/* Fields that a type always shows. The others are shown where they are not zero. */
#define SHOW_ENDPOINT (1u << 0)
#define SHOW_PORT     (1u << 1)
#define SHOW_REQUEST  (1u << 2)
#define SHOW_STATUS   (1u << 3)
#define SHOW_LID      (1u << 4)
#define SHOW_PKEY     (1u << 5)
#define SHOW_VALUE    (1u << 6)

enum value_form {
	VALUE_DECIMAL,
	VALUE_HEX,
	VALUE_MTU_RATE,
};

struct trace_shape {
	const char *name;
	unsigned int show;
	const char *value; /* what `value` is called */
	enum value_form form;
};

static const struct trace_shape shapes[ACM_TRACE_TYPE_COUNT] = {
	[ACM_TRACE_REQUEST] = {"request", SHOW_REQUEST, "flags", VALUE_HEX},
	[ACM_TRACE_REPLY] = {"reply", SHOW_REQUEST | SHOW_STATUS, "value", VALUE_DECIMAL},
	[ACM_TRACE_CANCELLED] = {"cancelled", SHOW_REQUEST, "value", VALUE_DECIMAL},
	[ACM_TRACE_COALESCED] = {"coalesced", SHOW_REQUEST | SHOW_ENDPOINT | SHOW_VALUE, "age_ns",
				 VALUE_DECIMAL},
	[ACM_TRACE_MULTICAST] = {"multicast", SHOW_ENDPOINT | SHOW_VALUE, "try", VALUE_DECIMAL},
	[ACM_TRACE_HEARD] = {"heard", SHOW_ENDPOINT, "value", VALUE_DECIMAL},
	[ACM_TRACE_ANSWERED] = {"answered", SHOW_ENDPOINT, "value", VALUE_DECIMAL},
	[ACM_TRACE_LEARNED] = {"learned", SHOW_ENDPOINT | SHOW_LID, "value", VALUE_DECIMAL},
	[ACM_TRACE_ADDRESS] = {"address", SHOW_ENDPOINT | SHOW_LID, "value", VALUE_DECIMAL},
	[ACM_TRACE_SA_QUERY] = {"sa_query", SHOW_ENDPOINT | SHOW_VALUE, "try", VALUE_DECIMAL},
	[ACM_TRACE_ROUTE] = {"route", SHOW_ENDPOINT | SHOW_LID, "value", VALUE_DECIMAL},
	[ACM_TRACE_SA_STATUS] = {"sa_status", SHOW_ENDPOINT | SHOW_VALUE, "mad_status", VALUE_HEX},
	[ACM_TRACE_SA_WITHDRAWN] = {"sa_withdrawn", SHOW_ENDPOINT, "value", VALUE_DECIMAL},
	[ACM_TRACE_FAILED] = {"failed", SHOW_ENDPOINT | SHOW_STATUS, "value", VALUE_DECIMAL},
	[ACM_TRACE_PORT] = {"port", SHOW_PORT | SHOW_LID | SHOW_VALUE, "state", VALUE_DECIMAL},
	[ACM_TRACE_ENDPOINT] = {"endpoint", SHOW_ENDPOINT | SHOW_PORT | SHOW_PKEY | SHOW_VALUE,
				"open", VALUE_DECIMAL},
	[ACM_TRACE_JOIN] = {"join", SHOW_ENDPOINT, "value", VALUE_DECIMAL},
	[ACM_TRACE_JOINED] = {"joined", SHOW_ENDPOINT | SHOW_LID, "value", VALUE_DECIMAL},
	[ACM_TRACE_JOIN_FAILED] = {"join_failed", SHOW_ENDPOINT, "mad_status", VALUE_HEX},
	[ACM_TRACE_GROUP_RECORD] = {"group_record", SHOW_ENDPOINT | SHOW_PKEY | SHOW_VALUE, NULL,
				    VALUE_MTU_RATE},
	[ACM_TRACE_LEFT] = {"left", SHOW_ENDPOINT, "value", VALUE_DECIMAL},
	[ACM_TRACE_EXPIRED] = {"expired", SHOW_ENDPOINT, "value", VALUE_DECIMAL},
	[ACM_TRACE_EVICTED] = {"evicted", SHOW_ENDPOINT, "value", VALUE_DECIMAL},
	[ACM_TRACE_DROPPED] = {"dropped", 0, "value", VALUE_DECIMAL},
	[ACM_TRACE_ADDRESS_ADDED] = {"address_added", SHOW_PORT, "value", VALUE_DECIMAL},
	[ACM_TRACE_ADDRESS_REMOVED] = {"address_removed", SHOW_PORT, "value", VALUE_DECIMAL},
	[ACM_TRACE_CLAIMED] = {"claimed", SHOW_ENDPOINT | SHOW_LID, "value", VALUE_DECIMAL},
};

static const char *const counter_names[ACM_COUNTER_COUNT] = {
	[ACM_COUNTER_ERROR] = "error",
	[ACM_COUNTER_RESOLVE] = "resolve",
	[ACM_COUNTER_NODATA] = "no_data",
	[ACM_COUNTER_ADDR_QUERY] = "address_query",
	[ACM_COUNTER_ADDR_CACHE] = "address_cache",
	[ACM_COUNTER_ROUTE_QUERY] = "route_query",
	[ACM_COUNTER_ROUTE_CACHE] = "route_cache",
	[ACM_COUNTER_REQUESTS] = "requests",
	[ACM_COUNTER_ANSWERS] = "answers",
	[ACM_COUNTER_CANCELLED] = "cancelled",
	[ACM_COUNTER_COALESCED] = "coalesced",
	[ACM_COUNTER_NEGATIVE_CACHE] = "negative_cache",
	[ACM_COUNTER_MULTICASTS] = "multicasts",
	[ACM_COUNTER_SA_SENT] = "sa_sent",
	[ACM_COUNTER_RETRIES] = "retries",
	[ACM_COUNTER_HEARD] = "heard",
	[ACM_COUNTER_ANSWERED] = "answered",
	[ACM_COUNTER_LEARNED] = "learned",
	[ACM_COUNTER_EVICTED] = "evicted",
	[ACM_COUNTER_EXPIRED] = "expired",
	[ACM_COUNTER_DROPPED] = "dropped",
	[ACM_COUNTER_JOINS] = "joins",
	[ACM_COUNTER_JOIN_FAILURES] = "join_failures",
	[ACM_COUNTER_UNATTENDED] = "unattended",
};

const char *acm_counter_name(enum acm_counter counter)
{
	return (unsigned int)counter < ACM_COUNTER_COUNT ? counter_names[counter] : "unknown";
}

const char *acm_trace_name(enum acm_trace_type type)
{
	return (unsigned int)type < ACM_TRACE_TYPE_COUNT ? shapes[type].name : "unknown";
}

static void write_key(struct text_writer *writer, const char *key)
{
	text_writer_char(writer, ' ');
	text_writer_string(writer, key);
	text_writer_char(writer, '=');
}

static void write_decimal(struct text_writer *writer, const char *key, uint64_t value)
{
	write_key(writer, key);
	text_writer_decimal(writer, value);
}

static void write_hex(struct text_writer *writer, const char *key, uint64_t value,
		      unsigned int digits)
{
	write_key(writer, key);
	text_writer_string(writer, "0x");
	text_writer_hex(writer, value, digits);
}

static void write_signed(struct text_writer *writer, int64_t value)
{
	if (value < 0)
		text_writer_char(writer, '-');
	text_writer_decimal(writer, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Peers choose the names: a blank in one must not look like the next key. */
static void write_value_text(struct text_writer *writer, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == ' ' || *text == '\\') {
			text_writer_string(writer, "\\x");
			text_writer_hex(writer, (uint8_t)*text, 2);
		} else {
			text_writer_char(writer, *text);
		}
	}
}

static void write_address(struct text_writer *writer, const char *key,
			  const struct acm_address *address)
{
	char text[ACM_ADDRESS_MAX + 1];

	if (address->type == ACM_ADDRESS_NONE)
		return;
	acm_address_format(address, text, sizeof(text));
	write_key(writer, key);
	write_value_text(writer, text);
}

static void write_gid(struct text_writer *writer, const struct acm_gid *gid)
{
	char text[46];

	if (acm_gid_is_zero(gid))
		return;
	acm_gid_format(gid, text, sizeof(text));
	write_key(writer, "gid");
	text_writer_string(writer, text);
}

/* Words of the engine's own. */
static void write_words(struct text_writer *writer, const char *text)
{
	for (; *text != '\0'; text++)
		text_writer_char(writer, *text == ' ' ? '_' : *text);
}

/* The failure of an endpoint or a join carries an errno instead of a client status. */
static void write_status(struct text_writer *writer, enum acm_status status)
{
	write_key(writer, "status");
	if ((unsigned int)status > ACM_STATUS_DESTINATION_TYPE) {
		write_signed(writer, (int)status);
		return;
	}
	write_words(writer, acm_status_text(status));
}

static void write_value(struct text_writer *writer, const struct trace_shape *shape, uint64_t value)
{
	switch (shape->form) {
	case VALUE_DECIMAL:
		write_decimal(writer, shape->value, value);
		break;
	case VALUE_HEX:
		write_hex(writer, shape->value, value, 4);
		break;
	case VALUE_MTU_RATE:
		write_decimal(writer, "mtu_code", value >> 8);
		write_decimal(writer, "rate_code", value & 0xffu);
		break;
	}
}

static void write_fields(struct text_writer *writer, const struct acm_trace *trace,
			 const struct trace_shape *shape)
{
	if ((shape->show & SHOW_REQUEST) != 0 || trace->request != 0)
		write_decimal(writer, "request", trace->request);
	if ((shape->show & SHOW_PORT) != 0 || trace->port != 0)
		write_decimal(writer, "port", trace->port);
	if ((shape->show & SHOW_ENDPOINT) != 0 || trace->endpoint != 0)
		write_decimal(writer, "endpoint", trace->endpoint);
	write_address(writer, "source", &trace->source);
	write_address(writer, "destination", &trace->destination);
	if (trace->bypass)
		write_decimal(writer, "bypass", 1);
	if ((shape->show & SHOW_STATUS) != 0 || trace->status != ACM_STATUS_OK)
		write_status(writer, trace->status);
	if ((shape->show & SHOW_LID) != 0 || trace->lid != 0)
		write_decimal(writer, "lid", trace->lid);
	write_gid(writer, &trace->gid);
	if (trace->qpn != 0)
		write_hex(writer, "qpn", trace->qpn, 6);
	if ((shape->show & SHOW_PKEY) != 0 || trace->pkey != 0)
		write_hex(writer, "pkey", trace->pkey, 4);
	if ((shape->show & SHOW_VALUE) != 0 || trace->value != 0)
		write_value(writer, shape, trace->value);
	if (trace->reason != NULL) {
		write_key(writer, "reason");
		write_words(writer, trace->reason);
	}
}

size_t acm_trace_format(const struct acm_trace *trace, char *text, size_t size)
{
	static const struct trace_shape unknown = {"unknown", 0, "value", VALUE_DECIMAL};
	const struct trace_shape *shape =
		(unsigned int)trace->type < ACM_TRACE_TYPE_COUNT ? &shapes[trace->type] : &unknown;
	struct text_writer writer;

	text_writer_init(&writer, text, size);
	text_writer_string(&writer, shape->name);
	write_fields(&writer, trace, shape);
	return writer.length;
}
