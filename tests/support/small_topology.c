/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "small_topology.h"

#include <inttypes.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct sim_topology *small_topology_parse(const char *text)
{
	struct sim_topology *topology = NULL;
	struct sim_errors errors = {0};

	if (sim_topology_parse("small.yaml", text, strlen(text), &topology, &errors))
		fail_msg("%s", errors.count ? errors.lines[0] : "no topology");
	return topology;
}

struct sim_topology *small_topology_star(uint32_t hosts)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "fabric: star\n"
		 "link: { width: 4x, speed: edr, mtu: 2048, latency: 200ns }\n"
		 "switches:\n"
		 "  - { name: switch1, ports: %" PRIu32 " }\n"
		 "hosts:\n"
		 "  - { name: \"node[1-%" PRIu32 "]\", device: mlx5_0 }\n"
		 "links:\n"
		 "  - \"node[1-%" PRIu32 "] -- switch1\"\n",
		 hosts, hosts, hosts);
	return small_topology_parse(text);
}

struct sim_topology *small_topology_two_switches(void)
{
	return small_topology_parse("fabric: two switches\n"
				    "link: { width: 4x, speed: edr, mtu: 2048, latency: 200ns }\n"
				    "switches:\n"
				    "  - { name: \"switch[1-2]\", ports: 8 }\n"
				    "hosts:\n"
				    "  - { name: \"left[1-3]\" }\n"
				    "  - { name: \"right[1-3]\" }\n"
				    "links:\n"
				    "  - \"left[1-3] -- switch1\"\n"
				    "  - \"right[1-3] -- switch2\"\n"
				    "  - { join: \"switch1 -- switch2\", count: 2 }\n");
}
