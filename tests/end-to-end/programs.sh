# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For the scripts of this folder that run several programs at a time: each has a name, and a log in the
# scratch folder.
source "$(dirname "${BASH_SOURCE[0]}")/harness.sh"

declare -A programs=()		# process ids by name
clean_up_all() {
	local ended=$?
	[ ${#programs[@]} = 0 ] || { kill -KILL "${programs[@]}"; wait "${programs[@]}"; } 2>/dev/null
	(exit "$ended")
	clean_up
}
trap clean_up_all EXIT

# Waits until a program has said something.
await_said() { # NAME REGULAR-EXPRESSION
	grep -qm1 -E -- "$2" < <(timeout "$patience" tail --pid=$$ -n +1 -f "$scratch/$1.log" 2>/dev/null) ||
		fail "$1 does not say '$2'"
}

# Starts a program that says READY.
begin() { # NAME COMMAND...
	local name=$1
	shift
	: >"$scratch/$name.log"
	"$@" >>"$scratch/$name.log" 2>&1 &
	programs[$name]=$!
	await_said "$name" '^READY '
}

end() { # NAME STATUS
	local ended
	kill -TERM "${programs[$1]}"
	wait "${programs[$1]}"
	ended=$?
	unset "programs[$1]"
	same "$1's exit status" "$ended" "$2"
}

serve_fabric() { # TOPOLOGY ARGUMENT...
	local topology=$1
	shift
	begin fabric "$ACMITE" fabric serve "$topologies/$topology.yaml" --socket "$scratch/fabric.sock" "$@"
}


# Ends a program without asking it.
slay() { # NAME
	kill -KILL "${programs[$1]}"
	wait "${programs[$1]}" 2>/dev/null
	unset "programs[$1]"
}

# An address file for node01 of two-tier, one line of which is of a P_Key that no port has.
write_addresses() {
	printf '%s\n' 'node01 mlx5_0 1 default' 'vault mlx5_0 1 8010' 'other mlx5_0 1 1234' >"$scratch/addresses"
}

# A daemon on node01 with that file says which of its addresses wait for a P_Key, at its start and when
# one is taken away and given back.
tells_of_pkeys() { # NAME
	local other="addresses: 1 of 3 addresses wait for .*, the first is other on mlx5_0 port 1, P_Key 0x1234$"
	await_said "$1" "$other"
	: >"$scratch/$1.log"
	expect 0 "$ACMITE" fabric fault -f "$scratch/fabric.sock" \
		'kind: pkey, node: node01, pkey: 0x0010, membership: none'
	await_said "$1" 'addresses: 2 of 3 addresses wait for .*, the first is vault on mlx5_0 port 1, P_Key 0x8010$'
	: >"$scratch/$1.log"
	expect 0 "$ACMITE" fabric fault -f "$scratch/fabric.sock" \
		'kind: pkey, node: node01, pkey: 0x0010, membership: limited'
	await_said "$1" "$other"
	socket=$scratch/$1.sock
	acmite 0 endpoints
	says '0x0010 .*vault'
}
