#!/bin/sh
# Makes paydesk-VERSION-linux-ARCHITECTURE.tar.gz of a binary that has the Swift runtime linked in: what the Debian package
# has, for other systems with glibc 2.36 or newer.
# usage: tarball.sh BINARY [PROGRAM]     as for package.sh
set -eu
. "$(dirname "$0")/common.sh"
binary=$(realpath "$1")
program=$(realpath "${2:-$1}")
name="paydesk-$("$program" --version)-linux-${ARCHITECTURE:-$(uname -m)}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
sh "$here/stage.sh" "$work/stage" "$binary" "$program"

folder=$work/$name
mkdir -p "$folder/bin" "$folder/lib/systemd" "$folder/share"
mv "$work/stage/usr/bin/paydesk" "$folder/bin/"
mv "$work/stage/etc/paydesk" "$folder/Config"
find "$folder/Config" -type f -name environment -delete
mv "$work/stage/lib/systemd/system/paydesk.service" "$folder/lib/systemd/"
mv "$work/stage/usr/share/man" "$work/stage/usr/share/bash-completion" "$work/stage/usr/share/zsh" \
    "$work/stage/usr/share/fish" "$folder/share/"
mv "$work/stage/usr/share/doc/paydesk/examples" "$folder/examples"
rm -f "$folder/share/man/man8/paydeskctl.8.gz"
rmdir "$folder/share/man/man8"
cp "$source/LICENSE" "$source/README.md" "$source/README.zh-CN.md" "$source/CHANGELOG.md" "$folder/"
{
    echo "Unpack this folder anywhere and run bin/paydesk serve in it; Config has the settings. It needs glibc 2.36 or newer,"
    echo "certificates of authorities (ca-certificates), time zones (tzdata) and these libraries:"
    echo
    objdump -p "$folder/bin/paydesk" | awk '$1 == "NEEDED" {print "  " $2}'
    echo
    echo "lib/systemd/paydesk.service expects /usr/bin/paydesk, a user paydesk and the settings in /etc/paydesk."
} >"$folder/INSTALL"
find "$folder" -type d -exec chmod 755 {} +
find "$folder/Config" -type f -exec chmod 640 {} +
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" \
    | gzip -9n >"$out/$name.tar.gz"
sh "$here/size.sh" tarball "$(stat -c %s "$out/$name.tar.gz")"
echo "$out/$name.tar.gz"
