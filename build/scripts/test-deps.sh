#!/usr/bin/env bash
# Installs what some tests compare with, where it may: as root on Debian. It says before what it
# installs and why, starts no service, and is quiet when all is there.
# Never fails: without the tools those tests skip and all others run.
set -euo pipefail

# What for | Debian's packages | what has to be there: a program, or a file as a pattern.
needs=(
	'OpenSM on simulated fabrics|opensm ibsim-utils libumad2sim0 infiniband-diags|opensm ibsim smpquery /usr/lib*/umad2sim/libumad2sim.so*,/usr/lib/*/umad2sim/libumad2sim.so*,/usr/local/lib*/umad2sim/libumad2sim.so*'
	'ibdmchk, a judge of routing tables beside ours|ibutils|ibdmchk'
	'the plugin for OpenSM and the library for C, built|gcc libc6-dev make libopensm-dev libibumad-dev|cc make /usr/include/infiniband/opensm/osm_event_plugin.h /usr/include/infiniband/umad.h'
	'a judge in Python, and NetworkX as a reader of exports|python3 python3-networkx|python3 /usr/lib/python3/dist-packages/networkx,/usr/local/lib/python3*/*-packages/networkx'
	'RPM packages, built and read|rpm|rpmbuild'
	'report pages in a browser|chromium fonts-dejavu|chromium'
	'the program of report pages, bundled, and a reader of Parquet files|nodejs npm|node'
	'drawings by Graphviz|graphviz|dot'
	'alarms and metrics, read by Prometheus|prometheus|promtool'
	'routes of FRR in network namespaces|frr iproute2|/usr/lib/frr/bgpd'
	'dumps collected over ssh|openssh-server openssh-client|sshd ssh-keygen'
	'campaigns on a Slurm|slurmctld slurmd slurm-client munge procps|slurmctld slurmd sbatch munged'
	'the proofs, checked by Coq|coq ocaml-nox|coqc ocamlopt'
)

# OpenSM and the diagnostics live in sbin, which is not on everybody's path.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

# there says whether a program, or one of some files, is there.
there() {
	local pattern
	[[ $1 == /* ]] || { command -v "$1" >/dev/null; return; }
	for pattern in ${1//,/ }; do
		! compgen -G "$pattern" >/dev/null || return 0
	done
	return 1
}

# look sets what is lacking: lines of what for and of packages, and all of these.
look() {
	local need why packages tools tool
	lines='' lacking=()
	for need in "${needs[@]}"; do
		IFS='|' read -r why packages tools <<<"$need"
		set -f
		for tool in $tools; do
			set +f
			if ! there "$tool"; then
				lines+="  $packages: $why"$'\n'
				read -ra more <<<"$packages"
				lacking+=("${more[@]}")
				break
			fi
		done
		set +f
	done
}

# packages_of has npm install what a folder's package.json says.
packages_of() {
	local dir=$1 one=$2 what=$3
	[[ -d $dir/node_modules/$one ]] && return
	if command -v npm >/dev/null; then
		echo "test-deps: npm ci in $dir: $what"
		(cd "$dir" && npm ci --silent --no-audit --no-fund) >/dev/null 2>&1 && return
	fi
	echo "test-deps: $one is missing; tests of $what will be skipped: cd $dir && npm ci"
}

# install has apt install packages. Debian starts the services among them unless policy-rc.d says no.
install() {
	local policy=/usr/sbin/policy-rc.d
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	if [[ ! -e $policy ]]; then
		trap 'rm -f "$log" /usr/sbin/policy-rc.d' EXIT
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
	fi
	export DEBIAN_FRONTEND=noninteractive
	local apt=(apt-get -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=60)
	{ "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"; } >"$log" 2>&1 || tail -n 5 "$log"
}

look
if ((${#lacking[@]})) && [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
	printf 'test-deps: installing, without starting any service (make test FAST=1 takes none of it):\n%s' "$lines"
	(install "${lacking[@]}")
	look
fi
if ((${#lacking[@]})); then
	printf 'test-deps: missing, and the tests that need it will be skipped:\n%s' "$lines"
	echo "test-deps: on Debian: apt-get install ${lacking[*]}"
fi
packages_of internal/page/web playwright-core 'report pages in a browser'
packages_of internal/sweep/results/testdata/reader hyparquet 'Parquet files with another reader'
