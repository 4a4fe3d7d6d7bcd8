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
