#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: unit_file.sh UNIT ACMITED
# systemd understands the unit, and nothing in it keeps hardware or ibacm's sockets from the daemon.
set -euo pipefail

unit=$1
acmited=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

faults=0
fault() {
	echo "$unit: $1"
	faults=$((faults + 1))
}

wants() { # SETTING WORD...
	local setting=$1 word
	shift
	for word in "$@"; do
		grep -E "^$setting=" "$unit" | grep -qw -- "$word" || fault "$setting= has no $word"
	done
}

forbids() { # SETTING...
	local setting
	for setting in "$@"; do
		! grep -qE "^$setting=" "$unit" || fault "$setting= keeps devices that come later from it"
	done
}

# The program is not installed where the unit expects it.
sed "s#^ExecStart=[^ ]*#ExecStart=$acmited#" "$unit" >"$scratch/acmited.service"
told=$(systemd-analyze verify --man=no "$scratch/acmited.service" 2>&1) || fault "it is refused"
[ -z "$told" ] || fault "$told"
wants CapabilityBoundingSet CAP_NET_RAW CAP_IPC_LOCK
wants LimitMEMLOCK infinity
wants RestrictAddressFamilies AF_NETLINK AF_UNIX
wants ReadWritePaths /run /var/log
wants Conflicts ibacm.service ibacm.socket
wants After ibacm.service ibacm.socket rdma-hw.target
forbids DeviceAllow DevicePolicy PrivateDevices ProtectClock PrivateNetwork
[ "$faults" = 0 ]
