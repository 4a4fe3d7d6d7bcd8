#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: fabric_server.sh PART [CONTROL]
# A served fabric, and daemons of other processes on its nodes.
source "$(dirname "$0")/programs.sh"

fabric=$scratch/fabric.sock

# A daemon on each node, attached to the served fabric.
attach_nodes() { # NODE...
	local node
	printf 'timeout 200\nretries 2\nnegative_timeout 0\n' >"$scratch/options"
	for node in "$@"; do
		begin "$node" "$ACMITED" -P --backend sim --fabric "$fabric" --node "$node" \
			-O "$scratch/options" --socket "$scratch/$node.sock"
	done
}

resolves() { # FROM TO: from the SA or its peers, whatever it has heard before
	socket=$scratch/$1.sock
	acmite 0 resolve --json -d "$2"
	same "the status" "$(member status)" success
}

resolves_not() { # FROM TO
	socket=$scratch/$1.sock
	acmite 1 resolve --json -d "$2"
}

# A daemon that must not start says why.
refused() { # NODE REGULAR-EXPRESSION ARGUMENT...
	local node=$1 pattern=$2
	shift 2
	expect 1 "$ACMITED" -P --backend sim --fabric "$fabric" --node "$node" --socket "$scratch/refused.sock" "$@"
	says "$pattern"
	[ ! -e "$scratch/refused.sock" ] || fail "its socket is left"
}

fault() {
	expect 0 "$ACMITE" fabric fault -f "$fabric" "$@"
}

show() { # [TABLE]
	expect 0 "$ACMITE" fabric show -f "$fabric" "$@"
}

count() { # WHAT: of the drops
	show drops
	sed -nE "s/^$1 +([0-9]+)$/\1/p" <<<"$said"
}

# Again and again until it is so: what is waited for does not say when it comes.
until_so() { # COMMAND...
	local end=$((SECONDS + patience))
	until ("$@") >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { "$@"; fail "not within $patience s: $*"; }
		read -rt 0.05 <> <(:)
	done
}

alone() { # NODE: is the only member of its group, which has no tree then
	show members
	says "^ff1[0-9a-f:]+ +0xc00[0-9] +$1 +1 +full .* 1 no$"
}

lost_group() { # NODE: is attached to one that it is no member of
	show members
	says "^ff1[0-9a-f:]+ +0xc00[0-9] +$1 +1 +none +- +- +- +- +- +1 "
}

# ---- parts ----

serves() { # CONTROL
	local from to
	serve_fabric two-tier --control "$1" --scratch "$scratch"
	attach_nodes node01
	until_so alone node01
	attach_nodes node03 node20
	for from in node01 node03 node20; do
		for to in 1 3 20; do
			resolves "$from" "node$(printf %02d "$to")"
			resolves "$from" "10.0.0.$to"
		done
	done
	expect 0 ib_acme -S "$scratch/node01.sock" -f n -s node01 -d node20 -v
	expect 0 ib_acme -S "$scratch/node20.sock" -f i -d 10.0.0.3
	resolves_not node01 node02 # nobody answers there
	show
	says '^node20 +host +1 +active +[0-9]+ +0x[0-9a-f]{16} +leaf3:6 +service$'
	same "the services" "$(grep -c 'service$' <<<"$said")" 3
	show groups
	says '^0xc00[0-9] +ff1[0-9a-f:]+ +node03 +1 +0x[0-9a-f]{6} +yes$'
	show members
	says '^ff1[0-9a-f:]+ +0xc00[0-9] +node03 +1 +full +0xffff +0x80010000 +2048 +10 +0 +1 +yes$'
	same "the members" "$(grep -cE " full .* 1 yes$" <<<"$said")" 3
	show members --json
	says '^    "join_state": "full",$'
	says '^    "mtu": 2048,$'
	show tables
	says '^leaf3 +[0-9]+ +6 +node20:1$'
	says '^leaf3 +0xc00[0-9] '
	show nodes --json
	says '^    "lid": [0-9]+,$'
	said=$("$ACMITE" fabric show -f "$fabric" --json 2>&1 >/dev/full)
	same "the status when nothing can be written" "$?" 1
	says 'cannot be written to standard output: No space left'
	show drops
	says '^multicasts +[1-9]'
	says '^sa_sent +[1-9]'
	says '^dropped_loss +0$'
	# The subnet manager forgets its groups: the queue pairs alone are left of them.
	fault 'kind: groups_lost'
	until_so lost_group node03
	end node03 0
	show
	same "the services" "$(grep -c 'service$' <<<"$said")" 2
	end fabric 0
	[ ! -e "$fabric" ] || fail "the server's socket is left"
}

