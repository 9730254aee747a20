#!/bin/sh
# Makes .build-interop, a Python environment with other people's libraries that tests compare with, once for each list.
set -eu
cd "$(dirname "$0")/../.."
list=Tests/Scripts/interop-requirements.txt
folder=.build-interop
if ! cmp -s "$list" "$folder/installed.txt"; then
    rm -rf "$folder"
    python3 -m venv "$folder" 2>/dev/null || {
        rm -rf "$folder"
        sh Tests/Scripts/install.sh python3 python3-venv
        python3 -m venv "$folder"
    }
    "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$list"
    # One library's files replace another's whatever the order was.
    "$folder/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps python-alipay-sdk==3.4.0
    cp "$list" "$folder/installed.txt"
fi
