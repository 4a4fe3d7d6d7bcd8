#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: engine_symbols.sh ARCHIVE [NM]
# The engine does no I/O, reads no clock, allocates nothing and has no state of its own: its objects need
# no symbol from outside but those below, and hold no writable data.
set -euo pipefail

archive=$1
nm=${2:-nm}

# What the compiler calls by itself, and what only reads and writes memory that it is given.
allowed='^(mem(cpy|set|cmp|move|chr)|__mem(cpy|set|move)_chk|strlen|strnlen|__assert_fail'
allowed+='|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__(asan|ubsan|sanitizer)_.*'
allowed+='|__(u?div|u?mod|mul|ashl|ashr|lshr|popcount|parity|clz|ctz|ffs|bswap)[sdt]i[0-9])$'

# name, class and section of every symbol
symbols=$(LC_ALL=C "$nm" --format=sysv "$archive" |
	awk -F'|' 'NF == 7 { gsub(/ /, ""); print $1, $3, $7 }' OFS=' ' FS='|')
if [ -z "$symbols" ]; then
	echo "$archive: no symbols found; build the engine first"
	exit 1
fi

outside=$(awk '
	$2 == "U" { needed[$1] = 1 }
	$2 ~ /^[TRDBCVW]$/ { defined[$1] = 1 }
	END { for (name in needed) if (!(name in defined)) print name }' <<<"$symbols" |
	grep -Ev "$allowed" | sort || true)
# .data.rel.ro is written by the loader only: constant tables that hold pointers.
writable=$(awk '$3 ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $3 !~ /^\.data\.rel\.ro/ && $1 !~ /^\./ {
	print $1 }' <<<"$symbols" | sort -u)

[ -z "$outside" ] || sed 's/^/needed from outside the engine: /' <<<"$outside"
[ -z "$writable" ] || sed 's/^/writable data in the engine: /' <<<"$writable"
[ -z "$outside$writable" ]