refuses() {
	serve_fabric two-tier
	same "its mode" "$(stat -c %a "$fabric")" 600
	attach_nodes node03
	refused node03 'node03 is taken: another service runs on it'
	refused nobody 'the fabric two-tier has no node nobody'
	refused leaf1 'leaf1 is a switch'
	expect 2 "$ACMITED" -P --backend sim --fabric "$fabric" --node node01 --control ibsim
	says '--control is of a fabric in this process'
	expect 1 "$ACMITE" fabric serve "$topologies/two-tier.yaml" --socket "$fabric"
	says 'is in use: a program serves it'
	expect 1 "$ACMITE" fabric show -f "$scratch/nothing"
	says 'no fabric server can be reached'
	expect 1 "$ACMITE" fabric show -f "$scratch/node03.sock"
	says 'name the --socket of acmite fabric serve'
	expect 2 "$ACMITE" fabric show -f "$fabric" everything
	says "acmite help fabric show"
	# An empty value names nothing.
	for command in "show -f" "fault -f" "exec -n node03 -f" "serve -S"; do
		# shellcheck disable=SC2086 # several words
		expect 2 "$ACMITE" fabric $command "" "$topologies/two-tier.yaml"
		says "is missing"
	done
	expect 2 "$ACMITED" -P --backend sim --fabric "" --node node01
	says "needs --fabric PATH"
	expect 0 "$ACMITE" help fabric show
	says '^Usage: acmite fabric show --fabric PATH'
	expect 2 "$ACMITE" help fabric everything
	expect 0 "$TOOLS/hostile_programs" "$fabric" version
	says 'you speak version 2 of the attach protocol and this server version 1'
	: >"$scratch/plain"
	expect 1 "$ACMITE" fabric serve "$topologies/two-tier.yaml" --socket "$scratch/plain"
	says 'is not a socket'
	[ -f "$scratch/plain" ] || fail "a file that is no socket was removed"
	# Nobody reads that it is ready: it ends, and leaves nothing.
	exec 6> >(:)
	wait $!
	timeout "$patience" "$ACMITE" fabric serve "$topologies/two-tier.yaml" --socket "$scratch/unheard.sock" \
		>&6 2>"$scratch/unheard.log"
	same "the status when nobody reads READY" "$?" 1
	exec 6>&-
	grep -q "READY cannot be written" "$scratch/unheard.log" || fail "it does not say what is wrong"
	[ ! -e "$scratch/unheard.sock" ] || fail "its socket is left"
}

# A client that is killed frees its node at once.
killed_client() {
	serve_fabric two-tier
	attach_nodes node01 node03
	resolves node01 node03
	slay node03
	rm -f "$scratch/node03.sock"*
	attach_nodes node03
	resolves node01 node03
	resolves node03 node01
}

# A server that is killed takes the ports with it, not the daemons; the next one has them again.
killed_server() {
	local node
	serve_fabric two-tier
	attach_nodes node01 node03
	resolves node01 node03
	for node in 1 2; do
		slay fabric
		await_said node01 "the fabric server at $fabric is gone .*; no port is left"
		await_said node03 "the fabric server at $fabric is gone"
		resolves_not node01 node03
		expect 0 "$ACMITE" endpoints -S "$scratch/node01.sock"
		refused node07 'no fabric server can be reached'
		: >"$scratch/node01.log"
		: >"$scratch/node03.log"
		serve_fabric two-tier # over the socket that was left
		await_said node01 'attached to node01 of the fabric .* again'
		await_said node03 'attached to node03 of the fabric .* again'
		until_so resolves node01 node03
		until_so resolves node03 node01
	done
	end fabric 0
	end node01 0
	end node03 0
}

