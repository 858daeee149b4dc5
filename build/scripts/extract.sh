#!/usr/bin/env bash
# Extracts proof/checker/judge.ml and ethernetjudge.ml from the theories; make proof demands that they are what is kept.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/theories" "$work/checker"
cp proof/theories/*.v "$work/theories"
cd "$work"
for name in Network Semantics Freedom Contracts Checker Soundness Verdict Deadlocks Witness Ethernet EthernetChecker Extract; do
	coqc -Q theories WeftProof "theories/$name.v"
done
cd - >/dev/null
cp "$work"/checker/*judge.ml "$work"/checker/*judge.mli proof/checker/
