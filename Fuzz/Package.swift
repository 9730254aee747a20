// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "paydesk-fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "paydesk", path: ".."),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .systemLibrary(name: "CLibFuzzer"),
        .executableTarget(
            name: "paydesk-fuzz",
            dependencies: [
                "CLibFuzzer",
                .product(name: "AppleTrust", package: "paydesk"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
