/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ibsim control on a real ibsim and a real OpenSM. Both must be installed (ci/setup does it):
 * these tests fail without them, they are never skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ibsim_control.h"
#include "ibsim_protocol.h"

#include <acmite/transport.h>
#include <acmite/wire.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 20000

static const char pair_text[] = "fabric: pair\n"
				"link: { width: 4x, speed: edr, mtu: 2048 }\n"
				"switches:\n"
				"  - { name: s1, ports: 8 }\n"
				"hosts:\n"
				"  - { name: sm1 }\n"
				"  - { name: node1 }\n"
				"links:\n"
				"  - \"sm1 -- s1\"\n"
				"  - \"node1 -- s1\"\n"
				"partitions:\n"
				"  - { name: storage, pkey: 0x0010, full: sm1, limited: node1 }\n";

static const char forty_text[] = "fabric: forty\n"
				 "link: { width: 4x, speed: edr, mtu: 2048 }\n"
				 "switches:\n"
				 "  - { name: \"spine[1-2]\", ports: 36 }\n"
				 "  - { name: \"leaf[1-4]\", ports: 36 }\n"
				 "hosts:\n"
				 "  - { name: sm1 }\n"
				 "  - { name: \"node[01-40]\" }\n"
				 "links:\n"
				 "  - \"leaf[1-4] -- spine[1-2]\"\n"
				 "  - \"node[01-40] -> leaf[1-4]\"\n"
				 "  - \"sm1 -- leaf1\"\n";

struct fabric {
	struct sim_topology *topology;
	struct sim_control *control;
	char scratch[64];
	char why[1024];
	struct sim_control_event event; /* the last one taken */
	uint8_t mad[ACM_MAD_LENGTH];
};

static uint64_t monotonic_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

static void prepare(struct fabric *fabric, const char *text)
{
	struct sim_errors errors = {0};

	memset(fabric, 0, sizeof(*fabric));
	assert_int_equal(
		sim_topology_parse("test.yaml", text, strlen(text), &fabric->topology, &errors), 0);
	snprintf(fabric->scratch, sizeof(fabric->scratch), "/tmp/acmite-test-XXXXXX");
	assert_non_null(mkdtemp(fabric->scratch));
}

static int create(struct fabric *fabric, const struct sim_ibsim_options *changes)
{
	struct sim_ibsim_options options = *changes;

	options.scratch = fabric->scratch;
	return sim_ibsim_control_create(fabric->topology, &options, &fabric->control, fabric->why,
					sizeof(fabric->why));
}

static void bring_up(struct fabric *fabric, const char *text)
{
	struct sim_ibsim_options options;
	int error;

	prepare(fabric, text);
	sim_ibsim_options_default(&options);
	error = create(fabric, &options);
	if (error)
		fail_msg("the fabric does not come up: %s", fabric->why);
}

