#!/usr/bin/env bash
# Runs golangci-lint with .golangci.yml, in the version that build/tools/go.mod pins and
# built with the Go that builds weft: the first run takes two minutes of CPU time
# and the network, later ones find it in Go's build cache.
# Usage: lint.sh [--if-possible] [packages]. With --if-possible, a linter that
# cannot be built is said and is no failure.
set -euo pipefail
cd "$(dirname "$0")/../.."

optional=
if [[ ${1:-} == --if-possible ]]; then
	optional=1
	shift
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
mkdir -p bin
if ! go build -modfile=build/tools/go.mod -o bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint 2>"$log"; then
	grep -v '^go: downloading' "$log" | tail -n 2 >&2
	if [[ -n $optional ]]; then
		echo "lint: skipped: golangci-lint cannot be built here (it comes from the Go module proxy)"
		exit 0
	fi
	exit 1
fi
bin/golangci-lint run "${@:-./...}"
# What the library exports is what internal/policy/testdata/api.txt lists.
go test ./internal/policy -run 'API|Library'
