#!/bin/sh
# Pays one order through the given binary with the shipped configuration, kills the process, and finds the order paid.
set -eu
binary=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
home=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url="http://127.0.0.1:$port"
server=""
cleanup() {
    [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
    rm -rf "$home"
}
trap cleanup EXIT
cp -R "$root/Config" "$home/Config"
cd "$home"

start() {
    "$binary" serve --port "$port" >>server.log 2>&1 &
    server=$!
    for _ in $(seq 1 200); do
        if curl -fsk "$url/readyz" >/dev/null 2>&1; then return 0; fi
        kill -0 "$server" 2>/dev/null || { cat server.log; exit 1; }
        sleep 0.05
    done
    cat server.log
    exit 1
}
field() { python3 -c "import json, sys; print(json.load(sys.stdin)['data']$1)"; }
status() { curl -fs "$url/v1/public/orders/$order" -H "Authorization: Bearer $token" | field "['status']"; }

start
token=$("$binary" token --user smoke)
contract=$(curl -fs "$url/v1/public/checkout" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    -d '{"sku":"vip_month","platform":"web","currency":"CNY"}')
order=$(printf '%s' "$contract" | field "['order_id']")
page=$(printf '%s' "$contract" | field "['checkout_url']")
curl -fs -o /dev/null -d outcome=succeed "$page"
[ "$(status)" = paid ] || { echo "the order is not paid"; cat server.log; exit 1; }
kill -9 "$server"
wait "$server" 2>/dev/null || true
start
[ "$(status)" = paid ] || { echo "the order is not paid any more"; exit 1; }
"$binary" check

# The lines of the second chapter of both README files, as they stand there.
for readme in README.md README.zh-CN.md; do
    awk '/^## /{chapter++} chapter == 2 && /^```/{block = !block; next} chapter == 2 && block' "$root/$readme" \
        | sed "s|http://127.0.0.1:8080|$url|; s|^.build/release/paydesk|\"$binary\"|" >box.sh
    [ "$(wc -l <box.sh)" -eq 6 ]
    sh -eu box.sh >box.out
    grep -q DID_RENEW box.out || { echo "$readme: the subscription has not renewed"; cat box.out; exit 1; }
    grep -q '"active":true' box.out || { echo "$readme: the subscription is not active"; cat box.out; exit 1; }
done
echo "smoke: bought in the box, and renewed a month later"
kill -TERM "$server"
wait "$server"
server=""
echo "smoke: paid, killed, still paid"

openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost \
    -keyout Config/tls-key.pem -out Config/tls.pem 2>/dev/null
sed -i 's|tls: {certificate: "", private_key: ""}|tls: {certificate: tls.pem, private_key: "file:tls-key.pem"}|' \
    Config/paydesk.yaml
url="https://127.0.0.1:$port"
start
curl -fsk "$url/version"
echo
kill -TERM "$server"
wait "$server"
server=""
echo "smoke: served over TLS"
