package import Domain

/// An event that development mode can make happen by itself.
///
/// The other event types need an admin's decision or a statement of Apple's that the box does not play.
package enum Trigger: String, Sendable, Codable, CaseIterable {
    case orderOpened = "order.opened"
    case orderPaid = "order.paid"
    case orderClosed = "order.closed"
    case orderAnomaly = "order.anomaly"
    case refundSucceeded = "refund.succeeded"
    case refundFailed = "refund.failed"
    case disputeOpened = "dispute.opened"
    case disputeClosed = "dispute.closed"
    case purchaseAttached = "purchase.attached"
    case purchaseTransferred = "purchase.transferred"
    case subscriptionChanged = "subscription.changed"
    case subscriptionPaymentFailed = "subscription.payment_failed"
    case subscriptionRenewalUpcoming = "subscription.renewal_upcoming"
    case entitlementsChanged = "entitlements.changed"

    /// True for an event that comes only when time has passed.
    package var needsTime: Bool { self == .subscriptionPaymentFailed || self == .subscriptionRenewalUpcoming }

    /// The way in which it is made to happen, for people.
    package var summary: String {
        switch self {
        case .orderOpened: "a checkout"
        case .orderPaid: "a checkout that is paid in the sandbox"
        case .orderClosed: "a checkout that is closed"
        case .orderAnomaly: "a checkout that is paid with another amount"
        case .refundSucceeded: "a paid order that is refunded"
        case .refundFailed: "a paid order whose refund comes back"
        case .disputeOpened: "a paid order whose payer disputes it"
        case .disputeClosed: "a dispute that is won"
        case .purchaseAttached: "a purchase in the App Store in a box"
        case .purchaseTransferred: "such a purchase of another user that moves to this one"
        case .subscriptionChanged: "a subscription that begins; with --advance its renewal"
        case .subscriptionPaymentFailed: "a subscription whose renewal is refused"
        case .subscriptionRenewalUpcoming: "a subscription whose renewal comes near"
        case .entitlementsChanged: "a checkout that is paid in the sandbox"
        }
    }
}

/// A request to make an event happen.
package struct TriggerRequest: Sendable, Codable {
    package let event: Trigger
    /// The app's own id.
    package let user: String
    /// The SKU that is sold; nil for the first that fits.
    package let sku: String?
    /// True where business time may be moved.
    package let advances: Bool

    package init(event: Trigger, user: String, sku: String? = nil, advances: Bool = false) {
        self.event = event
        self.user = user
        self.sku = sku
        self.advances = advances
    }
}

/// The event that happened, and what it is about.
package struct TriggeredEvent: Sendable, Codable, Equatable {
    package let event: String
    package var order_id: ID<Order>?
    package var payment_id: ID<Payment>?
    package var subscription_id: ID<Subscription>?
    package let user_id: String
    /// Its number among all events; nil where it was not seen in time.
    package var seq: Int64?

    init(_ request: TriggerRequest) {
        event = request.event.rawValue
        user_id = request.user
    }

    private enum CodingKeys: String, CodingKey {
        case event, order_id, payment_id, subscription_id, user_id, seq
    }

    /// Writes every member, also those that are null.
    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(event, forKey: .event)
        try fields.encode(order_id, forKey: .order_id)
        try fields.encode(payment_id, forKey: .payment_id)
        try fields.encode(subscription_id, forKey: .subscription_id)
        try fields.encode(user_id, forKey: .user_id)
        try fields.encode(seq, forKey: .seq)
    }
}

/// The reason why an event cannot be made to happen here, for the developer.
package struct TriggerRefusal: Error, CustomStringConvertible, Equatable {
    package let description: String
}
