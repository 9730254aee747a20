#!/bin/sh
# Builds the fuzzer, mints its seeds anew and runs every target; fails where one has a finding.
# usage: run.sh SWIFT RUNS [TARGET...]
set -eu
swift=$1
runs=$2
shift 2
cd "$(dirname "$0")"

# Everything in Swift is instrumented: AppleTrust and what it reads certificates with. C has the address sanitizer only,
# because the branches of cryptography teach libFuzzer nothing. lld, because gold fails on the sanitized objects.
"$swift" build -c release --product paydesk-fuzz --sanitize address \
    -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld
work=$(pwd)/.build/fuzz
fuzzer=$(pwd)/.build/release/paydesk-fuzz
# Swift sets spare bits in references, which the leak detector then takes for lost; a leak that matters meets the limit
# of memory instead. Short stacks and a small quarantine make a run much faster.
#
# Swift's own tracer of crashes would come before libFuzzer, and wait for an answer where there is a terminal.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=32:malloc_context_size=2${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $("$fuzzer" --list)
targets=$#
rm -rf "$work/seeds"
mkdir -p "$work/seeds" "$work/logs" "$work/findings"
"$fuzzer" "--seeds=$work/seeds"

fuzz() {
    mkdir -p "$work/corpus/$1"
    dictionary="-dict=$work/seeds/$1.dict"
    [ -s "$work/seeds/$1.dict" ] || dictionary=-verbosity=1
    exec "$fuzzer" "--target=$1" "-runs=$runs" -max_len=70000 -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=64 \
        -detect_leaks=0 -print_final_stats=1 "-artifact_prefix=$work/findings/$1-" "$dictionary" \
        "$work/corpus/$1" "$work/seeds/$1" >"$work/logs/$1.log" 2>&1
}

total=0
findings=0
# usage: report TARGET PROCESS
report() {
    status=0
    wait "$2" || status=$?
    log=$work/logs/$1.log
    executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    edges=$(sed -n 's/^#[0-9]*[[:space:]].* cov: \([0-9]*\) .*/\1/p' "$log" | sed -n '1h;$!d;x;G;s/\n/ to /p')
    total=$((total + ${executed:-0}))
    if [ "$status" -eq 0 ] && [ "${executed:-0}" -ge "$runs" ]; then
        echo "$1: $executed runs, $edges edges covered"
        return
    fi
    findings=$((findings + 1))
    echo "$1: a finding after ${executed:-0} runs; the end of $log:"
    tail -n 40 "$log"
}

# Two at a time.
while [ $# -gt 0 ]; do
    fuzz "$1" &
    first=$!
    if [ $# -eq 1 ]; then
        report "$1" "$first"
        break
    fi
    fuzz "$2" &
    second=$!
    report "$1" "$first"
    report "$2" "$second"
    shift 2
done
echo "fuzz: $targets targets, $total runs, $findings findings"
[ "$findings" -eq 0 ]