faults() {
	local lost words
	serve_fabric two-tier
	attach_nodes node01 node03
	# Wrong ones.
	expect 1 "$ACMITE" fabric fault -f "$fabric" 'kind: frob'
	says "fault:1:7: there is no fault of kind 'frob'"
	for words in "kind: stop, node: nobody" "kind: stop,|node: nobody" "kind:|stop,|node:|nobody"; do
		IFS="|" read -ra words <<<"$words"
		expect 1 "$ACMITE" fabric fault -f "$fabric" "${words[@]}"
		says "fault:1:19: there is no node 'nobody'"
	done
	expect 1 "$ACMITE" fabric fault -f "$fabric" 'kind: reload, node: node01'
	says 'concerns a service'
	expect 2 "$ACMITE" fabric fault -f "$fabric"
	# Packets.
	fault 'kind: loss, rate: 1.0'
	resolves_not node01 node03
	lost=$(count dropped_loss)
	[ "$lost" -gt 0 ] || fail "nothing was lost"
	fault none
	resolves node01 node03
	# The SA: a route that is not known yet.
	echo 'kind: sa_error, status: 0x0300' >"$scratch/fault"
	fault --file "$scratch/fault"
	resolves_not node03 node01
	fault none
	resolves node03 node01
	# A link of the node: its port goes down, and comes again by itself.
	fault 'kind: link_down, link: "node03 -- leaf1", for: 300ms'
	show
	says '^node03 +host +1 +down '
	until_so resolves node03 node01
	show
	says '^node03 +host +1 +active '
	# A node that is switched off: its daemon goes on without a port until it is started.
	: >"$scratch/node03.log"
	fault 'kind: stop, node: node03'
	await_said node03 'node03 was stopped by a fault; no port is left'
	resolves_not node03 node01
	refused node03 'node03 is stopped by a fault'
	fault 'kind: start, node: node03'
	await_said node03 'attached to node03 of the fabric .* again'
	until_so resolves node03 node01
	# One that is frozen answers nobody, and loses nothing that is its own.
	fault 'kind: pause, node: node03'
	resolves_not node03 10.0.0.1
	fault 'kind: resume, node: node03'
	resolves node03 10.0.0.1
}

# A server that is stopped (SIGSTOP) holds nobody up for longer than they said; when it goes on, all is as before.
stopped() {
	local command arguments
	serve_fabric two-tier
	attach_nodes node01 node03
	resolves node01 node03
	kill -STOP "${programs[fabric]}"
	for command in show 'fault none' 'exec -n node02 -- true'; do
		read -ra arguments <<<"$command"
		expect 1 "$ACMITE" fabric "${arguments[0]}" -f "$fabric" --timeout 0.2 "${arguments[@]:1}"
		says "^acmite fabric ${arguments[0]}: the fabric server at $fabric does not answer; it is stopped"
		expect 2 "$ACMITE" fabric "${arguments[0]}" -f "$fabric" --timeout never "${arguments[@]:1}"
		says "'never' is no time-out; give seconds from 0.001 to 86400"
	done
	refused node20 'the fabric server at .* does not answer; --ready-timeout waits longer than 1 s' --ready-timeout 1
	resolves_not node01 10.0.0.3
	end node03 0
	kill -CONT "${programs[fabric]}"
	attach_nodes node03
	resolves node03 10.0.0.1
	kill -STOP "${programs[fabric]}"
	slay fabric
	await_said node01 "the fabric server at $fabric is gone"
}

hostile() {
	local before
	serve_fabric two-tier
	attach_nodes node01 node03
	before=$(sed -nE 's/^VmRSS:\s+([0-9]+) kB/\1/p' "/proc/${programs[fabric]}/status")
	for kind in garbage reckless crowd; do
		expect 0 "$TOOLS/hostile_programs" "$fabric" "$kind"
		resolves node01 10.0.0.3
		resolves node03 fd00::1
	done
	for kind in unread silent; do
		begin "$kind" "$TOOLS/hostile_programs" "$fabric" "$kind" node07
		acmite 0 resolve -d node03
	done
	# New names each time, so that packets go round.
	attach_nodes node20
	resolves node01 node20
	resolves node20 node03
	slay unread
	slay silent
	resolves node20 node01
	[ "$(sed -nE 's/^VmRSS:\s+([0-9]+) kB/\1/p' "/proc/${programs[fabric]}/status")" -lt \
		$((before + 200000)) ] || fail "the server's memory has grown by more than 200 MB"
	end fabric 0
}

