#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tools that administrators look at a fabric with, unchanged, on a served fabric of the built-in control:
# what ibnetdiscover prints, imported, is the fabric; saquery has all its path records; perfquery counts.
# Argument 1: the topology's name; 2: a host.
. "$(dirname "$0")/../end-to-end/harness.sh"
topology=$topologies/$1.yaml
host=$2
fabric=$scratch/fabric.sock
need ibnetdiscover saquery perfquery smpquery
trap 'ended=$?; kill -KILL "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"; exit $ended' EXIT

mkfifo "$scratch/out"
"$ACMITE" fabric serve "$topology" --socket "$fabric" >"$scratch/out" 2>"$scratch/serve.log" &
server=$!
IFS= read -r -t "$patience" line <"$scratch/out" || fail "the fabric does not get ready"
[[ $line == READY* ]] || fail "the fabric says '$line'"

on_host() { # STATUS FILE COMMAND...
	local expected=$1 file=$2
	shift 2
	timeout "$patience" "$ACMITE" fabric exec --fabric "$fabric" --node "$host" -- "$@" >"$file" 2>"$scratch/tool.log"
	same "the exit status of $*" "$?" "$expected"
}

on_host 0 "$scratch/discovered" ibnetdiscover
expect 0 "$ACMITE" fabric import "$scratch/discovered"
printf '%s\n' "$said" >"$scratch/imported.yaml"
expect 0 "$TOOLS/../interoperation/same_fabric" "$topology" "$scratch/imported.yaml"
echo "ibnetdiscover of $1, imported: the same fabric"

# Every port with a LID with every, itself included.
nodes=$(grep -cE '^(Switch|Ca)' "$scratch/discovered")
on_host 0 "$scratch/paths" saquery -t 50000 -p	# half a million records take a while with sanitizers
same "path records" "$(grep -c 'dgid\.' "$scratch/paths")" $((nodes * nodes))
on_host 0 "$scratch/records" saquery -t 50000 -N
same "node records" "$(grep -c 'NodeDescription' "$scratch/records")" "$nodes"
echo "saquery: $nodes nodes, $((nodes * nodes)) path records"

on_host 0 "$scratch/description" smpquery -D nodedesc 0
grep -q "$host\$" "$scratch/description" || fail "smpquery says: $(cat "$scratch/description")"
on_host 0 "$scratch/counters" perfquery
grep -qE '^PortXmitPkts:\.*0$' "$scratch/counters" || fail "perfquery says: $(cat "$scratch/counters")"
printf '%s mlx5_0 1 default\n' "$host" >"$scratch/addresses"
printf 'timeout 50\nretries 0\nlog_file stderr\nlock_file %s\n' "$scratch/lock" >"$scratch/options"
mkfifo "$scratch/ready"
"$ACMITE" fabric exec --fabric "$fabric" --node "$host" -- "$ACMITED" -P --backend verbs -A "$scratch/addresses" \
	-O "$scratch/options" --socket "$scratch/daemon.sock" >"$scratch/ready" 2>"$scratch/daemon.log" &
service=$!
trap 'ended=$?; kill -KILL "$server" "$service" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"; exit $ended' EXIT
IFS= read -r -t "$patience" line <"$scratch/ready" || fail "the daemon does not get ready"
expect 1 "$ACMITE" resolve -S "$scratch/daemon.sock" -d nobody	# one multicast
on_host 0 "$scratch/counters" perfquery
grep -qE '^PortXmitPkts:\.*[1-9][0-9]*$' "$scratch/counters" || fail "no packet was counted: $(cat "$scratch/counters")"
echo "perfquery counts what $host has sent"
on_host 0 "$scratch/counters" perfquery -R	# it answers nobody, and multicasts nothing meanwhile
on_host 0 "$scratch/counters" perfquery
grep -qE '^PortXmitPkts:\.*0$' "$scratch/counters" || fail "perfquery -R has reset nothing: $(cat "$scratch/counters")"
echo "perfquery -R begins anew"
