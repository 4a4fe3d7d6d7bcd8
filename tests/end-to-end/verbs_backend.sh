#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: verbs_backend.sh PART
# The daemon as on hardware: --backend verbs, on nodes of a served fabric by the preload library.
source "$(dirname "$0")/programs.sh"

# In place of the shell that begin() starts for it, so that its process is the command's own.
on_node() { # NODE COMMAND...
	local node=$1
	shift
	exec "$ACMITE" fabric exec --fabric "$scratch/fabric.sock" --node "$node" -- "$@"
}

# A daemon on each node, with the node's name as its address.
serve_nodes() { # NODE...
	local node
	printf 'log_level 1\ntimeout 300\nretries 2\nnegative_timeout 0\n' >"$scratch/options"
	for node in "$@"; do
		echo "$node mlx5_0 1 default" >"$scratch/$node.addresses"
		begin "$node" on_node "$node" "$ACMITED" -P --backend verbs -A "$scratch/$node.addresses" \
			-O "$scratch/options" --socket "$scratch/$node.sock"
	done
}

resolves() { # FROM TO
	socket=$scratch/$1.sock
	acmite 0 resolve --json -d "$2"
	same "the status" "$(member status)" success
}

# The LID that a daemon was told last of its port.
lid_of() { # NODE
	sed -nE 's/.* port port=0 lid=([0-9]+) .* state=4$/\1/p' "$scratch/$1.log" | tail -n 1
}

# ---- parts ----

resolve() { # CONTROL
	serve_fabric two-tier --control "$1" --scratch "$scratch"
	serve_nodes node01 node02
	resolves node01 node02
	same "the DLID" "$(member dlid)" "$(lid_of node02)"
	resolves node02 node01
	same "the DLID" "$(member dlid)" "$(lid_of node01)"
	expect 0 ib_acme -S "$scratch/node02.sock" -f n -s node02 -d node01 -v
	acmite 1 resolve -d nobody
	end node01 0
	end node02 0
	end fabric 0
}

# What an SM that takes over does: other LIDs, for the SM too, and joins anew.
lids() {
	local before
	serve_fabric two-tier
	serve_nodes node01 node02
	resolves node01 node02
	before=$(lid_of node02)
	: >"$scratch/node01.log"
	: >"$scratch/node02.log"
	expect 0 "$ACMITE" fabric fault -f "$scratch/fabric.sock" \
		'kind: sm_fail_over, node: node05, lids: reassigned'
	await_said node01 ' joined '
	await_said node02 ' joined '
	[ "$(lid_of node02)" != "$before" ] || fail "node02 still has LID $before"
	resolves node01 node02
	same "the DLID" "$(member dlid)" "$(lid_of node02)"
	resolves node02 node01
	same "the DLID" "$(member dlid)" "$(lid_of node01)"
}

# The server gone is the device gone. It comes back, and all is as before.
restart() {
	serve_fabric pair
	serve_nodes node1 node2
	resolves node1 node2
	end fabric 0
	await_said node1 'mlx5_0 failed, or was taken away'
	await_said node2 'mlx5_0 failed, or was taken away'
	socket=$scratch/node1.sock
	acmite 1 resolve -d node2
	: >"$scratch/node1.log"
	: >"$scratch/node2.log"
	serve_fabric pair
	await_said node1 ' joined '
	await_said node2 ' joined '
	resolves node1 node2
	resolves node2 node1
	end node1 0
	end node2 0
}

# Beside a daemon that is attached to the server itself: the fabric is one.
beside_attached() {
	serve_fabric two-tier
	serve_nodes node01
	begin node02 "$ACMITED" -P --backend sim --fabric "$scratch/fabric.sock" --node node02 \
		-O "$scratch/options" --socket "$scratch/node02.sock"
	resolves node01 node02
	resolves node02 node01
	same "the DLID" "$(member dlid)" "$(lid_of node01)"
}

# What happens to links and partitions, as asynchronous events tell it.
changes() {
	serve_fabric two-tier
	serve_nodes node01 node02
	resolves node01 node02
	: >"$scratch/node02.log"
	expect 0 "$ACMITE" fabric fault -f "$scratch/fabric.sock" 'kind: link_down, link: node02'
	await_said node02 ' port port=0 .* state=1$'
	socket=$scratch/node02.sock
	acmite 1 resolve -d node01
	: >"$scratch/node02.log"
	expect 0 "$ACMITE" fabric fault -f "$scratch/fabric.sock" 'kind: link_up, link: node02'
	await_said node02 ' joined '
	resolves node01 node02
	resolves node02 node01
	: >"$scratch/node02.log"
	expect 0 "$ACMITE" fabric fault -f "$scratch/fabric.sock" \
		'kind: pkey, node: node02, pkey: 0x7fff, membership: limited'
	await_said node02 ' endpoint .* pkey=0x7fff open=1'
	await_said node02 ' joined '
	resolves node02 node01 # a limited member and a full one may talk
}

