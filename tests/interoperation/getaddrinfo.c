/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an application gets from the distribution's librdmacm: the route to an address, in one line.
 * Exit status: 0 there is one, 1 there is none, 2 it could not be asked.
 */
#include <arpa/inet.h>
#include <infiniband/sa.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>

static int print_route(const struct rdma_addrinfo *info)
{
	const struct ibv_path_data *data = info->ai_route;
	char gid[INET6_ADDRSTRLEN] = "";

	if (!data || info->ai_route_len < sizeof(*data)) {
		puts("no route");
		return 1;
	}
	inet_ntop(AF_INET6, &data->path.dgid, gid, sizeof(gid));
	printf("dgid=%s dlid=%u slid=%u pkey=0x%04x mtu=%u rate=%u sl=%u\n", gid,
	       ntohs(data->path.dlid), ntohs(data->path.slid), ntohs(data->path.pkey),
	       data->path.mtu & 0x3f, data->path.rate & 0x3f, ntohs(data->path.qosclass_sl) & 0xf);
	return 0;
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *info = NULL;
	int ended;

	if (argc != 3) {
		fprintf(stderr, "Usage: getaddrinfo SOURCE-ADDRESS DESTINATION-ADDRESS\n");
		return 2;
	}
	struct sockaddr_in source = {.sin_family = AF_INET};

	if (inet_pton(AF_INET, argv[1], &source.sin_addr) != 1) {
		fprintf(stderr, "getaddrinfo: %s is no IPv4 address\n", argv[1]);
		return 2;
	}
	hints.ai_flags = RAI_FAMILY; /* a numeric host would ask without delay */
	hints.ai_family = AF_INET;
	hints.ai_src_addr = (struct sockaddr *)&source;
	hints.ai_src_len = sizeof(source);
	if (rdma_getaddrinfo(argv[2], "7471", &hints, &info)) {
		perror("getaddrinfo: rdma_getaddrinfo");
		return 2;
	}
	ended = print_route(info);
	rdma_freeaddrinfo(info);
	return ended;
}
