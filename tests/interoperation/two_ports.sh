#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Hosts with two ports: tools see both and use the one that they are told; ours, attached and as on hardware,
# and the stock daemon find each other from each port to each, by name and by address, in the default
# partition and in another; a port that goes down takes nothing from the other, and comes back.
# Argument 1: the control; argument 2: where routes come from, sa or acm.
. "$(dirname "$0")/daemons.sh"
need ibstat ibv_devinfo sminfo smpquery saquery ibv_ud_pingpong

names=([1]="" [2]=-b)	# what the name of a port's endpoint ends with
declare -A lid=()

tool() { # STATUS NODE COMMAND...
	expect "$1" "$ACMITE" fabric exec --fabric "$fabric" --node "$2" -- "${@:3}"
}

addresses() { # NODE
	local n=${1#twin}
	printf '%s\n' "$1 mlx5_0 1 default" "10.8.1.$n mlx5_0 1 default" "$1-b mlx5_0 2 default" \
		"10.8.2.$n mlx5_0 2 default" "$1-own mlx5_0 2 0x0010" >"$scratch/$1.addr"
}

begin() { # HOW NODE
	addresses "$2"
	"$1" "$2"
}

finds() { # FROM PORT TO PORT FORMAT SOURCE DESTINATION
	asked "$1" "$5" "$6" "$7"
	same "the SLID from $6 to $7" "$(path slid)" "${lid[$1:$2]}"
	same "the DLID from $6 to $7" "$(path dlid)" "${lid[$3:$4]}"
}

each_port() { # FROM TO
	local from to
	for from in 1 2; do
		for to in 1 2; do
			finds "$1" "$from" "$2" "$to" n "$1${names[$from]}" "$2${names[$to]}"
			finds "$1" "$from" "$2" "$to" i "10.8.$from.${1#twin}" "10.8.$to.${2#twin}"
		done
	done
	finds "$1" 2 "$2" 2 n "$1-own" "$2-own"
	same "the P_Key from $1-own to $2-own" "$(path pkey)" 0x8010
	echo "$1 finds $2 from each port to each, and in the other partition"
}

state_of() { # NODE PORT: as ibstat has it
	tool 0 "$1" ibstat mlx5_0 "$2"
	sed -nE 's/^[[:space:]]*State: //p' <<<"$said"
}

await_state() { # NODE PORT STATE
	local until=$((SECONDS + patience))
	until [ "$(state_of "$1" "$2")" = "$3" ]; do
		[ "$SECONDS" -lt "$until" ] || fail "port $2 of $1 does not get $3"
	done
}

fault() { # FAULT
	expect 0 "$ACMITE" fabric fault --fabric "$fabric" "$1"
}

# ---- tools ----

serve "$(dirname "$0")/two_ports.yaml"
for node in twin1 twin2 twin3; do
	for port in 1 2; do
		lid[$node:$port]=$(lid_of "$node" "$port")
	done
done
sm=$(lid_of node1)
tool 0 twin1 ibstat
same "ibstat's LIDs" "$(sed -nE 's/^[[:space:]]*Base lid: //p' <<<"$said" | xargs)" "${lid[twin1:1]} ${lid[twin1:2]}"
for port in 1 2; do
	tool 0 twin1 ibv_devinfo -i "$port"
	says "port:[[:space:]]*$port\$"
	says "port_lid:[[:space:]]*${lid[twin1:$port]}\$"
	tool 0 twin1 sminfo -P "$port"
	says "sm lid $sm "
	tool 0 twin1 smpquery -P "$port" portinfo -D 0
	says "^Lid:\.*${lid[twin1:$port]}\$"
	# ibsim says the first, whatever port it answers for.
	[ "$control" = ibsim ] || says "^LocalPort:\.*$port\$"
	tool 0 twin1 saquery -P "$port" --src-to-dst "${lid[twin1:$port]}:$sm"
	says "slid\.*${lid[twin1:$port]}\$"
done
# Without being told: the one that is active.
tool 0 odd smpquery portinfo -D 0
says "^Lid:\.*$(lid_of odd 2)$"
tool 0 odd sminfo
run "$ACMITE" fabric exec --fabric "$fabric" --node odd -- sminfo -P 1 -t 50
[ "$status" != 0 ] || fail "a port without a link reaches the subnet manager: $said"

run "$ACMITE" fabric exec --fabric "$fabric" --node twin1 -- ibstat mlx5_0 3
[ "$status" != 0 ] || fail "there is a third port: $said"

# From the second port of one to the second of another.
tcp=$((20000 + $$ % 20000))
(exec_on twin1 timeout "$patience" ibv_ud_pingpong -i 2 -s 200 -n 20 -e -g 0 -p "$tcp") >"$scratch/pong.log" 2>&1 &
pid[pong]=$!
until run "$ACMITE" fabric exec --fabric "$fabric" --node twin2 -- ibv_ud_pingpong -i 2 -s 200 -n 20 -e -g 0 \
	-p "$tcp" localhost && [ "$status" = 0 ]; do
	kill -0 "${pid[pong]}" 2>/dev/null || fail "ibv_ud_pingpong has ended"
done
says '^20 iters in '
wait "${pid[pong]}" || fail "the other ibv_ud_pingpong failed"
unset "pid[pong]"
grep -q "remote address: LID $(printf '0x%04x' "${lid[twin2:2]}")," "$scratch/pong.log" ||
	fail "it heard of another LID than that of port 2: $(cat "$scratch/pong.log")"
echo "the tools use the port that they are told"

# ---- daemons ----

begin verbs twin1
begin attached twin2
begin stock twin3
for from in 1 2 3; do
	for to in 1 2 3; do
		[ "$from" = "$to" ] || each_port "twin$from" "twin$to"
	done
done

# ---- one port goes and comes ----

goes_and_comes() { # NODE PORT OTHER-PORT
	local lost=$1${names[$2]} kept=$1${names[$3]}
	fault "kind: link_down, link: \"$1 -- leaf$2\""
	await_state "$1" "$2" Down
	same "the state of the other port" "$(state_of "$1" "$3")" Active
	until run ib_acme -S "${service[$1]}" -f n -s "$lost" -d twin3 && [ "$status" != 0 ]; do
		kill -0 "${pid[$1]}" 2>/dev/null || fail "the daemon of $1 has ended"
	done
	finds "$1" "$3" twin3 2 n "$kept" twin3-b
	finds twin3 1 "$1" "$3" n twin3 "$kept"
	fault none
	await_state "$1" "$2" Active
	finds "$1" "$2" twin3 2 n "$lost" twin3-b
	finds twin3 2 "$1" "$2" i 10.8.2.3 "10.8.$2.${1#twin}"
	echo "port $2 of $1 went and came back"
}

goes_and_comes twin1 2 1
goes_and_comes twin2 1 2
