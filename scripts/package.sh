#!/usr/bin/env bash
# Builds a Debian package of what make install installs, in bin/. The same commit
# gives the same package.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v dpkg-deb >/dev/null || {
	echo "make package: dpkg-deb is not installed; make install DESTDIR=… is what other packagers need" >&2
	exit 1
}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
version=$(git describe --tags --match 'v[0-9]*' 2>/dev/null || echo "v0.0.0-0-g$(git rev-parse --short HEAD 2>/dev/null || echo unknown)")
version=$(echo "${version#v}" | sed 's/-/+/; s/-/./g')
arch=$(dpkg --print-architecture)
triplet=$(gcc -print-multiarch 2>/dev/null || true)
libdir=/usr/lib${triplet:+/$triplet}

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
umask 022
make --no-print-directory install DESTDIR="$stage" PREFIX=/usr SYSCONFDIR=/etc LIBDIR="$libdir" UNITDIR=/lib/systemd/system

# The plugin is for one version of OpenSM; without headers there is none.
suggests=opensm
if [[ -e $stage$libdir/libweft.so ]]; then
	osm=$(grep -aoE 'OpenSM [0-9]+\.[0-9]+\.[0-9]+' "$stage$libdir/libweft.so" | head -n1 | cut -d' ' -f2)
	suggests="opensm (>= $osm), opensm (<< $osm.1~)"
else
	echo "make package: without the plugin (no headers of OpenSM: apt-get install libopensm-dev libibumad-dev)" >&2
fi

mkdir "$stage/DEBIAN"
install -m 755 packaging/postinst packaging/prerm "$stage/DEBIAN"
(cd "$stage" && find etc -type f | sed 's,^,/,') >"$stage/DEBIAN/conffiles"
cat >"$stage/DEBIAN/control" <<CONTROL
Package: weft
Version: $version
Architecture: $arch
Maintainer: weft <weft@localhost>
Section: net
Priority: optional
Depends: libc6, passwd
Suggests: $suggests
Installed-Size: $(du -sk --exclude=DEBIAN "$stage" | cut -f1)
Description: proven deadlock-free routing for InfiniBand fabrics
 Computes forwarding tables, service levels and virtual lanes, proves that they
 cannot deadlock, and gives them to an unpatched OpenSM by a plugin or by files.
CONTROL
find "$stage" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
deb=bin/weft_${version}_$arch.deb
dpkg-deb --root-owner-group --build "$stage" "$deb.new" >/dev/null
mv "$deb.new" "$deb"
echo "$deb"
