#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: sources.sh ROOT
# Every source names its licence; no file of the program is longer than 600 lines; there is no Python.
set -euo pipefail

cd "$1"

faults=0
fault() {
	echo "$1"
	faults=$((faults + 1))
}

is_source() {
	case $1 in
	*.[ch] | *.cmake | *.sh | */CMakeLists.txt) return 0 ;;
	esac
	[ "$(head -c 2 "$1" | tr -d '\0')" = '#!' ]
}

files=0
while IFS= read -r -d '' file; do
	name=${file#./}
	case $name in
	*.py | *.pyx | *.pyi) fault "$name: Python" ;;
	esac
	is_source "$file" || continue
	files=$((files + 1))
	head -n 3 "$file" | grep -qF 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause' ||
		fault "$name: no SPDX line for the licence in its first three lines"
	head -n 1 "$file" | grep -qE '^#!.*python' && fault "$name: Python"
	case $name in
	engine/*.[ch] | backends/*.[ch] | daemon/*.[ch] | cli/*.[ch] | include/*.[ch])
		lines=$(wc -l <"$file")
		[ "$lines" -le 600 ] || fault "$name: $lines lines, 600 at most"
		;;
	esac
done < <(find . \( -name .git -o -path './build*' \) -prune -o -type f -print0)
if [ "$files" = 0 ]; then
	echo "no sources found in $1"
	exit 1
fi
[ "$faults" = 0 ]
