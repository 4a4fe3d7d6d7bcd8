#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Ours and the distribution's daemon on one served fabric: each finds the other, both ways, by name and by
# address, with routes from the SA or from multicast; after either side restarts, and after the subnet
# manager fails over. Argument 1: the control; argument 2: where routes come from, sa or acm.
. "$(dirname "$0")/../end-to-end/harness.sh"
control=$1
routes=$2
fabric=$scratch/fabric.sock
declare -A pid=()	# of every program in the background, by name
need ibacm ib_acme unshare mount

end_all() {
	local name
	for name in "${!pid[@]}"; do
		kill -KILL "${pid[$name]}" 2>/dev/null
	done
	wait 2>/dev/null
}
trap 'ended=$?; end_all; rm -rf "$scratch"; exit $ended' EXIT

# The stock daemon's socket is compiled in, under /run: each gets a /run of its own.
private=(unshare -m)
[ "$(id -u)" = 0 ] || private=(unshare -rm)
if ! "${private[@]}" true 2>/dev/null; then
	echo "SKIPPED: no mount namespace can be made here (unshare), and the stock daemon's socket is compiled in"
	exit 77
fi

serve() {
	mkfifo "$scratch/serve.out"
	"$ACMITE" fabric serve "$(dirname "$0")/mixed.yaml" --control "$control" --socket "$fabric" \
		--scratch "$scratch" >"$scratch/serve.out" 2>"$scratch/serve.log" &
	pid[serve]=$!
	exec 8<"$scratch/serve.out"
	IFS= read -r -t "$patience" line <&8 || fail "the fabric does not get ready"
	[[ $line == READY* ]] || fail "the fabric says '$line' instead of READY"
}

options() { # NAME: what both kinds of daemon read
	printf '%s\n' "log_file $scratch/$1.log" "log_level 1" "lock_file $scratch/$1.pid" \
		"route_prot $routes" "timeout 200" "retries 4" "support_ips_in_addr_cfg 1" >"$scratch/$1.opts"
}

addresses() { # NAME NUMBER
	printf '%s\n' "$1 mlx5_0 1 default" "10.9.0.$2 mlx5_0 1 default" "fd09::$2 mlx5_0 1 default" \
		>"$scratch/$1.addr"
}

exec_on() { # NODE COMMAND...
	local node=$1
	shift
	exec "$ACMITE" fabric exec --fabric "$fabric" --node "$node" -- "$@"
}

# The stock daemon on a node; it serves under its own /run, which /proc shows.
stock() { # NODE NUMBER
	options "$1"
	addresses "$1" "$2"
	"${private[@]}" bash -c 'mount -t tmpfs tmpfs /run && exec "$@"' - "$ACMITE" fabric exec \
		--fabric "$fabric" --node "$1" -- ibacm -P -A "$scratch/$1.addr" -O "$scratch/$1.opts" \
		>"$scratch/$1.out" 2>&1 &
	pid[$1]=$!
	service[$1]=/proc/${pid[$1]}/root/run/ibacm-unix.sock
}

# Ours, attached by itself.
attached() { # NODE NUMBER
	options "$1"
	addresses "$1" "$2"
	"$ACMITED" -P --backend sim --fabric "$fabric" --node "$1" -A "$scratch/$1.addr" -O "$scratch/$1.opts" \
		--socket "$scratch/$1.sock" >"$scratch/$1.out" 2>&1 &
	pid[$1]=$!
	service[$1]=$scratch/$1.sock
}

# Ours, as on hardware.
verbs() { # NODE NUMBER
	options "$1"
	addresses "$1" "$2"
	(exec_on "$1" "$ACMITED" -P --backend verbs -A "$scratch/$1.addr" -O "$scratch/$1.opts" \
		--socket "$scratch/$1.sock") >"$scratch/$1.out" 2>&1 &
	pid[$1]=$!
	service[$1]=$scratch/$1.sock
}

lid_of() { # NODE
	"$ACMITE" fabric show --fabric "$fabric" nodes --json |
		tr -d '\n' | grep -oE "\{[^{}]*\"node\": \"$1\"[^{}]*\}" | grep -oE '"lid": "?[0-9]+' | grep -oE '[0-9]+' |
		tail -n 1
}

# Memberships take a moment after a start: asked until it succeeds, or for too long.
resolves() { # FROM TO FORMAT SOURCE DESTINATION
	local until=$((SECONDS + patience)) dlid
	while :; do
		run ib_acme -S "${service[$1]}" -f "$3" -s "$4" -d "$5"
		[ "$status" != 0 ] || break
		[ "$SECONDS" -lt "$until" ] || fail "$1 does not find $5: $said"
		kill -0 "${pid[$1]}" 2>/dev/null || fail "the daemon of $1 has ended"
	done
	dlid=$(sed -nE 's/^  dlid: (.*)/\1/p' <<<"$said")
	same "the LID by which $1 finds $5" "$dlid" "$(lid_of "$2")"
}

number_of() {
	echo "${1#node}"
}

both_ways() { # NODE NODE
	local pair from to
	for pair in "$1 $2" "$2 $1"; do
		read -r from to <<<"$pair"
		resolves "$from" "$to" n "$from" "$to"
		resolves "$from" "$to" i "10.9.0.$(number_of "$from")" "10.9.0.$(number_of "$to")"
		resolves "$from" "$to" i "fd09::$(number_of "$from")" "fd09::$(number_of "$to")"
	done
	echo "$1 and $2 find each other by name, IPv4 and IPv6"
}

end_program() { # NAME
	kill -KILL "${pid[$1]}"
	wait "${pid[$1]}" 2>/dev/null
	unset "pid[$1]"
}

declare -A service=()
serve
attached node1 1
verbs node2 2
stock node3 3
stock node4 4
both_ways node1 node3
both_ways node2 node4
both_ways node1 node2
both_ways node3 node4

echo "--- the stock daemon starts again, then ours"
end_program node3
stock node3 3
both_ways node3 node2
end_program node1
attached node1 1
both_ways node1 node4
end_program node2
verbs node2 2
both_ways node2 node3

# On its own node: the stock daemon goes on asking the LID where the subnet manager was.
echo "--- the subnet manager starts again"
expect 0 "$ACMITE" fabric fault --fabric "$fabric" 'kind: sm_fail_over, node: node1'
attached node5 5
both_ways node5 node3
both_ways node5 node2

echo "--- ib_acme looks at ours, and asks the SA what it was told"
expect 0 ib_acme -S "${service[node1]}" -v -f n -s node1 -d node4
says '^SA verification: success$'
expect 0 ib_acme -S "${service[node2]}" -v -f n -s node2 -d node4
says '^SA verification: success$'
expect 0 ib_acme -S "${service[node2]}" -P col
says '^Resolve Count : [1-9]'
expect 0 ib_acme -S "${service[node2]}" -e
says ',0xffff,1,acmite,node2,10.9.0.2,fd09::2$'
