package import Domain
import FoundationEssentials
import Logging
package import ProviderKit
import Store

/// The configured accounts, with the changes that admins made laid over their files.
package struct Accounts: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let providers: ProviderCalling
    let logger: Logger

    /// The accounts with the admins' changes laid over their files.
    func configured(with overrides: [StoredOverride]) -> [ConfiguredAccount] {
        let byAccount = Dictionary(overrides.map { ($0.account, Self.override($0)) }) { first, _ in first }
        return providers.registry.accounts.map { $0.applying(byAccount[$0.id]) }
    }

    /// Every account with its present routing and health.
    package func list() async throws(GatewayError) -> [AccountView] {
        let ids = providers.registry.accounts.map(\.id)
        let (overrides, arrivals) = try await store.read { db in
            (try db.accounts.listOverrides().value(), try db.notifications.lastArrivals(at: ids))
        }
        let changed = Set(overrides.map(\.account))
        let unreadable = Set(overrides.filter { $0.routing != nil && Self.override($0).routing == nil }.map(\.account))
        return configured(with: overrides).map {
            AccountView(
                account: $0, isOverridden: changed.contains($0.id), hasUnreadableRouting: unreadable.contains($0.id),
                health: providers.load.health(of: $0.id), lastNotificationAt: arrivals[$0.id])
        }
    }

    /// Logs a warning for each account that routes by its file because the admin's stored routing cannot be read.
    package func warnOfUnreadableRouting() async throws(GatewayError) {
        for view in try await list() where view.hasUnreadableRouting {
            logger.warning(
                "an admin's stored routing cannot be read by this release; the account routes by its file",
                metadata: ["account": "\(view.account.id.rawValue)"])
        }
    }

    /// Changes an account from the next checkout on, or resets it to its file.
    ///
    /// - Throws: `notFound`, `invalidRequest`.
    package func change(
        _ id: String, _ change: AccountChange, context: CallContext
    ) async throws(GatewayError) -> AccountView {
        guard let account = AccountID(id).flatMap({ providers.registry[$0] }) else { throw .unknown(.account, id) }
        let configured = account.routing
        try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            try tx.accounts.lock(account.id)
            let before = try tx.accounts.listOverrides().value().first { $0.account == account.id }
            var after: StoredOverride?
            if change.reset {
                try tx.accounts.deleteOverride(account.id)
            } else {
                let current = before.flatMap { Self.override($0).routing } ?? configured
                let routing = try change.routing.map { try Self.merge($0, into: current).storedJSON() }
                let override = StoredOverride(
                    account: account.id, enabled: change.enabled ?? before?.enabled, routing: routing ?? before?.routing
                )
                try tx.accounts.setOverride(override, at: settlement.now)
                after = override
            }
            try settlement.log.audit(
                subject: "account/\(account.id.rawValue)", change.reset ? "account.reset" : "account.changed",
                before: Self.description(before), after: Self.description(after))
        }
        let views = try await list()
        guard let view = views.first(where: { $0.account.id == account.id }) else {
            throw .unknown(.account, id)
        }
        return view
    }

    private static func override(_ stored: StoredOverride) -> AccountOverride {
        let routing = stored.routing.flatMap { try? JSONDecoder().decode(AccountRouting.self, from: Data($0.utf8)) }
        return AccountOverride(enabled: stored.enabled, routing: routing)
    }

    private static func description(_ override: StoredOverride?) -> String {
        guard let override else { return "as configured" }
        return
            "enabled \(override.enabled.map(String.init) ?? "as configured"), routing \(override.routing ?? "as configured")"
    }

    /// Merges a patch into a routing (RFC 7396).
    private static func merge(_ patch: JSONValue, into routing: AccountRouting) throws(GatewayError) -> AccountRouting {
        let merged: AccountRouting
        do {
            let current = try JSONDecoder().decode(JSONValue.self, from: Data(try routing.storedJSON().utf8))
            merged = try JSONTree(current.merging(patch)).decode(AccountRouting.self)
        } catch {
            throw GatewayError(decoding: error, in: "routing")
        }
        try check(merged)
        return merged
    }

    private static func check(_ routing: AccountRouting) throws(GatewayError) {
        guard (-1_000_000...1_000_000).contains(routing.priority) else {
            throw .invalidRequest(field: "routing.priority", reason: "must be -1,000,000 to 1,000,000")
        }
        guard (0...1_000_000).contains(routing.weight) else {
            throw .invalidRequest(field: "routing.weight", reason: "must be 0 to 1,000,000")
        }
        guard (routing.min ?? 0) >= 0, (routing.max ?? .max) >= (routing.min ?? 0) else {
            throw .invalidRequest(field: "routing.min", reason: "min and max must be an interval of minor units")
        }
        guard routing.skus.count <= 1_000, routing.skus.allSatisfy({ SKUCode($0) != nil }) else {
            throw .invalidRequest(field: "routing.skus", reason: "must be at most 1,000 SKU ids")
        }
    }
}

/// An account as an admin sees it.
package struct AccountView: Sendable {
    package let account: ConfiguredAccount
    package let isOverridden: Bool
    /// True where an admin's routing is stored in a form that this release does not know, so that the file's is used.
    package let hasUnreadableRouting: Bool
    /// The health by this node's own calls.
    package let health: CircuitBreaker.Health
    /// The time at which the last notification that verified arrived; nil for none.
    package let lastNotificationAt: Timestamp?
}

/// An admin's change of an account; nil leaves a part as it is.
package struct AccountChange: Sendable {
    package var enabled: Bool?
    /// The members of the routing to change.
    package var routing: JSONValue?
    package var reset: Bool

    package init(enabled: Bool? = nil, routing: JSONValue? = nil, reset: Bool = false) {
        self.enabled = enabled
        self.routing = routing
        self.reset = reset
    }
}
