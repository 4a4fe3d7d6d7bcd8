#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The command against a daemon: every form of question, of destination and of output, and its exit statuses.
. "$(dirname "$0")/harness.sh"

# A field of the block that one destination gives.
field() { # LABEL
	sed -nE "s|^$1 +(.*)|\1|p" <<<"$said"
}

leads_to() { # WHAT: to node17's port, as the name does
	same "the LID of $1" "$(field DLID)" "$dlid"
	same "the GID of $1" "$(field DGID)" "$dgid"
	same "the source of $1" "$(field SGID)" "$sgid"
}

every_kind_of_address() {
	acmite 0 resolve -s node01 -d node17
	dlid=$(field DLID) dgid=$(field DGID) sgid=$(field SGID) slid=$(field SLID)
	[ -n "$dlid" ] && [ -n "$dgid" ] && [ -n "$sgid" ] && [ -n "$slid" ] || fail "fields are missing: $said"
	# Told apart by themselves ...
	local destination
	for destination in node17 NODE17 10.0.0.17 fd00::17 "$dgid" "$dlid" "$(printf 0x%x "$dlid")"; do
		acmite 0 resolve -d "$destination"
		leads_to "$destination"
		acmite 0 resolve "$destination"
		leads_to "$destination"
	done
	# ... or by -f, and with a source of their kind.
	acmite 0 resolve -f n -s node01 -d node17
	leads_to "-f n"
	acmite 0 resolve -f i -s 10.0.0.1 -d 10.0.0.17
	leads_to "-f i, IPv4"
	acmite 0 resolve -f i -s fd00::1 -d fd00::17
	leads_to "-f i, IPv6"
	acmite 0 resolve -f g -s "$sgid" -d "$dgid"
	leads_to "-f g"
	acmite 0 resolve -f l -s "$slid" -d "$dlid"
	leads_to "-f l"
	# Its own.
	acmite 0 resolve -d node01
	same "the LID of node01 itself" "$(field DLID)" "$slid"
}

cache_and_sa() {
	acmite 0 resolve -c -d node17
	leads_to "the cache"
	acmite 0 resolve -q -d node17
	leads_to "the SA"
	acmite 1 resolve -c -d node09
	acmite 0 resolve -C 100 -d node17
	leads_to "100 times"
	[ -n "$(field 'latency, best')" ] || fail "no best latency: $said"
}

objects() {
	grep -c '^  {$' <<<"$said"
}

ranges() {
	acmite 0 resolve -s node01 -d 'node[02-32]'
	same "rows" "$(grep -cE '^node[0-9]+ +success ' <<<"$said")" 31
	acmite 0 resolve -s node01 -d 'node[02-32]' --json
	same "objects" "$(objects)" 31
	same "successes" "$(grep -c '^    "status": "success",$' <<<"$said")" 31
	same "destinations" "$(sed -nE 's/^    "destination": "(.*)",$/\1/p' <<<"$said")" \
		"$(printf 'node%02d\n' {2..32})"
	# 31 ports, so 31 LIDs and GIDs.
	same "LIDs" "$(grep '^    "dlid": ' <<<"$said" | sort -u | wc -l)" 31
	same "GIDs" "$(grep '^    "dgid": ' <<<"$said" | sort -u | wc -l)" 31
	acmite 0 resolve -d '10.0.0.[2-4]' -d node05,node06
	same "rows" "$(grep -c ' success ' <<<"$said")" 5
}

# The same in JSON, and all members of it.
json() {
	acmite 0 resolve -d 10.0.0.17 --json
	same "begin and end" "$(sed -n '1p;$p' <<<"$said")" $'[\n]'
	same destination "$(member destination)" 10.0.0.17
	same type "$(member type)" ipv4
	same status "$(member status)" success
	same status_code "$(member status_code)" 0
	same dlid "$(member dlid)" "$dlid"
	same slid "$(member slid)" "$slid"
	same dgid "$(member dgid)" "$dgid"
	same sgid "$(member sgid)" "$sgid"
	same pkey "$(member pkey)" 0xffff
	same source "$(member source)" 10.0.0.1
	same reversible "$(member reversible)" true
	for name in sl mtu_bytes rate_gbps packet_life_us traffic_class flow_label hop_limit latency_us; do
		[[ $(member $name) =~ ^[0-9.]+$ ]] || fail "$name is no number: $said"
	done
}

