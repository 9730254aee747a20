# Shared by the scripts of this folder, which source it.
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
out=${PACKAGE_OUT:-$source/.build-package}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
security=${DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security}
maintainer=${PACKAGE_MAINTAINER:-Paydesk maintainers <maintainers@paydesk.example>}
# The time of everything that is made: that of the commit, so that the same source makes the same files.
: "${SOURCE_DATE_EPOCH:=$(git -C "$source" log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

need_root() { [ "$(id -u)" -eq 0 ] || fail "needs root: it makes and enters a root folder"; }

# Runs a command in a root folder, with its own processes, which end with it, and with its own mounts.
in_root() {
    folder=$1
    shift
    unshare --mount --pid --fork --kill-child --mount-proc="$folder/proc" \
        chroot "$folder" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# Unpacks a root's archive to a new folder of this name; the names of hosts are resolved as on this machine, and what cannot
# be fetched at once is fetched again.
unpack_root() {
    rm -rf "$2"
    mkdir -p "$2"
    tar -xf "$1" --numeric-owner -C "$2"
    cp /etc/resolv.conf "$2/etc/resolv.conf"
    echo 'Acquire::Retries "5";' >"$2/etc/apt/apt.conf.d/80-retries"
}

# Lets systemd judge a unit's file, with this machine's units beside it: a bare root has none. The program is not installed
# here, so another one stands in its place; the manual pages come with the package.
judge_unit() {
    unit=$(mktemp -d)/paydesk.service
    sed 's|^ExecStart=/usr/bin/paydesk|ExecStart=/bin/true|' "$1" >"$unit"
    systemd-analyze verify --man=no "$unit" 2>&1 | tee "$unit.faults"
    [ ! -s "$unit.faults" ] || fail "systemd-analyze verify has found faults in the unit"
    systemd-analyze security --offline=true --threshold=20 --no-pager "$unit" | tail -1
    rm -rf "$(dirname "$unit")"
}
