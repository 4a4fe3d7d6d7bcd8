/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Node (a byte), destination LID (two), MAD (the rest): what an agent answers is an answer. */
#include "node_agents.h"

#include <acmite/transport.h>

#include "small_fabric.h"

#define AT_METHOD 3
#define RESPONSE  0x80

static void read_traffic(void *context, uint32_t node, uint8_t port,
			 struct sim_port_traffic *traffic)
{
	(void)context;
	*traffic = (struct sim_port_traffic){.sent_bytes = UINT64_MAX / 2, .discards = node + port};
}

static void set_traffic(void *context, uint32_t node, uint8_t port,
			const struct sim_port_traffic *traffic)
{
	(void)context;
	if (port > small_fabric()->nodes[node].port_count || traffic->discards > UINT32_MAX)
		abort();
}

static struct sim_subnet *subnet(void)
{
	static struct sim_subnet *made;
	struct sim_subnet_options options;
	char why[256];

	sim_subnet_options_default(&options);
	if (!made && sim_subnet_create(small_fabric(), &options, &made, why, sizeof(why)))
		abort();
	return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sim_traffic_source traffic = {.read = read_traffic, .set = set_traffic};
	const struct sim_topology *topology = small_fabric();
	struct sim_port_ref from = {.port = 1};
	uint8_t mad[ACM_MAD_LENGTH] = {0}, answer[ACM_MAD_LENGTH];

	if (size < 3)
		return 0;
	from.node = topology->switch_count + data[0] % topology->host_count;
	memcpy(mad, data + 3, size - 3 < sizeof(mad) ? size - 3 : sizeof(mad));
	if (!sim_node_agents_answer(subnet(), from, (uint16_t)(data[1] << 8 | data[2]), mad,
				    &traffic, answer) &&
	    !(answer[AT_METHOD] & RESPONSE))
		abort();
	return 0;
}
