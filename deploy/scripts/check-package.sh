#!/bin/sh
# Installs a package in a bare Debian 12, starts it by hand as the unit would, installs it again, removes and purges it: the
# steps of piuparts, and that it serves.
# usage: check-package.sh PACKAGE.deb
set -eu
. "$(dirname "$0")/common.sh"
need_root
deb=$(realpath "$1")
archive=$out/root.tar
sh "$here/root.sh" "$archive"
root=$out/check-package
trap 'rm -rf "$root"' EXIT
unpack_root "$archive" "$root"
step() { echo "check-package: $*"; }
inside() { in_root "$root" "$@"; }
expect() { inside sh -ec "$1" >"$out/check-package.log" 2>&1 || { cat "$out/check-package.log"; fail "$1"; }; }
refuse() { ! inside sh -ec "$1" >"$out/check-package.log" 2>&1 || { cat "$out/check-package.log"; fail "this should fail: $1"; }; }

# The files of a root with owner, mode and size, less what package tools keep for themselves.
listing() {
    inside find / -xdev \( -path /proc -o -path /dev -o -path /tmp -o -path /run -o -path /root -o -path /var/cache \
        -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \) -prune -o ! -type d -printf '%p %u:%g %m %s %l\n' \
        -o -type d -printf '%p %u:%g %m\n' | grep -vE '^/ |^/etc/(ld.so.cache|resolv.conf|(passwd|group|shadow|gshadow)-?) ' | sort
}

# Used below, and by what the package depends on; not a part of what is compared.
expect 'apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates curl'
listing >"$out/before.txt"
inside cat /etc/passwd /etc/group >"$out/before-users.txt"
cp "$deb" "$root/tmp/paydesk.deb"

step "installs with dpkg, and its dependencies with apt"
refuse 'dpkg -i /tmp/paydesk.deb'
expect 'apt-get -f install -y -qq'
expect 'dpkg-query -W -f "\${db:Status-Abbrev}" paydesk | grep -q "^ii"'
expect 'dpkg --verify paydesk'
expect '! ldd /usr/bin/paydesk | grep "not found"'
expect '! ldd /usr/bin/paydesk | grep libswift'
expect 'paydesk --version'
expect '[ "$(stat -c %U:%G:%a /etc/paydesk)" = root:paydesk:750 ]'
expect '[ "$(stat -c %U:%G:%a /etc/paydesk/paydesk.yaml)" = root:paydesk:640 ]'
expect '[ "$(stat -c %U:%G:%a /var/lib/paydesk)" = paydesk:paydesk:750 ]'
expect '[ ! -e /etc/systemd/system/multi-user.target.wants/paydesk.service ]'
expect 'setpriv --reuid nobody --regid nogroup --clear-groups sh -c "! cat /etc/paydesk/paydesk.yaml"'
expect 'bash -n /usr/share/bash-completion/completions/paydesk'
expect 'gzip -dc /usr/share/man/man1/paydesk.1.gz | grep -q "^\.TH"'

step "its unit is one that systemd takes"
judge_unit "$root/lib/systemd/system/paydesk.service"

step "serves as the unit's user, by hand"
echo "PAYDESK_USER_SECRET='a secret that comes from /etc/paydesk/environment'" >>"$root/etc/paydesk/environment"
sed -i 's/max_lifetime_hours: 720/max_lifetime_hours: 24/' "$root/etc/paydesk/paydesk.yaml"
cat >"$root/tmp/serve.sh" <<'SERVE'
set -eu
paydeskctl serve >/tmp/serve.log 2>&1 &
server=$!
curl -fsS --retry 30 --retry-delay 1 --retry-connrefused http://127.0.0.1:8080/readyz >/dev/null || { cat /tmp/serve.log; exit 1; }
[ "$(stat -c %U /proc/$server)" = paydesk ]
token=$(paydeskctl token --user alice)
curl -fsS http://127.0.0.1:8080/v1/public/entitlements -H "Authorization: Bearer $token" >/dev/null
paydeskctl doctor --offline
paydeskctl check
[ "$(stat -c %U:%a /var/lib/paydesk/var/paydesk.db)" = paydesk:600 ]
kill -TERM "$server"
wait "$server"
SERVE
# Without the network of this machine, so that the port is free, and so that nothing outside is needed.
python3 "$here/loopback.py" sh -ec '. "$1"; in_root "$2" sh /tmp/serve.sh' "$here/check-package.sh" "$here/common.sh" "$root" \
    >"$out/check-package.log" 2>&1 || { cat "$out/check-package.log" "$root/tmp/serve.log"; fail "it does not serve"; }

step "installed again, it keeps settings, owners and data"
expect 'dpkg -i /tmp/paydesk.deb'
expect 'grep -q "max_lifetime_hours: 24" /etc/paydesk/paydesk.yaml'
expect '[ "$(stat -c %U:%G:%a /etc/paydesk/environment)" = root:paydesk:640 ]'
expect '[ -s /var/lib/paydesk/var/paydesk.db ]'

step "removed, it keeps settings and data"
expect 'apt-get remove -y -qq paydesk'
expect '[ ! -e /usr/bin/paydesk ] && [ ! -e /lib/systemd/system/paydesk.service ]'
expect '[ -s /var/lib/paydesk/var/paydesk.db ] && [ -s /etc/paydesk/paydesk.yaml ]'

step "purged, nothing stays"
expect 'apt-get purge -y -qq paydesk && apt-get autoremove --purge -y -qq'
listing >"$out/after.txt"
inside cat /etc/passwd /etc/group >"$out/after-users.txt"
diff "$out/before.txt" "$out/after.txt" || fail "the files differ from those before"
diff "$out/before-users.txt" "$out/after-users.txt" || fail "the users differ from those before"
[ -z "$(find "$root" -xdev -name '*paydesk*' ! -path "$root/tmp/*" ! -path "$root/var/log/*" ! -path "$root/var/cache/*")" ] \
    || fail "files with its name stay"
rm -f "$out"/before*.txt "$out"/after*.txt "$out/check-package.log"
echo "check-package: installed, served, installed again, removed, purged: nothing stays"
