#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An application's view: rdma_getaddrinfo() of the distribution's librdmacm, unchanged, gets its routes from
# acmited at the path that is compiled into it, on a node of a served fabric.
private=(unshare -m)
[ "$(id -u)" = 0 ] || private=(unshare -rm)
if [ "${1-}" != inside ]; then
	if ! "${private[@]}" true 2>/dev/null; then
		echo "SKIPPED: no mount namespace can be made here (unshare), and librdmacm's path is compiled in"
		exit 77
	fi
	exec "${private[@]}" bash -c 'mount -t tmpfs tmpfs /run && exec bash "$0" inside' "$0"
fi
. "$(dirname "$0")/../end-to-end/harness.sh"
fabric=$scratch/fabric.sock
background=()
trap 'ended=$?; kill -KILL "${background[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"; exit $ended' EXIT

# Its first line must be this.
start_in_background() { # NAME EXPECTED COMMAND...
	local name=$1 expected=$2 line descriptor
	shift 2
	mkfifo "$scratch/$name.out"
	"$@" >"$scratch/$name.out" 2>"$scratch/$name.log" &
	background+=($!)
	exec {descriptor}<"$scratch/$name.out"
	IFS= read -r -t "$patience" line <&"$descriptor" || fail "$name does not get ready"
	[[ $line == $expected* ]] || fail "$name says '$line'"
}

on() { # NODE COMMAND...
	local node=$1
	shift
	run "$ACMITE" fabric exec --fabric "$fabric" --node "$node" -- "$@"
}

route() { # SOURCE DESTINATION
	on node1 "$TOOLS/../interoperation/getaddrinfo" "$1" "$2"
}

start_in_background fabric READY "$ACMITE" fabric serve "$(dirname "$0")/mixed.yaml" --socket "$fabric"
printf '10.9.0.1 mlx5_0 1 default\n' >"$scratch/one"
printf '10.9.0.4 mlx5_0 1 default\n' >"$scratch/four"
printf 'support_ips_in_addr_cfg 1\ntimeout 100\nretries 1\nlog_file stderr\nlock_file %s\n' "$scratch/pid1" >"$scratch/options"
sed "s/pid1/pid4/" "$scratch/options" >"$scratch/options4"

# Without a service librdmacm says nothing and gives no route.
route 10.9.0.1 10.9.0.4
same "the status without a service" "$status" 1

start_in_background one READY "$ACMITE" fabric exec --fabric "$fabric" --node node1 -- \
	"$ACMITED" -P --backend verbs -A "$scratch/one" -O "$scratch/options"
start_in_background four READY "$ACMITE" fabric exec --fabric "$fabric" --node node4 -- \
	"$ACMITED" -P --backend verbs -A "$scratch/four" -O "$scratch/options4" --socket "$scratch/four.sock"
expect 0 "$ACMITE" resolve -d 10.9.0.4 --json
dgid=$(member dgid)
dlid=$(member dlid)
pkey=$(member pkey)
[ -n "$dgid" ] && [ -n "$dlid" ] || fail "acmite tells no route: $said"
route 10.9.0.1 10.9.0.4
same "the status of rdma_getaddrinfo" "$status" 0
says "^dgid=$dgid dlid=$dlid slid=[1-9][0-9]* pkey=$pkey mtu=5 rate=16 sl=0\$"
echo "rdma_getaddrinfo: $said"
route 10.9.0.1 10.9.0.99
same "the status for an address that nobody has" "$status" 1
