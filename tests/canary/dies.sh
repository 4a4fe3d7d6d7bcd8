#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: dies.sh CANARY SEEDS
# A sweep with a faulty build finds the fault within so many seeds: by rules that are broken, not by a crash.
set -uo pipefail

canary=$1
seeds=$2
at_once=5 # a run that fails takes long, and one is enough
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for ((first = 1; first <= seeds; first += at_once)); do
	last=$((first + at_once - 1))
	"$canary" simulate --random --seeds "$first..$last" --jobs 2 --junit "$scratch/junit.xml" >"$scratch/report" 2>&1
	status=$?
	if grep 'the process died' "$scratch/junit.xml"; then
		echo "the planted fault crashes the program, which any test would notice"
		exit 1
	fi
	broken=$(grep -oE '<failure message="[^"]*(rule: [a-z =+.&#0-9;'\'']+|finally: all)' "$scratch/junit.xml" |
		sed -E 's/.*(rule: .*|finally: all)/\1/' | sort | uniq -c | sort -rn)
	if [ "$status" = 1 ] && [ -n "$broken" ]; then
		echo "seeds $first..$last break these rules, as often:"
		echo "$broken"
		exit 0
	fi
	[ "$status" = 0 ] || break
done
echo "the planted fault went unnoticed, exit status $status:"
cat "$scratch/report"
exit 1
