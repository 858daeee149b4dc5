#!/usr/bin/env bash
# Extracts proof/checker/judge.ml from the theories; make proof demands that it is what is kept.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/theories" "$work/checker"
cp proof/theories/*.v "$work/theories"
cd "$work"
for name in Network Semantics Freedom Contracts Checker Soundness Verdict Deadlocks Witness Extract; do
	coqc -Q theories WeftProof "theories/$name.v"
done
cd - >/dev/null
cp "$work"/checker/judge.ml "$work"/checker/judge.mli proof/checker/
