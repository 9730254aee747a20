#!/bin/sh
# Sends what Schemathesis makes of the served OpenAPI document, as a user, a partner, an admin and, to the rest, as other
# programs do; any finding fails. Only what schemathesis_hooks.py lists is none.
# usage: schemathesis.sh BINARY [further arguments of `schemathesis run`]
#        EXAMPLES=200 makes more of each operation than the usual 20
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
export URL="$url" USER_TOKEN PARTNER_KEY="$partner" ADMIN_KEY="$admin"
USER_TOKEN=$("$binary" token --user schemathesis)
export SCHEMATHESIS_HOOKS="$root/Tests/Scripts/schemathesis_hooks.py" PYTHONDONTWRITEBYTECODE=1
# One worker and one seed: the same document and the same server make the same run. An advance of the clock answers when
# all that came due is done, which takes a busy machine longer than the usual 10 seconds.
as() {
    bearer=$1
    shift
    "$folder/bin/schemathesis" run "$url/openapi.json" --url "$url" --header "Authorization: Bearer $bearer" \
        --max-examples "${EXAMPLES:-20}" --workers 1 --seed 1 --generation-database none --no-color \
        --request-timeout 60 "$@"
}
failed=0
as "$USER_TOKEN" --include-path-regex '^/v1/public/' "$@" || failed=1
as "$partner" --include-path-regex '^/v1/partner/' "$@" || failed=1
# Of the notify addresses those without the provider's kind: the others are the same.
as "$USER_TOKEN" --exclude-path-regex '^/v1/(public|partner|admin|notify/[a-z_]+)/' "$@" || failed=1
# The last, because an admin changes what the others need.
as "$admin" --include-path-regex '^/v1/admin/' "$@" || failed=1
exit $failed
