#!/bin/sh
# Makes an image of the package with buildah, without a registry: paydesk-VERSION-ARCHITECTURE.oci.tar, and a docker.tar for
# `docker load`, whose format has the health check.
# usage: image.sh PACKAGE.deb
set -eu
. "$(dirname "$0")/common.sh"
need_root
deb=$(realpath "$1")
file=$(basename "$deb" .deb)
architecture=${file##*_}
version=$(printf '%s' "$file" | cut -d_ -f2)
version=${version%~*}
archive=$out/image/root.tar
sh "$here/image-root.sh" "$deb" "$archive"

# In a store of its own, which needs no kernel module and goes away afterwards.
store=$out/image-store
work=$out/image-run
trap 'rm -rf "$store" "$work"' EXIT
rm -rf "$store" "$work"
image() { buildah --root "$store" --runroot "$work" --storage-driver vfs "$@"; }

container=$(image from --isolation chroot scratch)
image add --quiet "$container" "$archive" / >/dev/null
image config --arch "$architecture" --os linux --user 10001:10001 --workingdir /var/lib/paydesk \
    --volume /var/lib/paydesk --port 8080 --entrypoint '["/usr/bin/paydesk"]' --cmd "serve --config /etc/paydesk" \
    --env PATH=/usr/bin:/bin --env LANG=C.UTF-8 --env HOME=/var/lib/paydesk --stop-signal SIGTERM \
    --label org.opencontainers.image.title=paydesk --label "org.opencontainers.image.version=$version" \
    --label org.opencontainers.image.licenses=Apache-2.0 "$container"
image config --healthcheck "CMD /usr/lib/paydesk/healthy" --healthcheck-interval 10s --healthcheck-timeout 6s \
    --healthcheck-start-period 20s --healthcheck-retries 3 "$container" 2>/dev/null
image commit --quiet --format docker --timestamp "$SOURCE_DATE_EPOCH" "$container" "paydesk:$version" >/dev/null
image rm "$container" >/dev/null
oci=$out/paydesk-$version-$architecture.oci.tar
docker=$out/paydesk-$version-$architecture.docker.tar
rm -f "$oci" "$docker"
image push --quiet --format oci "paydesk:$version" "oci-archive:$oci:paydesk:$version"
image push --quiet "paydesk:$version" "docker-archive:$docker:paydesk:$version"
sh "$here/size.sh" image "$(stat -c %s "$archive")"
echo "$oci"
echo "$docker"
