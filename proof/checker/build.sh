#!/bin/sh
# Builds weft-proof from the sources beside this file: OCaml is all it takes. build.sh OUT
set -eu
out=$(realpath -m "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.ml "$here"/judge.mli "$work"
cd "$work"
mkdir -p "$(dirname "$out")"
ocamlopt -inline 200 -I +unix -o "$out" unix.cmxa number.ml seen.ml judge.mli judge.ml text.ml fabric.ml tables.ml groups.ml certificate.ml witness.ml cases.ml main.ml
