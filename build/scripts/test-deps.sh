#!/usr/bin/env bash
# Installs what the live tests need: OpenSM, a simulated fabric to run it on,
# ibdmchk, an independent judge of routing tables, Python for another, what builds
# the plugin and the library for C, a C compiler, make and OpenSM's headers, rpmbuild, for report pages Chromium,
# Graphviz, promtool, Node and the packages of web, FRR's routers, what reads the
# exports and the results of campaigns: Slurm, NetworkX and hyparquet, and what checks the
# proofs: Coq, with OCaml. Quiet when all is there.
# Never fails: without the tools those tests skip and all others run.
set -euo pipefail

packages=(opensm ibsim-utils libumad2sim0 infiniband-diags ibutils gcc libc6-dev make libopensm-dev libibumad-dev python3 rpm chromium fonts-dejavu graphviz prometheus frr iproute2 slurmctld slurmd slurm-client munge procps python3-networkx coq ocaml-nox)
command -v node >/dev/null || packages+=(nodejs npm)

# OpenSM and the diagnostics live in sbin, which is not on everybody's path.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

missing() {
	local tool
	for tool in opensm ibsim ibdmchk smpquery cc make python3 rpmbuild chromium dot promtool node slurmctld slurmd sbatch munged coqc ocamlopt; do
		command -v "$tool" >/dev/null || echo "$tool"
	done
	compgen -G '/usr/lib*/umad2sim/libumad2sim.so*' >/dev/null ||
		compgen -G '/usr/lib/*/umad2sim/libumad2sim.so*' >/dev/null ||
		compgen -G '/usr/local/lib*/umad2sim/libumad2sim.so*' >/dev/null ||
		echo libumad2sim.so
	[[ -x /usr/lib/frr/bgpd ]] || echo frr
	python3 -c 'import networkx' 2>/dev/null || echo networkx
	local header
	for header in opensm/osm_event_plugin.h umad.h; do
		[[ -e /usr/include/infiniband/$header ]] || echo "$header"
	done
}

# The packages that the program of the page is bundled from, and what drives the browser.
web_packages() {
	[[ -d internal/page/web/node_modules/playwright-core ]] && return
	if ! command -v npm >/dev/null || ! (cd internal/page/web && npm ci --silent --no-audit --no-fund) >/dev/null 2>&1; then
		echo "test-deps: the packages of web are missing; the tests of pages in a browser will be skipped: cd internal/page/web && npm ci"
	fi
}

# What reads the Parquet files of weft sweep for the tests.
parquet_reader() {
	local dir=internal/sweep/results/testdata/reader
	[[ -d $dir/node_modules/hyparquet ]] && return
	if ! command -v npm >/dev/null || ! (cd $dir && npm ci --silent --no-audit --no-fund) >/dev/null 2>&1; then
		echo "test-deps: hyparquet is missing; the test of Parquet files with another reader will be skipped: cd $dir && npm ci"
	fi
}

lacking=$(missing | paste -sd' ' -)
if [[ -z $lacking ]]; then
	web_packages
	parquet_reader
	exit 0
fi

if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	echo "test-deps: installing ${packages[*]} (missing: $lacking)"
	export DEBIAN_FRONTEND=noninteractive
	apt=(apt-get -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=60)
	if { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${packages[@]}"; } >"$log" 2>&1; then
		lacking=$(missing | paste -sd' ' -)
	else
		tail -n 5 "$log"
	fi
fi

if [[ -n $lacking ]]; then
	echo "test-deps: missing $lacking; the tests that need them will be skipped. On Debian: apt-get install ${packages[*]}"
fi
web_packages
parquet_reader
