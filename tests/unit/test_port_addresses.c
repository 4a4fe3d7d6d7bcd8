/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of one port: from the file, from the topology, or the host's name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "port_addresses.h"

#include <acmite/wire.h>
#include <string.h>

static struct acm_port_facts facts_of(uint32_t port, const char *device, uint8_t number)
{
	struct acm_port_facts facts = {.port = port, .number = number};

	strcpy(facts.device, device);
	return facts;
}

static struct acm_address name_of(const char *text)
{
	struct acm_address address;

	assert_int_equal(acm_address_canonical(&address, ACM_ADDRESS_NAME, (const uint8_t *)text,
					       strlen(text)),
			 0);
	return address;
}

static void from_the_file(void **state)
{
	static const char text[] = "one mlx5_0 1 default\n"
				   "two mlx5_0 2 default\n"
				   "far mlx5_7 1 default\n"
				   "three mlx5_0 1 8123\n";
	struct problems problems = {.out = stderr};
	struct local_addresses addresses = {.list = NULL};
	struct acm_port_facts facts = facts_of(3, "mlx5_0", 1);
	struct address_file file;
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	(void)state;
	assert_non_null(in);
	assert_int_equal(address_file_read(&file, "f", in, ADDRESS_FILE_SKIP_IPS, &problems), 0);
	fclose(in);
	assert_int_equal(port_addresses_of_file(&addresses, &facts, &file), 0);
	assert_int_equal(addresses.count, 2);
	assert_string_equal(addresses.list[0].text, "one");
	assert_int_equal(addresses.list[0].port, 3);
	assert_int_equal(addresses.list[0].pkey, 0);
	assert_string_equal(addresses.list[1].text, "three");
	assert_int_equal(addresses.list[1].pkey, 0x8123);
	/* Those of the next port come behind. */
	facts = facts_of(4, "mlx5_0", 2);
	assert_int_equal(port_addresses_of_file(&addresses, &facts, &file), 0);
	assert_int_equal(addresses.count, 3);
	assert_string_equal(addresses.list[2].text, "two");
	assert_int_equal(addresses.list[2].port, 4);
	/* A file that has none for a port says just that. */
	facts = facts_of(5, "mlx5_1", 1);
	assert_int_equal(port_addresses_of_file(&addresses, &facts, &file), 0);
	assert_int_equal(addresses.count, 3);
	facts = facts_of(3, "mlx5_0", 1);
	assert_true(port_addresses_serves(&facts, &file.entries[0]));
	assert_false(port_addresses_serves(&facts, &file.entries[1]));
	assert_false(port_addresses_serves(&facts, &file.entries[2]));
	assert_false(port_addresses_serves(&facts, &file.entries[3]));
	facts.pkeys[facts.pkey_count++] = 0x0123;
	assert_true(port_addresses_serves(&facts, &file.entries[3]));
	local_addresses_free(&addresses);
	address_file_free(&file);
}

/* The first port's, and texts that are too long are cut. */
static void from_the_topology(void **state)
{
	struct local_addresses addresses = {.list = NULL};
	struct acm_port_facts facts = facts_of(1, "mlx5_0", 2);
	struct acm_address given[2];
	struct acm_address ip6 = {.type = ACM_ADDRESS_IP6, .length = 16};
	char longest[ACM_ADDRESS_MAX + 1] = {0};

	(void)state;
	memset(longest, 'n', ACM_ADDRESS_MAX);
	given[0] = name_of(longest);
	given[1] = (struct acm_address){.type = ACM_ADDRESS_IP, .length = 4, .data = {10, 0, 0, 9}};
	assert_int_equal(port_addresses_of_node(&addresses, &facts, given, 2), 0);
	assert_int_equal(addresses.count, 0);
	facts = facts_of(0, "mlx5_0", 1);
	assert_int_equal(port_addresses_of_node(&addresses, &facts, given, 2), 0);
	assert_int_equal(addresses.count, 2);
	assert_int_equal(strlen(addresses.list[0].text), ACM_ADDRESS_MAX - 1);
	assert_true(acm_address_equal(&addresses.list[0].address, &given[0]));
	assert_string_equal(addresses.list[1].text, "10.0.0.9");
	assert_int_equal(addresses.list[1].port, 0);
	assert_int_equal(addresses.list[1].pkey, 0);
	assert_ptr_equal(local_addresses_source(&addresses, &given[1]), &addresses.list[1].address);
	assert_null(local_addresses_source(&addresses, &ip6));
	local_addresses_free(&addresses);
}

static void from_the_host(void **state)
{
	struct local_addresses addresses = {.list = NULL};
	struct acm_port_facts facts = facts_of(2, "mlx5_0", 1);
	struct acm_address host = name_of("Host"), nobody = {.type = ACM_ADDRESS_NONE};

	(void)state;
	facts.pkey_count = 5;
	facts.pkeys[0] = 0x7fff;
	facts.pkeys[2] = 0x8123;
	facts.pkeys[3] = 0xffff; /* as the first in 15 bits */
	facts.pkeys[4] = 0x8000; /* none */
	assert_int_equal(port_addresses_of_host(&addresses, &facts, &host), 0);
	assert_int_equal(addresses.count, 2);
	assert_int_equal(addresses.list[0].pkey, 0x7fff);
	assert_int_equal(addresses.list[1].pkey, 0x8123);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(addresses.list[i].port, 2);
		assert_true(acm_address_equal(&addresses.list[i].address, &host));
		assert_string_equal(addresses.list[i].text, "host");
	}
	assert_int_equal(port_addresses_of_host(&addresses, &facts, &nobody), 0);
	assert_int_equal(addresses.count, 2);
	local_addresses_free(&addresses);
}

static void the_hosts_name_has_no_domain(void **state)
{
	struct acm_address host;

	(void)state;
	port_addresses_host(&host);
	assert_null(memchr(host.data, '.', host.length));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_the_file),
		cmocka_unit_test(from_the_topology),
		cmocka_unit_test(from_the_host),
		cmocka_unit_test(the_hosts_name_has_no_domain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
