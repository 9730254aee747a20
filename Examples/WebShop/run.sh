#!/bin/sh
# Serves Paydesk, in a folder of its own that goes away at the end, and the shop beside it; ctrl-C ends both.
# usage: run.sh BINARY [PAYDESK_PORT SHOP_PORT [DATABASE_URL]]
set -eu
binary=$(realpath "$1")
port=${2:-8080}
shop_port=${3:-8081}
here=$(cd "$(dirname "$0")" && pwd)
home=$(mktemp -d)
server="" shop=""
cleanup() {
    for process in $shop $server; do kill -TERM "$process" 2>/dev/null || true; done
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$home"
}
trap cleanup EXIT
trap 'exit 0' INT TERM
cp -R "$here/../../Config" "$home/Config"
cd "$home"
url="http://127.0.0.1:$port"
sed -i "s|^  public_url: .*|  public_url: $url|; s|^  port: .*|  port: $port|" Config/paydesk.yaml
if [ -n "${4:-}" ]; then
    # By the environment, since sed reads some characters of an address as its own.
    export PAYDESK_DATABASE="$4"
    sed -i 's|^  url: sqlite:.*|  url: ${PAYDESK_DATABASE}|' Config/paydesk.yaml
fi
# The shop signs its users' tokens with the secret that Paydesk verifies them with.
PAYDESK_USER_SECRET=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export PAYDESK_USER_SECRET
"$binary" migrate >/dev/null
"$binary" serve >server.log 2>&1 &
server=$!
python3 "$here/shop.py" "$url" "$shop_port" &
shop=$!
tries=0
until curl -fs "$url/readyz" >/dev/null 2>&1 && curl -fs "http://127.0.0.1:$shop_port/" >/dev/null 2>&1; do
    { kill -0 "$server" && kill -0 "$shop"; } 2>/dev/null && [ "$tries" -lt 600 ] || { cat server.log; exit 1; }
    tries=$((tries + 1))
    sleep 0.05
done
echo "The shop with paydesk.js: http://127.0.0.1:$shop_port/"
echo "The shop with a link:     http://127.0.0.1:$shop_port/link"
echo "Paydesk:                  $url/"
wait "$shop"
