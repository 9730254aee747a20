#!/bin/sh
# Runs the command, and says at its end once more what failed: a log of thousands of lines hides it, and often only the
# last of them are kept.
set -u
log=$(mktemp)
trap 'rm -f "$log" "$log.status"' EXIT
# Who ends a hanging run by SIGABRT wants to read what its processes say then.
{ "$@" 2>&1; echo $? >"$log.status"; } | { trap '' ABRT; tee "$log"; }
status=$(cat "$log.status" 2>/dev/null || echo 134)
if [ "$status" -ne 0 ]; then
    printf '\nWhat failed:\n'
    grep -aE -A 3 'recorded an issue|error:|Fatal error|ERROR: .*Sanitizer|WARNING: ThreadSanitizer' "$log" | grep -avE '^(✔|◇|--)' |
        cut -c 1-600 | head -n 60
fi
exit "$status"
