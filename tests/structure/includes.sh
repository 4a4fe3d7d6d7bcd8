#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: includes.sh ROOT
# Who may include what. Headers in quotes are looked for in the including file's folder first, then in those
# that its part may use; nobody but the engine sees the engine's own headers.
set -euo pipefail

cd "$1"

freestanding='float|iso646|limits|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdnoreturn'
contracts='acmite/[a-z0-9_]+\.h|infiniband/acm\.h'
engine="($freestanding|string|errno|assert)\.h|$contracts"
# The C library and Linux, for whoever does I/O.
system="($freestanding|assert|ctype|dirent|dlfcn|endian|err|errno|fcntl|fnmatch|ftw|getopt|glob|grp"
system+="|ifaddrs|inttypes|locale|math|netdb|poll|pthread|pwd|sched|setjmp|signal|spawn|stdio|stdlib"
system+="|string|strings|syslog|termios|time|unistd|wchar)\.h"
system+="|(sys|linux|net|netinet|arpa|asm)/[a-z0-9_.]+\.h|$contracts"
rdma='infiniband/[a-z0-9_-]+\.h|rdma/[a-z0-9_]+\.h'

# Part: what it may include in angle brackets, and the folders of what it may include in quotes.
declare -A angle=(
	[include]="($freestanding)\.h|$contracts|linux/types\.h"
	[engine]="$engine"
	[backends/sim]="$system|yaml\.h"
	[backends/sim/preload]="$system|$rdma"
	[backends/verbs]="$system|$rdma"
	[daemon]="$system|$rdma|yaml\.h|event2/[a-z0-9_]+\.h|netlink/.+\.h"
	[cli]="$system|$rdma|yaml\.h|event2/[a-z0-9_]+\.h|jansson\.h|libsmartcols\.h"
)
declare -A quoted=(
	[include]=""
	[engine]="engine"
	[backends/sim]="backends/sim"
	[backends/sim/preload]="backends/sim/preload backends/sim"
	[backends/verbs]="backends/verbs"
	[daemon]="daemon backends/sim backends/verbs"
	[cli]="cli backends/sim backends/verbs"
)

faults=0

check_angle() { # PART PLACE HEADER
	[[ $3 =~ ^(${angle[$1]})$ ]] && return
	echo "$2: $1/ may not include <$3>"
	faults=$((faults + 1))
}

check_quoted() { # PART PLACE HEADER
	local folder
	for folder in ${quoted[$1]}; do
		# No way into other folders.
		[[ $3 != */* && -e $folder/$3 ]] && return
	done
	echo "$2: $1/ may not include \"$3\""
	faults=$((faults + 1))
}

# Whether a file of a part belongs to a part inside it.
is_inside() { # PART FILE
	local other
	for other in "${!angle[@]}"; do
		[[ $other == "$1"/* && $2 == "$other"/* ]] && return
	done
	return 1
}

shopt -s nullglob globstar
files=0
for part in "${!angle[@]}"; do
	for file in "$part"/**/*.[ch]; do
		! is_inside "$part" "$file" || continue
		files=$((files + 1))
		while IFS=: read -r line text; do
			if ! [[ $text =~ [\<\"]([^\>\"]*) ]]; then
				echo "$file:$line: includes what only the preprocessor knows"
				faults=$((faults + 1))
				continue
			fi
			if [[ $text == *'<'* ]]; then
				check_angle "$part" "$file:$line" "${BASH_REMATCH[1]}"
			else
				check_quoted "$part" "$file:$line" "${BASH_REMATCH[1]}"
			fi
		done < <(grep -nE '^[[:space:]]*#[[:space:]]*include' "$file" || true)
	done
done
if [ "$files" = 0 ]; then
	echo "no sources found in $1"
	exit 1
fi
[ "$faults" = 0 ]
