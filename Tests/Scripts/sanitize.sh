#!/bin/sh
# Builds the tests with a sanitizer and runs them, and the programs that they start, under it; fails where a test does
# or where there is a report, also one of a program that a test has killed.
# usage: sanitize.sh SWIFT thread|address [ARGUMENT...]
set -eu
swift=$1
sanitizer=$2
shift 2
scratch=$(pwd)/.build-$sanitizer
reports=$scratch/reports

"$swift" build --build-tests --sanitize="$sanitizer" --scratch-path "$scratch"
rm -rf "$reports"
mkdir -p "$reports"
# Leaks are not looked for: what a test process keeps to its end, such as its database server's watcher, is meant to stay.
export TSAN_OPTIONS="exitcode=66:second_deadlock_stack=1:log_path=$reports/thread"
# Short stacks and a small quarantine make a run much faster.
export ASAN_OPTIONS="detect_leaks=0:malloc_context_size=3:quarantine_size_mb=32:log_path=$reports/address"
status=0
if [ "$sanitizer" = thread ]; then
    # Only Swift's own clang knows Swift's calling convention.
    clang=$(dirname "$(readlink -f "$(command -v "$swift")")")/clang
    "$clang" -shared -fPIC -O1 -Wall -Werror -o "$scratch/mutex.so" Tests/Scripts/thread-sanitizer.c
    export LD_PRELOAD="$scratch/mutex.so"
fi
TMPDIR=$(sh Tests/Scripts/scratch.sh) sh Tests/Scripts/test.sh "$swift" test --skip-build --sanitize="$sanitizer" \
    --scratch-path "$scratch" --experimental-maximum-parallelization-width 16 "$@" || status=$?
unset LD_PRELOAD
found=$(find "$reports" -type f | wc -l)
if [ "$found" -gt 0 ]; then
    find "$reports" -type f | sort | head -n 3 | while read -r report; do
        printf '\n%s:\n' "$report"
        head -n 60 "$report"
    done
    [ "$status" -ne 0 ] || status=1
fi
echo "$sanitizer sanitizer: $found reports"
exit "$status"
