#!/usr/bin/env bash
# Takes away what make install puts, by installing it once more into a folder of its
# own to see what that is. A configuration that was changed stays, and so does every
# folder but weft's own.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [[ -z $DESTDIR && -d /run/systemd/system ]]; then
	systemctl disable --now weft.service weft-watch.service || true
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage ./build/scripts/install.sh --no-plugin --no-library 2>/dev/null

{
	printf '%s\n' "$LIBDIR/libweft.so" "$LIBDIR/libweft-c.so" "$LIBDIR/libweft-c.so.1" "$INCLUDEDIR/weft.h"
	find "$stage" -type f -printf '/%P\n'
} | while read -r place; do
	if [[ $place == "$SYSCONFDIR/weft/"* && -e $DESTDIR$place ]] && ! cmp -s "build/packaging/${place##*/}" "$DESTDIR$place"; then
		echo "make uninstall: $DESTDIR$place was changed and stays" >&2
		continue
	fi
	printf '%s\0' "$DESTDIR$place"
done | xargs -0 rm -f --
find "$stage$DOCDIR" "$stage$SYSCONFDIR/weft" -depth -type d -printf '%p\n' | while read -r dir; do
	dir=$DESTDIR${dir#"$stage"}
	[[ ! -d $dir ]] || printf '%s\0' "$dir"
done | xargs -0 --no-run-if-empty rmdir --ignore-fail-on-non-empty --

./build/scripts/told.sh
