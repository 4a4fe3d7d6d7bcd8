# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For the scripts of this folder that run ours and the distribution's daemons side by side on one served
# fabric. Argument 1 of such a script is the control; 2: where routes come from, sa or acm.
. "$(dirname "${BASH_SOURCE[0]}")/../end-to-end/harness.sh"
control=$1
routes=$2
fabric=$scratch/fabric.sock
declare -A pid=()	# of every program in the background, by name
declare -A service=()	# the sockets of the daemons, by node
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

serve() { # TOPOLOGY
	mkfifo "$scratch/serve.out"
	"$ACMITE" fabric serve "$1" --control "$control" --socket "$fabric" \
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

exec_on() { # NODE COMMAND...
	local node=$1
	shift
	exec "$ACMITE" fabric exec --fabric "$fabric" --node "$node" -- "$@"
}

# The daemons read their addresses from NODE.addr in $scratch.

# The stock daemon on a node; it serves under its own /run, which /proc shows.
stock() { # NODE
	options "$1"
	"${private[@]}" bash -c 'mount -t tmpfs tmpfs /run && exec "$@"' - "$ACMITE" fabric exec \
		--fabric "$fabric" --node "$1" -- ibacm -P -A "$scratch/$1.addr" -O "$scratch/$1.opts" \
		>"$scratch/$1.out" 2>&1 &
	pid[$1]=$!
	service[$1]=/proc/${pid[$1]}/root/run/ibacm-unix.sock
}

# Ours, attached by itself.
attached() { # NODE
	options "$1"
	"$ACMITED" -P --backend sim --fabric "$fabric" --node "$1" -A "$scratch/$1.addr" -O "$scratch/$1.opts" \
		--socket "$scratch/$1.sock" >"$scratch/$1.out" 2>&1 &
	pid[$1]=$!
	service[$1]=$scratch/$1.sock
}

# Ours, as on hardware.
verbs() { # NODE
	options "$1"
	(exec_on "$1" "$ACMITED" -P --backend verbs -A "$scratch/$1.addr" -O "$scratch/$1.opts" \
		--socket "$scratch/$1.sock") >"$scratch/$1.out" 2>&1 &
	pid[$1]=$!
	service[$1]=$scratch/$1.sock
}

end_program() { # NAME
	kill -KILL "${pid[$1]}"
	wait "${pid[$1]}" 2>/dev/null
	unset "pid[$1]"
}

lid_of() { # NODE [PORT]
	"$ACMITE" fabric show --fabric "$fabric" nodes --json |
		tr -d '\n' | grep -oE "\{[^{}]*\"node\": \"$1\"[^{}]*\"port\": \"?${2:-[0-9]}[^0-9][^{}]*\}" |
		grep -oE '"lid": "?[0-9]+' | grep -oE '[0-9]+' | tail -n 1
}

path() { # NAME: a field of the path that ib_acme has printed
	sed -nE "s/^  $1: (.*)/\1/p" <<<"$said"
}

# Memberships take a moment after a start: asked until it succeeds, or for too long.
asked() { # FROM FORMAT SOURCE DESTINATION
	local until=$((SECONDS + patience))
	while :; do
		run ib_acme -S "${service[$1]}" -f "$2" -s "$3" -d "$4"
		[ "$status" != 0 ] || break
		[ "$SECONDS" -lt "$until" ] || fail "$1 does not find $4 from $3: $said"
		kill -0 "${pid[$1]}" 2>/dev/null || fail "the daemon of $1 has ended"
	done
}
