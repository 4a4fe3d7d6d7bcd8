#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The daemon on the builtin control: nothing else need be installed, no children, no scratch folder, up at once.
source "$(dirname "$0")/harness.sh"

serves() {
	local line fields
	mkfifo "$scratch/out"
	printf 'timeout 100\nretries 1\n' >"$scratch/options"
	PATH='' ACMITE_IBSIM=/nowhere ACMITE_OPENSM=/nowhere "$ACMITED" -P --backend sim \
		--fabric "$topologies/two-tier.yaml" --node node01 --socket "$scratch/a.sock" \
		-O "$scratch/options" >"$scratch/out" 2>"$scratch/log" &
	daemon=$!
	exec 9<"$scratch/out"
	IFS= read -r -t "$patience" line <&9 || fail "the daemon does not get ready"
	same "READY" "$line" "READY socket=$scratch/a.sock"
	read -ra fields < <(children "$daemon")
	same "its children" "${#fields[@]}" 0
	socket=$scratch/a.sock
	acmite 0 resolve -d node32
	says 'success'
	acmite 0 resolve -d 10.0.0.17
	acmite 1 resolve -d nobody
	family=()
	kill -TERM "$daemon"
	wait "$daemon"
	same "its exit status" "$?" 0
	daemon=
	[ ! -e "$scratch/a.sock" ] || fail "its socket is left"
}

serves