# A fabric server that is stopped, as a fabric on which nothing moves: the daemon serves its clients, and ends when it
# is told to.
stopped() {
	serve_fabric pair
	serve_nodes node1
	on_node() {
		exec "$ACMITE" fabric exec --fabric "$scratch/fabric.sock" --node "$1" --timeout 0.2 -- "${@:2}"
	}
	serve_nodes node2
	resolves node2 node1
	kill -STOP "${programs[fabric]}"
	socket=$scratch/node2.sock
	acmite 1 resolve -d nobody
	acmite 0 resolve -d node1 # it is cached
	end node2 0
	kill -CONT "${programs[fabric]}"
	serve_nodes node2
	resolves node2 node1
	resolves node1 node2
}

# A port that comes up late is no reason not to serve.
late_port() {
	serve_fabric pair
	serve_nodes node1
	expect 0 "$ACMITE" fabric fault -f "$scratch/fabric.sock" 'kind: link_down, link: node2'
	serve_nodes node2
	socket=$scratch/node2.sock
	acmite 1 resolve -d node1
	expect 0 "$ACMITE" fabric fault -f "$scratch/fabric.sock" 'kind: link_up, link: node2'
	await_said node2 ' joined '
	resolves node2 node1
	resolves node1 node2
}

no_device() {
	printf 'log_level 0\n' >"$scratch/options"
	begin alone "$ACMITED" -P --backend verbs -O "$scratch/options" --socket "$scratch/alone.sock"
	grep -qE 'no InfiniBand device|no RDMA devices' "$scratch/alone.log" ||
		fail "what is missing is not told"
	socket=$scratch/alone.sock
	acmite 1 resolve -d node2
	says '^status +not connected'
	end alone 0
}

# Without an address file the host's name is each endpoint's, and on a node that is the node's.
host_name() {
	serve_fabric pair
	printf 'log_level 1\ntimeout 300\nretries 2\nnegative_timeout 0\n' >"$scratch/options"
	for node in node1 node2; do
		begin "$node" on_node "$node" "$ACMITED" -P --socket "$scratch/$node.sock" -O "$scratch/options"
	done
	resolves node1 node2
	same "the DLID" "$(member dlid)" "$(lid_of node2)"
	expect 0 ib_acme -S "$scratch/node2.sock" -f n -s node2 -d node1
	# What a file has for nothing that is here is told.
	printf '%s\n' 'far mlx5_7 1 default' 'near mlx5_0 1 default' 'other mlx5_0 1 1234' >"$scratch/far"
	begin far on_node node2 "$ACMITED" -P --socket "$scratch/far.sock" -A "$scratch/far"
	grep -q 'far: 2 of 3 addresses wait for .*, the first is far on mlx5_7 port 1, P_Key default$' "$scratch/far.log" ||
		fail "addresses of no port are not told"
	! grep -q 'addresses wait' "$scratch/node1.log" || fail "an address that is served is told"
}

# Daemons of two nodes that have one name say so.
one_name() {
	local node
	serve_fabric two-tier
	printf 'timeout 100\nretries 0\n' >"$scratch/options"
	echo 'twin mlx5_0 1 default' >"$scratch/twin"
	for node in node01 node02; do
		begin "$node" on_node "$node" "$ACMITED" -P --socket "$scratch/$node.sock" -O "$scratch/options" -A "$scratch/twin"
	done
	socket=$scratch/node01.sock
	acmite 1 resolve -d nobody
	await_said node02 " claimed .* source=twin .* reason=another_node_has_this_address_too$"
	! grep -q ' claimed ' "$scratch/node01.log" || fail "it takes itself for another"
	end node02 0
	serve_nodes node02
	resolves node01 node02
	: >"$scratch/node01.log"
	resolves node02 twin
	! grep -q ' claimed ' "$scratch/node01.log" "$scratch/node02.log" || fail "names of their own are told"
}

address_file() {
	serve_fabric two-tier
	write_addresses
	begin node01 on_node node01 "$ACMITED" -P -A "$scratch/addresses" --socket "$scratch/node01.sock"
	tells_of_pkeys node01
}

part=$1
shift
"$part" "$@"
