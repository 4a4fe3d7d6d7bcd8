#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: checks_notice.sh CC
# The checks beside this file let a clean tree pass, and fail on each planted violation and name it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cc=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
faults=0

passes() { # WHAT COMMAND...
	local what=$1 output
	shift
	if ! output=$("$@" 2>&1); then
		echo "$what should pass: $output"
		faults=$((faults + 1))
	fi
}

notices() { # WHAT TEXT COMMAND...
	local what=$1 text=$2 output
	shift 2
	if output=$("$@" 2>&1); then
		echo "$what went unnoticed"
		faults=$((faults + 1))
	elif ! grep -qF -- "$text" <<<"$output"; then
		echo "$what: '$text' was expected, not: $output"
		faults=$((faults + 1))
	fi
}

# ---- engine_symbols.sh ----

archive() { # C on standard input
	rm -f "$scratch"/planted.*
	cat >"$scratch/planted.c"
	"$cc" -fPIC -O0 -c "$scratch/planted.c" -o "$scratch/planted.o"
	ar rcs "$scratch/planted.a" "$scratch/planted.o"
}
symbols() { "$here/engine_symbols.sh" "$scratch/planted.a"; }

archive <<<'#include <string.h>
static const char *const texts[] = {"a", "b"};
const char *f(int i, char *to, int n) { memset(to, n, n); return texts[i]; }'
passes 'a pure object' symbols
archive <<<'int getpid(void); int f(void) { return getpid(); }'
notices 'a system call' 'needed from outside the engine: getpid' symbols
archive <<<'#include <stdlib.h>
void *f(void) { return malloc(3); }'
notices 'an allocation' 'needed from outside the engine: malloc' symbols
archive <<<'static int zero; int f(void) { return ++zero; }'
notices 'a zeroed static' 'writable data in the engine: zero' symbols
archive <<<'int seven = 7; int f(void) { return seven++; }'
notices 'a global' 'writable data in the engine: seven' symbols
archive <<<'static const char *text = "a"; void f(const char *t) { text = t; }
const char *g(void) { return text; }'
notices 'a pointer that changes' 'writable data in the engine: text' symbols
archive <<<'static _Thread_local int mine; int f(void) { return ++mine; }'
notices 'a thread-local' 'writable data in the engine: mine' symbols
archive <<<'int f(void) { static int times; return ++times; }'
notices 'a static inside a function' 'writable data in the engine: times' symbols

# ---- a small clean tree for the other two ----

tree=$scratch/tree
mark='/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */'
plant() { # FILE LINE...
	local file=$tree/$1
	shift
	mkdir -p "$(dirname "$file")"
	printf '%s\n' "$mark" "$@" >"$file"
}
fresh() {
	rm -rf "$tree"
	plant include/acmite/types.h '#include <stdint.h>'
	plant engine/core.h '#include <acmite/types.h>'
	plant engine/core.c '#include "core.h"' '#include <string.h>'
	plant backends/sim/topology.h '#include <stdio.h>' '#include <yaml.h>'
	plant backends/sim/preload/device.h '#include <infiniband/verbs.h>' '#include "topology.h"'
	plant daemon/main.c '#include "topology.h"' '#include <event2/event.h>' '#include <sys/un.h>'
	plant cli/main.c '# include <jansson.h>' '#include "topology.h"'
}

# ---- includes.sh ----

includes() { "$here/includes.sh" "$tree"; }
refuses() { # FILE LINE
	fresh
	plant "$1" "$2"
	notices "$2 in $1" "$1:2: " includes
}

fresh
passes 'a clean tree' includes
refuses include/acmite/x.h '#include <stdio.h>'
refuses engine/x.c '#include <stdio.h>'
refuses engine/x.c '#include <stdlib.h>'
refuses engine/x.c '  #  include <time.h>'
refuses engine/x.c '#include <infiniband/verbs.h>'
refuses engine/x.c '#include "topology.h"'
refuses engine/x.c '#include "../daemon/main.h"'
refuses backends/sim/x.c '#include "core.h"'
refuses backends/sim/x.c '#include "../../engine/core.h"'
refuses backends/sim/x.c '#include <event2/event.h>'
refuses backends/sim/x.c '#include <infiniband/verbs.h>'
refuses backends/sim/x.c '#include "preload/device.h"'
refuses backends/sim/preload/x.c '#include <yaml.h>'
refuses backends/sim/preload/x.c '#include <event2/event.h>'
refuses daemon/x.c '#include "core.h"'
refuses daemon/x.c '#include <jansson.h>'
refuses cli/x.c '#include "core.h"'
refuses engine/x.c '#include SOMETHING'
refuses cli/deep/x.c '#include "core.h"'
rm -rf "$tree"
mkdir "$tree"
notices 'an empty tree' 'no sources' includes

# ---- sources.sh ----

sources() { "$here/sources.sh" "$tree"; }

fresh
passes 'a clean tree' sources
plant docs/long.c "$(seq 700)"
passes 'a long file outside the program' sources
plant engine/x.c "$(seq 599)"
passes 'a file of 600 lines' sources
plant engine/x.c "$(seq 600)"
notices 'a file of 601 lines' 'engine/x.c: 601 lines' sources
fresh
echo 'int x;' >"$tree/cli/x.c"
notices 'a source without a licence' 'cli/x.c: no SPDX' sources
fresh
mkdir "$tree/ci"
printf '#!/bin/sh\ntrue\n' >"$tree/ci/build"
notices 'a script without a licence' 'ci/build: no SPDX' sources
fresh
: >"$tree/cli/x.py"
notices 'Python by name' 'cli/x.py: Python' sources
fresh
printf '#!/usr/bin/env python3\n# %s\n' "$mark" >"$tree/cli/x"
notices 'Python by its first line' 'cli/x: Python' sources

[ "$faults" = 0 ]
