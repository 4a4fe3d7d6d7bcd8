/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A YAML document with the place of everything in it, and accessors that check types. An accessor
 * that finds something else than asked for records a fault at its place.
 */
#ifndef ACMITE_SIM_TOPOLOGY_DOCUMENT_H
#define ACMITE_SIM_TOPOLOGY_DOCUMENT_H

#include <yaml.h>
#include "topology_fault.h"

struct sim_document {
	yaml_document_t yaml;
	struct sim_faults *faults;
};

/* A word with a number that stands for it. Lists end with a NULL word. */
struct sim_word {
	const char *word;
	uint32_t value;
};

/* False, with faults, when the text is not exactly one YAML document; nothing to close then. */
bool sim_document_open(struct sim_document *document, const char *text, size_t length,
		       struct sim_faults *faults);
void sim_document_close(struct sim_document *document);

yaml_node_t *sim_document_root(struct sim_document *document);
struct sim_place sim_document_place(const yaml_node_t *node);
/* Place of a byte of a scalar's value, as well as it can be told. */
struct sim_place sim_document_place_in(const yaml_node_t *scalar, size_t offset);
/* Place of a byte of a text that is UTF-8; of one behind its end: the end. */
struct sim_place sim_place_of_offset(const char *text, size_t length, size_t offset);

/*
 * Values of a mapping by its keys: values[i] is that of keys[i], NULL when it is not there. Unknown
 * and repeated keys are faults. False when `node` is no mapping; all values are NULL then.
 */
bool sim_document_fields(struct sim_document *document, yaml_node_t *node, const char *what,
			 const char *const *keys, size_t count, yaml_node_t **values);
/* Length of a sequence; 0, with a fault, when it is none. A missing node (NULL) is an empty one. */
size_t sim_document_items(struct sim_document *document, const yaml_node_t *node, const char *what);
yaml_node_t *sim_document_item(struct sim_document *document, const yaml_node_t *sequence,
			       size_t index);

/* Text that is not empty, NUL-terminated and without NUL inside; NULL, with a fault, otherwise. */
const char *sim_document_text(struct sim_document *document, const yaml_node_t *node,
			      const char *what);
/* Decimal or 0x hexadecimal within bounds. A missing node leaves *value and is no fault. */
bool sim_document_number(struct sim_document *document, const yaml_node_t *node, const char *what,
			 uint64_t least, uint64_t most, uint64_t *value);
/* One of the words, in any case. A missing node leaves *value and is no fault. */
bool sim_document_word(struct sim_document *document, const yaml_node_t *node, const char *what,
		       const struct sim_word *words, uint32_t *value);

#endif
