#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: fabric_exec.sh CONTROL
# The distribution's own programs, unmodified, on nodes of a served fabric: what they say is what the fabric
# is, they hear of what happens to it, and nothing hangs when it goes away.
. "$(dirname "$0")/harness.sh"
need ibstat ibhosts ibswitches ibnodes ibaddr smpdump ibidsverify dump_lfts ibv_devinfo ibv_asyncwatch ibv_ud_pingpong \
	ibv_rc_pingpong saquery ibnetdiscover perfquery ibping smpquery sminfo ibtracert ibacm ib_acme hostname unshare mount stdbuf

control=$1
fabric=$scratch/fabric.sock
server=		# its process id
others=()	# those of programs in the background

end_all() {
	local pid
	for pid in "${others[@]}" "$server"; do
		[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	done
	wait 2>/dev/null
}
trap 'ended=$?; end_all; rm -rf "$scratch"; exit $ended' EXIT

serve() {
	local line
	rm -f "$scratch/serve.out"
	mkfifo "$scratch/serve.out"
	"$ACMITE" fabric serve "$topologies/two-tier.yaml" --control "$control" --socket "$fabric" \
		--scratch "$scratch" >"$scratch/serve.out" 2>"$scratch/serve.log" &
	server=$!
	exec 8<"$scratch/serve.out"
	IFS= read -r -t "$patience" line <&8 || fail "the fabric does not get ready"
	[[ $line == READY* ]] || fail "the fabric says '$line' instead of READY"
}

on() { # NODE COMMAND...: to be used after expect STATUS
	echo "$ACMITE" fabric exec --fabric "$fabric" --node "$1" -- "${@:2}"
}

# shellcheck disable=SC2046 # no argument of these has blanks
runs() { # STATUS NODE COMMAND...
	expect "$1" $(on "${@:2}")
}

field() { # NAME: what stands behind "NAME:" or "NAME...." in $said, the first time
	sed -nE "/^[[:space:]]*$1[:.]+[[:space:]]*/{s///p;q}" <<<"$said"
}

# ---- what programs see ----

serve
runs 0 node02 ibstat
same "the state of the port" "$(field State)" Active
same "its rate" "$(field Rate)" 100
lid=$(field 'Base lid')
sm_lid=$(field 'SM lid')
guid=$(field 'Port GUID')
runs 0 node31 ibstat
other=$(field 'Base lid')
[ "$lid" != "$other" ] || fail "two nodes have the LID $lid"

runs 0 node02 ibv_devinfo -v
same "ibv_devinfo's LID" "$(field port_lid)" "$lid"
same "ibv_devinfo's SM" "$(field sm_lid)" "$sm_lid"
says 'state:[[:space:]]*PORT_ACTIVE'
says 'link_layer:[[:space:]]*InfiniBand'
gid=$(sed -nE 's/^.*GID\[ *0\]:[[:space:]]*([0-9a-f:]+).*/\1/p' <<<"$said")
same "the GID's end" "$(cut -d: -f5-8 <<<"$gid" | tr -d :)" "${guid#0x}"

runs 0 node02 saquery --src-to-dst "$lid:$other"
same "the path's DLID" "$(field dlid)" "$other"
same "the path's SLID" "$(field slid)" "$lid"

runs 0 node02 ibnetdiscover
same "hosts that ibnetdiscover finds" "$(grep -c '^Ca' <<<"$said")" 33
same "switches that it finds" "$(grep -c '^Switch' <<<"$said")" 6
runs 0 node02 ibhosts
same "hosts that ibhosts finds" "$(grep -c '^Ca' <<<"$said")" 33
runs 0 node02 ibswitches
same "switches that ibswitches finds" "$(grep -c '^Switch' <<<"$said")" 6
runs 0 node02 ibnodes
same "nodes that ibnodes finds" "$(grep -c . <<<"$said")" 39
runs 0 node02 ibaddr
says "LID start 0x$(printf %x "$lid") "
runs 0 node02 smpdump "$other" 0x10
runs 0 node02 ibidsverify
runs 0 node02 dump_lfts
says "0x$(printf %04x "$other") [0-9]+ : .*'node31'"
runs 0 node02 perfquery
says '^PortXmitData:'
runs 0 node02 sminfo
says "sm lid $sm_lid .*SMINFO_MASTER"
runs 0 node02 ibtracert "$lid" "$other"
says "^To ca .* lid $other-$other \"node31\""
runs 0 node02 hostname
same "the host's name" "$said" node02
runs 0 node31 uname -n
same "the host's name" "$said" node31
mkdir "$scratch/written"
runs 0 node31 ib_acme -A -D "$scratch/written"
grep -q '^node31 mlx5_0 1 default$' "$scratch"/written/* || fail "ib_acme -A writes another name: $(cat "$scratch"/written/*)"
runs 0 node02 smpquery nodedesc "$other"
says 'node31$'

# Nobody has that LID: the kernel's time-outs and retries, then an error.
run $(on node02 smpquery -t 20 nodedesc 20000)
[ "$status" != 0 ] || fail "a LID that nobody has answers: $said"
says '_do_madrpc failed; dport .Lid 20000.'

# Of a class that nobody there speaks, the SM least of all: no answer, and no harm.
run $(on node02 ibping -c 1 -t 20 "$sm_lid")
says ' 0 received,'
runs 0 node02 saquery --src-to-dst "$lid:$other"

# ---- datagrams between two programs ----

port=$((20000 + $$ % 20000))
$(on node02 timeout "$patience" ibv_ud_pingpong -s 200 -n 50 -e -g 0 -p "$port") >"$scratch/pong.log" 2>&1 &
others+=($!)
until run $(on node31 ibv_ud_pingpong -s 200 -n 50 -e -g 0 -p "$port" localhost) && [ "$status" = 0 ]; do
	kill -0 "${others[0]}" 2>/dev/null || fail "ibv_ud_pingpong has ended"
done
says '^50 iters in '
wait "${others[0]}" || fail "the other ibv_ud_pingpong failed"
others=()

# ---- the stock daemon, in the background as it likes to be ----

private=(unshare -m)
[ "$(id -u)" = 0 ] || private=(unshare -rm)
printf '%s\n' 'node02 mlx5_0 1 default' >"$scratch/addr"
printf '%s\n' "log_file $scratch/ibacm.log" "lock_file $scratch/ibacm.pid" 'server_mode unix' \
	'timeout 200' >"$scratch/opts"
# Its socket is compiled in, under /run.
cat >"$scratch/stock" <<'END'
set -e
mount -t tmpfs tmpfs /run
exec=("$1" fabric exec --fabric "$2" --node node02 --)
"${exec[@]}" ibacm -A "$3/addr" -O "$3/opts"
until [ -S /run/ibacm-unix.sock ]; do
	sleep 0.05
done
status=0
"${exec[@]}" ib_acme -S /run/ibacm-unix.sock -v -f n -s node02 -d node02 || status=1
"${exec[@]}" ib_acme -S /run/ibacm-unix.sock -v -f l -s "$4" -d "$5" || status=1
kill "$(cat "$3/ibacm.pid")"
exit $status
END
expect 0 "${private[@]}" bash "$scratch/stock" "$ACMITE" "$fabric" "$scratch" "$lid" "$other"
says "^  dlid: $lid$"
says "^  dlid: $other$"
says '^SA verification: success$'

# ---- what is not there ----

run $(on node02 ibv_rc_pingpong)
[ "$status" != 0 ] || fail "a reliable connection was made"
says '^acmite-preload: only queue pairs for unreliable datagrams'

# ---- the command itself ----

runs 7 node02 "$BASH" -c 'exit${IFS}7'
runs 127 node02 "$scratch/nothing"
says '^acmite fabric exec: .*/nothing cannot be run: No such file'
runs 1 node77 ibstat
says 'no node node77'
expect 1 "$ACMITE" fabric exec --fabric "$scratch/none.sock" --node node02 -- ibstat
says 'acmite fabric serve starts one'
expect 2 "$ACMITE" fabric exec --fabric "$fabric" -- ibstat
says '--node is missing'
expect 2 "$ACMITE" fabric exec --fabric "$fabric" --node node02
says 'command .* is missing'

# ---- what happens to the fabric ----

watch() { # EVENT: the next line that tells of one
	local line
	while IFS= read -r -t "$patience" line <&7; do
		[[ $line != *event_type* ]] && continue
		[[ $line == *" $1 "* ]] && return
		seen+=" $line"
	done
	fail "ibv_asyncwatch does not tell of $1, but of:$seen"
}

seen=
mkfifo "$scratch/events"
$(on node02 stdbuf -oL ibv_asyncwatch) >"$scratch/events" 2>"$scratch/asyncwatch.log" &
others+=($!)
exec 7<"$scratch/events"
IFS= read -r -t "$patience" line <&7 || fail "ibv_asyncwatch does not start"
expect 0 "$ACMITE" fabric fault --fabric "$fabric" 'kind: link_down, link: node02, for: 200ms'
watch IBV_EVENT_PORT_ERR
watch IBV_EVENT_PORT_ACTIVE
runs 0 node02 ibstat
same "the state of the port again" "$(field State)" Active

# ---- its end ----

kill -KILL "$server"
wait "$server" 2>/dev/null
server=
watch IBV_EVENT_DEVICE_FATAL
wait "${others[0]}"
[ $? != 137 ] || fail "ibv_asyncwatch did not end by itself"
others=()
runs 1 node02 ibstat
says 'no fabric server can be reached'
