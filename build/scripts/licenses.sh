#!/usr/bin/env bash
# Prints the licences of the Go modules that are part of the program, of Go itself, and of
# what report pages contain.
set -euo pipefail
cd "$(dirname "$0")/../.."

echo "The program weft contains the Go modules below, and Go's own library."
{
	echo "Go $(go env GOVERSION) $(go env GOROOT)"
	go version -m "$OUT/weft" | awk '$1 == "dep" {print $2}' | xargs go list -m -f '{{.Path}} {{.Version}} {{.Dir}}' | sort
} | while read -r path version dir; do
	printf '\n=== %s %s\n' "$path" "$version"
	found=
	for text in "$dir"/{LICENSE,LICENCE,COPYING,NOTICE}*; do
		[[ -f $text ]] || continue
		found=1
		printf '\n'
		cat "$text"
	done
	[[ -n $found ]] || {
		echo "licenses.sh: $path has no licence in $dir" >&2
		exit 1
	}
done

printf "\n=== The program of report pages\n\n"
cat internal/page/web/dist/licenses.txt
