#!/bin/sh
# Walks the first five minutes of README.md on a bare Debian 12: its commands as they stand there, at most ten, with the
# package in the current folder. Then it looks whether they did what they are for: the order is paid, and the console shows it.
# usage: first-five-minutes.sh PACKAGE.deb
set -eu
. "$(dirname "$0")/common.sh"
need_root
deb=$(realpath "$1")
archive=$out/root.tar
sh "$here/root.sh" "$archive"
root=$out/first-five-minutes
trap 'rm -rf "$root"' EXIT
unpack_root "$archive" "$root"

# The block that begins with the installation, without its comments; the same in both languages.
commands() {
    awk '/^```/{block = !block; if (!block) {begun = 0}; next} block && /^apt-get update .*paydesk/ {begun = 1} begun' "$source/$1" \
        | sed 's/  *# .*$//'
}
commands README.md >"$root/root/commands"
commands README.zh-CN.md | diff "$root/root/commands" - || fail "README.zh-CN.md has other commands"
# A line that ends with a backslash goes on in the next.
count=$(grep -cv '\\$' "$root/root/commands")
[ "$count" -ge 3 ] && [ "$count" -le 10 ] || fail "$count commands; three to ten are wanted"
sed -n 1p "$root/root/commands" >"$root/root/install.sh"
sed 1d "$root/root/commands" >"$root/root/walk.sh"
cp "$deb" "$root/root/"

# Installing needs Debian's archive; what follows needs no network.
in_root "$root" sh -euc 'cd /root; . ./install.sh' >"$out/first-five-minutes.log" 2>&1 \
    || { tail -20 "$out/first-five-minutes.log"; fail "it does not install"; }
cat >>"$root/root/walk.sh" <<'LOOK'
console=$(grep -o '#once=[A-Za-z0-9_-]*' serve.log | cut -d= -f2)
curl -fsS http://127.0.0.1:8080/v1/admin/console/session -H 'Origin: http://127.0.0.1:8080' -H 'Content-Type: application/json' \
    -H 'X-Paydesk-Console: 1' -d "{\"once\":\"$console\"}" -c cookies -o session.json
curl -fsS http://127.0.0.1:8080/v1/admin/orders -b cookies -H 'X-Paydesk-Console: 1' -o console.json
kill %1
wait
LOOK
python3 "$here/loopback.py" sh -euc '. "$1"; in_root "$2" bash -euc "cd /root; set -m; . ./walk.sh"' "$here/x" "$here/common.sh" "$root" \
    >"$out/first-five-minutes.log" 2>&1 || { cat "$out/first-five-minutes.log" "$root/root/serve.log"; fail "a command failed"; }
grep -q 'Paydesk' "$root/root/start.html" || fail "the start page is another"
grep -q '"status":"paid"' "$root/root/console.json" || { cat "$root/root/console.json"; fail "the console does not show the order as paid"; }
rm -f "$out/first-five-minutes.log"
echo "first-five-minutes: $count commands from nothing to a paid order in the console"
