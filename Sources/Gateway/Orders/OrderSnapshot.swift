package import Domain
import Store

/// An order in the form of `docs/api.md` section 4, which clients read and events contain.
///
/// `OrderRoutes` has the same shape for the OpenAPI document, with which the tests compare every answer.
package struct OrderSnapshot: Sendable {
    /// The reader, which decides the name by which the user is shown.
    package enum Audience: Sendable {
        /// The user, whose name is left out.
        case user
        /// A partner, who sees the app's own id of the user.
        case partner
        /// An admin, who sees the app's own id of the user, and open mismatches.
        case admin
        /// An event in the database, which partners read: the internal id, and no reasons of refunds.
        case stored

        /// True where the app's own id of the user is shown.
        fileprivate var showsNames: Bool { self == .partner || self == .admin }
    }

    package struct PaymentLine: Encodable, Sendable {
        let id: ID<Payment>
        let provider: String
        /// The account that charges the payment, where it is not the provider's.
        @Nullable private(set) var processor: String?
        let status: String
        /// The provider's own id, once known.
        @Nullable private(set) var reference: String?
        let amount: Money
        let unfenced: Bool
        @Nullable private(set) var failure: PaymentFailure?
        let created_at: Timestamp

        init(_ payment: Payment, failure: PaymentFailure? = nil) {
            id = payment.id
            provider = payment.account.rawValue
            processor = payment.processor?.rawValue
            status = payment.state.rawValue
            reference = payment.reference
            amount = payment.amount
            unfenced = payment.unfenced
            self.failure = failure
            created_at = payment.createdAt
        }

        fileprivate func speaking(_ languages: [String]) -> PaymentLine {
            var line = self
            line.failure = failure?.speaking(languages)
            return line
        }
    }

    package struct RefundLine: Encodable, Sendable {
        let id: ID<Refund>
        let payment_id: ID<Payment>
        let status: String
        let amount: Money
        /// The provider's own id, once known.
        @Nullable private(set) var reference: String?
        /// Absent in events, which are immutable: a reason may name the user.
        let reason: String?
        let created_at: Timestamp
    }

    package struct DisputeLine: Encodable, Sendable {
        let id: ID<Dispute>
        let payment_id: ID<Payment>
        let status: String
        let amount: Money
        let created_at: Timestamp
    }

    package struct MismatchLine: Encodable, Sendable {
        let n: Int64
        let payment_id: ID<Payment>
        let amount: Money
        let at: Timestamp
        let state: String

        init(_ mismatch: Mismatch) {
            n = mismatch.n
            payment_id = mismatch.payment
            amount = mismatch.amount
            at = mismatch.at
            state = mismatch.state.rawValue
        }
    }

    package struct TimelineLine: Encodable, Sendable {
        let at: Timestamp
        let type: String
        let detail: String
    }

    package let order: Order
    package private(set) var payments: [PaymentLine]
    package let refunds: [RefundLine]
    package let disputes: [DisputeLine]
    package let timeline: [TimelineLine]
    /// The payments with other amounts; only for admins.
    package let mismatches: [MismatchLine]?
    package let nextAction: NextAction
    /// Minor units that went back of payments that did not pay the order.
    private let returnedUnpaid: Int64
    package let userName: String?
    /// False for a session, to which the app's metadata is not shown.
    package private(set) var showsMetadata = true
    /// The subscription of which the order paid a period.
    package let subscription: ID<Subscription>?
    /// The entitlements that it gave; nil where they were not asked for.
    package var grants: [EntitlementSnapshot.Item]?

    /// The snapshot as a session sees it, with empty metadata.
    package var withoutMetadata: OrderSnapshot {
        var snapshot = self
        snapshot.showsMetadata = false
        return snapshot
    }

    /// Returns the order with its messages in the first of the languages that Paydesk has, else in English.
    package func speaking(_ languages: [String]) -> OrderSnapshot {
        var snapshot = self
        snapshot.payments = payments.map { $0.speaking(languages) }
        return snapshot
    }

    package var user: ID<User> { order.user }
    package var partner: String? { order.partner }
    package var status: Order.Status { order.status }

    /// The account of the payment that paid the order, else of the latest attempt, else of the store purchase.
    private let provider: String?

    /// Makes the snapshot of an order in the transaction that makes the order, for its event, without reading anything.
    ///
    /// - Parameters:
    ///   - account: the account of the store purchase for which the order was made.
    ///   - subscription: the subscription of which the order paid a period.
    init(
        made order: Order, payment: Payment? = nil, account: AccountID? = nil,
        subscription: ID<Subscription>? = nil, timeline: [TimelineEntry]
    ) {
        self.order = order
        payments = payment.map { [PaymentLine($0)] } ?? []
        provider = (payment?.account ?? account)?.rawValue
        refunds = []
        disputes = []
        self.timeline = timeline.map { TimelineLine(at: $0.at, type: $0.type, detail: $0.detail) }
        nextAction = NextAction(order, payments: payment.map { [$0] } ?? [], history: [])
        returnedUnpaid = 0
        self.subscription = order.period?.subscription ?? subscription
        mismatches = nil
        userName = order.user.rawValue
    }

    static func load(_ id: ID<Order>, from db: any Database, audience: Audience) throws -> OrderSnapshot? {
        try db.orders.find(id).map { try OrderSnapshot($0, from: db, audience: audience) }
    }

    /// Loads many orders and keeps their sequence, with one statement for each kind of part.
    static func load(
        _ orders: [Order], from db: any Database, audience: Audience
    ) throws -> [OrderSnapshot] {
        let names = audience.showsNames ? try db.users.listExternalIDs(orders.map(\.user)) : [:]
        return zip(orders, try db.orders.listParts(of: orders, withMismatches: audience == .admin)).map {
            order, parts in
            OrderSnapshot(order, parts, audience: audience, userName: names[order.user])
        }
    }

    /// - Parameter known: the order's payments; nil reads them.
    init(_ order: Order, from db: any Database, audience: Audience, payments known: [PaymentRecord]? = nil) throws {
        var parts = OrderParts()
        let payments = try known.map { DeferredResult($0) } ?? db.payments.list(of: order.id)
        let timeline = try db.orders.timeline(of: order.id)
        parts.payments = try payments.value()
        // An order without payments has no refunds either.
        let hasPayments = !parts.payments.isEmpty
        if !hasPayments, order.origin != .checkout { parts.storeAccount = try db.purchases.findAccount(of: order.id) }
        let (refunds, disputes) =
            hasPayments
            ? (try db.refunds.list(of: order.id), try db.disputes.list(of: order.id))
            : (DeferredResult([]), DeferredResult([]))
        parts.refunds = try refunds.value()
        parts.disputes = try disputes.value()
        parts.timeline = try timeline.value()
        if order.period == nil, order.terms.kind == .subscription {
            parts.subscription = try db.subscriptions.findID(of: order.id)
        }
        if order.mayHaveSetup { parts.setup = try db.setups.find(of: order.id) }
        if audience == .admin { parts.mismatches = try db.mismatches.list(of: order.id) }
        let name = audience.showsNames ? try db.users.findExternalID(order.user) : nil
        self.init(order, parts, audience: audience, userName: name)
    }

    /// - Parameter userName: the app's own id of the user; nil after an erasure, and for readers to whom it is not
    ///   shown.
    private init(_ order: Order, _ parts: OrderParts, audience: Audience, userName: String?) {
        self.order = order
        let attempts = parts.payments.map(\.payment)
        payments = attempts.map { PaymentLine($0, failure: PaymentFailure($0, history: parts.timeline)) }
        returnedUnpaid = parts.payments.reduce(0) { $0 + $1.refunded + $1.lost }
        nextAction = NextAction(order, payments: attempts, setup: parts.setup, history: parts.timeline)
        provider =
            payments.isEmpty
            ? parts.storeAccount?.rawValue : (payments.first { $0.id == order.paidBy } ?? payments.last)?.provider
        refunds = parts.refunds.map {
            RefundLine(
                id: $0.id, payment_id: $0.payment, status: $0.state.rawValue, amount: $0.amount,
                reference: $0.reference, reason: audience == .stored ? nil : $0.reason, created_at: $0.createdAt)
        }
        disputes = parts.disputes.map {
            DisputeLine(
                id: $0.id, payment_id: $0.payment, status: $0.state.rawValue, amount: $0.amount,
                created_at: $0.createdAt)
        }
        timeline = parts.timeline.map { TimelineLine(at: $0.at, type: $0.type, detail: $0.detail) }
        subscription = order.period?.subscription ?? parts.subscription
        mismatches = audience == .admin ? parts.mismatches.map(MismatchLine.init) : nil
        self.userName =
            switch audience {
            case .user: nil
            case .partner, .admin: userName ?? UserNames.erased
            case .stored: order.user.rawValue
            }
    }
}

