#!/bin/sh
# Judges the files of deploy/ with the programs that read them: systemd the unit, Prometheus the rules. Lint does the rest
# (Tests/Scripts/deploy.py).
# usage: check.sh
set -eu
. "$(dirname "$0")/common.sh"
mkdir -p "$out"

# Out of its package alone: installing that would start a server.
promtool=$(command -v promtool || echo "$out/promtool")
if [ ! -x "$promtool" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root prometheus >/dev/null && dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO ./usr/bin/promtool >promtool)
    install -m 755 "$work/promtool" "$promtool"
fi
"$promtool" check config --lint-fatal "$source/deploy/prometheus/prometheus.yaml"
"$promtool" check rules --lint-fatal "$source/deploy/prometheus/alerts.yaml"
"$promtool" test rules "$source/deploy/prometheus/alerts.test.yaml"

judge_unit "$source/deploy/systemd/paydesk.service"
