#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: simulate_cli.sh ACMITE SCENARIOS
# acmite simulate as people use it: exit statuses, traces, sweeps, interrupts, and wrong command lines.
set -uo pipefail

acmite=$1
scenarios=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
faults=0

gives() { # STATUS TEXT ARGUMENT...
	local status=$1 text=$2 output got
	shift 2
	output=$("$acmite" simulate "$@" 2>&1)
	got=$?
	if [ "$got" != "$status" ] || ! grep -qF -- "$text" <<<"$output"; then
		echo "simulate $*: status $status with '$text' was expected, not $got: $output"
		faults=$((faults + 1))
	fi
}

cat >"$scratch/holds.yaml" <<END
scenario: one finds the other
topology: $scenarios/../pair.yaml
steps:
  - resolve: { on: node1, to: node2 }
    expect: { status: success }
finally: { within: 1s, all_pairs: success }
END
sed 's/status: success }/status: timed_out }/' "$scratch/holds.yaml" >"$scratch/fails.yaml"
sed 's/to: node2/to: node3/' "$scratch/holds.yaml" >"$scratch/wrong.yaml"

gives 0 '2 hold, 0 fail, 0 skipped' "$scratch/holds.yaml"
gives 1 "to repeat: acmite simulate $scratch/fails.yaml --seed 7" --seed 7 "$scratch/fails.yaml"
gives 1 'node1, asked for node2: success' "$scratch/holds.yaml" "$scratch/fails.yaml"
gives 2 "wrong.yaml:4:31: there is no node 'node3'" "$scratch/holds.yaml" "$scratch/wrong.yaml"
gives 2 'cannot be read' "$scratch/absent.yaml"
gives 0 '"verdict": "holds"' --json "$scratch/holds.yaml"
gives 0 '20 of 20 runs, 0 fail' --seeds 1..10 --jobs 2 "$scratch/holds.yaml" "$scratch/holds.yaml"
gives 1 'with seed 3; to repeat' --seeds 3..5 --jobs 2 "$scratch/fails.yaml"
gives 2 'the range of --seeds is empty' --seeds 5..1 "$scratch/holds.yaml"
gives 2 '--seeds takes a range' --seeds 5 "$scratch/holds.yaml"
gives 2 '--jobs takes a number from 1' --seeds 1..5 --jobs 0 "$scratch/holds.yaml"
gives 2 '--control is builtin or ibsim' --control hardware "$scratch/holds.yaml"
gives 2 'a seed names no run' --seeds 1..5 --control ibsim "$scratch/holds.yaml"
gives 0 '2 hold, 0 fail' --no-skips "$scratch/holds.yaml"
gives 2 '--no-skips is for one run' --no-skips --seeds 1..5 "$scratch/holds.yaml"
gives 2 "a scenario's file is missing"
gives 0 'random 7: ' --random --seed 7
gives 0 '10 of 10 runs, 0 fail' --random --seeds 1..10 --jobs 2
gives 0 '"scenario": "' --random --seed 7 --json
gives 2 '--random needs no file' --random --seed 1 "$scratch/holds.yaml"
gives 2 '--random needs --seed N or --seeds A..B' --random
gives 2 'which --control ibsim does not have' --random --seed 1 --control ibsim
gives 2 'the range of --seeds is empty' --random --seeds 5..1
gives 2 '--seeds takes a range' --random --seeds ..
gives 2 '--jobs takes a number from 1' --random --seeds 1..5 --jobs 0
gives 2 '--jobs is for --seeds' --random --seed 1 --jobs 2
gives 1 'cannot be written' --trace "$scratch/no/where" "$scratch/holds.yaml"

sed 's/^finally.*/sometimes: [evicted]/' "$scratch/holds.yaml" >"$scratch/never.yaml"
gives 0 '1 hold' "$scratch/never.yaml"
gives 1 'no run has seen any evicted' --seeds 1..3 "$scratch/never.yaml"

# With a file that is wrong nothing is run.
if "$acmite" simulate "$scratch/holds.yaml" "$scratch/wrong.yaml" 2>/dev/null | grep hold >&2; then
	echo 'a scenario was run although another file is wrong'
	faults=$((faults + 1))
fi

# The trace of a seed is the same to the byte; another seed's is not.
for run in 1 2; do
	"$acmite" simulate "$scenarios/random-mix.yaml" --seed 4711 --trace - >"$scratch/trace$run"
done
"$acmite" simulate "$scenarios/random-mix.yaml" --seed 4712 --trace "$scratch/trace3" >/dev/null
if ! [ -s "$scratch/trace1" ] || ! cmp -s "$scratch/trace1" "$scratch/trace2"; then
	echo 'two traces of one seed differ'
	faults=$((faults + 1))
fi
for run in 4 5; do
	"$acmite" simulate --random --seed 4711 --trace - >"$scratch/trace$run" 2>/dev/null
done
if ! [ -s "$scratch/trace4" ] || ! cmp -s "$scratch/trace4" "$scratch/trace5"; then
	echo 'two traces of one random run differ'
	faults=$((faults + 1))
fi
if cmp -s "$scratch/trace1" "$scratch/trace3"; then
	echo 'the traces of two seeds are the same'
	faults=$((faults + 1))
fi

"$acmite" simulate --junit "$scratch/out.xml" "$scratch/fails.yaml" >/dev/null 2>&1
if ! grep -q '<failure message="node1, asked for node2: success' "$scratch/out.xml" ||
	! grep -q '</testsuite>' "$scratch/out.xml"; then
	echo 'the file for JUnit lacks the failure or its end'
	faults=$((faults + 1))
fi

# An interrupt ends a sweep in order: begun runs are waited for by their first line in the JUnit file.
"$acmite" simulate --seeds 1..900000000 --junit "$scratch/sweep.xml" "$scratch/holds.yaml" \
	>"$scratch/sweep" 2>&1 &
sweep=$!
until [ -s "$scratch/sweep.xml" ]; do
	kill -0 "$sweep" 2>/dev/null || break
done
kill -INT "$sweep"
wait "$sweep"
status=$?
if [ "$status" != 1 ] || ! grep -q 'runs (interrupted), 0 fail' "$scratch/sweep"; then
	echo "an interrupted sweep gives $status: $(cat "$scratch/sweep")"
	faults=$((faults + 1))
fi

[ "$faults" = 0 ]
