#!/bin/sh
# Makes a Python client from the OpenAPI document that the given binary serves, and lets it check out, attach and refund.
# usage: client.sh BINARY          Tests/Scripts/interop.sh has made the environment with openapi-python-client
set -eu
binary=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
python="${INTEROP_PYTHON:-$root/.build-interop/bin/python}"
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
# In development Xcode's transactions are taken where no environment is named.
sed -i '/^ *environments:/d' Config/providers/apple-iap.yaml
sed -i "s|^  public_url: .*|  public_url: $url|" Config/paydesk.yaml
"$binary" migrate >/dev/null
admin=$("$binary" keys create --name client --scopes admin --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["key"])')
"$binary" serve --port "$port" >server.log 2>&1 &
server=$!
for _ in $(seq 1 200); do
    if curl -fs "$url/readyz" >/dev/null 2>&1; then break; fi
    kill -0 "$server" 2>/dev/null || { cat server.log; exit 1; }
    sleep 0.05
done
curl -fs "$url/openapi.json" >openapi.json
"$python" -m openapi_python_client generate --path openapi.json --output-path paydesk_client --meta none >generated.log 2>&1 ||
    { cat generated.log; exit 1; }
files=$(find paydesk_client -name '*.py' | wc -l)
# A schema that is written out at each of its uses would be a file for each: five a call is what shared ones need.
calls=$("$python" -c 'import json; print(sum(len(p) for p in json.load(open("openapi.json"))["paths"].values()))')
[ "$files" -lt $((5 * calls)) ] || { echo "the generated client has $files files for $calls calls"; exit 1; }
"$python" "$root/Tests/Scripts/client.py" "$url" "$admin" "$("$binary" token --user client)" ||
    { tail -20 server.log; exit 1; }
echo "client: $files files; a checkout, an attach and a refund by it"
