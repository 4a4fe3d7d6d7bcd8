#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: dies.sh CANARY SEEDS
# A sweep with a faulty build finds the fault: by rules that are broken, not by a crash.
set -uo pipefail

canary=$1
seeds=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$canary" simulate --random --seeds "$seeds" --jobs 2 --junit "$scratch/junit.xml" >"$scratch/report" 2>&1
status=$?
broken=$(grep -oE '<failure message="[^"]*(rule: [a-z =+.&#0-9;'\'']+|finally: all)' "$scratch/junit.xml" |
	sed -E 's/.*(rule: .*|finally: all)/\1/' | sort | uniq -c | sort -rn)
if [ "$status" != 1 ] || [ -z "$broken" ]; then
	echo "the planted fault went unnoticed, exit status $status:"
	cat "$scratch/report"
	exit 1
fi
if grep 'the process died' "$scratch/junit.xml"; then
	echo "the planted fault crashes the program, which any test would notice"
	exit 1
fi
echo "seeds $seeds break these rules, as often:"
echo "$broken"
