package import Domain
package import Foundation
package import Gateway
package import ProviderKit

/// A configuration folder as typed values: checked, variables filled in, paths absolute.
package struct Configuration: Sendable {
    package enum Mode: String, Sendable, CaseIterable {
        case development, production
    }

    /// The absolute path of the folder.
    package var folder: String
    package var mode: Mode
    package var http: HTTP
    /// `sqlite:…` relative to the working directory, or `postgres://…`; it can hold a password.
    @Secret package var databaseURL: String
    /// 32 bytes each; the first encrypts, all decrypt.
    @Secret package var secretKeys: [Data]
    package var auth: Auth
    package var defaultCurrency: Currency
    package var orders: OrderPolicies
    package var purchases: Purchases
    package var webhooks: Webhooks
    package var limits: Limits
    package var retention: Retention
    package var meters: [Meter]
    package var pages: PageSettings
    package var snapshots: SnapshotLife
    package var billing: BillingSettings
    package var development: Development
    /// Production takes accounts in a provider's test mode.
    package var allowsTestAccounts: Bool
    /// Sorted by id.
    package var accounts: [AccountConfiguration]
    /// The SKUs of `catalog.yaml`, which fill an empty database.
    package var catalogue: [SKU]

    package var isDevelopment: Bool { mode == .development }

    /// Allows accounts in their provider's test mode.
    package var takesTestAccounts: Bool { isDevelopment || allowsTestAccounts }
}

extension Configuration {
    package struct HTTP: Sendable {
        package var host: String
        package var port: Int
        /// The public address, without a trailing slash.
        package var publicURL: String
        package var exposeDevelopment: Bool
        package var tls: TLS?
        /// The proxies whose `Forwarded` and `X-Forwarded-For` are trusted.
        package var trustedProxies: [CIDR]
        /// Origins in the form of a browser's `Origin` header.
        package var corsOrigins: [String]
        package var returnURLs: ReturnURLRules
    }

    package struct TLS: Sendable {
        /// The absolute path of the PEM chain.
        package var certificatePath: String
        @Secret package var privateKeyPEM: String
    }

    package struct Auth: Sendable {
        package enum Keys: Sendable {
            case hs256([Secret<String>])
            /// An absolute path.
            case jwksFile(String)
            case jwksURL(String)
        }

        package var keys: Keys
        /// Compared with a token's claim where it is set.
        package var issuer: String?
        package var audience: String?
        package var userClaim: String
        package var maxLifetimeHours: Int64
    }

    package struct Purchases: Sendable {
        package var ownership: OwnershipPolicy
        package var shareLimit: Int64
        /// 0 for none.
        package var transferCooldownDays: Int64
    }

    package struct Webhooks: Sendable {
        package var allowPrivateNetworks: Bool
    }

    /// Requests per second and bursts for each user and key, merchant sessions per minute, and concurrent requests; 0
    /// switches a limit off.
    package struct Limits: Sendable, Equatable {
        /// The live streams that a node serves where nothing else is configured.
        static let defaultStreams: Int64 = 10_000

        package var userPerSecond: Int64
        package var userBurst: Int64
        package var keyPerSecond: Int64
        package var keyBurst: Int64
        package var sessionsPerMinute: Int64
        package var concurrent: Int64
        package var pagesPerSecond: Int64
        package var pagesBurst: Int64
        /// The live streams of a node; 0 for none at all.
        package var streams: Int64
    }

    package struct Development: Sendable, Equatable {
        /// True where the server runs an App Store in a box.
        package var appStore: Bool
        /// The absolute path of the `.storekit` file with the box's products; nil for the SKUs' products.
        package var appStoreFile: String?
    }

    package struct Retention: Sendable, Equatable {
        package var rawDays: Int64
        package var idempotencyDays: Int64
    }
}

/// A file of `providers/`: an account of a kind, its settings checked against the kind's schema.
package struct AccountConfiguration: Sendable {
    package var id: AccountID
    package var kind: String
    package var enabled: Bool
    /// The random last part of the account's notify URL; nil for a kind without notifications.
    @Secret package var notifyToken: String?
    package var routing: AccountRouting
    /// The settings with defaults filled in, absolute paths and the contents of `file:` secrets; descriptions show no
    /// value.
    package var settings: ProviderSettings
    /// The file's path in the folder, `providers/apple-iap.yaml`.
    package var file: String
}

/// A value that no description, dump or mirror shows.
@propertyWrapper
package struct Secret<Value: Sendable>: Sendable {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension Secret: Equatable where Value: Equatable {}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "(secret)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
