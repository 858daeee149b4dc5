#!/usr/bin/env bash
# Makes everything that a release consists of, in OUT/release: make release. The commit has to be
# tagged (v0.5.0), with nothing changed since; the same commit gives the same archives.
#
#   weft-V.tar.gz                  the sources, as git archive packs them
#   weft-V-SYSTEM.tar.gz           the command for SYSTEM, without any C library, with documents and licences
#   weft_V_ARCH.deb, weft-V….rpm   packages, with the plugin where OpenSM's headers are installed
#   weft-proof_V_ARCH.deb, weft-proof-V….rpm   the checker that is extracted from the proofs, without any C library to depend on (takes OCaml)
#   weft-V.cdx.json                what the command consists of (SBOM, CycloneDX)
#   SHA256SUMS                     of all these
set -euo pipefail
cd "$(dirname "$0")/../.."
umask 022

if [[ $VERSION == *+* ]]; then
	echo "make release: $VERSION is no release: commit everything, and tag it (git tag v0.5.0)" >&2
	exit 2
fi
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
out=$OUT/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/release"

pack() { # pack FOLDER: as an archive that is the same whenever it is made
	tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$1" |
		gzip -9n >"$work/release/$1.tar.gz"
}

git archive --format=tar --prefix="weft-$VERSION/" HEAD | gzip -9n >"$work/release/weft-$VERSION.tar.gz"

for system in linux-amd64 linux-arm64 darwin-arm64; do
	name=weft-$VERSION-$system
	mkdir "$work/$name"
	GOOS=${system%-*} GOARCH=${system#*-} CGO_ENABLED=0 make --no-print-directory build \
		OUT="$work/$name" VERSION="$VERSION" REVISION="$REVISION" HARDENED= GO_LDFLAGS='-s -w' GOFLAGS=-trimpath
	git archive HEAD -- '*.md' LICENSE docs examples | tar -C "$work/$name" -x
	OUT=$work/$name ./build/scripts/licenses.sh >"$work/$name/LICENSES-of-modules"
	pack "$name"
done

for kind in package rpm package-proof rpm-proof; do
	make --no-print-directory "$kind" OUT="$work/packages" VERSION="$VERSION" REVISION="$REVISION"
done
mv "$work"/packages/*.deb "$work"/packages/*.rpm "$work/release"

go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0 \
	app -json -licenses -noserial -main cmd/weft -output "$work/release/weft-$VERSION.cdx.json" .

(cd "$work/release" && sha256sum -- * >SHA256SUMS)
rm -rf "$out.new" "$out"
mv "$work/release" "$out.new"
mv "$out.new" "$out"
ls "$out"
