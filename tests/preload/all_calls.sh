#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: all_calls.sh LIBRARY [NM]
# Each call that libibverbs and libibumad offer to programs is in the preload library, or is left to them
# because it works on memory and texts alone, or because it is only for libibverbs' own drivers.
set -euo pipefail

library=$1
nm=${2:-nm}

left='^(ibv_(event_type|node_type|port_state|wc_status)_str'
left+='|ibv_rate_to_(mult|mbps)|(mult|mbps)_to_ibv_rate'
left+='|ibv_copy_(ah_attr|path_rec|qp_attr)_(from|to)_kern'
left+='|ibv_do(nt)?fork_range'
# Find nothing where there is no such device in /sys.
left+='|ibv_get_sysfs_path|ibv_read_sysfs_file|ibv_read_ibdev_sysfs_file'
left+='|umad_(debug|dump|addr_dump|status|get_mad_addr|set_addr|set_addr_net|set_grh|set_grh_net)'
left+='|umad_sort_ca_device_list|umad_[a-z_]*_str)$'
drivers='^(ibv_cmd_.*|ibv_register_driver|_?verbs_.*|__verbs_log|execute_ioctl|__ioctl_final_num_attrs)$'

defined() { # LIBRARY: names without versions
	LC_ALL=C "$nm" -D --defined-only "$1" | awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u
}

find_library() { # NAME: where the loader finds it
	ldconfig -p 2>/dev/null | awk -v name="$1" '$1 == name && !found++ { print $NF }'
}

PATH=$PATH:/usr/sbin:/sbin
faults=0
ours=$(defined "$library")
for name in libibverbs.so.1 libibumad.so.3; do
	path=$(find_library "$name")
	if [ -z "$path" ]; then
		echo "$name is not installed"
		exit 1
	fi
	missing=$(comm -23 <(defined "$path") <(echo "$ours") | grep -Ev "$left|$drivers" || true)
	for call in $missing; do
		echo "$name: $call is neither provided, nor refused, nor known to need no hardware"
		faults=$((faults + 1))
	done
done
# Nothing else gets into programs but the host's name.
strangers=$(grep -Ev '^(_?ibv_|umad_|(gethost|u)name$)' <<<"$ours" || true)
if [ -n "$strangers" ]; then
	echo "the library shows programs more than calls: $strangers"
	faults=$((faults + 1))
fi
[ "$faults" = 0 ]
