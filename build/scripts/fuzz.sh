#!/usr/bin/env bash
# Runs every fuzz function of the module, one after the other as go test wants
# it. Usage: fuzz.sh [inputs each, such as 50000x, or a duration, such as 1m]
# The default is a count: go test may call the end of a short duration a failure.
set -euo pipefail
cd "$(dirname "$0")/../.."

each=${1:-50000x}
while IFS=: read -r file name; do
	echo "== ./$(dirname "$file") $name"
	go test "./$(dirname "$file")" -run '^$' -fuzz "^$name\$" -fuzztime "$each"
done < <(git ls-files -co --exclude-standard '*_test.go' | xargs grep -EoH '^func Fuzz[A-Za-z0-9_]*' | sed 's/func //' | sort)
