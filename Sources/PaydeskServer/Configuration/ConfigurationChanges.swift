import Domain
import Gateway
import ProviderKit

/// The settings that differ between two configurations, by their names in the files.
enum ConfigurationChanges {
    /// A setting that is compared.
    private struct Setting: Sendable {
        let name: String
        let differs: @Sendable (Configuration, Configuration) -> Bool

        init<Value: Equatable & SendableMetatype>(_ name: String, _ value: @escaping @Sendable (Configuration) -> Value)
        {
            self.name = name
            differs = { value($0) != value($1) }
        }
    }

    /// The settings that were read into what the server was built from; its accounts are named by their files.
    private static let built = [
        Setting("mode", \.mode), Setting("http.host", \.http.host), Setting("http.port", \.http.port),
        Setting("http.public_url", \.http.publicURL), Setting("http.expose_development", \.http.exposeDevelopment),
        Setting("http.trusted_proxies", \.http.trustedProxies), Setting("http.cors_origins", \.http.corsOrigins),
        Setting("http.return_urls", \.http.returnURLs), Setting("database.url", \.databaseURL),
        Setting("secrets.keys", \.secretKeys), Setting("default_currency", \.defaultCurrency),
        Setting("orders.expire_after_minutes", \.orders.expireAfterMinutes),
        Setting("orders.late_payment", \.orders.latePayment),
        Setting("orders.duplicate_payment", \.orders.duplicatePayment),
        Setting("purchases.ownership", \.purchases.ownership),
        Setting("purchases.share_limit", \.purchases.shareLimit),
        Setting("purchases.transfer_cooldown_days", \.purchases.transferCooldownDays),
        Setting("webhooks.allow_private_networks", \.webhooks.allowPrivateNetworks), Setting("limits", \.limits),
        Setting("retention", \.retention), Setting("pages", \.pages), Setting("snapshots", \.snapshots),
        Setting("billing", \.billing), Setting("development", \.development),
        Setting("allow_test_accounts", \.allowsTestAccounts),
    ]

    /// The names of the changed settings that only a restart can take.
    static func needingRestart(from old: Configuration, to new: Configuration) -> [String] {
        built.filter { $0.differs(old, new) }.map(\.name) + accounts(from: old, to: new)
            + ((old.http.tls == nil) == (new.http.tls == nil) ? [] : ["http.tls"])
    }

    /// The files of accounts that were added, removed or changed.
    private static func accounts(from old: Configuration, to new: Configuration) -> [String] {
        let before = Dictionary(old.accounts.map { ($0.file, $0.compared) }) { first, _ in first }
        let after = Dictionary(new.accounts.map { ($0.file, $0.compared) }) { first, _ in first }
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }
}

/// The parts of an account that are compared; they are never shown.
private struct AccountParts: Equatable {
    let routing: AccountRouting
    let settings: ProviderSettings
    let others: [String]
}

extension AccountConfiguration {
    fileprivate var compared: AccountParts {
        AccountParts(
            routing: routing, settings: settings, others: [id.rawValue, kind, "\(enabled)", notifyToken ?? ""])
    }
}

extension Configuration.Auth {
    /// Returns whether tokens are verified in the same way by other rules; a file of keys may hold others by now.
    func isSame(as other: Configuration.Auth) -> Bool {
        let isSameSource =
            switch (keys, other.keys) {
            case (.hs256(let secrets), .hs256(let others)): secrets == others
            case (.jwksURL(let address), .jwksURL(let another)): address == another
            default: false
            }
        return isSameSource && issuer == other.issuer && audience == other.audience && userClaim == other.userClaim
            && maxLifetimeHours == other.maxLifetimeHours
    }
}
