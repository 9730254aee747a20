/// An intention to buy, or one store transaction.
public struct Order: Identified, Sendable {
    public static let idPrefix = "ord"

    package enum Origin: String, Sendable, CaseIterable {
        case checkout, purchase, renewal
        case history = "import"
    }

    package enum State: String, Sendable {
        case open, paid, closed
    }

    /// The status in answers: the state, combined with the refunds.
    package enum Status: String, Sendable, CaseIterable {
        case open, paid, refunded, closed
        case partiallyRefunded = "partially_refunded"
    }

    package let id: ID<Order>
    package let user: ID<User>
    package let origin: Origin
    package let sku: SKUCode
    package let quantity: Int64
    package let terms: OrderTerms
    /// The option's days that the checkout named.
    package let days: Int64?
    /// The price that was asked; nil where a store set the price and signed none.
    package let amount: Money?
    package var state: State
    /// The payment that paid it.
    package var paidBy: ID<Payment>?
    package let platform: Platform
    /// The environment of the newest attempt's account while the order is open, then that of the payment that paid it.
    package var environment: Environment
    /// The partner whose key made it.
    package let partner: String?
    package let returnURL: String?
    package let metadata: [String: String]
    /// The amount that was paid, in the currency in which it was paid; nil until then.
    package var charged: Money?
    /// Minor units of `charged` that are bound by refunds neither failed nor reversed.
    package var refunding: Int64
    /// Minor units that refunds have certainly given back.
    package var refunded: Int64
    /// Minor units lost in disputes.
    package var lost: Int64
    /// The share that a store took back, in thousandths of a percent; nil while it took nothing.
    package var revokedShare: Int64?
    /// The share with which money went back, in thousandths of a percent; nil where a family member only lost access.
    package var refundedShare: Int64?
    package var anomalies: [Anomaly]
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    package var paidAt: Timestamp?
    package var closedAt: Timestamp?
    /// The managed subscription of which it pays a period; nil for other orders.
    package var period: SubscriptionPeriod?
    /// Its sale outside of the App Store with a token of Apple's; nil for other orders.
    package var external: ExternalSale?

    /// The period of a managed subscription that an order pays.
    package struct SubscriptionPeriod: Hashable, Sendable {
        package let subscription: ID<Subscription>
        /// The number of the period, from 0.
        package let index: Int64

        package init(subscription: ID<Subscription>, index: Int64) {
            self.subscription = subscription
            self.index = index
        }
    }

    package init(
        id: ID<Order>, user: ID<User>, origin: Origin, sku: SKUCode, quantity: Int64, terms: OrderTerms, days: Int64?,
        amount: Money?, state: State, paidBy: ID<Payment>? = nil, platform: Platform, environment: Environment,
        partner: String?,
        returnURL: String?,
        metadata: [String: String], charged: Money? = nil, refunding: Int64 = 0, refunded: Int64 = 0, lost: Int64 = 0,
        revokedShare: Int64? = nil, anomalies: [Anomaly] = [], createdAt: Timestamp, expiresAt: Timestamp,
        paidAt: Timestamp? = nil,
        closedAt: Timestamp? = nil
    ) {
        self.id = id
        self.user = user
        self.origin = origin
        self.sku = sku
        self.quantity = quantity
        self.terms = terms
        self.days = days
        self.amount = amount
        self.state = state
        self.paidBy = paidBy
        self.platform = platform
        self.environment = environment
        self.partner = partner
        self.returnURL = returnURL
        self.metadata = metadata
        self.charged = charged
        self.refunding = refunding
        self.refunded = refunded
        self.lost = lost
        self.revokedShare = revokedShare
        self.anomalies = anomalies
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.paidAt = paidAt
        self.closedAt = closedAt
    }
}

extension Order {
    /// The whole of an order as a share, in thousandths of a percent.
    package static let wholeShare: Int64 = 100_000

    /// The state combined with refunds and lost disputes; computed, so that a refund that bounces needs no step back.
    package var status: Status {
        switch state {
        case .open: return .open
        case .closed: return .closed
        case .paid:
            // Without a signed price there are no sums to compare.
            if let refundedShare, charged == nil {
                return refundedShare >= Self.wholeShare ? .refunded : refundedShare > 0 ? .partiallyRefunded : .paid
            }
            let returned = refunded + lost
            guard returned > 0 else { return .paid }
            return returned >= (charged?.value ?? 0) ? .refunded : .partiallyRefunded
        }
    }

    /// True where everything that was paid has gone back, at least a part of it by refunds.
    package var isFullyRefunded: Bool { state == .paid && refunded > 0 && refunded + lost >= (charged?.value ?? 0) }

    /// The effect of an order's refunds and disputes on what it granted.
    package struct Standing: Sendable, Equatable {
        /// The reason for revoking the grant; nil where it stays.
        package let revocation: Grant.Revocation.Reason?
        package let isSuspended: Bool
    }

    /// Computes that effect; only disputes of the payment that paid the order count, not those of a duplicate payment.
    package func standing(_ disputes: [Dispute]) -> Standing {
        let own = disputes.filter { $0.payment == paidBy }
        let reason: Grant.Revocation.Reason? =
            if own.contains(where: { $0.state == .lost }) {
                .dispute
            } else if isFullyRefunded && terms.onRefund == .revoke {
                .refund
            } else {
                nil
            }
        return Standing(revocation: reason, isSuspended: own.contains { $0.state == .open })
    }

    /// Returns whether the order's grant and units belong to the user, given its refunds and disputes.
    package func gives(_ standing: Standing) -> Bool {
        state == .paid && standing.revocation == nil && !anomalies.contains(.duplicateOwnership)
    }
}

/// The platform on which the client runs.
public enum Platform: String, Sendable, Codable, CaseIterable {
    case ios, android, web, desktop
}

/// The environment of a purchase: real money (`Production`) or a test.
///
/// Apple signs its purchases' environment. What is bought through an account in its provider's test mode is `Sandbox`,
/// everything else is `Production`.
public enum Environment: String, Sendable, Codable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"
    case xcode = "Xcode"
}

/// An unexpected event, stored with the order for an admin to see.
package enum Anomaly: String, Sendable, Codable, CaseIterable {
    case revivedPayment = "revived_payment"
    case latePayment = "late_payment"
    case duplicatePayment = "duplicate_payment"
    case duplicateOwnership = "duplicate_ownership"
    case contradictingFact = "contradicting_fact"
    case amountMismatch = "amount_mismatch"
    case kindMismatch = "kind_mismatch"
    case disputeCurrency = "dispute_currency"
}
