#!/bin/sh
# Writes the documentation that the given binary serves as files, which any web server can serve and a browser can open.
# usage: site.sh BINARY FOLDER
set -eu
binary=$(realpath "$1")
folder=$2
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
# All pages are read at once.
sed -i 's/pages_per_second: 10/pages_per_second: 0/' "$home/Config/paydesk.yaml"
(cd "$home" && exec "$binary" serve --port "$port" >server.log 2>&1) &
server=$!
"$python" "$root/Tests/Scripts/site.py" "http://127.0.0.1:$port" "$folder" || { cat "$home/server.log" >&2; exit 1; }
