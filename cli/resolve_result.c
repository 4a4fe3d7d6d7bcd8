/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve_result.h"

#include "table.h"

#include <acmite/trace.h>
#include <inttypes.h>
#include <stdio.h>

#define FIELD_LENGTH 80
#define LIFE_UNIT_US 4.096

/* A result's fields as texts, in the order of the table's columns. */
enum {
	DESTINATION,
	STATUS,
	DGID,
	DLID,
	SLID,
	SL,
	MTU,
	RATE,
	PKEY,
	LATENCY,
	BEST,
	MEAN,
	FIELD_COUNT
};

static const struct table_column columns[FIELD_COUNT] = {
	[DESTINATION] = {"DESTINATION", false},
	[STATUS] = {"STATUS", false},
	[DGID] = {"DGID", false},
	[DLID] = {"DLID", true},
	[SLID] = {"SLID", true},
	[SL] = {"SL", true},
	[MTU] = {"MTU", true},
	[RATE] = {"Gb/s", true},
	[PKEY] = {"P_KEY", false},
	[LATENCY] = {"LATENCY", true},
	[BEST] = {"BEST", true},
	[MEAN] = {"MEAN", true},
};

bool resolve_result_ok(const struct resolve_result *result)
{
	return result->answered && result->status == ACM_STATUS_OK;
}

static const char *status_text(const struct resolve_result *result)
{
	return result->answered ? acm_status_text(result->status) : "no answer";
}

static double microseconds(uint64_t nanoseconds)
{
	return (double)nanoseconds / 1000;
}

static double mean_us(const struct resolve_result *result)
{
	return microseconds(result->rest) / (result->times - 1);
}

/* ---- people's form ---- */

struct fields {
	char text[FIELD_COUNT][FIELD_LENGTH];
};

/* 2.5 is the one rate of the tables with a fraction that counts. */
static double rate_gbps(const struct acm_path *path)
{
	return acm_rate_tenths_gbps(path->rate) / 10.0;
}

static void write_path(struct fields *fields, const struct acm_path *path)
{
	acm_gid_format(&path->dgid, fields->text[DGID], FIELD_LENGTH);
	snprintf(fields->text[DLID], FIELD_LENGTH, "%u", path->dlid);
	snprintf(fields->text[SLID], FIELD_LENGTH, "%u", path->slid);
	snprintf(fields->text[SL], FIELD_LENGTH, "%u", path->sl);
	snprintf(fields->text[MTU], FIELD_LENGTH, "%u", acm_mtu_bytes(path->mtu));
	snprintf(fields->text[RATE], FIELD_LENGTH, "%g", rate_gbps(path));
	snprintf(fields->text[PKEY], FIELD_LENGTH, "0x%04x", path->pkey);
}

static void write_fields(struct fields *fields, const struct destination *destination,
			 const struct resolve_result *result)
{
	*fields = (struct fields){0};
	snprintf(fields->text[DESTINATION], FIELD_LENGTH, "%s", destination->text);
	snprintf(fields->text[STATUS], FIELD_LENGTH, "%s", status_text(result));
	if (resolve_result_ok(result))
		write_path(fields, &result->path);
	if (!result->times)
		return;
	snprintf(fields->text[LATENCY], FIELD_LENGTH, "%.1f us", microseconds(result->first));
	if (result->times < 2)
		return;
	snprintf(fields->text[BEST], FIELD_LENGTH, "%.1f us", microseconds(result->best));
	snprintf(fields->text[MEAN], FIELD_LENGTH, "%.1f us", mean_us(result));
}

static size_t field_count(const struct resolve_arguments *arguments)
{
	return arguments->repetitions > 1 ? FIELD_COUNT : LATENCY + 1;
}

static bool show_table(const struct resolve_arguments *arguments,
		       const struct resolve_result *results)
{
	size_t count = field_count(arguments);
	struct libscols_table *table = table_create(columns, count);
	const char *texts[FIELD_COUNT];
	struct fields fields;
	bool good = table != NULL;

	for (uint32_t i = 0; good && i < arguments->destination_count; i++) {
		write_fields(&fields, &arguments->destinations[i], &results[i]);
		for (size_t j = 0; j < FIELD_COUNT; j++)
			texts[j] = fields.text[j];
		good = table_add(table, texts);
		if (good)
			table_color(table, STATUS,
				    resolve_result_ok(&results[i]) ? "green" : "red");
	}
	return table && table_finish(table) && good;
}

