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
sh "$root/Tests/Scripts/browsers-install.sh"
folder="$root/.build-browsers"
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
