package import Domain

/// The kinds of provider that this binary has, and the configured accounts of them.
public struct ProviderRegistry: Sendable {
    /// The provider types by the word in `kind:`.
    package let kinds: [String: any PaymentProvider.Type]
    /// Sorted by id.
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

    /// The kinds whose accounts serve their own pay pages.
    package var pageKinds: [String] { kinds.filter { $0.value is any PaymentPageServing.Type }.keys.sorted() }

    /// The kinds whose accounts have a notify address.
    package var notifyingKinds: [String] { manifests.filter { !$0.notifications.isEmpty }.map(\.kind) }

    package subscript(_ id: AccountID) -> ConfiguredAccount? { byID[id] }

    /// The account whose notify URL ends in this token.
    package func account(notifyToken: String) -> ConfiguredAccount? { byNotifyToken[notifyToken] }
}

/// An account as configured: its provider, and the rules by which the cashier chooses it.
package struct ConfiguredAccount: Sendable {
    package let id: AccountID
    package let provider: any PaymentProvider
    package let enabled: Bool
    package let routing: AccountRouting
    /// The random last part of its notify URL; nil for a kind without notifications.
    package let notifyToken: String?
    /// True in its provider's test mode (``PaymentProvider/isTest(_:)``); of a wallet's account also where the account that
    /// charges its tokens is in it.
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

    /// The account that takes the money for this one, where that is another.
    package var processor: AccountID? { (provider as? any InstrumentVerifying)?.processor }

    /// The environment of what is sold through it.
    package var environment: Environment { isTest ? .sandbox : .production }

    /// This account, in the mode of the one that charges for it, if there is one.
    fileprivate func inProcessorsMode(among accounts: [ConfiguredAccount]) -> ConfiguredAccount {
        guard let processor = accounts.first(where: { $0.id == self.processor }) else { return self }
        return ConfiguredAccount(
            id: id, provider: provider, isTest: isTest || processor.isTest, enabled: enabled, routing: routing,
            notifyToken: notifyToken)
    }

    /// This account with what an admin changed laid over it.
    package func applying(_ override: AccountOverride?) -> ConfiguredAccount {
        guard let override else { return self }
        return ConfiguredAccount(
            id: id, provider: provider, isTest: isTest, enabled: override.enabled ?? enabled,
            routing: override.routing ?? routing, notifyToken: notifyToken)
    }
}

/// The settings that an admin made by `PATCH /v1/admin/accounts/{id}`; it wins over the file.
package struct AccountOverride: Sendable, Equatable {
    package var enabled: Bool?
    package var routing: AccountRouting?

    package init(enabled: Bool? = nil, routing: AccountRouting? = nil) {
        self.enabled = enabled
        self.routing = routing
    }
}

/// The conditions under which an account may be chosen; an empty list restricts nothing.
package struct AccountRouting: Sendable, Equatable, Codable {
    package var platforms: [Platform]
    package var currencies: [Currency]
    /// The highest is tried first.
    package var priority: Int64
    /// The share among equal priorities; 0 is never chosen.
    package var weight: Int64
    /// Bounds of the amount in minor units of the order's currency.
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