static bool show_block(const struct resolve_arguments *arguments,
		       const struct resolve_result *result)
{
	static const char *const labels[FIELD_COUNT] = {
		"destination", "status",  "DGID",          "DLID",
		"SLID",        "SL",      "MTU, bytes",    "rate, Gb/s",
		"P_Key",       "latency", "latency, best", "latency, mean of the others",
	};
	struct fields fields;
	char sgid[46];

	write_fields(&fields, &arguments->destinations[0], result);
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (*fields.text[i])
			printf("%-28s%s\n", labels[i], fields.text[i]);
		if (i == DGID && *fields.text[i]) {
			acm_gid_format(&result->path.sgid, sgid, sizeof(sgid));
			printf("%-28s%s\n", "SGID", sgid);
		}
	}
	return true;
}

/* ---- JSON ---- */

static const char *type_text(const struct acm_address *address)
{
	static const char *const texts[] = {
		[ACM_ADDRESS_NAME] = "name", [ACM_ADDRESS_IP] = "ipv4", [ACM_ADDRESS_IP6] = "ipv6",
		[ACM_ADDRESS_GID] = "gid",   [ACM_ADDRESS_LID] = "lid",
	};

	return texts[address->type];
}

static json_t *json_hex(uint64_t value, int digits)
{
	return json_sprintf("0x%0*" PRIx64, digits, value);
}

static json_t *json_gid(const struct acm_gid *gid)
{
	char text[46];

	acm_gid_format(gid, text, sizeof(text));
	return json_string(text);
}

static int add_path(json_t *object, const struct acm_path *path)
{
	return json_object_set_new(object, "dgid", json_gid(&path->dgid)) |
	       json_object_set_new(object, "sgid", json_gid(&path->sgid)) |
	       json_object_set_new(object, "dlid", json_integer(path->dlid)) |
	       json_object_set_new(object, "slid", json_integer(path->slid)) |
	       json_object_set_new(object, "sl", json_integer(path->sl)) |
	       json_object_set_new(object, "mtu_bytes", json_integer(acm_mtu_bytes(path->mtu))) |
	       json_object_set_new(object, "rate_gbps", json_real(rate_gbps(path))) |
	       json_object_set_new(object, "pkey", json_hex(path->pkey, 4)) |
	       json_object_set_new(object, "packet_life_us",
				   json_real(LIFE_UNIT_US *
					     (double)(UINT64_C(1) << (path->packet_life & 63)))) |
	       json_object_set_new(object, "traffic_class", json_integer(path->traffic_class)) |
	       json_object_set_new(object, "flow_label", json_integer(path->flow_label)) |
	       json_object_set_new(object, "hop_limit", json_integer(path->hop_limit)) |
	       json_object_set_new(object, "reversible", json_boolean(path->reversible)) |
	       json_object_set_new(object, "qos_class", json_integer(path->qos_class)) |
	       json_object_set_new(object, "preference", json_integer(path->preference)) |
	       json_object_set_new(object, "path_count", json_integer(path->path_count)) |
	       json_object_set_new(object, "service_id", json_hex(path->service_id, 16));
}

static int add_latencies(json_t *object, const struct resolve_result *result)
{
	int error = json_object_set_new(object, "answers", json_integer(result->times));

	if (result->times)
		error |= json_object_set_new(object, "latency_us",
					     json_real(microseconds(result->first)));
	if (result->times > 1)
		error |= json_object_set_new(object, "latency_best_us",
					     json_real(microseconds(result->best))) |
			 json_object_set_new(object, "latency_mean_us", json_real(mean_us(result)));
	return error;
}

static int add_source(json_t *object, const struct acm_address *source)
{
	char text[65];

	if (source->type == ACM_ADDRESS_NONE)
		return 0;
	acm_address_format(source, text, sizeof(text));
	return json_object_set_new(object, "source", json_text(text));
}

/* NULL: no memory. */
static json_t *result_object(const struct destination *destination,
			     const struct resolve_result *result)
{
	json_t *object = json_object();
	int error =
		json_object_set_new(object, "destination", json_text(destination->text)) |
		json_object_set_new(object, "type", json_string(type_text(&destination->address))) |
		json_object_set_new(object, "status", json_string(status_text(result)));

	if (result->answered)
		error |= json_object_set_new(object, "status_code", json_integer(result->status));
	error |= add_latencies(object, result);
	if (resolve_result_ok(result))
		error |= add_path(object, &result->path) | add_source(object, &result->source);
	if (!error)
		return object;
	json_decref(object);
	return NULL;
}

static bool show_json(const struct resolve_arguments *arguments,
		      const struct resolve_result *results)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < arguments->destination_count; i++) {
		if (!json_array_append_new(array,
					   result_object(&arguments->destinations[i], &results[i])))
			continue;
		json_decref(array);
		return false;
	}
	return json_finish(array);
}

bool resolve_results_show(const struct resolve_arguments *arguments,
			  const struct resolve_result *results)
{
	if (arguments->json)
		return show_json(arguments, results);
	if (arguments->destination_count == 1)
		return show_block(arguments, results);
	return show_table(arguments, results);
}
