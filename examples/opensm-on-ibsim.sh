#!/usr/bin/env bash
# Tries everything of docs/opensm.md on a laptop: an unpatched OpenSM with weft's
# plugin routes a simulated torus; a cable breaks; the daemon is killed. Needs no
# InfiniBand hardware, no kernel driver and no root.
#
#   examples/opensm-on-ibsim.sh [SPEC]      a network, see weft topologies (torus:5x5,hosts=1)
#
# In the repository it builds weft and the plugin; elsewhere it takes those that are
# installed. Debian: apt-get install opensm ibsim-utils libumad2sim0 infiniband-diags,
# and to build golang gcc make libopensm-dev libibumad-dev.
set -euo pipefail
cd "$(dirname "$0")/.."
spec=${1:-torus:5x5,hosts=1}
tools=(weft opensm ibsim saquery smpquery)
bin=
if [[ -e Makefile ]]; then
	tools=(go cc make "${tools[@]:1}")
	bin=$PWD/bin
fi
PATH="${bin:+$bin:}$PATH:/usr/local/sbin:/usr/sbin:/sbin"

step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
say() { sed 's/^/   /'; }
fail() { echo "opensm-on-ibsim: $*" >&2; exit 1; }

for tool in "${tools[@]}"; do
	command -v "$tool" >/dev/null || fail "$tool is not installed; the first lines of this script say what is needed"
done
umad2sim=$(ls /usr/lib/*/umad2sim/libumad2sim.so* /usr/lib*/umad2sim/libumad2sim.so* /usr/local/lib*/umad2sim/libumad2sim.so* 2>/dev/null | head -n1 || true)
[[ -n $umad2sim ]] || fail "libumad2sim.so is not installed (Debian: libumad2sim0)"

