#!/bin/sh
# What the formatter does not check: file length, traps, ambient clocks, unfinished work, imports across layers.
# usage: tidy.sh [swift]
set -u
failed=0
complain() {
    [ -n "$2" ] || return 0
    printf '%s\n%s\n' "$1" "$2"
    failed=1
}
files() { git ls-files -co --exclude-standard -- '*.swift' | while read -r file; do [ -f "$file" ] && echo "$file"; done; }
sources() { files | grep -Ev '(^|/)Tests/|^Package.swift$'; }

complain "Files over 400 lines:" "$(sources | xargs wc -l | awk '$2 != "total" && $1 > 400 {print "  " $2 " " $1}')"
complain "Traps outside tests:" \
    "$(sources | xargs grep -nE '\btry!|\bas!|fatalError\(|preconditionFailure\(|@unchecked Sendable|nonisolated\(unsafe\)')"
complain "Ambient clock or randomness below the executable:" \
    "$(sources | grep -E '^Sources/(Domain|Gateway|Store|HTTPAPI|AppleTrust|ProviderKit|ProviderTesting)/|^Providers/' \
        | xargs grep -nE '\bDate\(\)|\bUUID\(\)|Date\.now|SystemRandomNumberGenerator|\.random\(in:')"
complain "Unfinished work:" "$(sources | xargs grep -nE '\b(TODO|FIXME)\b|[Nn]ot implemented')"
complain "Tests that are off, cannot fail or sleep:" \
    "$(files | grep -E '(^|/)Tests/' | xargs grep -nE '\.disabled\(|XCTSkip|withKnownIssue|#expect\(true\)|\bsleep\(')"
complain "The HTTP layer touches the store:" "$(grep -rnE '^(package |public )?import Store$' Sources/HTTPAPI)"
complain "A use case sees HTTP types:" "$(grep -rnE 'import (HTTPTypes|Hummingbird|NIO)' Sources/Gateway)"
complain "A provider sees the store or a use case:" "$(grep -rnE 'import (Store|Gateway|HTTPAPI)$' Providers/*/Sources)"
complain "What decides about trust leans on more than certificates, ASN.1, cryptography and encodings:" \
    "$(grep -rnE '^(@_exported )?(package |public |internal )?import ' Sources/AppleTrust Sources/Encodings Sources/RefusalReasons \
        | grep -vE 'import (X509|SwiftASN1|Crypto|_CryptoExtras|Synchronization|Encodings|RefusalReasons)$')"
complain "The SDK's core leans on more than Foundation:" \
    "$(grep -rnE '^ *(public |internal )?import ' Sources/PaydeskClient | grep -vE 'import Foundation(Networking)?$')"
# Tests may unwrap what they made themselves; everything else is held to the stricter rule.
strict=$(mktemp)
sed 's/"NeverForceUnwrap": false/"NeverForceUnwrap": true/' .swift-format >"$strict"
sources | xargs "${1:-swift}" format lint --strict --parallel --configuration "$strict" || failed=1
rm -f "$strict"
exit $failed
