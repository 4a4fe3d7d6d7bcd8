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
	[[ ${first[0]:-} == '#!'* ]]
}

files=0
while IFS= read -r -d '' file; do
	name=${file#./}
	case $name in
	*.py | *.pyx | *.pyi) fault "$name: Python" ;;
	esac
	mapfile -t -n 3 first <"$file" 2>/dev/null
	is_source "$file" || continue
	files=$((files + 1))
	[[ ${first[*]} == *'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause'* ]] ||
		fault "$name: no SPDX line for the licence in its first three lines"
	[[ ${first[0]:-} != '#!'*python* ]] || fault "$name: Python"
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
