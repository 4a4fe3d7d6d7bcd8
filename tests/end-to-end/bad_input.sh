#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: bad_input.sh PART
# What is wrong with command lines, files and the machine is told in full and with its place, and nothing starts.
. "$(dirname "$0")/harness.sh"

pair=(--backend sim --control ibsim --fabric "$topologies/pair.yaml" --node node1)
cd "$scratch" || fail "no scratch folder"

# The whole of what a command says.
says_just() { # TEXT
	same "what it says" "$said" "$1"
}

# A start that is refused leaves neither socket nor lock file, and no process.
refused() { # STATUS TEXT ARGUMENT...
	local expected=$1 text=$2
	shift 2
	expect "$expected" "$ACMITED" -P --socket "$scratch/a.sock" --scratch "$scratch" "$@"
	says_just "$text"
	[ ! -e "$scratch/a.sock" ] && [ ! -e "$scratch/a.sock.pid" ] || fail "files are left"
	! compgen -G "$scratch/acmite-*" >/dev/null || fail "a scratch folder is left"
}

command_line() {
	refused 2 'acmited: --fabric is of a simulated fabric; --backend sim serves one' \
		--fabric "$topologies/pair.yaml" --node node1
	refused 2 'acmited: there is no backend mock; expected verbs or sim' --backend mock
	refused 2 'acmited: there is no control mock; expected builtin or ibsim' "${pair[@]}" --control mock
	refused 2 'acmited: --backend sim needs --fabric PATH; acmited --help shows how' --backend sim
	refused 2 'acmited: --backend sim needs --node NAME; acmited --help shows how' \
		--backend sim --fabric "$topologies/pair.yaml"
	refused 2 'acmited: --colour is not known; acmited --help lists the options' --colour blue
	refused 2 'acmited: --node needs a value; acmited --help lists the options' --node
	refused 2 'acmited: node1 is not an option; acmited --help lists them' "${pair[@]}" node1
	refused 2 'acmited: --ready-timeout 0: expected seconds from 1 to 86400' \
		"${pair[@]}" --ready-timeout 0
	refused 2 'acmited: --seed many is no number of 64 bits' "${pair[@]}" --seed many
	refused 2 "$topologies/pair.yaml: there is no node nobody; --node names one of its hosts" \
		"${pair[@]}" --node nobody
	refused 2 "$topologies/two-tier.yaml: leaf1 is a switch; --node names one of the hosts" \
		--backend sim --fabric "$topologies/two-tier.yaml" --node leaf1
}

option_file() {
	cat >options <<-END
		# a comment, and one that is right
		timeout 200
		colour blue
		retries many
		server_mode both
		route_prot
	END
	local faults='options:3: there is no option colour; docs/acmited.md lists them
options:4: retries cannot be many; expected: a number from 0 to 16
options:5: server_mode cannot be both; expected: unix, loop or open
options:6: route_prot has no value; expected: sa or acm'
	refused 2 "$faults" "${pair[@]}" -O options
	refused 2 "$faults" "${pair[@]}" -O options --check-config
	refused 0 "$(sed -E 's/^(options:.:)/\1 ignored:/' <<<"$faults")" \
		"${pair[@]}" -O options --check-config --lenient
	refused 2 'nowhere: cannot be read: No such file or directory' "${pair[@]}" -O nowhere
	# --lenient goes on, with what is right.
	start lenient pair node1 -O "$scratch/options" --lenient
	acmite 0 resolve -d node2
	stop 15 0 lenient
	same "warnings" "$(grep -c ': ignored: ' "$scratch/lenient.log")" 4
}

topology_file() {
	cat >bad.yaml <<-END
		fabric: bad
		switches:
		  - { name: s1, ports: 2 }
		hosts:
		  - { name: node1, colour: blue }
		  - { name: node1 }
		  - { name: "node[2-4]", addresses: [ "10.0.0.1" ] }
		links:
		  - "node[1-4] -- s1"
		  - "node1 -- s9"
		partitions:
		  - { name: p, pkey: 0x12345, full: node1 }
	END
	local faults="bad.yaml:5:20: unknown key 'colour' in a host, expected one of: name, ports, guid, device, addresses, port_guids
bad.yaml:6:13: the name 'node1' is used already at line 5, each name was expected once
bad.yaml:7:39: 'node3' gets an address that 'node2' (line 7) has, each address was expected once, and so do more of these
bad.yaml:9:5: 's1' has only 2 ports and all are taken, fewer links or more ports (line 3) were expected
bad.yaml:10:15: there is no node 's9', the right of a link was expected to name nodes of this file
bad.yaml:12:22: pkey 0x12345 is out of range, 0x0001 to 0x7ffe was expected, or 0x7fff for the default partition (15 bits: membership is not part of it)"
	refused 2 "$faults" --backend sim --fabric bad.yaml --node node1
	expect 2 "$ACMITE" fabric check bad.yaml
	says_just "$faults"
	expect 2 "$ACMITE" fabric export --format json bad.yaml
	says_just "$faults"
	# One that is right, beside one that is not.
	expect 2 "$ACMITE" fabric check bad.yaml "$topologies/pair.yaml"
	says '^bad.yaml:5:20: '
	says "^$topologies/pair.yaml: 1 switch, 2 hosts"
	printf 'fabric: [\n' >broken.yaml
	refused 2 "$(timeout "$patience" "$ACMITE" fabric check broken.yaml 2>&1)" \
		--backend sim --fabric broken.yaml --node node1
	says '^broken.yaml:2:1: this is not YAML: '
	refused 2 'nowhere.yaml: No such file or directory; a topology file or the socket of acmite fabric serve was expected' \
		--backend sim --fabric nowhere.yaml --node node1
}

