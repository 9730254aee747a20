#!/bin/sh
# Installs the Debian packages that are missing, by sudo when not root. Elsewhere than on Debian it only says what is needed.
set -eu
command -v dpkg-query >/dev/null 2>&1 || { echo "Please install: $*"; exit 0; }
missing=""
for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo"
echo "Installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq $missing >/dev/null
