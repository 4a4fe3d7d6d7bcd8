/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fake_server.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "attach_environment.h"

#define GUESTS_MAX 8

struct kept_message {
	union sim_attach_message message;
	struct kept_message *next;
};

struct fake_server {
	char folder[64];
	char path[80];
	int listener;
	int stop;
	bool silent;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	int guests[GUESTS_MAX];
	uint32_t guest_count;
	struct kept_message *first;
};

/* ---- what it shows ---- */

void fake_server_facts(uint32_t index, struct acm_port_facts *facts)
{
	*facts = (struct acm_port_facts){
		.port = index,
		.device = "fake_0",
		.device_guid = 0x1122334455667788,
		.number = (uint8_t)(index + 1),
		.port_count = FAKE_PORTS,
		.state = index ? ACM_PORT_DOWN : ACM_PORT_ACTIVE,
		.lid = (uint16_t)(17 + index),
		.sm_lid = 3,
		.sm_sl = 1,
		.subnet_timeout = 18,
		.mtu = 4,
		.rate = 16,
		.gid_count = 1,
		.gids = {{.raw = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7,
				  (uint8_t)(8 + index)}}},
		.pkey_count = 2,
		.pkeys = {0xffff, 0x8001},
	};
	if (index) {
		facts->pkey_count = 3;
		memcpy(facts->pkeys, (uint16_t[]){0x8002, 0xffff, 0x8001}, 3 * sizeof(uint16_t));
	}
}

/* ---- what it does by itself ---- */

static void welcome(int fd)
{
	struct sim_attach_welcome message = {
		.header.type = SIM_ATTACH_WELCOME,
		.version = SIM_ATTACH_VERSION,
		.port_count = FAKE_PORTS,
		.node_guid = 0x1122334455667788,
		.system_guid = 0x1122334455667799,
		.device = "fake_0",
		.fabric = "fake",
	};

	sim_channel_send(fd, &message);
}

static void show_ports(int fd)
{
	for (uint32_t i = 0; i < FAKE_PORTS; i++) {
		struct sim_attach_port message = {.header.type = SIM_ATTACH_PORT, .port = i};

		fake_server_facts(i, &message.facts);
		sim_channel_send(fd, &message);
	}
}

static void open_endpoint(int fd, uint32_t endpoint)
{
	struct sim_attach_opened message = {.header.type = SIM_ATTACH_OPENED,
					    .endpoint = endpoint,
					    .qpn = FAKE_QPN_BASE + endpoint};

	sim_channel_send(fd, &message);
}

static void join(int fd, uint64_t cookie)
{
	struct sim_attach_status message = {.header.type = SIM_ATTACH_JOINED_QP, .cookie = cookie};

	sim_channel_send(fd, &message);
}

static void keep(struct fake_server *server, const union sim_attach_message *message)
{
	struct kept_message *kept = calloc(1, sizeof(*kept)), **link = &server->first;

	kept->message = *message;
	while (*link)
		link = &(*link)->next;
	*link = kept;
	pthread_cond_broadcast(&server->arrived);
}

static void hear(struct fake_server *server, int fd, const union sim_attach_message *message)
{
	if (server->silent) {
		keep(server, message);
		return;
	}
	switch (message->header.type) {
	case SIM_ATTACH_HELLO:
		welcome(fd);
		break;
	case SIM_ATTACH_START:
		show_ports(fd);
		break;
	case SIM_ATTACH_OPEN:
		open_endpoint(fd, message->open.endpoint);
		break;
	case SIM_ATTACH_JOIN_QP:
		join(fd, message->group.cookie);
		break;
	default:
		break;
	}
	keep(server, message);
}

/* ---- its thread ---- */

static void accept_guest(struct fake_server *server)
{
	int fd = sim_channel_accept(server->listener);

	if (fd >= 0 && server->guest_count < GUESTS_MAX)
		server->guests[server->guest_count++] = fd;
}

static void read_guests(struct fake_server *server)
{
	union sim_attach_message message;

	for (uint32_t i = 0; i < server->guest_count; i++) {
		while (server->guests[i] >= 0) {
			int received = sim_channel_receive(server->guests[i], &message);

			if (received <= 0) {
				if (received < 0) {
					close(server->guests[i]);
					server->guests[i] = -1;
				}
				break;
			}
			hear(server, server->guests[i], &message);
		}
	}
}