extension OrderSnapshot: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, user_id, status, origin, sku, quantity, days, amount, charged, refunded, provider, platform,
            environment
        case next_action, subscription_id, partner, metadata, created_at, expires_at, paid_at, closed_at, anomalies
        case payments, refunds
        case disputes, timeline, mismatches, grants
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(order.id, forKey: .id)
        try fields.encodeIfPresent(userName, forKey: .user_id)
        try fields.encode(order.status.rawValue, forKey: .status)
        try fields.encode(nextAction, forKey: .next_action)
        try fields.encode(order.origin.rawValue, forKey: .origin)
        try fields.encode(order.sku.rawValue, forKey: .sku)
        try fields.encode(order.quantity, forKey: .quantity)
        try fields.encode(order.days, forKey: .days)
        try fields.encode(order.amount, forKey: .amount)
        try fields.encode(order.charged, forKey: .charged)
        try fields.encode(refunded, forKey: .refunded)
        try fields.encode(provider, forKey: .provider)
        try fields.encode(order.platform, forKey: .platform)
        try fields.encode(order.environment, forKey: .environment)
        try fields.encode(subscription, forKey: .subscription_id)
        try fields.encodeIfPresent(order.partner, forKey: .partner)
        try fields.encode(showsMetadata ? order.metadata : [:], forKey: .metadata)
        try fields.encode(order.createdAt, forKey: .created_at)
        try fields.encode(order.expiresAt, forKey: .expires_at)
        try fields.encode(order.paidAt, forKey: .paid_at)
        try fields.encode(order.closedAt, forKey: .closed_at)
        try fields.encode(order.anomalies, forKey: .anomalies)
        try fields.encode(payments, forKey: .payments)
        try fields.encode(refunds, forKey: .refunds)
        try fields.encode(disputes, forKey: .disputes)
        try fields.encode(timeline, forKey: .timeline)
        try fields.encodeIfPresent(mismatches, forKey: .mismatches)
        try fields.encodeIfPresent(grants, forKey: .grants)
    }
}

extension OrderSnapshot {
    /// The sum that went back; of an order that no payment paid, what came for it and went back.
    private var refunded: Money? {
        guard order.paidBy == nil, order.state == .closed, let amount = order.amount else { return order.returned }
        return Money(value: returnedUnpaid, currency: amount.currency)
    }
}

extension Order {
    /// The sum of refunds and lost disputes, in the currency of the payment or of the price.
    fileprivate var returned: Money? {
        (charged ?? amount).map { Money(value: refunded + lost, currency: $0.currency) }
    }
}