dir=$(mktemp -d)
pids=()
cleanup() {
	local i n
	exec 3>&- # the simulator's console
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do # OpenSM before the simulator
		kill "${pids[i]}" 2>/dev/null || true
		for ((n = 0; n < 30; n++)); do kill -0 "${pids[i]}" 2>/dev/null && sleep 0.1 || break; done
		kill -KILL "${pids[i]}" 2>/dev/null || true
	done
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# await FILE PATTERN N: waits until N lines of a file have the pattern.
await() {
	local n
	for ((n = 0; n < 300; n++)); do
		if [[ $(grep -c -- "$2" "$1" 2>/dev/null || true) -ge $3 ]]; then return; fi
		sleep 0.1
	done
	tail -n 20 "$1" >&2 || true
	fail "no \"$2\" in $1 after 30 seconds"
}

release=$(opensm --version 2>/dev/null | grep -o 'OpenSM [0-9.]*' | head -n1)
if [[ -n $bin ]]; then
	step "1. Build weft and its plugin for $release"
	make --no-print-directory -s build plugin
	ls -l bin/weft bin/libweft.so | awk '{print $NF, $5, "bytes"}' | say
else
	step "1. weft and its plugin are installed, as is $release"
	weft version | say
	ldconfig -p | grep libweft.so | sed 's/^[[:space:]]*//' | say || fail "the linker does not know libweft.so: run ldconfig as root"
fi

step "2. Simulate $spec"
net=$dir/net.ibnet
weft generate "$spec" -o "$net"
weft info "$net" | sed -n 1,3p | say # head would end the pipe early
switches=$(grep -c '^Switch' "$net")
nodes=$(grep -cE '^(Switch|Ca|Hca)' "$net")
mapfile -t hosts < <(grep -oE '^(Ca|Hca)[^"]*"[^"]*"' "$net" | cut -d'"' -f2)
mkfifo "$dir/console"
export IBSIM_SOCKNAME=weft-example-$$
ibsim -s -N $((nodes + 8)) -S $((switches + 8)) -P $((nodes * 64)) -L 49151 "$net" <"$dir/console" >"$dir/ibsim.log" 2>&1 &
pids+=($!)
exec 3>"$dir/console"
await "$dir/ibsim.log" 'Network simulator ready' 1
on() { # runs a program on an adapter of the simulated fabric
	local host=$1
	shift
	# umad2sim leaves things in the folder where it is run.
	(cd "$dir" && LD_PRELOAD=$umad2sim SIM_HOST=$host OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir LD_LIBRARY_PATH=$bin exec "$@")
}

step "3. OpenSM alone: its MinHop, judged by weft"
printf 'routing_engine minhop\nqos TRUE\nmax_wire_smps 64\nsweep_interval 60\n' >"$dir/minhop.conf"
on "${hosts[0]}" timeout 60 opensm -o -F "$dir/minhop.conf" -f "$dir/minhop.log" -D 0x43 >/dev/null
weft verify "$net" --tables "$dir/opensm-lfts.dump" --lst "$dir/opensm-subnet.lst" | say || true
weft deploy check --conf "$dir/minhop.conf" --fabric "$net" --tables "$dir/opensm-lfts.dump" --lst "$dir/opensm-subnet.lst" | head -n 5 | say || true

step "4. weft serve answers at a socket"
serve() {
	weft serve --socket "$dir/opensm.sock" --engine dfsssp,updn --contract honored --state "$dir/state" 2>>"$dir/weft.log" &
	daemon=$!
	disown "$daemon" # bash shall not report that it was killed
	pids+=("$daemon")
	await "$dir/weft.log" msg=ready "$1"
}
serve 1
weft status --socket "$dir/opensm.sock" | say

step "5. OpenSM with the plugin: these lines in opensm.conf"
cat >"$dir/opensm.conf" <<CONF
event_plugin_name weft
event_plugin_options weft.socket=$dir/opensm.sock,weft.deadline=20,weft.owner=$(id -u)
routing_engine weft,no_fallback
qos TRUE
max_wire_smps 64
sweep_interval 0
packet_life_time 0x0e
force_log_flush TRUE
CONF
say <"$dir/opensm.conf"
(cd "$dir" && LD_PRELOAD=$umad2sim SIM_HOST=${hosts[0]} OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir LD_LIBRARY_PATH=$bin \
	exec opensm -F "$dir/opensm.conf" -f "$dir/osm.log" -D 0x43 >/dev/null 2>&1) &
opensm=$!
pids+=("$opensm")
await "$dir/osm.log" 'SUBNET UP' 1
grep -E 'weft|SUBNET UP' "$dir/osm.log" | say
weft status --socket "$dir/opensm.sock" | say

step "6. What the switches have, read back and judged with the lanes and the proof"
judge() { # OpenSM may still be writing its dumps when the subnet is up
	local n
	for ((n = 0; n < 50; n++)); do
		if weft verify -q "$1" --tables "$dir/opensm-lfts.dump" --lst "$dir/opensm-subnet.lst" --sl2vl "$dir/opensm-sl2vl.dump" \
			--psl "$dir/state/last-good/paths.psl" >"$dir/verdict" 2>&1; then
			say <"$dir/verdict"
			return
		fi
		sleep 0.1
	done
	say <"$dir/verdict"
	fail "OpenSM's tables are not proven"
}
judge "$net"
slid=1 dlid=$((nodes / 2))
echo "saquery, the service level from LID $slid to LID $dlid:" | say
on "${hosts[-1]}" saquery -p --src-to-dst "$slid:$dlid" | grep -E '^\s*sl\.' | say || true
echo "smpquery, the lanes of a switch port:" | say
on "${hosts[-1]}" smpquery -G sl2vl "$(grep -oE '^Switch.*"S-([0-9a-f]*)"' "$net" | head -n1 | sed 's/.*S-/0x/; s/"//')" 1 2>/dev/null | head -n 5 | say || true

sweep() { # asks for a heavy sweep and waits for its end
	local up
	sleep 0.5
	up=$(grep -c 'SUBNET UP' "$dir/osm.log")
	kill -HUP "$opensm"
	await "$dir/osm.log" 'SUBNET UP' $((up + 1))
}

step "7. A cable breaks"
cable=$(grep -m1 -A1 '^Switch' "$net" | grep -oE '"S-[0-9a-f]*"' | head -n1)
port=$(awk '/^Switch/{on=1; next} on && /"S-/{sub(/^\[/, ""); sub(/\].*/, ""); print; exit}' "$net")
echo "Unlink $cable[$port]" | tee /dev/fd/3 | say
sweep # the simulator may have sent a trap as well, for a sweep of its own
await "$dir/weft.log" 'change=repair.* more=0' 1
sweep # for the dumps: OpenSM writes none when it takes a step
grep change=repair "$dir/weft.log" | grep -oE ' (sweep|change|entries|due|blocks|step|more|cut_before|cut_after)=[^ ]*' | paste -sd'\0' | sed 's/^ //; s/ sweep=/\nsweep=/g' | say
weft status --socket "$dir/opensm.sock" | sed -n '/^plan/,$p' | say
judge "$dir/opensm-subnet.lst"

step "8. The daemon is killed, and OpenSM sweeps again"
kill -KILL "$daemon"
sweep
grep 'ERR W' "$dir/osm.log" | tail -n1 | say

step "9. The daemon is back, and knows the tables in use"
proven=$(grep -c msg=proven "$dir/weft.log")
serve 2
sweep
await "$dir/weft.log" msg=proven $((proven + 1)) # what has ended may be a sweep begun before
weft status --socket "$dir/opensm.sock" | sed -n '/^last/,$p' | say
kill -0 "$opensm" || fail "OpenSM has died"

step "10. weft's log, a line for every sweep"
say <"$dir/weft.log"

step "Done. Nothing is left behind."
