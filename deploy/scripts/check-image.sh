#!/bin/sh
# Runs an image as a container would: its user, a read-only root, a volume, an own network; with the settings that it has,
# and with settings from the environment alone.
# usage: check-image.sh IMAGE.oci.tar
set -eu
. "$(dirname "$0")/common.sh"
need_root
image=$(realpath "$1")
store=$out/check-image-store
work=$out/check-image-run
volume=$out/check-image-volume
container=""
images() { buildah --root "$store" --runroot "$work" --storage-driver vfs "$@"; }
cleanup() {
    [ -z "$container" ] || { images umount "$container" && images rm "$container"; } >/dev/null 2>&1 || true
    rm -rf "$store" "$work" "$volume"
}
trap cleanup EXIT
container=$(images from --isolation chroot "oci-archive:$image")
root=$(images mount "$container")
images inspect --type container "$container" >"$out/check-image.json"
python3 - "$out/check-image.json" <<'READ'
import json
import sys

config = json.load(open(sys.argv[1]))["OCIv1"]["config"]
assert config["User"] == "10001:10001", config["User"]
assert config["Entrypoint"] == ["/usr/bin/paydesk"] and config["Cmd"] == ["serve", "--config", "/etc/paydesk"], config
assert list(config["Volumes"]) == ["/var/lib/paydesk"] and config["WorkingDir"] == "/var/lib/paydesk", config
assert list(config["ExposedPorts"]) == ["8080/tcp"] or list(config["ExposedPorts"]) == ["8080"], config
READ
rm -f "$out/check-image.json"

# Settings of the environment, with which the folder of the image is not read.
settings='mode: development
http: {port: 8080}
database: {url: "sqlite:books.db"}'

run() {
    rm -rf "$volume"
    install -d -m 750 -o 10001 -g 10001 "$volume"
    python3 "$here/loopback.py" unshare --mount --pid --fork --kill-child sh -euc '
        mount --bind "$1" "$1"
        mount --bind "$2" "$1/var/lib/paydesk"
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        mount -o remount,bind,ro "$1"
        enter() { exec chroot --userspec 10001:10001 "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/var/lib/paydesk "$2" /bin/sh -euc "$3"; }
        ! (enter "$1" A=1 "echo x >/usr/written") 2>/dev/null
        ! (enter "$1" A=1 "echo x >/tmp/written") 2>/dev/null
        enter "$1" "$3" "cd /var/lib/paydesk; exec /usr/bin/paydesk serve --config /etc/paydesk" &
        server=$!
        for second in $(seq 60); do
            ! (enter "$1" A=1 /usr/lib/paydesk/healthy) 2>/dev/null || break
            kill -0 "$server"
            sleep 1
        done
        (enter "$1" A=1 /usr/lib/paydesk/healthy)
        grep -q "^Uid:.10001.10001.10001.10001$" "$1/proc/$server/status"
        kill -TERM "$server"
        wait "$server"
    ' sh "$root" "$volume" "$1"
}
run A=1
[ -s "$volume/var/paydesk.db" ] || fail "the database is not in the volume"
run "PAYDESK_CONFIG_YAML=$settings"
[ -s "$volume/books.db" ] || fail "the settings of the environment do not count"
echo "check-image: serves as 10001 on a read-only root, healthy, with its own settings and with those of the environment"
