#!/usr/bin/env bash
# Runs a set of the papers' experiments and keeps what came of it: the page in docs/results/DATE-SET, and
# what every experiment took in internal/reproduce/spent.csv. Usage: results.sh full|quick FABRICS
#
# Leave the machine alone meanwhile. A run that was interrupted goes on where it was: the same weft
# finds its points in bin/results-SET.
set -euo pipefail
cd "$(dirname "$0")/../.."
fabrics=${2:?usage: results.sh full|quick FABRICS}
case $1 in
full) quick=() ;;
quick) quick=(--quick) ;;
*) echo "results.sh: $1 is neither full nor quick" >&2; exit 2 ;;
esac
points=bin/results-$1
page=docs/results/$(date -u +%F)-$1

make --no-print-directory build
mkdir -p "$points"
time bin/weft reproduce all "${quick[@]}" --fabrics "$fabrics" --opensm docs/results/opensm.csv --out "$points" --json >"$points/run.json"

rm -rf "$page"
mkdir "$page"
cp "$points"/*.md "$points"/*.csv "$points"/*.svg "$page"
python3 - "$1" "$points/run.json" internal/reproduce/spent.csv <<'PYTHON'
import json, sys

which, run, file = sys.argv[1:]
took = {e["id"]: max(0.1, e.get("cpu_seconds", 0)) for e in json.load(open(run))["experiments"]}
lines = open(file).read().splitlines()
column = lines[1].split(",").index(which)
for i in range(2, len(lines)):
    row = lines[i].split(",")
    row[column] = "%.1f" % took.pop(row[0])
    lines[i] = ",".join(row)
assert not took, "spent.csv has no line for " + ", ".join(took)
open(file, "w").write("\n".join(lines) + "\n")
PYTHON
echo "$page and internal/reproduce/spent.csv are as of this run; docs/results/README.md has a line for each folder"
