#!/bin/sh
# Builds weft-proof from the sources beside this file: OCaml is all it takes. build.sh [--static] OUT
#
# Where the C library is there as an archive (Debian has it with libc6-dev, Fedora as glibc-static), the program has it
# in itself and runs on any Linux. Else it takes the system's, and its version or a later one; with --static that is an error.
set -eu
static=no
if [ "$1" = --static ]; then
	static=yes
	shift
fi
out=$(realpath -m "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.ml "$here"/*.mli "$work"
cd "$work"
mkdir -p "$(dirname "$out")"

compile() {
	ocamlopt -inline 200 -I +unix "$@" -o weft-proof unix.cmxa number.ml seen.ml judge.mli judge.ml text.ml fabric.ml tables.ml groups.ml certificate.ml witness.ml cases.ml ethernetjudge.mli ethernetjudge.ml ethertables.ml ethernet.ml main.ml
}

# The linker warns of what looks up names of users and hosts: that is in OCaml's Unix, and nothing here calls it.
if compile -ccopt -static 2>said; then
	grep -vE "statically linked applications requires|: in function \`(unix|caml)_[a-z_]*':$" said >&2 || true
elif [ $static = yes ]; then
	cat said >&2
	exit 1
else
	compile
fi
mv weft-proof "$out"
