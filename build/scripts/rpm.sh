#!/usr/bin/env bash
# Builds an RPM package of what make install installs, in bin/ (OUT), from the tree as it
# is: make rpm. A packager with a source archive uses build/packaging/weft.spec alone. RPM_PAYLOAD is
# rpmbuild's _binary_payload, where that is not to be the system's.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v rpmbuild >/dev/null || {
	echo "make rpm: rpmbuild is not installed (Debian: rpm, Fedora: rpm-build)" >&2
	exit 1
}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

# What is needed to build is found by make, which says what is missing: here the Go
# and the headers may have come without a package.
rpmbuild -bb --build-in-place --nodeps --quiet ${RPM_PAYLOAD:+--define "_binary_payload $RPM_PAYLOAD"} \
	--define "_topdir $top" --define "_rpmdir $top/rpms" \
	--define "weft_version $VERSION" --define "weft_revision $REVISION" --define "weft_out $OUT" \
	build/packaging/weft.spec >"$top/log" 2>&1 || {
	tail -n 20 "$top/log" >&2
	exit 1
}
for rpm in "$top"/rpms/*/weft-*.rpm; do
	mv "$rpm" "$OUT/"
	echo "$OUT/${rpm##*/}"
done