static void assert_empty(const char *folder)
{
	DIR *entries = opendir(folder);
	const struct dirent *entry;

	assert_non_null(entries);
	while ((entry = readdir(entries)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			fail_msg("%s/%s was left behind", folder, entry->d_name);
	closedir(entries);
}

static void clean_up(struct fabric *fabric)
{
	if (fabric->control)
		fabric->control->ops->destroy(fabric->control);
	fabric->control = NULL;
	assert_empty(fabric->scratch);
	rmdir(fabric->scratch);
	sim_topology_free(fabric->topology);
}

/* True when it is the awaited one. */
typedef bool event_test(const struct fabric *fabric, uint64_t argument);

/* Runs the control until such an event comes; false: it did not within `timeout_ms`. */
static bool await(struct fabric *fabric, event_test *test, uint64_t argument, uint64_t timeout_ms)
{
	struct sim_control *control = fabric->control;
	uint64_t end = monotonic_now() + timeout_ms * ACM_NSEC_PER_MSEC, now;

	while ((now = monotonic_now()) < end) {
		struct pollfd fd = {.fd = control->ops->fd(control), .events = POLLIN};
		uint64_t next = control->ops->deadline(control);

		next = next < end ? next : end;
		poll(&fd, 1, next > now ? (int)((next - now) / ACM_NSEC_PER_MSEC) + 1 : 0);
		assert_int_equal(control->ops->process(control, monotonic_now()), 0);
		while (control->ops->next_event(control, &fabric->event)) {
			if (fabric->event.mad)
				memcpy(fabric->mad, fabric->event.mad, ACM_MAD_LENGTH);
			if (test(fabric, argument))
				return true;
		}
	}
	return false;
}

static bool is_answer(const struct fabric *fabric, uint64_t cookie)
{
	return fabric->event.type == SIM_CONTROL_SA_ANSWER && fabric->event.cookie == cookie;
}

static bool is_failure(const struct fabric *fabric, uint64_t cookie)
{
	return fabric->event.type == SIM_CONTROL_SA_FAILED && fabric->event.cookie == cookie;
}

static bool is_of_type(const struct fabric *fabric, uint64_t type)
{
	return fabric->event.type == (enum sim_control_event_type)type;
}

static bool is_reregister(const struct fabric *fabric, uint64_t node)
{
	return fabric->event.type == SIM_CONTROL_REREGISTER && fabric->event.port.node == node;
}

static struct acm_port_facts facts_of(const struct fabric *fabric, uint32_t node)
{
	struct acm_port_facts facts;
	struct sim_port_ref port = {.node = node, .port = 1};

	assert_int_equal(fabric->control->ops->port_facts(fabric->control, port, &facts), 0);
	return facts;
}

static bool is_down(const struct fabric *fabric, uint64_t node)
{
	return fabric->event.type == SIM_CONTROL_PORT && fabric->event.port.node == node &&
	       facts_of(fabric, (uint32_t)node).state == ACM_PORT_DOWN;
}

static uint32_t node_of(const struct fabric *fabric, const char *name)
{
	uint32_t node = sim_topology_find(fabric->topology, name);

	assert_int_not_equal(node, SIM_NONE);
	return node;
}

static int ask_path(struct fabric *fabric, uint32_t from, uint32_t to, uint64_t cookie)
{
	struct acm_path path = {.path_count = 1, .reversible = true};
	struct sim_port_ref port = {.node = from, .port = 1};
	uint8_t mad[ACM_MAD_LENGTH];

	path.sgid = facts_of(fabric, from).gids[0];
	path.dgid = facts_of(fabric, to).gids[0];
	acm_sa_encode_path_get(&path, UINT64_C(0x1234567800000000) + cookie, mad);
	return fabric->control->ops->sa_send(fabric->control, port, 0, mad, cookie);
}

/* The SA's answer in the last event names the port. */
static void assert_path(const struct fabric *fabric, uint32_t from, uint32_t to)
{
	struct acm_sa_header header;
	struct acm_path path;

	assert_int_equal(acm_sa_decode_header(fabric->mad, ACM_MAD_LENGTH, &header), 0);
	assert_int_equal(header.status, 0);
	assert_int_equal(header.tid, UINT64_C(0x1234567800000000) + fabric->event.cookie);
	assert_int_equal(acm_sa_decode_path(fabric->mad, ACM_MAD_LENGTH, &path), 0);
	assert_int_equal(path.slid, facts_of(fabric, from).lid);
	assert_int_equal(path.dlid, facts_of(fabric, to).lid);
}

/* ---- tables ---- */

/* Follows the tables from a host to a LID: the node where it ends, SIM_NONE when nowhere. */
static uint32_t follow(const struct fabric *fabric, uint32_t host, uint16_t lid)
{
	const struct sim_topology *topology = fabric->topology;
	const struct sim_tables *tables = fabric->control->ops->tables(fabric->control);
	uint32_t node = topology->nodes[host].ports[1].peer;

	for (int hops = 0; hops < 16 && topology->nodes[node].kind == SIM_SWITCH; hops++) {
		const struct sim_switch_tables *t = &tables->switches[node];

		if (lid >= t->lft_size || t->lft[lid] > topology->nodes[node].port_count)
			return SIM_NONE;
		if (t->lft[lid] == 0)
			return node;
		node = topology->nodes[node].ports[t->lft[lid]].peer;
		if (node == SIM_NONE)
			return SIM_NONE;
	}
	return node;
}

static void assert_whole(const struct fabric *fabric)
{
	const struct sim_topology *topology = fabric->topology;
	const struct sim_tables *tables = fabric->control->ops->tables(fabric->control);

	for (uint32_t from = topology->switch_count; from < topology->node_count; from++) {
		for (uint32_t to = topology->switch_count; to < topology->node_count; to++)
			if (to != from)
				assert_int_equal(follow(fabric, from, facts_of(fabric, to).lid),
						 to);
		for (uint32_t to = 0; to < topology->switch_count; to++)
			assert_int_equal(follow(fabric, from, tables->switches[to].lid), to);
	}
}

/* Marks the hosts that a multicast coming into a switch by a port gets to. */
static void flood(const struct fabric *fabric, uint32_t node, uint8_t in, uint32_t entry,
		  bool *reached, int hops)
{
	const struct sim_node *n = &fabric->topology->nodes[node];
	const struct sim_tables *tables = fabric->control->ops->tables(fabric->control);

	if (n->kind == SIM_HOST) {
		reached[node] = true;
		return;
	}
	for (uint32_t port = 1; port <= n->port_count && hops > 0; port++)
		if (port != in && n->ports[port].peer != SIM_NONE &&
		    tables->switches[node].mft[entry][port / 64] >> port % 64 & 1)
			flood(fabric, n->ports[port].peer, n->ports[port].peer_port, entry, reached,
			      hops - 1);
}

static bool group_reaches_all(const struct fabric *fabric, uint64_t mlid)
{
	const struct sim_topology *topology = fabric->topology;

	for (uint32_t host = topology->switch_count; host < topology->node_count; host++) {
		bool reached[64] = {false};
		const struct sim_port *port = &topology->nodes[host].ports[1];

		assert_true(topology->node_count <= 64);
		flood(fabric, port->peer, port->peer_port, (uint32_t)mlid - ACM_LID_MULTICAST,
		      reached, 8);
		for (uint32_t to = topology->switch_count; to < topology->node_count; to++)
			if (to != host && !reached[to])
				return false;
	}
	return true;
}

static void join(struct fabric *fabric, uint32_t host, uint64_t cookie)
{
	struct acm_port_facts facts = facts_of(fabric, host);
	struct sim_port_ref port = {.node = host, .port = 1};
	struct acm_mcmember member = {.port_gid = facts.gids[0],
				      .qkey = ACM_QKEY,
				      .mtu = facts.mtu,
				      .pkey = ACM_PKEY_DEFAULT,
				      .rate = facts.rate,
				      .scope = 5,
				      .join_state = 1};
	uint8_t mad[ACM_MAD_LENGTH];

	acm_group_mgid(&member.mgid, ACM_PKEY_DEFAULT, facts.rate, facts.mtu);
	acm_sa_encode_join(&member, cookie, mad);
	assert_int_equal(fabric->control->ops->sa_send(fabric->control, port, 0, mad, cookie), 0);
}

/* ---- tests ---- */

/* As an outside program attaches: 0 or negative errno. */
static int attach_outside(const char *socket_name, uint32_t id)
{
	int control = ibsim_socket_open(socket_name, "ctl", id);
	int fd = ibsim_socket_open(socket_name, "in", id);
	struct pollfd wait = {.fd = control, .events = POLLIN};
	uint32_t slot;
	int n = -EIO;

	if (control >= 0 && fd >= 0 && ibsim_socket_connect(control, socket_name, "ctl") == 0 &&
	    ibsim_send_attach(control, id, "") == 0 && poll(&wait, 1, PATIENCE_MS) == 1)
		n = ibsim_receive_control(control, &slot);
	close(control);
	close(fd);
	return n == 1 ? 0 : n;
}

static void test_facts_of_a_pair(void **state)
{
	struct fabric fabric;
	struct acm_port_facts facts;
	struct sim_port_ref none = {.node = 0, .port = 1};
	uint32_t node;

	(void)state;
	bring_up(&fabric, pair_text);
	node = node_of(&fabric, "node1");
	facts = facts_of(&fabric, node);
	assert_int_equal(facts.state, ACM_PORT_ACTIVE);
	assert_int_not_equal(facts.lid, 0);
	assert_int_equal(facts.sm_lid, facts_of(&fabric, node_of(&fabric, "sm1")).lid);
	assert_int_equal(facts.mtu, 4);
	assert_int_equal(facts.rate, 16); /* 100 Gb/s */
	assert_true(facts.subnet_timeout < 20);
	assert_int_equal(facts.number, 1);
	assert_int_equal(facts.port_count, 1);
	assert_int_equal(facts.gid_count, 1);
	assert_int_equal(facts.gids[0].raw[0], 0xfe);
	assert_int_equal(facts.pkeys[0], ACM_PKEY_DEFAULT);
	assert_int_equal(facts.pkey_count, 2);
	assert_int_equal(facts.pkeys[1], 0x0010);
	assert_int_equal(facts_of(&fabric, node_of(&fabric, "sm1")).pkeys[1], 0x8010);
	assert_int_equal(fabric.control->ops->port_facts(fabric.control, none, &facts), -ENODEV);
	assert_whole(&fabric);
	clean_up(&fabric);
}

static void assert_comes_up(const char *path)
{
	struct fabric fabric;
	struct sim_ibsim_options options;
	struct sim_errors errors = {0};

	prepare(&fabric, pair_text);
	sim_topology_free(fabric.topology);
	assert_int_equal(sim_topology_load(path, &fabric.topology, &errors), 0);
	sim_ibsim_options_default(&options);
	if (create(&fabric, &options))
		fail_msg("%s does not come up: %s", path, fabric.why);
	assert_whole(&fabric);
	clean_up(&fabric);
}

static void test_topologies_come_up(void **state)
{
	(void)state;
	assert_comes_up(SOURCE_DIR "/topologies/pair.yaml");
	assert_comes_up(SOURCE_DIR "/topologies/two-tier.yaml");
	assert_comes_up(SOURCE_DIR "/topologies/mixed-speed.yaml");
	assert_comes_up(SOURCE_DIR "/topologies/partitions.yaml");
	assert_comes_up(SOURCE_DIR "/topologies/ring-of-switches.yaml");
}

static void test_path_records(void **state)
{
	struct fabric fabric;
	uint32_t sm, node;

	(void)state;
	bring_up(&fabric, pair_text);
	sm = node_of(&fabric, "sm1");
	node = node_of(&fabric, "node1");
	assert_int_equal(ask_path(&fabric, node, sm, 7), 0);
	assert_true(await(&fabric, is_answer, 7, PATIENCE_MS));
	assert_path(&fabric, node, sm);
	assert_int_equal(ask_path(&fabric, sm, node, 8), 0);
	assert_true(await(&fabric, is_answer, 8, PATIENCE_MS));
	assert_path(&fabric, sm, node);
	clean_up(&fabric);
}

static void test_pkey_index_must_exist(void **state)
{
	struct fabric fabric;
	struct sim_port_ref port = {.port = 1};
	uint8_t mad[ACM_MAD_LENGTH] = {0};

	(void)state;
	bring_up(&fabric, pair_text);
	port.node = node_of(&fabric, "node1");
	assert_int_equal(fabric.control->ops->sa_send(fabric.control, port, 2, mad, 1), -EINVAL);
	clean_up(&fabric);
}

/* Through the pool, although all hosts are far more than ibsim has slots. */
static void test_all_join(void **state)
{
	struct fabric fabric;
	struct acm_mcmember member;
	uint32_t count = 0;

	(void)state;
	bring_up(&fabric, forty_text);
	assert_whole(&fabric);
	for (uint32_t i = fabric.topology->switch_count; i < fabric.topology->node_count; i++)
		join(&fabric, i, i);
	while (count < fabric.topology->host_count) {
		assert_true(await(&fabric, is_of_type, SIM_CONTROL_SA_ANSWER, PATIENCE_MS));
		assert_int_equal(acm_sa_decode_mcmember(fabric.mad, ACM_MAD_LENGTH, &member), 0);
		fabric.control->ops->refresh(fabric.control);
		count++;
	}
	while (!group_reaches_all(&fabric, member.mlid))
		assert_true(await(&fabric, is_of_type, SIM_CONTROL_TABLES, PATIENCE_MS));
	/* There is still room for two programs from outside. */
	assert_int_equal(attach_outside(sim_ibsim_socket_name(fabric.control), 1u << 23), 0);
	assert_int_equal(attach_outside(sim_ibsim_socket_name(fabric.control), 2u << 23), 0);
	clean_up(&fabric);
}

/* Enough hosts for attachments to be lent on in every order. */
static void test_hundreds_join(void **state)
{
	struct fabric fabric;
	struct sim_ibsim_options options;
	struct sim_errors errors = {0};
	uint32_t first, count;

	(void)state;
	prepare(&fabric, pair_text);
	sim_topology_free(fabric.topology);
	assert_int_equal(sim_topology_load(SOURCE_DIR "/topologies/fat-tree-648.yaml",
					   &fabric.topology, &errors),
			 0);
	sim_ibsim_options_default(&options);
	if (create(&fabric, &options))
		fail_msg("the fat tree does not come up: %s", fabric.why);
	first = fabric.topology->switch_count;
	count = fabric.topology->host_count;
	assert_int_equal(count, 648);
	for (uint32_t i = 0; i < count; i++)
		join(&fabric, first + i, i);
	for (uint32_t i = 0; i < count; i++)
		assert_true(await(&fabric, is_of_type, SIM_CONTROL_SA_ANSWER, PATIENCE_MS));
	clean_up(&fabric);
}

static void test_cancelled_has_no_answer(void **state)
{
	struct fabric fabric;
	uint32_t sm, node;

	(void)state;
	bring_up(&fabric, pair_text);
	sm = node_of(&fabric, "sm1");
	node = node_of(&fabric, "node1");
	/* Cancelled while it waits, and after it went out. */
	assert_int_equal(ask_path(&fabric, node, sm, 1), 0);
	fabric.control->ops->sa_cancel(fabric.control, 1);
	assert_int_equal(ask_path(&fabric, node, sm, 2), 0);
	assert_int_equal(fabric.control->ops->process(fabric.control, monotonic_now()), 0);
	fabric.control->ops->sa_cancel(fabric.control, 2);
	fabric.control->ops->sa_cancel(fabric.control, 99);
	assert_int_equal(ask_path(&fabric, node, sm, 3), 0);
	assert_true(await(&fabric, is_of_type, SIM_CONTROL_SA_ANSWER, PATIENCE_MS));
	assert_int_equal(fabric.event.cookie, 3);
	clean_up(&fabric);
}

static void test_sm_dies_and_comes_back(void **state)
{
	struct fabric fabric;
	uint32_t sm, node;

	(void)state;
	bring_up(&fabric, pair_text);
	sm = node_of(&fabric, "sm1");
	node = node_of(&fabric, "node1");
	sim_ibsim_kill_opensm(fabric.control);
	assert_int_equal(ask_path(&fabric, node, sm, 1), 0);
	assert_true(await(&fabric, is_failure, 1, PATIENCE_MS));
	assert_int_equal(fabric.event.status, -EHOSTUNREACH);
	assert_int_equal(sim_ibsim_start_opensm(fabric.control), 0);
	assert_true(await(&fabric, is_reregister, node, PATIENCE_MS));
	assert_int_equal(ask_path(&fabric, node, sm, 2), 0);
	assert_true(await(&fabric, is_answer, 2, PATIENCE_MS));
	assert_path(&fabric, node, sm);
	clean_up(&fabric);
}

/* Nobody told this project: the kernel did. */
static void test_sm_is_killed_from_outside(void **state)
{
	struct fabric fabric;
	int ibsim, opensm;
	uint64_t cookie = 1;

	(void)state;
	bring_up(&fabric, pair_text);
	sim_ibsim_children(fabric.control, &ibsim, &opensm);
	assert_int_equal(kill(opensm, SIGSTOP), 0);
	assert_int_equal(
		ask_path(&fabric, node_of(&fabric, "node1"), node_of(&fabric, "sm1"), cookie), 0);
	/* It is in OpenSM's hands, and dies with it. */
	assert_int_equal(fabric.control->ops->process(fabric.control, monotonic_now()), 0);
	assert_int_equal(kill(opensm, SIGKILL), 0);
	assert_true(await(&fabric, is_failure, cookie, PATIENCE_MS));
	assert_int_equal(fabric.event.status, -EHOSTUNREACH);
	clean_up(&fabric);
}

static void test_link_down_and_up(void **state)
{
	struct fabric fabric;
	uint32_t node, lid;

	(void)state;
	bring_up(&fabric, forty_text);
	node = node_of(&fabric, "node17");
	lid = facts_of(&fabric, node).lid;
	assert_int_equal(sim_ibsim_unlink(fabric.control, node, 1), 0);
	assert_true(await(&fabric, is_down, node, PATIENCE_MS));
	assert_int_equal(ask_path(&fabric, node, node_of(&fabric, "sm1"), 1), -ENETDOWN);
	assert_int_equal(sim_ibsim_relink(fabric.control, node, 1), 0);
	assert_true(await(&fabric, is_reregister, node, PATIENCE_MS));
	assert_int_equal(facts_of(&fabric, node).state, ACM_PORT_ACTIVE);
	assert_int_equal(facts_of(&fabric, node).lid, lid);
	assert_int_equal(sim_ibsim_unlink(fabric.control, node, 2), -EINVAL);
	clean_up(&fabric);
}

/* A link between switches: OpenSM routes around it, and the tables show it. */
static void test_routes_around_a_lost_link(void **state)
{
	struct fabric fabric;
	uint32_t leaf, spine, from, to;
	uint8_t port = 0;

	(void)state;
	bring_up(&fabric, forty_text);
	leaf = node_of(&fabric, "leaf2");
	spine = node_of(&fabric, "spine1");
	for (uint8_t i = 1; i <= fabric.topology->nodes[leaf].port_count; i++)
		if (fabric.topology->nodes[leaf].ports[i].peer == spine)
			port = i;
	assert_int_equal(sim_ibsim_unlink(fabric.control, leaf, port), 0);
	from = fabric.topology->switch_count;
	to = fabric.topology->node_count;
	for (uint32_t host = from; host < to; host++) {
		uint16_t lid = facts_of(&fabric, host).lid;
		const struct sim_tables *tables = fabric.control->ops->tables(fabric.control);

		while (tables->switches[leaf].lft[lid] == port)
			assert_true(await(&fabric, is_of_type, SIM_CONTROL_TABLES, PATIENCE_MS));
	}
	clean_up(&fabric);
}

static bool is_gone(int pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static void test_destroy_leaves_nothing(void **state)
{
	struct fabric fabric;
	int ibsim, opensm;
	uint64_t begin;

	(void)state;
	bring_up(&fabric, pair_text);
	sim_ibsim_children(fabric.control, &ibsim, &opensm);
	assert_int_equal(access(sim_ibsim_scratch(fabric.control), F_OK), 0);
	assert_false(is_gone(ibsim) || is_gone(opensm));
	begin = monotonic_now();
	fabric.control->ops->destroy(fabric.control);
	fabric.control = NULL;
	assert_true(monotonic_now() - begin < ACM_NSEC_PER_SEC);
	assert_true(is_gone(ibsim) && is_gone(opensm));
	clean_up(&fabric);
}

static _Noreturn void be_killed(int fd, const char *scratch)
{
	struct fabric fabric;
	struct sim_ibsim_options options;
	struct sim_errors errors = {0};
	int children[2];

	memset(&fabric, 0, sizeof(fabric));
	sim_ibsim_options_default(&options);
	snprintf(fabric.scratch, sizeof(fabric.scratch), "%s", scratch);
	if (sim_topology_parse("test.yaml", pair_text, strlen(pair_text), &fabric.topology,
			       &errors) ||
	    create(&fabric, &options))
		_exit(1);
	sim_ibsim_children(fabric.control, &children[0], &children[1]);
	if (write(fd, children, sizeof(children)) != sizeof(children))
		_exit(1);
	for (;;)
		pause();
}

static void await_end(int pidfd)
{
	struct pollfd fd = {.fd = pidfd, .events = POLLIN};

	assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
	close(pidfd);
}

static void test_killed_parent_leaves_no_children(void **state)
{
	char scratch[] = "/tmp/acmite-test-XXXXXX", command[64];
	int fds[2], children[2], ibsim, opensm;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(scratch));
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_killed(fds[1], scratch);
	close(fds[1]);
	assert_int_equal(read(fds[0], children, sizeof(children)), sizeof(children));
	ibsim = (int)syscall(SYS_pidfd_open, children[0], 0);
	opensm = (int)syscall(SYS_pidfd_open, children[1], 0);
	assert_true(ibsim >= 0 && opensm >= 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	await_end(ibsim);
	await_end(opensm);
	close(fds[0]);
	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	assert_int_equal(system(command), 0);
}

static void test_ibsim_dies(void **state)
{
	struct fabric fabric;
	int ibsim, opensm;

	(void)state;
	bring_up(&fabric, pair_text);
	sim_ibsim_children(fabric.control, &ibsim, &opensm);
	kill(ibsim, SIGKILL);
	assert_true(await(&fabric, is_of_type, SIM_CONTROL_DIED, PATIENCE_MS));
	assert_non_null(strstr(fabric.event.text, "ibsim ended"));
	assert_true(is_gone(opensm));
	assert_int_equal(ask_path(&fabric, node_of(&fabric, "node1"), node_of(&fabric, "sm1"), 1),
			 -EHOSTUNREACH);
	clean_up(&fabric);
}

static void assert_missing(const char *variable, const char *sentence)
{
	struct fabric fabric;
	struct sim_ibsim_options options;

	prepare(&fabric, pair_text);
	sim_ibsim_options_default(&options);
	setenv(variable, "/nonexistent/program", 1);
	assert_int_equal(create(&fabric, &options), -ENOENT);
	unsetenv(variable);
	assert_non_null(strstr(fabric.why, sentence));
	assert_non_null(strstr(fabric.why, "apt install"));
	assert_null(strchr(fabric.why, '\n'));
	clean_up(&fabric);
}

static void test_missing_programs_are_named(void **state)
{
	(void)state;
	assert_missing("ACMITE_IBSIM", "the program ibsim is not installed");
	assert_missing("ACMITE_OPENSM", "the program opensm is not installed");
	assert_missing("ACMITE_UMAD2SIM", "libumad2sim.so is not installed");
}

/* Stands in for OpenSM: writes a log and then does nothing, or `then`. */
static void make_opensm(char path[64], const char *then)
{
	char text[256];
	int fd;

	snprintf(path, 64, "/tmp/acmite-opensm-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	snprintf(text, sizeof(text),
		 "#!/bin/sh\nunset LD_PRELOAD\necho 'the last words' >${2%%/*}/opensm.log\n%s\n",
		 then);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	fchmod(fd, 0700);
	close(fd);
	setenv("ACMITE_OPENSM", path, 1);
}

static void test_a_subnet_that_never_comes_up(void **state)
{
	struct fabric fabric;
	struct sim_ibsim_options options;
	char program[64];

	(void)state;
	prepare(&fabric, pair_text);
	make_opensm(program, "exec sleep 1000");
	sim_ibsim_options_default(&options);
	options.ready_timeout_ms = 500;
	assert_int_equal(create(&fabric, &options), -ETIMEDOUT);
	assert_non_null(strstr(fabric.why, "not up after 500 ms"));
	assert_non_null(strstr(fabric.why, "the last words"));
	unsetenv("ACMITE_OPENSM");
	unlink(program);
	clean_up(&fabric);
}

static void test_an_sm_that_ends_at_once(void **state)
{
	struct fabric fabric;
	struct sim_ibsim_options options;
	char program[64];

	(void)state;
	prepare(&fabric, pair_text);
	make_opensm(program, "exit 1");
	sim_ibsim_options_default(&options);
	assert_int_equal(create(&fabric, &options), -EPIPE);
	assert_non_null(strstr(fabric.why, "OpenSM ended"));
	assert_non_null(strstr(fabric.why, "the last words"));
	unsetenv("ACMITE_OPENSM");
	unlink(program);
	clean_up(&fabric);
}

static void test_starting_can_be_given_up(void **state)
{
	struct fabric fabric;
	struct sim_ibsim_options options;
	char program[64];
	int fds[2];

	(void)state;
	prepare(&fabric, pair_text);
	make_opensm(program, "exec sleep 1000");
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "", 1), 1);
	sim_ibsim_options_default(&options);
	options.cancel_fd = fds[0];
	assert_int_equal(create(&fabric, &options), -ECANCELED);
	assert_non_null(strstr(fabric.why, "given up"));
	close(fds[0]);
	close(fds[1]);
	unsetenv("ACMITE_OPENSM");
	unlink(program);
	clean_up(&fabric);
}

/* As programs that are killed do: they take ibsim's slots with them. */
static void occupy_slots(const char *socket_name, int count)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			attach_outside(socket_name, (uint32_t)getpid());
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void test_slots_of_the_dead_are_freed(void **state)
{
	struct fabric fabric;
	uint32_t sm, node;
	uint64_t end = monotonic_now() + PATIENCE_MS * ACM_NSEC_PER_MSEC;
	const char *socket_name;
	int attached = 0;

	(void)state;
	bring_up(&fabric, pair_text);
	sm = node_of(&fabric, "sm1");
	node = node_of(&fabric, "node1");
	socket_name = sim_ibsim_socket_name(fabric.control);
	occupy_slots(socket_name, 10);
	assert_int_equal(ask_path(&fabric, node, sm, 1), 0);
	assert_true(await(&fabric, is_answer, 1, PATIENCE_MS));
	/* More than one, which might find a slot that the pool is just changing. */
	for (uint32_t id = 1u << 23; attached < 3; id++) {
		attached += attach_outside(socket_name, id) == 0;
		assert_true(monotonic_now() < end);
		assert_int_equal(ask_path(&fabric, node, sm, id), 0);
		assert_true(await(&fabric, is_answer, id, PATIENCE_MS));
	}
	clean_up(&fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts_of_a_pair),
		cmocka_unit_test(test_topologies_come_up),
		cmocka_unit_test(test_path_records),
		cmocka_unit_test(test_pkey_index_must_exist),
		cmocka_unit_test(test_all_join),
		cmocka_unit_test(test_hundreds_join),
		cmocka_unit_test(test_cancelled_has_no_answer),
		cmocka_unit_test(test_sm_dies_and_comes_back),
		cmocka_unit_test(test_sm_is_killed_from_outside),
		cmocka_unit_test(test_link_down_and_up),
		cmocka_unit_test(test_routes_around_a_lost_link),
		cmocka_unit_test(test_destroy_leaves_nothing),
		cmocka_unit_test(test_killed_parent_leaves_no_children),
		cmocka_unit_test(test_ibsim_dies),
		cmocka_unit_test(test_missing_programs_are_named),
		cmocka_unit_test(test_a_subnet_that_never_comes_up),
		cmocka_unit_test(test_an_sm_that_ends_at_once),
		cmocka_unit_test(test_starting_can_be_given_up),
		cmocka_unit_test(test_slots_of_the_dead_are_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
