/// A stored token of an external purchase.
package struct ExternalToken: Identified, Sendable, Equatable {
    package static let idPrefix = "ext"

    /// The way in which a token became known first.
    package enum Source: String, Sendable, CaseIterable {
        /// A checkout or a session that names it.
        case checkout
        /// The app, without an order.
        case app
        /// A notification of Apple's.
        case apple
    }

    /// The state of a token's reports, for admins.
    package enum State: String, Sendable, CaseIterable {
        /// The token waits: no report is due yet.
        case waiting
        /// A report is to be made, or its end is not known.
        case due
        /// All that happened is reported.
        case reported
        /// Apple refused a report, which a person has to mend.
        case refused
    }

    package let id: ID<ExternalToken>
    package let account: AccountID
    package let token: ExternalPurchaseToken
    /// nil for a token of which only Apple told, and after the user's erasure.
    package var user: ID<User>?
    package var source: Source
    /// The time at which a token that led to nothing is reported.
    package var dueAt: Timestamp
    package var state: State
    package let createdAt: Timestamp

    package init(
        id: ID<ExternalToken>, account: AccountID, token: ExternalPurchaseToken, user: ID<User>?, source: Source,
        dueAt: Timestamp, state: State = .waiting, createdAt: Timestamp
    ) {
        self.id = id
        self.account = account
        self.token = token
        self.user = user
        self.source = source
        self.dueAt = dueAt
        self.state = state
        self.createdAt = createdAt
    }
}

extension ExternalToken {
    /// Apple's words for tokens that live for a period and serve many purchases.
    package static let typesOfPeriods: Set<String> = ["SERVICES", "ACQUISITION"]

    /// True for a token that Apple lets be reported as a duplicate of another one.
    package var mayBeDuplicate: Bool { token.type.map(Self.typesOfPeriods.contains) ?? false }

    /// The state in an answer: one that waits is due by the clock alone.
    package func state(at now: Timestamp) -> State { state == .waiting && dueAt <= now ? .due : state }
}

/// The sale of an order outside of the App Store with a token of Apple's.
package struct ExternalSale: Hashable, Sendable {
    package let token: ID<ExternalToken>
    /// The storefront in ISO 3166 alpha-3, whose country takes the tax.
    package let storefront: String
    /// The tax in hundredths of a percent: of the checkout until the order is paid, then of that moment.
    package var taxRate: Int64

    package init(token: ID<ExternalToken>, storefront: String, taxRate: Int64) {
        self.token = token
        self.storefront = storefront
        self.taxRate = taxRate
    }
}
