package import Domain
package import ProviderKit

/// The accounts that a payment may try, best first; where there is none, the reason of each.
struct CandidateAccounts: Sendable {
    var accounts: [ConfiguredAccount]
    /// True where every possible account is unhealthy, so that they are tried all the same.
    var insists: Bool
    /// The reason of each account that cannot take the payment; empty where one can.
    var refusals: [AccountRefusal] = []

    /// Returns the error of a request for which there is no account.
    ///
    /// - Parameter showsAccounts: true for a caller who may see how payments are routed.
    func refusal(showsAccounts: Bool) -> GatewayError {
        let order = SelectionRefusal.allCases
        let nearest = refusals.map(\.reason).max {
            (order.firstIndex(of: $0) ?? 0) < (order.firstIndex(of: $1) ?? 0)
        }
        return .noProvider(NoProvider(reason: nearest, accounts: showsAccounts ? refusals : []))
    }
}

/// An account that cannot take a payment, with the reason.
package struct AccountRefusal: Sendable, Equatable {
    package let account: AccountID
    package let reason: SelectionRefusal
}

/// The reasons why no account can take a payment.
package struct NoProvider: Sendable, Equatable {
    /// The reason of the best candidate; nil where no account is configured.
    package let reason: SelectionRefusal?
    /// The reason of each account; empty for callers who may not see how payments are routed.
    package let accounts: [AccountRefusal]

    package init(reason: SelectionRefusal?, accounts: [AccountRefusal]) {
        self.reason = reason
        self.accounts = accounts
    }
}
