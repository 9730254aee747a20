#!/bin/sh
# Tests the pages with the given binary in two browser engines, Chromium and WebKitGTK, on SQLite and on a throwaway
# PostgreSQL beside each other; or, with --pages FOLDER, takes a picture of each page. Whatever is missing is installed, and
# fails the run where it cannot be.
# usage: browsers.sh BINARY [--pages FOLDER [PAGE …] | arguments of unittest]
#        BROWSERS_ENGINE=sqlite or postgres tests on one database alone
set -eu
PAYDESK=$(realpath "$1")
export PAYDESK PYTHONDONTWRITEBYTECODE=1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
database=postgresql
if [ "${1:-}" = --pages ] || [ "${BROWSERS_ENGINE:-}" = sqlite ]; then database=""; fi
# shellcheck disable=SC2086
sh "$root/Tests/Scripts/install.sh" chromium chromium-driver webkit2gtk-driver xvfb fonts-noto-cjk curl openssl python3 python3-venv $database
folder="$root/.build-browsers"
if ! "$folder/bin/python" -c 'import selenium, axe_playwright_python' 2>/dev/null; then
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps axe-playwright-python==0.1.8
    "$folder/bin/pip" install --quiet --disable-pip-version-check selenium==4.51.0
fi
cd "$root/Tests/Browsers"
if [ "${1:-}" = --pages ]; then
    pictures=$2
    shift 2
    case $pictures in /*) ;; *) pictures=$root/$pictures ;; esac
    exec "$folder/bin/python" screenshots.py "$pictures" "$@"
fi
[ $# -gt 0 ] || set -- -v test_markup test_pages test_docs test_paying test_wechat test_portal test_console test_console_acts \
    test_console_hour
exec "$folder/bin/python" beside.py "$@"
