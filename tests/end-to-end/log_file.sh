#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: log_file.sh PART
# The daemon's log file and those who take it away, fill its disk, or do not read it.
source "$(dirname "$0")/programs.sh"

log=$scratch/logs/acmited.log
mkdir "$scratch/logs"

serve() { # LOG-FILE
	printf 'log_level 2\nnegative_timeout 0\nlog_file %s\n' "$1" >"$scratch/options"
	begin node1 "$ACMITED" -P --backend sim --fabric "$topologies/pair.yaml" --node node1 -O "$scratch/options" \
		--socket "$scratch/node1.sock"
	socket=$scratch/node1.sock
}

# Each look-up leaves a line.
looks_up() {
	acmite 0 resolve -d node2
}

await_line() { # FILE REGULAR-EXPRESSION
	grep -qm1 -E -- "$2" < <(timeout "$patience" tail --pid=$$ -n +1 -F "$1" 2>/dev/null) || fail "$1 has no '$2'"
}

rotates() {
	local before
	serve "$log"
	looks_up
	await_line "$log" ' reply '
	same "its mode" "$(stat -c %a "$log")" 640
	# As logrotate does it.
	mv "$log" "$log.1"
	looks_up
	kill -HUP "${programs[node1]}"
	until [ -e "$log" ]; do
		kill -0 "${programs[node1]}" || fail "SIGHUP ended it"
	done
	before=$(wc -l <"$log.1")
	looks_up
	await_line "$log" ' reply '
	same "the lines of the old file" "$(wc -l <"$log.1")" "$before"
	# Where no file can be made it goes on with the one it has, and says why.
	mv "$scratch/logs" "$scratch/elsewhere"
	kill -HUP "${programs[node1]}"
	await_line "$scratch/elsewhere/acmited.log" "cannot open the log file $log anew: No such file"
	looks_up
	mv "$scratch/elsewhere" "$scratch/logs"
	end node1 0
	await_line "$log" 'told to stop'
}

# A disk without room stops the log, not the service.
full() {
	serve /dev/full
	looks_up
	looks_up
	end node1 0
}

# Nor does a pipe that nobody reads.
unread() {
	mkfifo "$scratch/pipe"
	exec 7<>"$scratch/pipe"
	serve "$scratch/pipe"
	looks_up
	acmite 0 resolve -d node2 -C 5000 # more than a pipe holds
	acmite 0 counters
	end node1 0
}

refuses() {
	printf 'log_file %s\n' "$scratch/none/acmited.log" >"$scratch/options"
	expect 1 "$ACMITED" -P --backend sim --fabric "$topologies/pair.yaml" --node node1 -O "$scratch/options" \
		--socket "$scratch/node1.sock"
	says "^acmited: cannot write the log file $scratch/none/acmited.log: No such file or directory; choose another"
	[ ! -e "$scratch/node1.sock" ] || fail "its socket is left"
	ln -s "$scratch/somewhere" "$scratch/link"
	printf 'log_file %s\n' "$scratch/link" >"$scratch/options"
	expect 1 "$ACMITED" -P --backend sim --fabric "$topologies/pair.yaml" --node node1 -O "$scratch/options" \
		--socket "$scratch/node1.sock"
	says "^acmited: cannot write the log file $scratch/link: "
	[ ! -e "$scratch/somewhere" ] || fail "a link was followed"
}

"$1"
