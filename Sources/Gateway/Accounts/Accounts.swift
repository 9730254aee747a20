package import Domain
import FoundationEssentials
import Logging
package import ProviderKit
import Store

extension Gateway {
    /// Who can take a payment as things are now: what a checkout does, and what is said of it, come from here.
    func route(
        _ need: SelectionNeed, with overrides: [StoredOverride]
    ) -> Route {
        let configured = accounts(with: overrides)
        var unhealthy = traffic.unhealthy
        // A contract that nobody can charge is as good as none.
        unhealthy.formUnion(configured.filter { $0.processor.map(unhealthy.contains) ?? false }.map(\.id))
        let accounts = Selection.candidates(configured, for: need, avoiding: unhealthy)
        guard accounts.isEmpty else {
            return Route(accounts: accounts, insists: accounts.first.map { unhealthy.contains($0.id) } ?? false)
        }
        let refusals = configured.compactMap { account in
            Selection.refusal(of: account, need, among: configured).map {
                AccountRefusal(account: account.id, reason: $0)
            }
        }
        return Route(accounts: [], insists: false, refusals: refusals)
    }

    /// The configured accounts with what admins changed laid over them.
    func accounts(with overrides: [StoredOverride]) -> [ConfiguredAccount] {
        let byAccount = Dictionary(overrides.map { ($0.account, Self.override($0)) }) { first, _ in first }
        return registry.accounts.map { $0.applying(byAccount[$0.id]) }
    }

    /// Every account as it counts now.
    package func listAccounts() async throws(GatewayError) -> [AccountView] {
        let overrides = try await read { db in try db.accounts.listOverrides().value() }
        let changed = Set(overrides.map(\.account))
        let unreadable = Set(overrides.filter { $0.routing != nil && Self.override($0).routing == nil }.map(\.account))
        return accounts(with: overrides).map {
            AccountView(
                account: $0, isOverridden: changed.contains($0.id), hasUnreadableRouting: unreadable.contains($0.id),
                health: traffic.health(of: $0.id))
        }
    }

    /// Says in the log which accounts route by their files because what an admin stored cannot be read.
    package func warnOfUnreadableRouting() async throws(GatewayError) {
        for view in try await listAccounts() where view.hasUnreadableRouting {
            logger.warning(
                "an admin's stored routing cannot be read by this release; the account routes by its file",
                metadata: ["account": "\(view.account.id.rawValue)"])
        }
    }

    /// Changes an account from the next checkout on, or goes back to its file.
    ///
    /// - Throws: `notFound`, `invalidRequest`.
    package func changeAccount(
        _ id: String, _ change: AccountChange, context: CallContext
    ) async throws(GatewayError) -> AccountView {
        guard let account = AccountID(id).flatMap({ registry[$0] }) else { throw .unknown(.account, id) }
        let configured = account.routing
        let cause = Cause(actor: context.actor, requestID: context.requestID)
        try await settle(cause) { settlement in
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
                before: Self.words(before), after: Self.words(after))
        }
        let views = try await listAccounts()
        guard let view = views.first(where: { $0.account.id == account.id }) else {
            throw .unknown(.account, id)
        }
        return view
    }

    private static func override(_ stored: StoredOverride) -> AccountOverride {
        let routing = stored.routing.flatMap { try? JSONDecoder().decode(AccountRouting.self, from: Data($0.utf8)) }
        return AccountOverride(enabled: stored.enabled, routing: routing)
    }

    private static func words(_ override: StoredOverride?) -> String {
        guard let override else { return "as configured" }
        return
            "enabled \(override.enabled.map(String.init) ?? "as configured"), routing \(override.routing ?? "as configured")"
    }

    /// Changes the members that the patch names (RFC 7396).
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
    /// Whether an admin's routing is stored in a form that this release does not know, so that the file's counts.
    package let hasUnreadableRouting: Bool
    /// What this node believes of it.
    package let health: CircuitBreaker.Health
}

/// What an admin changes; nil leaves a part as it is.
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
