#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: life_cycle.sh PART
# A daemon's start and end, also those that come too early or by force, and its neighbours.
. "$(dirname "$0")/harness.sh"

# How many whole seconds passed since $SECONDS was this: guards of time, far above what it takes.
within() { # SECONDS BEGUN WHAT
	[ "$((SECONDS - $2))" -le "$1" ] || fail "$3 took $((SECONDS - $2)) s, at most $1 were expected"
}

pid_of() { # PROGRAM: of the daemon's children
	local pid
	for pid in "${family[@]}"; do
		[ "$(cat "/proc/$pid/comm")" != "$1" ] || echo "$pid"
	done
}

await_gone() { # PID...
	"$TOOLS/await_end" 0 5000 "$@" >/dev/null || fail "processes are left"
}

listened_at() { # SOCKET
	local line
	[ -p "$scratch/notes" ] || mkfifo "$scratch/notes"
	"$TOOLS/notify_listener" "$1" "$((patience * 1000))" >"$scratch/notes" &
	exec 8<"$scratch/notes"
	IFS= read -r -t "$patience" line <&8
	same "the listener" "$line" listening
	NOTIFY_SOCKET=$1 start notify pair node1
	IFS= read -r -t "$patience" line <&8 || fail "the manager is told nothing"
	same "what the manager is told" "$line" READY=1
	acmite 0 resolve -d node2
	stop 15 0 notify
	IFS= read -r -t "$patience" line <&8 || fail "the manager is not told of the end"
	same "what the manager is told" "$line" STOPPING=1
	exec 8<&-
	echo "NOTIFY_SOCKET=$1: told"
}

tells_manager() {
	listened_at "$scratch/manager"
	listened_at "@acmite-e2e-$$"
}

stops() {
	local signal
	for signal in 15 2; do
		start stops pair node1
		stop "$signal" 0 stops
	done
}

# Told to stop at a moment of its start, which its log tells: nothing is left, and it says what `says` expects.
stopped_while() { # TEXT IN THE LOG, WHAT IT SAYS
	local line said took
	mkfifo "$scratch/early.out"
	mkdir "$scratch/early"
	"$ACMITED" -P --backend sim --control ibsim --fabric "$topologies/two-tier.yaml" --node node01 \
		--socket "$scratch/early.sock" --scratch "$scratch/early" -O "$scratch/verbose" \
		2>"$scratch/early.out" >"$scratch/early.ready" &
	daemon=$!
	exec 9<"$scratch/early.out"
	while IFS= read -r -t "$patience" line <&9; do
		[[ $line != *$1* ]] || break
	done
	[[ $line == *$1* ]] || fail "its log has no '$1'"
	read -ra family < <(children "$daemon")
	took=$("$TOOLS/await_end" 15 5000 "$daemon" "${family[@]}") ||
		fail "it does not stop while $1"
	said=$(cat <&9)
	wait "$daemon"
	status=$?
	daemon=
	exec 9<&-
	says "$2"
	nothing_left early
	echo "told to stop while $1: gone after $took ms"
}

# A program that starts and does nothing more keeps the daemon at that moment.
stops_early() {
	printf '#!/bin/sh\nexec sleep 1000\n' >"$scratch/idle"
	chmod +x "$scratch/idle"
	echo 'log_level 1' >"$scratch/verbose"
	ACMITE_IBSIM=$scratch/idle stopped_while 'waiting for ibsim' 'told to stop while starting'
	same "its status" "$status" 1
	[ ! -s "$scratch/early.ready" ] || fail "it said READY, too"
	rm "$scratch"/early.*
	ACMITE_OPENSM=$scratch/idle stopped_while "waiting for OpenSM's first sweep" \
		'told to stop while starting'
	same "its status" "$status" 1
	[ ! -s "$scratch/early.ready" ] || fail "it said READY, too"
	rm "$scratch"/early.*
	# With the real ones it may be serving before the signal comes.
	stopped_while 'waiting for the SA to answer' 'told to stop'
}

