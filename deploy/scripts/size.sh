#!/bin/sh
# Compares a size with its bound in deploy/sizes.txt and prints both.
# usage: size.sh NAME BYTES     RECORD_SIZES=1 writes the bound anew: the size and a tenth, at most the limit
set -eu
. "$(dirname "$0")/common.sh"
file=$source/deploy/sizes.txt
if [ "${RECORD_SIZES:-}" = 1 ]; then
    awk -v name="$1" -v bytes="$2" '$1 == name {
        bound = int(bytes * 1.1); if (bound > $3) bound = $3; print name, bound, $3; next
    } {print}' "$file" >"$file.new"
    mv "$file.new" "$file"
fi
awk -v name="$1" -v bytes="$2" '$1 == name {
    found = 1
    printf "%s: %.1f MB, at most %.1f MB\n", name, bytes / 1e6, $2 / 1e6
    if (bytes > $2) { print name ": too large (deploy/sizes.txt)"; failed = 1 }
} END {if (!found) print name ": has no bound in deploy/sizes.txt"; exit failed || !found}' "$file"
