/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs for the SA, one after the other: each is a byte that chooses the host, and 128 bytes, which
 * is where the longest record that it is asked for ends.
 */
#include "sa_model.h"

#include <acmite/transport.h>

#include "small_fabric.h"

#define REQUEST 128

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sim_topology *topology = small_fabric();
	struct sim_subnet_options options;
	struct sim_subnet *subnet;
	struct sim_sa_answer answer = {0};
	char why[256];

	sim_subnet_options_default(&options);
	options.mlid_count = 4;
	if (sim_subnet_create(topology, &options, &subnet, why, sizeof(why)))
		abort();
	for (uint64_t now = 0; size > 1; now += ACM_NSEC_PER_MSEC) {
		size_t length = size - 1 < REQUEST ? size - 1 : REQUEST;
		uint8_t mad[ACM_MAD_LENGTH] = {0};
		struct sim_port_ref from = {
			.node = topology->switch_count + data[0] % topology->host_count, .port = 1};

		memcpy(mad, data + 1, length);
		data += 1 + length;
		size -= 1 + length;
		sim_sa_serve(subnet, from, mad, now, &answer);
		sim_subnet_advance(subnet, now);
	}
	free(answer.data);
	sim_subnet_destroy(subnet);
	return 0;
}