# Killed: the kernel ends its children; its socket and lock file are left, and the next one replaces them.
killed() {
	local parent
	start killed pair node1
	parent=$daemon
	"$TOOLS/await_end" 9 5000 "$parent" "${family[@]}" >/dev/null ||
		fail "a killed daemon leaves children"
	wait "$parent" 2>/dev/null
	daemon=
	exec 9<&-
	[ -S "$scratch/killed.sock" ] || fail "there is no stale socket to test with"
	rm -rf "$scratch/killed"
	start killed pair node1
	acmite 0 resolve -d node2
	stop 15 0 killed
	echo "killed: no children, and the next one serves"
}

# A second one for the same socket is refused, the first is none the worse.
refused() {
	start first pair node1
	expect 1 "$ACMITED" -P --backend sim --fabric "$topologies/pair.yaml" --node node2 \
		--socket "$socket"
	says "^acmited: $socket.pid is in use: process $daemon holds it; stop that one, or .*--socket"
	echo "lock_file $scratch/other.pid" >"$scratch/other"
	expect 1 "$ACMITED" -P --backend sim --fabric "$topologies/pair.yaml" --node node2 \
		--socket "$socket" -O "$scratch/other"
	says "^acmited: $socket is in use: a program serves it; stop that one or choose another --socket$"
	acmite 0 resolve -d node2
	stop 15 0 first
	echo "a second one for the same socket: refused"
}

# In the background: the command ends when the daemon serves.
background() {
	local pid
	echo "log_file $scratch/background.log" >"$scratch/background"
	expect 0 "$ACMITED" -D --backend sim --control ibsim --fabric "$topologies/pair.yaml" --node node1 \
		--socket "$scratch/d.sock" --scratch "$scratch" -O "$scratch/background"
	socket=$scratch/d.sock
	pid=$(cat "$socket.pid")
	read -ra family < <(children "$pid")
	acmite 0 resolve -d node2
	"$TOOLS/await_end" 15 5000 "$pid" "${family[@]}" >/dev/null || fail "it does not stop"
	[ ! -e "$socket" ] || fail "its socket is left"
	grep -q 'told to stop' "$scratch/background.log" || fail "its log does not say that it was told to"
	expect 1 "$ACMITED" -D --backend sim --fabric "$topologies/pair.yaml" --node node1 \
		--socket "$scratch/none/d.sock" -O "$scratch/background"
	says "$scratch/none/d.sock"
	echo "in the background: serves when the command ends"
}

# Without ibsim there is no fabric: it says so and ends, with OpenSM.
loses_ibsim() {
	local begun=$SECONDS
	start ibsim pair node1
	kill -KILL "$(pid_of ibsim)"
	await_gone "$daemon" "${family[@]}"
	wait "$daemon"
	same "the status without ibsim" "$?" 1
	daemon=
	exec 9<&-
	grep -qE 'the fabric is gone: .*ibsim' "$scratch/ibsim.log" || fail "it does not say why it ended"
	nothing_left ibsim
	within 20 "$begun" "losing ibsim"
	echo "ibsim killed: ends and says why"
}

# Without OpenSM what is in the cache goes on; what is not fails, in the time that its options give.
loses_opensm() {
	local begun lost
	printf 'timeout 200\nretries 1\nnegative_timeout 0\n' >"$scratch/hasty"
	start opensm two-tier node01 -O "$scratch/hasty"
	acmite 0 resolve -s node01 -d node17
	lost=$(pid_of opensm)
	kill -KILL "$lost"
	await_gone "$lost"
	begun=$SECONDS
	acmite 0 resolve -s node01 -d node17 -C 100
	acmite 1 resolve -s node01 -d node18 --timeout 20
	within 15 "$begun" "a failure without OpenSM"
	acmite 0 resolve -s node01 -d node17
	acmite 0 counters
	stop 15 0 opensm
	grep -qE 'OpenSM ended and nobody manages' "$scratch/opensm.log" ||
		fail "it does not tell that OpenSM is gone"
	echo "opensm killed: the cache goes on, the rest fails in time"
}

"$1"
