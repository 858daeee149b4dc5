#!/usr/bin/env bash
# Says which version this tree is, in the words that the program and its packages
# have in common. Usage: version.sh version|revision
#
#   1.2.0                                commit tagged v1.2.0
#   1.2.0~rc.1                           commit tagged v1.2.0-rc.1
#   1.2.0+20261121213058.gedba2101234    a later commit, by the time of it
#   ….modified                           the same, with changes that are not committed
#
# dpkg and rpm sort them in the order in which they were made. Before the first tag,
# and in a clone without tags, the number is 0.0.0. Without git, the archive that
# the tree came in says it (internal/cli/internal/version/archived.txt, which git archive fills in).
set -euo pipefail
cd "$(dirname "$0")/../.."

git=(git -c safe.directory="$PWD") # root may build what somebody else checked out
modified=
if [[ $("${git[@]}" rev-parse --show-toplevel 2>/dev/null) == "$PWD" ]]; then
	read -r hash time <<<"$("${git[@]}" log -1 --format='%H %ct')"
	tag=$("${git[@]}" describe --tags --match 'v[0-9]*' 2>/dev/null || true)
	[[ -z $("${git[@]}" status --porcelain --untracked-files=no) ]] || modified=1
else
	read -r hash time tag <internal/cli/internal/version/archived.txt
	if [[ $hash == \$* ]]; then # neither a repository nor an archive of one
		hash=unknown
	fi
fi

case ${1:-} in
revision)
	echo "$hash${modified:+, modified}"
	;;
version)
	if [[ $hash == unknown ]]; then
		echo 0.0.0~unknown
		exit
	fi
	base=$tag
	if [[ $tag =~ ^(.*)-[0-9]+-g[0-9a-f]+$ ]]; then # commits behind the tag
		base=${BASH_REMATCH[1]}
	fi
	version=${base:-v0.0.0}
	version=${version#v}
	version=${version//-/'~'}
	if [[ -z $tag || $tag != "$base" || -n $modified ]]; then
		version+=+$(date -u -d "@$time" +%Y%m%d%H%M%S).g${hash:0:12}${modified:+.modified}
	fi
	echo "$version"
	;;
*)
	echo "usage: version.sh version|revision" >&2
	exit 2
	;;
esac
