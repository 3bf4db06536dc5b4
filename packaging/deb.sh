#!/usr/bin/env bash
# Builds the Debian packages of the last commit, for this machine's kind of
# processor: quorate-worker, quorate-client, quorate-desktop, quorate-server.
# Their version has the commit's time, so a later commit is an upgrade; the same
# commit gives the same bytes. On Debian 12; installs what the build needs.
# Their maintainer is who made the commit, or DEBFULLNAME and DEBEMAIL.
# Usage: packaging/deb.sh [FOLDER]   (build/packages)
set -euo pipefail
root=$(realpath "$(dirname "$0")/..")
out=$(realpath -m "${1:-$root/build/packages}")
cd "$root"
if ! git rev-parse --verify --quiet HEAD >/dev/null; then
  echo "packaging/deb.sh: $PWD is no git checkout: packages are made of a commit" >&2
  exit 1
fi
if [[ -n $(git status --porcelain --untracked-files=no) ]]; then
  echo "packaging/deb.sh: what is not committed is left out" >&2
fi
packaging/setup.sh --packages >/dev/null

upstream=$(sed -n 's/^project(quorate VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
# A compiler cache may hand out objects with another build's debug paths: then
# two builds give other bytes.
export CCACHE_DISABLE=1
# Who makes a package answers for it.
maintainer="${DEBFULLNAME:-$(git log -1 --format=%cn)} <${DEBEMAIL:-$(git log -1 --format=%ce)}>"
version=$upstream+$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M%S)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
source=$folder/quorate-$version
mkdir "$source"
git archive HEAD | tar -x -C "$source"
mv "$source/packaging/debian" "$source/debian"
sed -i "s/@MAINTAINER@/$maintainer/" "$source/debian/control"
cat >"$source/debian/changelog" <<END
quorate ($version) bookworm; urgency=medium

  * Built from commit $(git rev-parse --short=12 HEAD).

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END

echo "quorate $version: compiling takes some minutes; the log is in $out/build.log"
mkdir -p "$out"
if ! (cd "$source" && dpkg-buildpackage --build=binary --no-sign) \
  >"$out/build.log" 2>&1; then
  tail -n 40 "$out/build.log" >&2
  echo "packaging/deb.sh: the build failed" >&2
  exit 1
fi
rm -f "$out"/*.deb "$out"/*.buildinfo "$out"/*.changes
mv "$folder"/*.deb "$folder"/*.buildinfo "$folder"/*.changes "$out"
(cd "$out" && ls -sh1 -- *.deb)
