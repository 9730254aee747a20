#!/bin/sh
# An app outside of the tree that depends on this package with `traits: []`: it resolves no other package, and runs.
# usage: apart.sh [swift]
set -eu
cd "$(dirname "$0")/../.."
swift="${1:-swift}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The working tree as a repository of its own with a version.
mkdir "$folder/paydesk" "$folder/app" "$folder/app/Sources"
git ls-files -co --exclude-standard -z | tar --null --ignore-failed-read -cf - -T - 2>/dev/null | tar -xf - -C "$folder/paydesk"
(
    cd "$folder/paydesk"
    git init -q .
    git add -A
    git -c user.name=test -c user.email=test@example.invalid commit -qm "The working tree"
    git tag 0.1.0
)
cat >"$folder/app/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "app", platforms: [.macOS(.v15)],
    dependencies: [.package(url: "file://$folder/paydesk", from: "0.1.0", traits: [])],
    targets: [
        .executableTarget(
            name: "app",
            dependencies: [
                .product(name: "PaydeskApplePay", package: "paydesk"), .product(name: "PaydeskClient", package: "paydesk"),
                .product(name: "PaydeskStoreKit", package: "paydesk"),
            ], path: "Sources")
    ])
MANIFEST
cat >"$folder/app/Sources/App.swift" <<'APP'
import Foundation
import PaydeskApplePay
import PaydeskClient
import PaydeskStoreKit

@main
enum App {
    static func main() async throws {
        guard let url = URL(string: "http://127.0.0.1:9") else { return }
        let desk = Paydesk(baseURL: url, token: { throw CancellationError() }, storage: .applicationSupport)
        do { _ = try await desk.entitlements() } catch PaydeskError.loggedOut { print("logged out") }
    }
}
APP
log="$folder/log"
(cd "$folder/app" && "$swift" build >"$log" 2>&1) || { cat "$log"; exit 1; }
[ "$("$folder/app/.build/debug/app")" = "logged out" ] || { echo "apart: the app does not run"; exit 1; }
found=$(sed -n 's/^ *"identity" : "\(.*\)",*$/\1/p' "$folder/app/Package.resolved")
[ "$found" = "paydesk" ] || { echo "apart: the app resolved $found"; exit 1; }
