#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The distribution's ib_acme, unchanged, against the daemon: all that it can ask, and its answers against
# those of acmite.
. "$(dirname "$0")/harness.sh"
need ib_acme

# ib_acme asks with -f FORMAT; it always says its own status, too.
ask() { # STATUS ARGUMENT...
	local expected=$1
	shift
	expect "$expected" ib_acme -S "$socket" "$@"
	says 'return status 0x'
}

# A field of ib_acme's path.
field() { # LABEL
	sed -nE "s/^  $1: (.*)/\1/p" <<<"$said"
}

# ib_acme prints codes, acmite what they mean.
declare -A gbps=([2]=2.5 [3]=10.0 [6]=20.0 [7]=40.0 [16]=100.0 [17]=200.0)

# What acmite tells about node17 is the measure.
learn() {
	acmite 0 resolve -s node01 -d node17 --json
	for name in dgid sgid dlid slid sl mtu_bytes rate_gbps pkey packet_life_us traffic_class flow_label \
		hop_limit reversible; do
		known[$name]=$(member "$name")
		[ -n "${known[$name]}" ] || fail "acmite tells no $name: $said"
	done
	same "the P_Key" "${known[pkey]}" 0xffff
}

same_path() {
	local life=$(($(field 'packet lifetime')))
	same dgid "$(field dgid)" "${known[dgid]}"
	same sgid "$(field sgid)" "${known[sgid]}"
	same dlid "$(field dlid)" "${known[dlid]}"
	same slid "$(field slid)" "${known[slid]}"
	same sl "$(field sl)" "${known[sl]}"
	same pkey "$(field pkey)" "${known[pkey]}"
	same tclass "$(field tclass)" "${known[traffic_class]}"
	same "flow label" "$(($(field 'flow label')))" "${known[flow_label]}"
	same "hop limit" "$(field 'hop limit')" "${known[hop_limit]}"
	same reversible "$(field reversible)" "$([ "${known[reversible]}" = true ] && echo 1)"
	same mtu "$((128 << $(field mtu)))" "${known[mtu_bytes]}"
	same rate "${gbps[$(field rate)]}" "${known[rate_gbps]}"
	same "packet lifetime" "$((4096 * (1 << life)))" "${known[packet_life_us]/./}"
}

resolves() {
	ask 0 "$@"
	same_path
	echo "ib_acme $*: as acmite"
}

by_every_address() {
	resolves -f n -s node01 -d node17
	resolves -f n -d node17
	resolves -f n -d NODE17
	resolves -f i -s 10.0.0.1 -d 10.0.0.17
	resolves -f i -d 10.0.0.17
	says '^Source: 10.0.0.1$'
	resolves -f i -s fd00::1 -d fd00::17
	resolves -d 10.0.0.17
	resolves -f g -s "${known[sgid]}" -d "${known[dgid]}"
	resolves -f l -s "${known[slid]}" -d "${known[dlid]}"
	resolves -f l -d "${known[dlid]}"
}

# -v asks a second time, past the cache, by the path.
verified() {
	resolves -v -f n -s node01 -d node17
	says '^SA verification: success$'
	resolves -v -f i -d 10.0.0.17
	says '^SA verification: success$'
	resolves -v -f l -s "${known[slid]}" -d "${known[dlid]}"
	says '^SA verification: success$'
}

counter() { # LABEL, of the form of -P col
	sed -nE "s/^$1 : ([0-9]+)\$/\1/p" <<<"$said"
}

repeated() {
	local before
	ask 0 -P col
	before=$(counter 'Resolve Count')
	resolves -C 1000 -f n -s node01 -d node17
	ask 0 -P col
	same "resolve requests" "$(counter 'Resolve Count')" "$((before + 1000))"
}

# Nothing is in node03's cache yet: -c says so, and lets it be looked up.
cached() {
	resolves -c -f n -d node17
	ask 255 -c -f n -d node03
	says 'failed: '
	says_not 'Path information'
}

ranges() {
	ask 0 -f n -d 'node[02-04]'
	same "paths" "$(grep -c '^Path information$' <<<"$said")" 3
	ask 0 -f n -d 'node[05,06]'
	same "paths" "$(grep -c '^Path information$' <<<"$said")" 2
}

failures() {
	ask 255 -f n -d nobody
	says '^ib_acm_resolve_name failed: Connection timed out$'
	ask 255 -f n -s node02 -d node17	# not this node's
	says 'failed: '
	ask 255 -f l -d 48000
	says 'failed: '
	ask 255 -f g -s "${known[sgid]}" -d fe80::1
	says 'failed: '
	says_not 'Path information'
}

labels='svc,Error Count,Resolve Count,No Data,Addr Query Count,Addr Cache Count,Route Query Count,Route Cache Count'
numbers=',[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+$'

# A row of -P against acmite's, which names them as in the protocol.
same_counters() { # ACMITE-ARGUMENT...
	local row name i=0
	row=$(sed -nE "s|^$socket,([0-9,]+)\$|\1|p" <<<"$said" | head -n 1)
	acmite 0 counters --json "$@"
	IFS=, read -ra row <<<"$row"
	for name in error resolve no_data address_query address_cache route_query route_cache; do
		same "counter $name $*" "${row[i++]}" "$(member "$name")"
	done
}

counters() {
	ask 0 -P
	same "rows" "$(grep -cE "$numbers" <<<"$said")" 1
	says "^$labels\$"
	same_counters
	ask 0 -P col
	says '^Resolve Count : [1-9][0-9]*$'
	same "columns" "$(grep -cE ' : [0-9]+$' <<<"$said")" 7
	ask 0 -P 1
	same_counters --endpoint 1
	ask 0 -P 2
	same_counters --endpoint 2
	ask 0 -P all
	same "endpoints" "$(grep -cE "$numbers" <<<"$said")" 2
	same_counters --endpoint 1
	ask 0 -P s -f n -s node01
	same_counters --source node01
	ask 0 -P s -f i -s 10.0.0.1
	same_counters --source 10.0.0.1
	ask 0 -P 9
	says 'Failed to query perf data: Invalid argument'
	ask 0 -P s -f n -s node02
	says 'Failed to query perf data'
}

endpoints() {
	local guid
	acmite 0 endpoints --json
	guid=$(member device_guid)
	ask 0 -e
	says '^svc,guid,port,pkey,ep_index,prov,addr_0,addresses$'
	says "^$socket,$guid,1,0xffff,1,acmite,node01,10.0.0.1,fd00::1\$"
	says "^$socket,$guid,1,0x8010,2,acmite\$"
	ask 0 -e 2
	says ",2,acmite\$"
	says_not ",1,acmite"
	ask 0 -e 9
	says '^ Endpoint 9 is not available$'
}

nobody_there() {
	expect 2 ib_acme -S "$scratch/nowhere" -f n -d node17
	says 'unable to contact service'
}

printf "timeout 200\nretries 1\n" >"$scratch/options" # nobody is soon given up
start stock two-tier node01 -O "$scratch/options"
declare -A known
learn
by_every_address
verified
repeated
cached
ranges
counters
endpoints
failures
counters
nobody_there
stop 15 0 stock
