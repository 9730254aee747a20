#!/bin/sh
# Type-checks the parts of the SDK that only Apple's systems compile, against declarations of exactly what they use
# (Tests/AppleStubs). It shows that they fit together and to iOS 15's names, not that Apple's frameworks behave so.
# usage: apple-parts.sh [swift]
set -eu
cd "$(dirname "$0")/../.."
compiler="$(dirname "$(command -v "${1:-swift}")")/swiftc"
modules=$(mktemp -d)
trap 'rm -rf "$modules"' EXIT
flags="-swift-version 6 -parse-as-library -package-name paydesk -I $modules -enable-upcoming-feature ExistentialAny
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility"
# shellcheck disable=SC2086
module() {
    name=$1
    shift
    "$compiler" $flags -emit-module -module-name "$name" -emit-module-path "$modules/$name.swiftmodule" "$@"
}
module UIKit Tests/AppleStubs/UIKit.swift
module StoreKit Tests/AppleStubs/StoreKit.swift
module CryptoKit Tests/AppleStubs/CryptoKit.swift
module PassKit Tests/AppleStubs/PassKit.swift
module PaydeskClient $(find Sources/PaydeskClient -name '*.swift')
for part in PaydeskStoreKit PaydeskApplePay; do
    # shellcheck disable=SC2046,SC2086
    "$compiler" $flags -warnings-as-errors -typecheck -module-name "$part" $(find "Sources/$part" -name '*.swift')
done
# The check can fail: a name that StoreKit does not have is found.
cp Sources/PaydeskStoreKit/StoreKitStorefront.swift "$modules/planted.swift"
sed -i 's/Transaction\.unfinished/Transaction.unfinishd/' "$modules/planted.swift"
# shellcheck disable=SC2086
if "$compiler" $flags -typecheck -module-name PaydeskStoreKit "$modules/planted.swift" 2>/dev/null; then
    echo "apple-parts: a planted fault was not found"
    exit 1
fi
