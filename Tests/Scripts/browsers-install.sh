#!/bin/sh
# Installs the browsers, their drivers, the database and the Python modules that the tests of the pages need, where they are
# missing; fails where they cannot be.
# usage: browsers-install.sh
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
sh "$root/Tests/Scripts/install.sh" chromium chromium-driver webkit2gtk-driver xvfb fonts-noto-cjk curl openssl python3 \
    python3-venv postgresql
folder="$root/.build-browsers"
if ! "$folder/bin/python" -c 'import selenium, axe_playwright_python' 2>/dev/null; then
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps axe-playwright-python==0.1.8
    "$folder/bin/pip" install --quiet --disable-pip-version-check selenium==4.51.0
fi
