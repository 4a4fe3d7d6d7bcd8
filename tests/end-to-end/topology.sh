#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: topology.sh NAME
# Serves a topology of topologies/: its first host finds its last by name, and the path leads to the
# port that the topology gives the last one.
. "$(dirname "$0")/harness.sh"

expect 0 "$ACMITE" fabric check "$topologies/$1.yaml"
expect 0 "$ACMITE" fabric export --format json "$topologies/$1.yaml"
# A host's name has a line of its own.
hosts=$(sed -n '/^  "hosts": \[/,/^  \]/p' <<<"$said")
mapfile -t names < <(sed -nE 's/^      "name": "(.*)",?$/\1/p' <<<"$hosts")
[ "${#names[@]}" -ge 2 ] || fail "its hosts cannot be read: $hosts"
first=${names[0]}
last=${names[-1]}

start topology "$1" "$first"
acmite 0 resolve -d "$last" --json
same status "$(member status)" success
dgid=$(member dgid)
dlid=$(member dlid)
# The port's GUID is in its GID: the last one of the export.
guid=$(sed -nE 's/^.*"guid": "0x([0-9a-f]+)".*/\1/p' <<<"$hosts" | tail -n 1)
printf -v gid "fe80::%x:%x:%x:%x" "0x${guid:0:4}" "0x${guid:4:4}" "0x${guid:8:4}" "0x${guid:12:4}"
same "the GID of $last" "$dgid" "$gid"
acmite 0 resolve -d "$dlid" --json
same "the GID of LID $dlid" "$(member dgid)" "$dgid"
acmite 0 endpoints
echo "$1: $first finds $last at LID $dlid"
stop 15 0 topology
