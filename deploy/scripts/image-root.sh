#!/bin/sh
# Makes the archive of the root folder of the image: a bare Debian 12, the package, and nothing that a container has no use
# for. The Dockerfile and image.sh put it into an image.
# usage: image-root.sh PACKAGE.deb ARCHIVE
set -eu
. "$(dirname "$0")/common.sh"
need_root
deb=$(realpath "$1")
archive=$2
mkdir -p "$(dirname "$archive")"
bare=$out/root.tar
sh "$here/root.sh" "$bare"
root=$out/image-root
trap 'rm -rf "$root"' EXIT
unpack_root "$bare" "$root"
cp "$deb" "$root/tmp/paydesk.deb"
# A number that every image has, because whoever mounts a volume must know it.
in_root "$root" sh -ec '
    groupadd --system --gid 10001 paydesk
    useradd --system --uid 10001 --gid paydesk --home-dir /var/lib/paydesk --no-create-home --shell /usr/sbin/nologin paydesk
    printf "path-exclude /usr/share/doc/*\npath-include /usr/share/doc/*/copyright\npath-exclude /usr/share/man/*\n" \
        >/etc/dpkg/dpkg.cfg.d/slim
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends /tmp/paydesk.deb' >"$out/image-root.log" 2>&1 \
    || { tail -20 "$out/image-root.log"; fail "the package is not installed"; }
install -D -m 755 "$source/deploy/image/healthy" "$root/usr/lib/paydesk/healthy"
(
    cd "$root"
    find usr/share/doc -type f ! -name copyright -delete
    find usr/share/doc -type l -delete
    find usr/share/doc -type d -empty -delete
    rm -rf tmp/* var/cache/* var/lib/apt/lists/* var/log/* usr/share/man/* usr/share/info/* usr/share/locale/* \
        usr/share/lintian usr/share/bash-completion usr/share/zsh usr/share/fish etc/resolv.conf \
        etc/apt/apt.conf.d/80-retries
)
find "$root" -xdev -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
tar -C "$root" --sort=name --numeric-owner -cf "$archive" .
rm -f "$out/image-root.log"
