#!/bin/sh
# Makes .build-beside, a Python environment with what `make bench-beside` compares Paydesk with.
set -eu
cd "$(dirname "$0")/../.."
list=Benchmarks/Speed/Beside/requirements.txt
folder=.build-beside
cmp -s "$list" "$folder/installed.txt" && exit 0
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check -r "$list"
cp "$list" "$folder/installed.txt"
