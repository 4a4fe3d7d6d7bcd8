#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Ours and the distribution's daemon on one served fabric: each finds the other, both ways, by name and by
# address, with routes from the SA or from multicast; after either side restarts, and after the subnet
# manager fails over. Argument 1: the control; argument 2: where routes come from, sa or acm.
. "$(dirname "$0")/daemons.sh"

addresses() { # NAME NUMBER
	printf '%s\n' "$1 mlx5_0 1 default" "10.9.0.$2 mlx5_0 1 default" "fd09::$2 mlx5_0 1 default" \
		>"$scratch/$1.addr"
}

begin() { # HOW NODE
	addresses "$2" "$(number_of "$2")"
	"$1" "$2"
}

resolves() { # FROM TO FORMAT SOURCE DESTINATION
	asked "$1" "$3" "$4" "$5"
	same "the LID by which $1 finds $5" "$(path dlid)" "$(lid_of "$2")"
}

number_of() {
	echo "${1#node}"
}

both_ways() { # NODE NODE
	local pair from to
	for pair in "$1 $2" "$2 $1"; do
		read -r from to <<<"$pair"
		resolves "$from" "$to" n "$from" "$to"
		resolves "$from" "$to" i "10.9.0.$(number_of "$from")" "10.9.0.$(number_of "$to")"
		resolves "$from" "$to" i "fd09::$(number_of "$from")" "fd09::$(number_of "$to")"
	done
	echo "$1 and $2 find each other by name, IPv4 and IPv6"
}

serve "$(dirname "$0")/mixed.yaml"
begin attached node1
begin verbs node2
begin stock node3
begin stock node4
both_ways node1 node3
both_ways node2 node4
both_ways node1 node2
both_ways node3 node4

echo "--- the stock daemon starts again, then ours"
end_program node3
begin stock node3
both_ways node3 node2
end_program node1
begin attached node1
both_ways node1 node4
end_program node2
begin verbs node2
both_ways node2 node3

# On its own node: the stock daemon goes on asking the LID where the subnet manager was.
echo "--- the subnet manager starts again"
expect 0 "$ACMITE" fabric fault --fabric "$fabric" 'kind: sm_fail_over, node: node1'
begin attached node5
both_ways node5 node3
both_ways node5 node2

echo "--- ib_acme looks at ours, and asks the SA what it was told"
expect 0 ib_acme -S "${service[node1]}" -v -f n -s node1 -d node4
says '^SA verification: success$'
expect 0 ib_acme -S "${service[node2]}" -v -f n -s node2 -d node4
says '^SA verification: success$'
expect 0 ib_acme -S "${service[node2]}" -P col
says '^Resolve Count : [1-9]'
expect 0 ib_acme -S "${service[node2]}" -e
says ',0xffff,1,acmite,node2,10.9.0.2,fd09::2$'
