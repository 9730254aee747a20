#!/bin/sh
# Sends what Schemathesis makes of the served OpenAPI document, as a user, a partner and an admin; any finding fails.
# usage: schemathesis.sh BINARY [further arguments of `schemathesis run`]
set -eu
binary=$(realpath "$1")
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
folder="$root/.build-schemathesis"
if [ ! -x "$folder/bin/schemathesis" ]; then
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check schemathesis==4.32.5
fi
home=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url="http://127.0.0.1:$port"
server=""
cleanup() {
    [ -z "$server" ] || kill -TERM "$server" 2>/dev/null || true
    rm -rf "$home"
}
trap cleanup EXIT
cp -R "$root/Config" "$home/Config"
cd "$home"
sed -i "s|^  public_url: .*|  public_url: $url|; s/user_per_second: [0-9]*/user_per_second: 0/; s/key_per_second: [0-9]*/key_per_second: 0/" \
    Config/paydesk.yaml
"$binary" migrate >/dev/null
key() { "$binary" keys create --name "$1" --scopes "$2" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])'; }
admin=$(key admin admin)
partner=$(key partner entitlements:read,entitlements:write,orders:read,checkout:write,events:read,webhooks:write,refunds:write)
"$binary" serve --port "$port" >server.log 2>&1 &
server=$!
for _ in $(seq 1 200); do
    if curl -fs "$url/readyz" >/dev/null 2>&1; then break; fi
    kill -0 "$server" 2>/dev/null || { cat server.log; exit 1; }
    sleep 0.05
done
as() {
    path=$1 bearer=$2
    shift 2
    "$folder/bin/schemathesis" run "$url/openapi.json" --url "$url" --header "Authorization: Bearer $bearer" \
        --include-path-regex "$path" --max-examples 30 --workers 2 --seed 1 --no-color "$@"
}
failed=0
as '^/v1/public/' "$("$binary" token --user schemathesis)" "$@" || failed=1
as '^/v1/partner/' "$partner" "$@" || failed=1
as '^/v1/admin/' "$admin" "$@" || failed=1
exit $failed
