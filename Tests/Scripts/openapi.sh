#!/bin/sh
# Prints the OpenAPI document that the given binary serves with the shipped configuration, in the form of docs/openapi.json.
set -eu
binary=$(realpath "$1")
python=${PYTHON:-/usr/bin/python3}
root=$(cd "$(dirname "$0")/../.." && pwd)
home=$(mktemp -d)
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
server=""
cleanup() {
    [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
    rm -rf "$home"
}
trap cleanup EXIT
cp -R "$root/Config" "$home/Config"
cd "$home"
"$binary" serve --port "$port" >server.log 2>&1 &
server=$!
"$python" - "$port" >openapi.json <<'SCRIPT' || { cat server.log >&2; exit 1; }
import sys, time, urllib.error, urllib.request
for attempt in range(200):
    try:
        sys.stdout.buffer.write(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/openapi.json", timeout=10).read())
        break
    except (urllib.error.URLError, OSError):
        time.sleep(0.05)
else:
    sys.exit(1)
SCRIPT
"$python" "$root/Tests/Scripts/docs.py" --format <openapi.json