static void *serve(void *argument)
{
	struct fake_server *server = argument;
	struct pollfd polled[GUESTS_MAX + 2] = {
		{.fd = server->stop, .events = POLLIN},
		{.fd = server->listener, .events = POLLIN},
	};

	for (;;) {
		nfds_t count = 2;

		pthread_mutex_lock(&server->lock);
		for (uint32_t i = 0; i < server->guest_count; i++)
			polled[count++] =
				(struct pollfd){.fd = server->guests[i], .events = POLLIN};
		pthread_mutex_unlock(&server->lock);
		poll(polled, count, -1);
		if (polled[0].revents)
			return NULL;
		pthread_mutex_lock(&server->lock);
		if (polled[1].revents)
			accept_guest(server);
		read_guests(server);
		pthread_mutex_unlock(&server->lock);
	}
}

struct fake_server *fake_server_start(void)
{
	struct fake_server *server = calloc(1, sizeof(*server));
	char why[256];

	assert_non_null(server);
	snprintf(server->folder, sizeof(server->folder), "/tmp/acmite-preload-XXXXXX");
	assert_non_null(mkdtemp(server->folder));
	snprintf(server->path, sizeof(server->path), "%s/socket", server->folder);
	server->listener = sim_channel_listen(server->path, 0600, why, sizeof(why));
	assert_true(server->listener >= 0);
	server->stop = eventfd(0, EFD_CLOEXEC);
	pthread_mutex_init(&server->lock, NULL);
	pthread_cond_init(&server->arrived, NULL);
	setenv(SIM_ATTACH_SOCKET_VARIABLE, server->path, 1);
	setenv(SIM_ATTACH_NODE_VARIABLE, "node", 1);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
	return server;
}

void fake_server_stop(struct fake_server *server)
{
	uint64_t one = 1;

	assert_int_equal(write(server->stop, &one, sizeof(one)), sizeof(one));
	pthread_join(server->thread, NULL);
	for (uint32_t i = 0; i < server->guest_count; i++) {
		if (server->guests[i] >= 0)
			close(server->guests[i]);
	}
	close(server->listener);
	close(server->stop);
	unlink(server->path);
	rmdir(server->folder);
	while (server->first) {
		struct kept_message *kept = server->first;

		server->first = kept->next;
		free(kept);
	}
	free(server);
}

/* ---- for tests ---- */

static struct kept_message **find(struct fake_server *server, enum sim_attach_type type)
{
	struct kept_message **link = &server->first;

	while (*link && (*link)->message.header.type != type)
		link = &(*link)->next;
	return link;
}

void fake_server_take(struct fake_server *server, enum sim_attach_type type,
		      union sim_attach_message *message)
{
	struct kept_message **link, *kept;

	pthread_mutex_lock(&server->lock);
	while (!*(link = find(server, type)))
		pthread_cond_wait(&server->arrived, &server->lock);
	kept = *link;
	*link = kept->next;
	pthread_mutex_unlock(&server->lock);
	*message = kept->message;
	free(kept);
}

uint32_t fake_server_count(struct fake_server *server, enum sim_attach_type type)
{
	uint32_t count = 0;

	pthread_mutex_lock(&server->lock);
	for (const struct kept_message *at = server->first; at; at = at->next)
		count += at->message.header.type == type;
	pthread_mutex_unlock(&server->lock);
	return count;
}

void fake_server_say(struct fake_server *server, const void *message)
{
	pthread_mutex_lock(&server->lock);
	assert_true(server->guest_count > 0);
	assert_int_equal(sim_channel_send(server->guests[server->guest_count - 1], message), 0);
	pthread_mutex_unlock(&server->lock);
}

uint32_t fake_server_guests(struct fake_server *server)
{
	uint32_t count;

	pthread_mutex_lock(&server->lock);
	count = server->guest_count;
	pthread_mutex_unlock(&server->lock);
	return count;
}

void fake_server_hold(struct fake_server *server)
{
	pthread_mutex_lock(&server->lock);
}

void fake_server_go_on(struct fake_server *server)
{
	pthread_mutex_unlock(&server->lock);
}

void fake_server_silence(struct fake_server *server)
{
	pthread_mutex_lock(&server->lock);
	server->silent = true;
	pthread_mutex_unlock(&server->lock);
}
