# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For the scripts of this folder: starts a daemon on a fabric in a folder of its own, waits for what it
# says instead of for time, and sees that nothing of it is left. ACMITED, ACMITE and TOOLS come from ctest.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
topologies=$here/../../topologies
patience=60		# seconds for anything to happen: guards against hanging, measures nothing
scratch=$(mktemp -d "${TMPDIR:-/tmp}/acmite-e2e-XXXXXX")
daemon=			# the running daemon's process id
family=()		# its children's
said=			# what the last command printed
status=			# and what it ended with

# ---- ends ----

fail() {
	echo "FAILED: $*" >&2
	for log in "$scratch"/*.log; do
		[ -s "$log" ] && { echo "--- the end of ${log##*/}" >&2; tail -n 15 "$log" >&2; }
	done
	exit 1
}

clean_up() {
	local ended=$?
	[ -z "$daemon" ] || { kill -KILL "$daemon"; wait "$daemon"; } 2>/dev/null
	rm -rf "$scratch"
	exit "$ended"
}
trap clean_up EXIT
trap 'exit 143' INT TERM HUP

# ---- programs ----

# Before PATH is made to lack something: a fabric that cannot be had fails the test and says why.
need() { # PROGRAM...
	local program
	PATH=$PATH:/usr/sbin:/sbin
	for program in "$@"; do
		command -v "$program" >/dev/null ||
			fail "$program is not installed; ci/setup installs it"
	done
}
need ibsim opensm timeout

# Runs a command; what it prints on either output is in $said, its exit status in $status.
run() {
	said=$(timeout "$patience" "$@" 2>&1)
	status=$?
	[ "$status" != 124 ] || fail "no end after $patience s: $*"
}

# The same, for a status that is known.
expect() { # STATUS COMMAND...
	local expected=$1
	shift
	run "$@"
	[ "$status" = "$expected" ] || fail "status $status, not $expected: $*"$'\n'"$said"
}

says() { # REGULAR-EXPRESSION: in $said
	grep -qE -- "$1" <<<"$said" || fail "expected '$1', but it says: $said"
}

says_not() {
	! grep -qE -- "$1" <<<"$said" || fail "did not expect '$1', but it says: $said"
}

same() { # WHAT LEFT RIGHT
	[ "$2" = "$3" ] || fail "$1: '$2' is not '$3'"
}

# A member of the first object in $said that has it, in acmite's JSON: one member a line.
member() { # NAME
	sed -nE "/^ *\"$1\": /{s/^ *\"$1\": \"?([^\",]*)\"?,?\$/\1/p;q}" <<<"$said"
}

acmite() { # STATUS ARGUMENT...
	local expected=$1 command=$2
	shift 2
	expect "$expected" "$ACMITE" "$command" -S "$socket" "$@"
}

# ---- the daemon ----

children() { # PID
	cat "/proc/$1/task/"*/children 2>/dev/null
}

# Starts a daemon and returns at once; what it says on standard output is read from descriptor 9.
launch() { # NAME ARGUMENT...
	local name=$1
	shift
	mkdir -p "$scratch/$name"
	[ -p "$scratch/$name.out" ] || mkfifo "$scratch/$name.out"
	"$ACMITED" -P --backend sim --control ibsim --socket "$scratch/$name.sock" \
		--scratch "$scratch/$name" "$@" >"$scratch/$name.out" 2>>"$scratch/$name.log" &
	daemon=$!
	exec 9<"$scratch/$name.out"
}

# Waits until the daemon launched last serves: then $socket, $ibsim, $tcp and $family are set.
await_ready() {
	local line
	IFS= read -r -t "$patience" line <&9 || fail "the daemon does not get ready"
	[[ $line =~ ^READY\ socket=([^ ]+)\ ibsim=([^ ]+)\ scratch=([^ ]+)(\ tcp=([0-9]+))?$ ]] ||
		fail "the daemon says '$line' instead of READY"
	socket=${BASH_REMATCH[1]}
	ibsim=${BASH_REMATCH[2]}
	tcp=${BASH_REMATCH[5]}
	read -ra family < <(children "$daemon")
	same "the daemon's children" "${#family[@]}" 2
}

start() { # NAME TOPOLOGY NODE ARGUMENT...
	local name=$1 topology=$2 node=$3
	shift 3
	launch "$name" --fabric "$topologies/$topology.yaml" --node "$node" "$@"
	await_ready
}

# Ends the daemon by a signal; all of it must be gone, with this exit status, and nothing be left of it.
stop() { # SIGNAL STATUS NAME
	local took ended
	took=$("$TOOLS/await_end" "$1" 5000 "$daemon" "${family[@]}") ||
		fail "the daemon or its children did not end by signal $1"
	wait "$daemon"
	ended=$?
	daemon=
	same "the daemon's exit status" "$ended" "$2"
	echo "signal $1: gone after $took ms"
	exec 9<&-
	nothing_left "$3"
}

nothing_left() { # NAME
	[ ! -e "$scratch/$1.sock" ] || fail "its socket is left"
	[ ! -e "$scratch/$1.sock.pid" ] || fail "its lock file is left"
	rmdir "$scratch/$1" || fail "its scratch folder is not empty: $(ls "$scratch/$1")"
}