failures() {
	acmite 1 resolve -d nobody
	same status "$(field status)" "timed out"
	says '^acmite resolve: 1 of 1 destinations not resolved$'
	acmite 1 resolve -d 'node02,nobody,node03'
	same "successes beside a failure" "$(grep -c ' success ' <<<"$said")" 2
	says '^acmite resolve: 1 of 3 destinations not resolved$'
	acmite 1 resolve -d nobody --json
	same status_code "$(member status_code)" 6
	acmite 1 resolve -s node02 -d node17
	acmite 1 resolve -f l -d 40000
	acmite 1 resolve -f g -d fe80::1
	# Wrong usage.
	acmite 2 resolve
	says 'a destination is missing'
	acmite 2 resolve -d 'node[02'
	says "^acmite resolve: in 'node\[02', at character 5: the bracket is not closed"
	acmite 2 resolve -f x -d node17
	acmite 2 resolve -f i -d node17
	acmite 2 resolve -f l -d 99999
	acmite 2 resolve -c -q -d node17
	acmite 2 resolve -C 0 -d node17
	acmite 2 resolve -s node01 -d "$dlid"
	acmite 2 resolve --colour -d node17
	expect 2 "$ACMITE"
	expect 2 "$ACMITE" nothing
	expect 1 "$ACMITE" resolve -S "$scratch/nowhere" -d node17
	says "^acmite resolve: no service listens at $scratch/nowhere; start acmited, or name its socket with -S\$"
}

endpoints() {
	acmite 0 endpoints
	says '^ *1 0x[0-9a-f]{16} +1 0xffff acmite +node01$'
	says '^ +10.0.0.1$'
	says '^ *2 0x[0-9a-f]{16} +1 0x8010 acmite *$'
	acmite 0 endpoints --json
	same "endpoints" "$(objects)" 2
	same "the first one's P_Key" "$(member pkey)" 0xffff
}

counters() {
	local before
	acmite 0 counters --json
	before=$(member resolve)
	acmite 0 resolve -C 50 -d node17
	acmite 0 counters --json
	same "requests" "$(member resolve)" "$((before + 50))"
	acmite 0 counters
	says '^COUNTER +service$'
	says "^resolve +$((before + 50))\$"
	acmite 0 counters --all
	acmite 0 counters --all --json
	same "scopes" "$(objects)" 3
	acmite 0 counters --endpoint 2
	acmite 0 counters --source 10.0.0.1
	acmite 1 counters --endpoint 9
	acmite 1 counters --source node02
}

# A daemon that serves TCP, too, on a port of the system's choice.
tcp() {
	stop 15 0 cli
	printf 'server_mode loop\nserver_port 0\n' >"$scratch/options"
	start tcp pair node1 -O "$scratch/options"
	[ -n "$tcp" ] || fail "READY tells no TCP port"
	same "the port file" "$(cat "$socket.port")" "$tcp"
	local name
	for name in "127.0.0.1:$tcp" "localhost:$tcp"; do
		expect 0 "$ACMITE" resolve -S "$name" -d node2
		same "status by TCP" "$(field status)" success
	done
	acmite 0 resolve -d node2
	expect 1 "$ACMITE" resolve -S "127.0.0.2:$tcp" -d node2
	stop 15 0 tcp
	[ ! -e "$socket.port" ] || fail "the port file is left"
	expect 1 "$ACMITE" resolve -S "127.0.0.1:$tcp" -d node2
	printf 'server_mode open\nserver_port 0\n' >"$scratch/options"
	start tcp pair node1 -O "$scratch/options"
	expect 0 "$ACMITE" resolve -S "127.0.0.2:$tcp" -d node2 # an address that loop does not listen on
	stop 15 0 tcp
}

fabrics() {
	expect 0 "$ACMITE" fabric check "$topologies"/*.yaml
	says "^$topologies/two-tier.yaml: 6 switches, 33 hosts, [0-9]+ links, 1 partition\$"
	expect 0 "$ACMITE" fabric check --json "$topologies/pair.yaml"
	same "valid" "$(sed -nE 's/^ *"valid": (.*[^,]),?$/\1/p' <<<"$said")" true
	expect 0 "$ACMITE" fabric export --format json "$topologies/two-tier.yaml"
	same "hosts" "$(sed -n '/^  "hosts"/,/^  ]/p' <<<"$said" | grep -c '^      "name": ')" 33
	expect 0 "$ACMITE" fabric export --format dot "$topologies/two-tier.yaml"
	says '^(strict )?graph '
	says '}$'
	expect 0 "$ACMITE" fabric export --format ibsim "$topologies/two-tier.yaml"
	same "hosts of the netlist" "$(grep -cE '^Ca\s' <<<"$said")" 33
	same "switches of the netlist" "$(grep -cE '^Switch\s' <<<"$said")" 6
	expect 2 "$ACMITE" fabric export --format svg "$topologies/two-tier.yaml"
	expect 2 "$ACMITE" fabric check
}

printf 'timeout 200\nretries 1\n' >"$scratch/options"
start cli two-tier node01 -O "$scratch/options"
every_kind_of_address
cache_and_sa
ranges
json
endpoints
counters
failures
fabrics
tcp
