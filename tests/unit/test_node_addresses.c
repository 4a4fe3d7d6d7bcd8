/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The node's addresses follow its ports, and people are told what has no place there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "node_addresses.h"
#include "port_addresses.h"

#include <acmite/wire.h>
#include <stdlib.h>
#include <string.h>

static const char lines[] = "plain mlx5_0 1 default\n"
			    "second mlx5_0 2 default\n"
			    "private mlx5_0 1 8123\n";

struct fixture {
	struct command_line line;
	struct configuration configuration;
	struct daemon_backend_setup setup;
	struct acm_engine *engine;
	struct node_addresses addresses;
	uint64_t now;
	char stepped[256]; /* "+name -name" as the engine was told */
	char told[1024];   /* notices since the last look */
};

static void *allocate(void *context, size_t size)
{
	(void)context;
	return malloc(size);
}

static void release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

static void feed(struct fixture *f, const struct acm_event *event)
{
	struct acm_action action;

	assert_int_equal(acm_engine_step(f->engine, event), 0);
	while (acm_engine_next_action(f->engine, &action))
		continue;
}

static int step(void *context, const struct acm_event *event)
{
	struct fixture *f = context;
	size_t length = strlen(f->stepped);

	snprintf(f->stepped + length, sizeof(f->stepped) - length, "%s%c%s", length ? " " : "",
		 event->type == ACM_EVENT_ADDRESS_ADDED ? '+' : '-', event->address->text);
	feed(f, event);
	return 0;
}

static int node_address(void *context, const struct acm_port_facts *facts,
			struct local_addresses *addresses)
{
	struct acm_address given;

	(void)context;
	assert_int_equal(
		acm_address_canonical(&given, ACM_ADDRESS_NAME, (const uint8_t *)"given", 5), 0);
	return port_addresses_of_node(addresses, facts, &given, 1);
}

static void notice(void *context, const char *text)
{
	struct fixture *f = context;

	strcat(f->told, text);
}

static void set_up(struct fixture *f, const char *address_file)
{
	struct acm_allocator allocator = {.alloc = allocate, .free = release};
	struct node_addresses_hooks hooks = {.of_port = node_address, .step = step, .context = f};
	struct problems problems = {.out = stderr};
	struct acm_engine_config config;
	FILE *in = fmemopen((void *)(uintptr_t)lines, strlen(lines), "r");

	memset(f, 0, sizeof(*f));
	assert_non_null(in);
	assert_int_equal(address_file_read(&f->configuration.address_file, "f", in,
					   ADDRESS_FILE_SKIP_IPS, &problems),
			 0);
	fclose(in);
	f->line.address_file = address_file;
	f->configuration.line = &f->line;
	f->setup = (struct daemon_backend_setup){
		.configuration = &f->configuration, .notice = notice, .context = f};
	acm_engine_config_default(&config);
	assert_int_equal(acm_engine_create(&config, &allocator, &f->engine), 0);
	node_addresses_init(&f->addresses, &f->setup, f->engine, &hooks);
}

static void tear_down(struct fixture *f)
{
	node_addresses_free(&f->addresses);
	acm_engine_destroy(f->engine);
	address_file_free(&f->configuration.address_file);
}

/* The engine is told of a port of mlx5_0; a P_Key of 0 is none. */
static void set_port(struct fixture *f, uint32_t port, uint16_t pkey)
{
	struct acm_port_facts facts = {.port = port,
				       .device = "mlx5_0",
				       .number = (uint8_t)(port + 1),
				       .state = ACM_PORT_DOWN,
				       .pkey_count = 2,
				       .pkeys = {0xffff, pkey}};

	feed(f, &(struct acm_event){
			.type = ACM_EVENT_PORT_CHANGED, .time = f->now, .port_facts = &facts});
}

static void remove_port(struct fixture *f, uint32_t port)
{
	feed(f, &(struct acm_event){.type = ACM_EVENT_PORT_REMOVED, .time = f->now, .port = port});
}

/* What the engine is told in consequence, and people. */
static void follows(struct fixture *f, const char *stepped, const char *told)
{
	f->stepped[0] = f->told[0] = 0;
	assert_int_equal(node_addresses_follow(&f->addresses, ++f->now), 0);
	node_addresses_tell(&f->addresses);
	assert_string_equal(f->stepped, stepped);
	assert_string_equal(f->told, told);
}

static void follows_ports_and_pkeys(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, "addr");
	follows(&f, "",
		"addr: 3 of 3 addresses wait for their device, port or P_Key, the first is plain on"
		" mlx5_0 port 1, P_Key default");
	follows(&f, "", "");
	set_port(&f, 0, 0x8123);
	follows(&f, "+plain +private",
		"addr: 1 of 3 addresses wait for their device, port or P_Key, the first is second"
		" on mlx5_0 port 2, P_Key default");
	assert_int_equal(f.addresses.now.count, 2);
	set_port(&f, 1, 0);
	follows(&f, "+second", "addr: all 3 addresses have their device, port and P_Key now");
	/* Taken away: it stays an address of the port, and waits. */
	set_port(&f, 0, 0);
	follows(&f, "",
		"addr: 1 of 3 addresses wait for their device, port or P_Key, the first is private"
		" on mlx5_0 port 1, P_Key 0x8123");
	set_port(&f, 0, 0);
	follows(&f, "", "");
	/* Given back, as a limited member. */
	set_port(&f, 0, 0x0123);
	follows(&f, "", "addr: all 3 addresses have their device, port and P_Key now");
	/* As many as before, but others. */
	remove_port(&f, 1);
	follows(&f, "-second",
		"addr: 1 of 3 addresses wait for their device, port or P_Key, the first is second"
		" on mlx5_0 port 2, P_Key default");
	set_port(&f, 1, 0);
	set_port(&f, 0, 0x8124);
	follows(&f, "+second",
		"addr: 1 of 3 addresses wait for their device, port or P_Key, the first is private"
		" on mlx5_0 port 1, P_Key 0x8123");
	tear_down(&f);
}

/* However they come: the first port's addresses are the first. */
static void the_order_of_ports_is_that_of_their_numbers(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, "addr");
	set_port(&f, 1, 0);
	follows(&f, "+second",
		"addr: 2 of 3 addresses wait for their device, port or P_Key, the first is plain on"
		" mlx5_0 port 1, P_Key default");
	set_port(&f, 0, 0x8123);
	follows(&f, "+plain +private",
		"addr: all 3 addresses have their device, port and P_Key now");
	assert_string_equal(f.addresses.now.list[0].text, "plain");
	assert_string_equal(f.addresses.now.list[2].text, "second");
	remove_port(&f, 0);
	remove_port(&f, 1);
	follows(&f, "-plain -private -second",
		"addr: 3 of 3 addresses wait for their device, port or P_Key, the first is plain on"
		" mlx5_0 port 1, P_Key default");
	assert_int_equal(f.addresses.now.count, 0);
	tear_down(&f);
}

static void without_a_file_the_backend_says(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	follows(&f, "", "");
	set_port(&f, 0, 0);
	set_port(&f, 1, 0);
	follows(&f, "+given", "");
	remove_port(&f, 0);
	follows(&f, "-given", "");
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_ports_and_pkeys),
		cmocka_unit_test(the_order_of_ports_is_that_of_their_numbers),
		cmocka_unit_test(without_a_file_the_backend_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
