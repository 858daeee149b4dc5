#!/usr/bin/env bash
# Fuzzes the plugin's C over the wire format, with libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer: fuzz-plugin.sh [seconds, 300]. It begins with
# plugin/test/corpus and goes on in bin/fuzz-plugin, where what it finds is kept; an input
# that fails is written there too, as crash-…, and the exit code is not 0.
# With --keep the smallest inputs that reach all that is reached become plugin/test/corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."

clang=''
for name in clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
	if command -v $name >/dev/null; then
		clang=$name
		break
	fi
done
if [[ -z $clang ]]; then
	echo "fuzz-plugin: no clang; on Debian: apt-get install clang libclang-rt-dev (or clang-14 libclang-rt-14-dev)" >&2
	exit 2
fi
mkdir -p bin/fuzz-plugin
make -s -C plugin OUT="$PWD/bin" CLANG=$clang "$PWD/bin/weft-libfuzzer"
common=(-max_len=4096 -timeout=10 -rss_limit_mb=2000 -artifact_prefix=bin/fuzz-plugin/)
if [[ ${1-} == --keep ]]; then
	new=$(mktemp -d)
	trap 'rm -rf "$new"' EXIT
	bin/weft-libfuzzer -merge=1 -use_counters=0 "${common[@]}" "$new" plugin/test/corpus bin/fuzz-plugin
	rm -f plugin/test/corpus/*
	mv "$new"/* plugin/test/corpus/
	exit
fi
bin/weft-libfuzzer -max_total_time="${1:-300}" -use_value_profile=1 -print_final_stats=1 "${common[@]}" bin/fuzz-plugin plugin/test/corpus
