#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Clients of every bad kind: the others are served as before, and nothing of them is left in the daemon.
. "$(dirname "$0")/harness.sh"

descriptors() {
	ls "/proc/$daemon/fd" | wc -l
}

# The daemon closes a client's socket after the client has gone: how soon is seen by asking.
await_descriptors() { # NUMBER
	local asked
	for ((asked = 0; asked < 1000; asked++)); do
		[ "$(descriptors)" != "$1" ] || return 0
		acmite 0 counters
	done
	fail "the daemon has $(descriptors) open files, $1 before"
}

printf 'timeout 200\nretries 1\n' >"$scratch/options"
start hostile two-tier node01 -O "$scratch/options"
acmite 0 resolve -d node17
before=$(descriptors)
expect 0 "$TOOLS/hostile_clients" "$socket"
echo "$said"
acmite 0 resolve -s node01 -d node17
await_descriptors "$before"
stop 15 0 hostile
