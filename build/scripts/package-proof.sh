#!/usr/bin/env bash
# Builds a package of weft-proof alone, in bin/ (OUT): package-proof.sh deb, or rpm. OCaml and the C library as an
# archive is all it takes; the program has that in itself, so the packages depend on none. The same commit gives the
# same Debian package.
set -euo pipefail
cd "$(dirname "$0")/../.."
umask 022

kind=${1-}
declare -A tool=([deb]=dpkg-deb [rpm]=rpmbuild)
[[ -n $kind && -n ${tool[$kind]-} ]] || { echo "usage: package-proof.sh deb|rpm" >&2; exit 2; }
for program in "${tool[$kind]}" ocamlopt; do
	command -v "$program" >/dev/null || {
		echo "make $([[ $kind == deb ]] && echo package || echo rpm)-proof: $program is not installed (Debian: dpkg, rpm, ocaml-nox)" >&2
		exit 1
	}
done
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
mkdir -p "$OUT"
OUT=$(realpath "$OUT")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
chmod 755 "$top"

if [[ $kind == rpm ]]; then
	rpmbuild -bb --build-in-place --nodeps --quiet ${RPM_PAYLOAD:+--define "_binary_payload $RPM_PAYLOAD"} \
		--define "_topdir $top" --define "_rpmdir $top/rpms" --define "weft_version $VERSION" \
		build/packaging/weft-proof.spec >"$top/log" 2>&1 || {
		tail -n 20 "$top/log" >&2
		exit 1
	}
	for rpm in "$top"/rpms/*/weft-proof-*.rpm; do
		mv "$rpm" "$OUT/"
		echo "$OUT/${rpm##*/}"
	done
	exit
fi

maintainer='The weft authors <weft-fabric@users.noreply.github.com>'
arch=$(dpkg --print-architecture)
stage=$top/stage
doc=$stage/usr/share/doc/weft-proof
mkdir -p "$stage/DEBIAN" "$doc" "$stage/usr/share/man/man1"
./proof/checker/build.sh --static "$stage/usr/bin/weft-proof"
strip --strip-unneeded "$stage/usr/bin/weft-proof"
install -m 644 docs/proof.md "$doc/proof.md"
install -m 644 LICENSE "$doc/LICENSE"
install -m 644 build/packaging/weft-proof.copyright "$doc/copyright"
gzip -9nc build/packaging/weft-proof.1 >"$stage/usr/share/man/man1/weft-proof.1.gz"
printf 'weft-proof (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md of weft.\n\n -- %s  %s\n' \
	"$VERSION" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
(cd "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
cat >"$stage/DEBIAN/control" <<CONTROL
Package: weft-proof
Version: $VERSION
Architecture: $arch
Maintainer: $maintainer
Section: net
Priority: optional
Enhances: weft
Installed-Size: $(du -sk --exclude=DEBIAN "$stage" | cut -f1)
Homepage: https://github.com/weft-fabric/weft
Description: checker for routing tables, extracted from a machine-checked proof
 Says whether the routing tables of an InfiniBand fabric, or of a lossless Ethernet
 network, cannot deadlock, by the certificate that weft writes beside them. Its
 verdict is extracted from a proof that Coq has checked; it shares nothing with
 weft but the files.
CONTROL
find "$stage" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
deb=$OUT/weft-proof_${VERSION}_$arch.deb
dpkg-deb --root-owner-group --build "$stage" "$deb.new" >/dev/null
mv "$deb.new" "$deb"
echo "$deb"
