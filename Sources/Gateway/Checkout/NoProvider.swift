package import Domain
package import ProviderKit

/// Why one account cannot take a payment.
package struct AccountRefusal: Sendable, Equatable {
    package let account: AccountID
    package let reason: SelectionRefusal
}

/// Why nobody can take a payment.
package struct NoProvider: Sendable, Equatable {
    /// The reason of the account that came nearest; nil where no account is configured.
    package let reason: SelectionRefusal?
    /// Each account's; empty for callers who may not know how payments are routed.
    package let accounts: [AccountRefusal]

    package init(reason: SelectionRefusal?, accounts: [AccountRefusal]) {
        self.reason = reason
        self.accounts = accounts
    }
}

extension Gateway {
    /// The refusal of a request for which no account is left.
    func noProvider(_ route: Route, _ context: CallContext) -> GatewayError {
        let order = SelectionRefusal.allCases
        let nearest = route.refusals.map(\.reason).max {
            (order.firstIndex(of: $0) ?? 0) < (order.firstIndex(of: $1) ?? 0)
        }
        let shows = settings.isDevelopment || context.showsAccounts
        return .noProvider(NoProvider(reason: nearest, accounts: shows ? route.refusals : []))
    }
}
