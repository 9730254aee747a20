// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// An async function stays on its caller's executor (SE-0461).
///
/// Otherwise each call and each return asks the task for its executor, with a lock each time; a request makes dozens of
/// them.
let requestPath: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

extension Target {
    var isRequestPath: Bool { ["Gateway", "HTTPAPI"].contains(name) }
}

/// The dependencies of a provider whose service signs with RSA and has certificates.
let signing: [Target.Dependency] = [
    .product(name: "Crypto", package: "swift-crypto"), .product(name: "_CryptoExtras", package: "swift-crypto"),
    .product(name: "SwiftASN1", package: "swift-asn1"), .product(name: "X509", package: "swift-certificates"),
]

let package = Package(
    name: "paydesk",
    platforms: [.macOS(.v15), .iOS(.v15)],
    products: [
        .executable(name: "paydesk", targets: ["paydesk"]),
        .library(name: "AppleTrust", targets: ["AppleTrust"]),
        .library(name: "PaydeskApplePay", targets: ["PaydeskApplePay"]),
        .library(name: "PaydeskClient", targets: ["PaydeskClient"]),
        .library(name: "PaydeskProviders", targets: ["PaydeskProviders"]),
        .library(name: "PaydeskServer", targets: ["PaydeskServer"]),
        .library(name: "PaydeskStoreKit", targets: ["PaydeskStoreKit"]),
        .library(name: "ProviderKit", targets: ["ProviderKit"]),
        .library(name: "ProviderTesting", targets: ["ProviderTesting"]),
    ],
    traits: [
        .default(enabledTraits: ["Server"]),
        .trait(
            name: "Server",
            description: "The server and everything it depends on. An app takes this package with `traits: []`."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // Without traits, which nothing here needs: SwiftPM orders several by chance, and compiles the package anew then.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // Our layers, lowest first. Imports point up this list only.
        .target(name: "Encodings"),
        .target(name: "RefusalReasons"),
        .target(name: "Domain", dependencies: ["Encodings"]),
        .target(
            name: "AppleTrust",
            dependencies: [
                "Encodings", "RefusalReasons",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .target(
            name: "AppStoreBox",
            dependencies: [
                "AppleTrust", "Domain", "Encodings",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .target(name: "ProviderKit", dependencies: ["Domain", "RefusalReasons"]),
        .target(
            name: "Store",
            dependencies: [
                "Domain", "CLibpq", "CSQLiteSettings",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .target(
            name: "Gateway",
            dependencies: [
                "AppStoreBox", "Domain", "ProviderKit", "Store",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .target(
            name: "Pages",
            dependencies: [
                "Domain", "CPages", "CZlib",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Mustache", package: "swift-mustache"),
            ],
            exclude: ["Assets", "Templates", "Texts"]
        ),
        .target(
            name: "HTTPAPI",
            dependencies: [
                "AppStoreBox", "Domain", "Gateway", "Pages", "ProviderKit", "CQREncode",
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        .target(
            name: "PaydeskServer",
            dependencies: [
                "AppStoreBox", "Domain", "Gateway", "HTTPAPI", "ProviderKit", "ProviderTesting", "Store",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        .target(
            name: "PaydeskProviders",
            dependencies: [
                "ProviderKit", "AlipayProvider", "AppleIAPProvider", "ApplePayProvider", "EPayProvider",
                "PayPalProvider", "RemoteProvider", "SandboxProvider", "StripeProvider", "WeChatPayProvider",
            ]),
        .executableTarget(name: "paydesk", dependencies: ["PaydeskProviders", "PaydeskServer"]),

        // The SDK of apps: Foundation alone, and Apple's own frameworks where they are.
        .target(name: "PaydeskClient"),
        .target(name: "PaydeskStoreKit", dependencies: ["PaydeskClient"]),
        .target(name: "PaydeskApplePay", dependencies: ["PaydeskClient"]),
        .target(name: "ProviderTesting", dependencies: ["Domain", "ProviderKit"]),

        // The files of the pages, embedded with C23's `#embed`.
        .target(name: "CPages"),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(name: "CSQLiteSettings", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]),

        .target(
            name: "TestSupport",
            dependencies: [
                "AppStoreBox", "Domain", "Gateway", "HTTPAPI", "ProviderKit", "ProviderTesting", "SandboxProvider",
                "AppleIAPProvider", "ApplePayProvider", "Store",
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "Logging", package: "swift-log"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            path: "Tests/Support"
        ),
        .executableTarget(
            name: "paydesk-bench",
            dependencies: [
                "AppleTrust", "Domain", "Gateway", "ProviderKit", "Store", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Benchmarks/Speed",
            exclude: ["Beside"]
        ),
        .executableTarget(
            name: "paydesk-faults",
            dependencies: [
                "Domain", "ProviderKit", "ProviderTesting", "Store", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Benchmarks/Faults",
            exclude: ["Shim"]
        ),
        // A plugin of the remote provider, like a partner's: it uses none of the other targets.
        .executableTarget(
            name: "remote-plugin-example",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Examples/RemotePlugin/swift"
        ),
        // A device whose purchases are queued, for tests that kill it (`Tests/PaydeskClientTests`).
        .executableTarget(name: "paydesk-device", dependencies: ["PaydeskClient"], path: "Tests/Device"),
        .testTarget(name: "EncodingsTests", dependencies: ["Encodings"]),
        .testTarget(
            name: "PaydeskClientTests",
            dependencies: [
                "PaydeskApplePay", "PaydeskClient", "PaydeskStoreKit", "TestSupport", "paydesk-device",
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .testTarget(name: "DomainTests", dependencies: ["Domain"]),
        .testTarget(name: "PagesTests", dependencies: ["Domain", "Pages", "CZlib"]),
        .testTarget(
            name: "AppleTrustTests",
            dependencies: [
                "AppleTrust", "Encodings", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            exclude: ["Interop"]
        ),
        .testTarget(
            name: "AppStoreBoxTests",
            dependencies: [
                "AppStoreBox", "AppleTrust", "Domain", "Encodings",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .testTarget(
            name: "ProviderKitTests",
            dependencies: ["ProviderKit", "ProviderTesting", .product(name: "Crypto", package: "swift-crypto")]),
        .testTarget(
            name: "StoreTests", dependencies: ["Store", "TestSupport", .product(name: "GRDB", package: "GRDB.swift")]),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "AppStoreBox", "Domain", "Gateway", "ProviderKit", "ProviderTesting", "Store", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["Webhooks/Interop"]
        ),
        .testTarget(
            name: "HTTPAPITests",
            dependencies: [
                "Domain", "Gateway", "HTTPAPI", "Pages", "ProviderKit", "Store", "TestSupport",
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"), .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            exclude: ["Interop"]
        ),
        .testTarget(
            name: "PaydeskServerTests",
            dependencies: [
                "Domain", "Gateway", "HTTPAPI", "PaydeskServer", "ProviderKit", "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            exclude: ["Interop"]
        ),
    ] + provider("Sandbox", [.product(name: "Crypto", package: "swift-crypto")])
        + provider("ApplePay", ["AppleTrust"], tests: ["Gateway"])
        + provider("AppleIAP", ["AppleTrust", .product(name: "Crypto", package: "swift-crypto")], exclude: ["Interop"])
        + provider(
            "Stripe", [.product(name: "Crypto", package: "swift-crypto")], tests: ["Gateway", "Store"],
            exclude: ["Interop"])
        + provider(
            "Alipay", signing,
            tests: [
                "Gateway", "HTTPAPI", "Store", .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Interop"])
        + provider(
            "EPay", [.product(name: "Crypto", package: "swift-crypto")], tests: ["Gateway", "Store"],
            exclude: ["Interop"])
        + provider(
            "Remote", [.product(name: "Crypto", package: "swift-crypto")], rehearses: true,
            tests: ["Gateway", "Store", "remote-plugin-example"], exclude: ["Interop"])
        + provider("WeChatPay", signing, tests: ["Gateway"], exclude: ["Interop"])
        + provider("PayPal", signing, tests: ["Gateway"], exclude: ["Interop"]),
    swiftLanguageModes: [.v6]
)

/// A payment provider: `Providers/<name>` with its sources and its tests.
///
/// - Parameter rehearses: true where the conformance kit can be run against its live service.
func provider(
    _ name: String, _ dependencies: [Target.Dependency] = [], rehearses: Bool = false,
    tests: [Target.Dependency] = [], exclude: [String] = []
) -> [Target] {
    [
        .target(
            name: "\(name)Provider",
            dependencies: ["ProviderKit", "Domain"] + (rehearses ? ["ProviderTesting"] : []) + dependencies,
            path: "Providers/\(name)/Sources"),
        .testTarget(
            name: "\(name)ProviderTests",
            dependencies: [.target(name: "\(name)Provider"), "ProviderKit", "ProviderTesting", "TestSupport"]
                + dependencies + tests,
            path: "Providers/\(name)/Tests",
            exclude: exclude
        ),
    ]
}

// An app that takes this package without the trait resolves no other package.
for target in package.targets {
    target.dependencies = target.dependencies.map { dependency in
        guard case .productItem(let name, let package, let aliases, _) = dependency else { return dependency }
        return .productItem(
            name: name, package: package, moduleAliases: aliases, condition: .when(traits: ["Server"]))
    }
}

for target in package.targets where target.type != .system {
    target.swiftSettings = settings + (target.isRequestPath ? requestPath : [])
}
