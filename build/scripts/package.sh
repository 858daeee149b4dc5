#!/usr/bin/env bash
# Builds a Debian package of what make install installs, in bin/ (OUT): make package. The
# same commit in the same folder gives the same package.
set -euo pipefail
cd "$(dirname "$0")/../.."
umask 022

command -v dpkg-deb >/dev/null || {
	echo "make package: dpkg-deb is not installed; make rpm is for others, and make install DESTDIR=… is what all packages need" >&2
	exit 1
}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
arch=$(dpkg --print-architecture)
triplet=$(gcc -print-multiarch 2>/dev/null || true)
libdir=/usr/lib${triplet:+/$triplet}

maintainer='The weft authors <weft-fabric@users.noreply.github.com>'

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
make --no-print-directory install DESTDIR="$stage" OUT="$OUT" VERSION="$VERSION" GO_LDFLAGS='-s -w' \
	PREFIX=/usr SYSCONFDIR=/etc LIBDIR="$libdir" UNITDIR=/lib/systemd/system ZSHDIR=/usr/share/zsh/vendor-completions
find "$stage/usr/share/man" -type f -exec gzip -9n {} +
doc=$stage/usr/share/doc/weft
printf 'weft (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' \
	"$VERSION" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"

# The plugin is for one version of OpenSM; without headers there is none.
binaries=("$stage/usr/bin/weft")
suggests=opensm
if [[ -e $stage$libdir/libweft.so ]]; then
	strip --strip-unneeded "$stage$libdir/libweft.so"
	binaries+=("$stage$libdir/libweft.so")
	osm=$(grep -aoE 'OpenSM [0-9]+\.[0-9]+\.[0-9]+' "$stage$libdir/libweft.so" | head -n1 | cut -d' ' -f2)
	suggests="opensm (>= $osm), opensm (<< $osm.1~)"
fi
if [[ -e $stage$libdir/libweft-c.so.1 ]]; then
	binaries+=("$stage$libdir/libweft-c.so.1")
fi
glibc=$(readelf -V "${binaries[@]}" 2>/dev/null | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n1 || true)

mkdir "$stage/DEBIAN"
install -m 755 build/packaging/postinst build/packaging/prerm build/packaging/postrm "$stage/DEBIAN"
echo activate-noawait ldconfig >"$stage/DEBIAN/triggers"
(cd "$stage" && find etc -type f | sed 's,^,/,') >"$stage/DEBIAN/conffiles"
(cd "$stage" && find usr lib -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
cat >"$stage/DEBIAN/control" <<CONTROL
Package: weft
Version: $VERSION
Architecture: $arch
Maintainer: $maintainer
Section: net
Priority: optional
Depends: libc6${glibc:+ (>= ${glibc#GLIBC_})}, passwd
Suggests: $suggests
Installed-Size: $(du -sk --exclude=DEBIAN "$stage" | cut -f1)
Homepage: https://github.com/weft-fabric/weft
Description: proven deadlock-free routing for InfiniBand fabrics
 Computes forwarding tables, service levels and virtual lanes, proves that they
 cannot deadlock, and gives them to an unpatched OpenSM by a plugin or by files.
CONTROL
find "$stage" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
deb=$OUT/weft_${VERSION}_$arch.deb
dpkg-deb --root-owner-group --build "$stage" "$deb.new" >/dev/null
mv "$deb.new" "$deb"
echo "$deb"
