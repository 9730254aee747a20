#!/bin/sh
# Makes an archive of a bare Debian 12 with its security updates, once; an archive that is there is kept.
# usage: root.sh ARCHIVE     environment: DEBIAN_MIRROR, DEBIAN_SECURITY_MIRROR
set -eu
. "$(dirname "$0")/common.sh"
archive=$1
[ ! -s "$archive" ] || exit 0
need_root
mkdir -p "$(dirname "$archive")"
folder=$archive.root
trap 'rm -rf "$folder" "$archive.new"' EXIT
rm -rf "$folder"
debootstrap --variant=minbase bookworm "$folder" "$mirror" >"$archive.log" 2>&1 || { tail -20 "$archive.log"; exit 1; }
cat >"$folder/etc/apt/sources.list" <<LIST
deb $mirror bookworm main
deb $mirror bookworm-updates main
deb $security bookworm-security main
LIST
cp /etc/resolv.conf "$folder/etc/resolv.conf"
in_root "$folder" sh -c 'apt-get update -qq && apt-get upgrade -y -qq' >>"$archive.log" 2>&1 || { tail -20 "$archive.log"; exit 1; }
in_root "$folder" sh -c 'apt-get clean && rm -rf /var/lib/apt/lists/* /var/log/*.log /var/log/apt/*'
rm -f "$folder/etc/resolv.conf"
tar -C "$folder" --numeric-owner -cf "$archive.new" .
mv "$archive.new" "$archive"
