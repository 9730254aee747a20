// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "piggydesk",
    platforms: [.macOS(.v15)],
    dependencies: [
        // In a package of your own: .package(url: "https://…/paydesk", from: "1.0.0")
        .package(name: "paydesk", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .target(
            name: "PiggyProvider",
            dependencies: [
                .product(name: "ProviderKit", package: "paydesk"), .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .executableTarget(
            name: "piggydesk",
            dependencies: [
                "PiggyProvider", .product(name: "PaydeskProviders", package: "paydesk"),
                .product(name: "PaydeskServer", package: "paydesk"),
            ]),
        .testTarget(
            name: "PiggyProviderTests",
            dependencies: [
                "PiggyProvider", .product(name: "ProviderKit", package: "paydesk"),
                .product(name: "ProviderTesting", package: "paydesk"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
