#!/usr/bin/env bash
# Puts what make built where it belongs: make install, with the folders that the
# Makefile names. Usage: install.sh [--no-plugin] [--no-library]
set -euo pipefail
cd "$(dirname "$0")/../.."
umask 022

put() { # put MODE FILE PLACE
	install -D -m "$1" "$2" "$DESTDIR$3"
}

putall() { # putall MODE FOLDER FILE... : in one go, where there are many
	install -d "$DESTDIR$2"
	install -m "$1" -t "$DESTDIR$2" "${@:3}"
}

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

put 755 "$OUT/weft" "$BINDIR/weft"
if [[ " $* " == *" --no-plugin "* ]]; then
	echo "make install: without the plugin: OpenSM's headers are not installed (Debian: libopensm-dev libibumad-dev)" >&2
else
	put 644 "$OUT/libweft.so" "$LIBDIR/libweft.so"
fi
if [[ " $* " == *" --no-library "* ]]; then
	echo "make install: without the library for C and Python: there is no C compiler" >&2
else
	put 644 "$OUT/libweft-c.so.1" "$LIBDIR/libweft-c.so.1"
	ln -sf libweft-c.so.1 "$DESTDIR$LIBDIR/libweft-c.so"
	put 644 libweft/weft.h "$INCLUDEDIR/weft.h"
fi

for unit in weft.service weft-watch.service; do
	sed "s,@BINDIR@,$BINDIR,; s,@SYSCONFDIR@,$SYSCONFDIR,; s,@DOCDIR@,$DOCDIR," "build/packaging/$unit" >"$made/$unit"
	put 644 "$made/$unit" "$UNITDIR/$unit"
done
for config in weft.yaml watch.yaml; do
	if [[ ! -e $DESTDIR$SYSCONFDIR/weft/$config ]]; then # one that is there stays
		put 644 "build/packaging/$config" "$SYSCONFDIR/weft/$config"
	fi
done

for shell in bash zsh fish; do
	"$OUT/weft" completion "$shell" >"$made/$shell"
done
put 644 "$made/bash" "$DATADIR/bash-completion/completions/weft"
put 644 "$made/zsh" "$ZSHDIR/_weft"
put 644 "$made/fish" "$DATADIR/fish/vendor_completions.d/weft.fish"

"$OUT/weft" man "$made/man"
putall 644 "$MANDIR" "$made"/man/*

# Documents lie as they do in the repository, so that they find one another.
shopt -s nullglob globstar
declare -A documents=() # by mode and folder
for document in *.md LICENSE docs/*.md docs/decisions/*.md docs/pictures/*.png docs/scenarios/*.* docs/scenarios/files/* build/packaging/watch.yaml build/packaging/monitoring/* examples/** libweft/README.md libweft/weft.h libweft/examples/* test/bench/*.md test/bench/opensm/*.md docs/results/*.* docs/results/*/*; do
	[[ -f $document ]] || continue
	mode=644
	[[ ! -x $document ]] || mode=755
	documents[$mode/${document%"${document##*/}"}]+=$document$'\n'
done
for alike in "${!documents[@]}"; do
	mapfile -t files <<<"${documents[$alike]%$'\n'}"
	putall "${alike%%/*}" "$DOCDIR/${alike#*/}" "${files[@]}"
done
put 644 build/packaging/copyright "$DOCDIR/copyright"
./build/scripts/licenses.sh >"$made/licenses"
put 644 "$made/licenses" "$DOCDIR/LICENSES-of-modules"

./build/scripts/told.sh