# More programs than it may have files: who finds no place is told so, and it goes on.
descriptors() {
	local round
	begin fabric bash -c 'ulimit -n 64; exec "$@"' - "$ACMITE" fabric serve \
		"$topologies/two-tier.yaml" --socket "$fabric"
	for round in 1 2; do
		begin fill "$TOOLS/hostile_programs" "$fabric" fill node07
		refused node03 'all 64 files that the fabric server may have open are in use, .*hard limit'
		expect 1 "$ACMITE" fabric show -f "$fabric"
		says 'all 64 files'
		expect 1 "$ACMITE" fabric exec -f "$fabric" -n node01 -- true
		says 'all 64 files'
		slay fill
		until_so show
		same "told of it" "$(grep -c 'all 64 files' "$scratch/fabric.log")" "$round"
		same "told of its end" "$(grep -c 'let in again' "$scratch/fabric.log")" "$round"
	done
	attach_nodes node01 node03
	resolves node01 node03
	end fabric 0
	same "lines about it" "$(grep -c 'programs' "$scratch/fabric.log")" 4
	# A soft limit is none.
	begin fabric bash -c 'ulimit -Sn 64; exec "$@"' - "$ACMITE" fabric serve \
		"$topologies/two-tier.yaml" --socket "$fabric"
	same "its limits" "$(sed -nE "s/^Max open files +([0-9]+) +([0-9]+) .*/\1/p" "/proc/${programs[fabric]}/limits")" \
		"$(ulimit -Hn)"
}

# A join that comes to nothing says what happened.
joins() {
	serve_fabric pair
	printf 'timeout 50\nretries 0\n' >"$scratch/options"
	fault 'kind: join_refused, node: node1, status: 0x0700'
	begin node1 "$ACMITED" -P --backend sim --fabric "$fabric" --node node1 --ready-timeout 1 \
		-O "$scratch/options" --socket "$scratch/node1.sock"
	await_said node1 ' join_failed .* mad_status=0x0700 reason=denied$'
	fault 'kind: sa_silent, node: node1'
	await_said node1 ' join_failed .* pkey=0xffff reason=the_SA_did_not_answer$'
}

address_file() {
	serve_fabric two-tier
	write_addresses
	begin node01 "$ACMITED" -P --backend sim --fabric "$fabric" --node node01 -A "$scratch/addresses" \
		--socket "$scratch/node01.sock"
	tells_of_pkeys node01
	end node01 0
	# All have their place: nothing is said until one loses it.
	sed -i '/1234/d' "$scratch/addresses"
	begin node01 "$ACMITED" -P --backend sim --fabric "$fabric" --node node01 -A "$scratch/addresses" \
		--socket "$scratch/node01.sock"
	! grep -q 'addresses' "$scratch/node01.log" || fail "told without cause"
	fault 'kind: pkey, node: node01, pkey: 0x0010, membership: none'
	await_said node01 'addresses: 1 of 2 addresses wait for '
	fault 'kind: pkey, node: node01, pkey: 0x0010, membership: full'
	await_said node01 'addresses: all 2 addresses have their device, port and P_Key now$'
	# A fabric in the daemon's own process.
	write_addresses
	begin alone "$ACMITED" -P --backend sim --fabric "$topologies/two-tier.yaml" --node node01 \
		-A "$scratch/addresses" --socket "$scratch/alone.sock"
	await_said alone 'addresses: 1 of 3 addresses wait for .*, the first is other on mlx5_0 port 1, P_Key 0x1234$'
	socket=$scratch/alone.sock
	acmite 0 resolve -d node01
	acmite 0 resolve -d node02
}

part=$1
shift
"$part" "$@"
