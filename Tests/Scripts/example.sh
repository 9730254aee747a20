#!/bin/sh
# Sells through the example's own binary: Piggy is refused without its key, and stands beside Paydesk's providers with it.
set -eu
binary=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cp -R "$root/Config" "$home/Config"
cat >"$home/Config/providers/piggy-main.yaml" <<'EOF'
account: piggy-main
kind: piggy
enabled: true
settings: {api_key: "${PIGGY_API_KEY:-}", webhook_secret: secret}
EOF
cd "$home"
if "$binary" migrate 2>errors; then echo "an account without its key was taken"; exit 1; fi
grep -q 'settings.api_key: is missing' errors || { cat errors; exit 1; }
export PIGGY_API_KEY=pk_test
"$binary" migrate >/dev/null
"$binary" doctor --offline >report
for line in 'account piggy-main: piggy, enabled' 'account sandbox-url: sandbox, enabled'; do
    grep -q "$line" report || { echo "missing: $line"; cat report; exit 1; }
done
echo "The example's binary has its own provider beside Paydesk's."
