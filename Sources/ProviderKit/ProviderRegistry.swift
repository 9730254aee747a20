package import Domain

/// The kinds of provider in this binary, and the configured accounts.
public struct ProviderRegistry: Sendable {
    /// The provider types by the name in `kind:`.
    package let kinds: [String: any PaymentProvider.Type]
    /// The accounts, sorted by id.
    package let accounts: [ConfiguredAccount]
    private let byID: [AccountID: ConfiguredAccount]
    private let byNotifyToken: [String: ConfiguredAccount]

    package init(kinds: [any PaymentProvider.Type], accounts: [ConfiguredAccount]) {
        self.kinds = Dictionary(kinds.map { ($0.manifest.kind, $0) }) { first, _ in first }
        let accounts = accounts.map { $0.inProcessorsMode(among: accounts) }
        self.accounts = accounts.sorted { $0.id < $1.id }
        byID = Dictionary(accounts.map { ($0.id, $0) }) { first, _ in first }
        byNotifyToken = Dictionary(
            accounts.compactMap { account in account.notifyToken.map { ($0, account) } }
        ) { first, _ in first }
    }

    /// The manifests of all kinds, sorted by name.
    package var manifests: [ProviderManifest] { kinds.values.map { $0.manifest }.sorted { $0.kind < $1.kind } }

    /// The kinds whose accounts have pay pages of their own.
    package var pageKinds: [String] { kinds.filter { $0.value is any PaymentPageServing.Type }.keys.sorted() }

    /// The kinds whose accounts play a service with mandates.
    package var playedKinds: [String] { kinds.filter { $0.value is any MandatePlaying.Type }.keys.sorted() }

    /// The kinds whose accounts have a notify URL.
    package var notifyingKinds: [String] { manifests.filter { !$0.notifications.isEmpty }.map(\.kind) }

    package subscript(_ id: AccountID) -> ConfiguredAccount? { byID[id] }

    /// Returns the account whose notify URL ends with this token.
    package func account(notifyToken: String) -> ConfiguredAccount? { byNotifyToken[notifyToken] }
}

/// A configured account: its provider, and its rules of routing.
package struct ConfiguredAccount: Sendable {
    package let id: AccountID
    package let provider: any PaymentProvider
    package let enabled: Bool
    package let routing: AccountRouting
    /// The random last part of the account's notify URL; nil for a kind without notifications.
    package let notifyToken: String?
    /// True in its provider's test mode (``PaymentProvider/isTest(_:)``); for a wallet's account also where the account
    /// that charges its tokens is in test mode.
    package let isTest: Bool

    package init(
        id: AccountID, provider: any PaymentProvider, isTest: Bool, enabled: Bool, routing: AccountRouting,
        notifyToken: String?
    ) {
        self.id = id
        self.provider = provider
        self.isTest = isTest
        self.enabled = enabled
        self.routing = routing
        self.notifyToken = notifyToken
    }

    package var manifest: ProviderManifest { provider.manifest }

    /// The account that charges this one's payments, where that is another one.
    package var processor: AccountID? { (provider as? any InstrumentVerifying)?.processor }

    /// The environment of sales through this account.
    package var environment: Environment { isTest ? .sandbox : .production }

    /// Returns this account with the mode of the account that charges for it, if there is one.
    fileprivate func inProcessorsMode(among accounts: [ConfiguredAccount]) -> ConfiguredAccount {
        guard let processor = accounts.first(where: { $0.id == self.processor }) else { return self }
        return ConfiguredAccount(
            id: id, provider: provider, isTest: isTest || processor.isTest, enabled: enabled, routing: routing,
            notifyToken: notifyToken)
    }

    /// Returns this account with an admin's changes.
    package func applying(_ override: AccountOverride?) -> ConfiguredAccount {
        guard let override else { return self }
        return ConfiguredAccount(
            id: id, provider: provider, isTest: isTest, enabled: override.enabled ?? enabled,
            routing: override.routing ?? routing, notifyToken: notifyToken)
    }
}

/// The changes that an admin made with `PATCH /v1/admin/accounts/{id}`, which override the file.
package struct AccountOverride: Sendable, Equatable {
    package var enabled: Bool?
    package var routing: AccountRouting?

    package init(enabled: Bool? = nil, routing: AccountRouting? = nil) {
        self.enabled = enabled
        self.routing = routing
    }
}

/// The conditions under which an account may be selected; an empty list allows everything.
package struct AccountRouting: Sendable, Equatable, Codable {
    package var platforms: [Platform]
    package var currencies: [Currency]
    /// The accounts with the highest priority are tried first.
    package var priority: Int64
    /// The share among accounts of equal priority; an account with 0 is never selected.
    package var weight: Int64
    /// The bounds of the amount in minor units of the order's currency.
    @Nullable package private(set) var min: Int64?
    @Nullable package private(set) var max: Int64?
    package var skus: [String]

    package init(
        platforms: [Platform] = [], currencies: [Currency] = [], priority: Int64 = 0, weight: Int64 = 1,
        min: Int64? = nil,
        max: Int64? = nil, skus: [String] = []
    ) {
        self.platforms = platforms
        self.currencies = currencies
        self.priority = priority
        self.weight = weight
        self.min = min
        self.max = max
        self.skus = skus
    }

    private enum CodingKeys: String, CodingKey { case platforms, currencies, priority, weight, min, max, skus }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        platforms = try fields.decodeIfPresent([Platform].self, forKey: .platforms) ?? []
        currencies = try fields.decodeIfPresent([Currency].self, forKey: .currencies) ?? []
        priority = try fields.decodeIfPresent(Int64.self, forKey: .priority) ?? 0
        weight = try fields.decodeIfPresent(Int64.self, forKey: .weight) ?? 1
        min = try fields.decodeIfPresent(Int64.self, forKey: .min)
        max = try fields.decodeIfPresent(Int64.self, forKey: .max)
        skus = try fields.decodeIfPresent([String].self, forKey: .skus) ?? []
    }
}
