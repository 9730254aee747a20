#!/bin/sh
# Makes paydesk_VERSION~deb12_ARCHITECTURE.deb of a binary that has the Swift runtime linked in, and lets lintian look at it.
# usage: package.sh BINARY [PROGRAM]     PROGRAM: the same for this machine, where BINARY is for another architecture
# environment: PACKAGE_OUT, the folder to write to; PACKAGE_MAINTAINER; STRIP and ARCHITECTURE for another architecture
set -eu
. "$(dirname "$0")/common.sh"
binary=$(realpath "$1")
program=$(realpath "${2:-$1}")
architecture=${ARCHITECTURE:-$(dpkg --print-architecture)}
version="$("$program" --version)~deb12"
name="paydesk_${version}_$architecture"
deb=$out/$name.deb
mkdir -p "$out"
# Of its own, so that two at once do not meet.
work=$(mktemp -d "$out/package.XXXXXX")
trap 'rm -rf "$work"' EXIT
stage=$work/stage
sh "$here/stage.sh" "$stage" "$binary" "$program"

documents=$stage/usr/share/doc/paydesk
cp "$source/deploy/debian/copyright" "$documents/copyright"
install -D -m 644 "$source/deploy/debian/lintian-overrides" "$stage/usr/share/lintian/overrides/paydesk"
{
    echo "paydesk ($version) bookworm; urgency=medium"
    echo
    echo "  * Paydesk ${version%~*}; what has changed is in CHANGELOG.md.gz."
    echo
    echo " -- $maintainer  $(date -R -u -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n >"$documents/changelog.gz"
chmod 644 "$documents"/*.gz "$documents/copyright"

# The libraries of Debian that the binary needs. A library that no package has, as those of Swift, ends this.
mkdir "$work/debian"
printf 'Source: paydesk\n\nPackage: paydesk\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps --warnings=0 -O "$stage/usr/bin/paydesk" | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || fail "the libraries that the binary needs are not known"

size=$(find "$stage" -type f -printf '%s\n' | awk '{sum += int(($1 + 1023) / 1024)} END {print sum}')
mkdir "$stage/DEBIAN"
awk -v version="$version" -v architecture="$architecture" -v maintainer="$maintainer" -v size="$size" \
    -v depends="$depends" '{
        gsub("@VERSION@", version); gsub("@ARCHITECTURE@", architecture); gsub("@MAINTAINER@", maintainer)
        gsub("@SIZE@", size); gsub("@DEPENDS@", depends); print
    }' "$source/deploy/debian/control.in" >"$stage/DEBIAN/control"
for script in postinst prerm postrm; do
    install -m 755 "$source/deploy/debian/$script" "$stage/DEBIAN/$script"
done
(cd "$stage" && find etc -type f | sort | sed 's|^|/|') >"$stage/DEBIAN/conffiles"
(cd "$stage" && find usr lib -type f -print0 | sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
chmod 644 "$stage/DEBIAN/control" "$stage/DEBIAN/conffiles" "$stage/DEBIAN/md5sums"
find "$stage" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Z"${PACKAGE_COMPRESSION:-xz}" --build "$stage" "$work/$name.deb" >/dev/null
mv "$work/$name.deb" "$deb"

lintian --fail-on error,warning --tag-display-limit 0 --allow-root "$deb"
sh "$here/size.sh" package "$(stat -c %s "$deb")"
sh "$here/size.sh" installed "$((size * 1024))"
echo "$deb"