# What is not installed: PATH leads to nothing, and the variables that name the programs to what is not there.
not_installed() {
	local opensm ibsim
	ibsim=$(command -v ibsim)
	opensm=$(command -v opensm)
	ACMITE_IBSIM=/nowhere refused 1 'acmited: the program ibsim is not installed: install it (Debian: apt install ibsim-utils opensm), or name it in ACMITE_IBSIM' \
		"${pair[@]}"
	ACMITE_OPENSM=/nowhere refused 1 'acmited: the program opensm is not installed: install it (Debian: apt install opensm ibsim-utils), or name it in ACMITE_OPENSM' \
		"${pair[@]}"
	ACMITE_UMAD2SIM=/nowhere refused 1 'acmited: the library libumad2sim.so is not installed: install it (Debian: apt install libumad2sim0), or name it in ACMITE_UMAD2SIM' \
		"${pair[@]}"
	# By PATH: only where the programs are not in the folders that are searched without it, too.
	case $ibsim:$opensm in
	*/sbin/ibsim:* | *:*/sbin/opensm) ;;
	*)
		said=$(PATH='' "$ACMITED" -P "${pair[@]}" --socket "$scratch/a.sock" 2>&1)
		same "the status without PATH" "$?" 1
		says_just 'acmited: the program ibsim is not installed: install it (Debian: apt install ibsim-utils opensm), or name it in ACMITE_IBSIM'
		;;
	esac
	# It is there, but does nothing, or cannot run.
	printf '#!/bin/sh\nexec sleep 1000\n' >idle
	printf '#!/bin/sh\necho broken by a test; exit 3\n' >broken
	chmod +x idle broken
	ACMITE_OPENSM=$scratch/idle expect 1 "$ACMITED" -P "${pair[@]}" --socket "$scratch/a.sock" \
		--ready-timeout 1
	says "^acmited: the fabric was not up after 1000 ms, still waiting for OpenSM's first sweep"
	ACMITE_OPENSM=$scratch/broken expect 1 "$ACMITED" -P "${pair[@]}" --socket "$scratch/a.sock"
	says '^acmited: OpenSM ended before the fabric was up; its log ends with:'
	ACMITE_IBSIM=$scratch/broken expect 1 "$ACMITED" -P "${pair[@]}" --socket "$scratch/a.sock"
	says '^acmited: ibsim ended; its log ends with:'
	says '^broken by a test$'
}

# A folder without a right does not hinder root: these do.
places() {
	local long
	long=/tmp/$(printf 'x%.0s' {1..110})
	refused 1 "acmited: cannot write the lock file /proc/a.sock.pid: No such file or directory; choose another with --socket or the option lock_file" \
		"${pair[@]}" --socket /proc/a.sock
	echo "lock_file $scratch/lock" >options
	refused 1 "acmited: cannot make the socket $scratch/none/a.sock: No such file or directory; choose another --socket" \
		"${pair[@]}" --socket "$scratch/none/a.sock" -O options
	refused 1 "acmited: the socket path $long has ${#long} bytes; expected: 1 to 107" \
		"${pair[@]}" --socket "$long"
	touch file
	refused 1 "acmited: $scratch/file is there and is not a socket; remove it or choose another --socket" \
		"${pair[@]}" --socket "$scratch/file"
	[ -f file ] || fail "the file in the socket's place is gone"
	refused 1 "acmited: the fabric's scratch files cannot be set up in $scratch/none: No such file or directory; name a folder that can be written with --scratch or TMPDIR" \
		"${pair[@]}" --scratch "$scratch/none"
	echo 'log_file /nowhere/log' >options
	expect 1 "$ACMITED" -P "${pair[@]}" --socket "$scratch/a.sock" -O options
	says '/nowhere/log'
}

"$1"
