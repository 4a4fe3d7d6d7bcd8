/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A topology for people's tools: Graphviz. */
#include "topology.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const speed_names[] = {
	[SIM_SDR] = "sdr", [SIM_DDR] = "ddr", [SIM_QDR] = "qdr", [SIM_FDR] = "fdr",
	[SIM_EDR] = "edr", [SIM_HDR] = "hdr", [SIM_NDR] = "ndr", [SIM_XDR] = "xdr",
};

const char *sim_speed_name(enum sim_speed speed)
{
	return speed_names[speed];
}

static int stream_status(FILE *out)
{
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

static void write_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void write_dot_link(const struct sim_topology *topology, const struct sim_link *link,
			   FILE *out)
{
	fputc('\t', out);
	write_quoted(topology->nodes[link->node[0]].name, out);
	fputs(" -- ", out);
	write_quoted(topology->nodes[link->node[1]].name, out);
	fprintf(out, " [taillabel=\"%u\", headlabel=\"%u\", label=\"%ux %s\"];\n", link->port[0],
		link->port[1], link->width, speed_names[link->speed]);
}

int sim_topology_write_dot(const struct sim_topology *topology, FILE *out)
{
	fputs("graph ", out);
	write_quoted(topology->name, out);
	fputs(" {\n\tnode [shape=ellipse];\n", out);
	for (uint32_t i = 0; i < topology->node_count; i++) {
		fputc('\t', out);
		write_quoted(topology->nodes[i].name, out);
		fputs(topology->nodes[i].kind == SIM_SWITCH ? " [shape=box];\n" : ";\n", out);
	}
	for (uint32_t i = 0; i < topology->link_count; i++)
		write_dot_link(topology, &topology->links[i], out);
	fputs("}\n", out);
	return stream_status(out);
}
