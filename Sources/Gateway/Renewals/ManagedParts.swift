package import Domain
import Store

/// The parts of a snapshot that only a subscription has that Paydesk renews itself; else null, false or 0.
package struct ManagedParts: Encodable, Sendable, Equatable {
    package struct PriceChange: Encodable, Sendable, Equatable {
        let amount: Money
        let effective_at: Timestamp
        /// The start of the first period that has the price.
        let applies_at: Timestamp
    }

    package struct PaymentMethod: Encodable, Sendable, Equatable {
        @Nullable private(set) var label: String?
        @Nullable private(set) var brand: String?
        @Nullable private(set) var last4: String?
        @Nullable private(set) var exp_month: Int64?
        @Nullable private(set) var exp_year: Int64?

        init(_ face: MandateRecord.Face) {
            label = face.label
            brand = face.brand
            last4 = face.last4
            exp_month = face.expMonth
            exp_year = face.expYear
        }
    }

    @Nullable package private(set) var period: BillingPeriod?
    @Nullable package private(set) var period_start: Timestamp?
    @Nullable package private(set) var period_index: Int64?
    package private(set) var trial = false
    @Nullable package private(set) var next_charge_at: Timestamp?
    @Nullable package private(set) var next_amount: Money?
    package private(set) var cancel_at_period_end = false
    @Nullable package private(set) var change_to: String?
    @Nullable package private(set) var price_change: PriceChange?
    @Nullable package private(set) var failed_at: Timestamp?
    package private(set) var tries: Int64 = 0
    @Nullable package private(set) var retry_at: Timestamp?
    @Nullable package private(set) var refusal: ChargeRefusal?
    @Nullable package private(set) var payment_method: PaymentMethod?
    @Nullable package private(set) var ended_at: Timestamp?
    @Nullable package private(set) var end_reason: String?

    /// The parts of a store's subscription.
    init() {}

    /// - Parameters:
    ///   - nextAmount: the amount of the next charge.
    ///   - change: the announced price; nil where there is none.
    init(
        _ subscription: ManagedSubscription, nextAmount: Money, change: PriceChange?, method: MandateRecord.Face?
    ) {
        let runs = subscription.state == .running
        period = subscription.period
        period_start = subscription.periodStart
        period_index = subscription.periodIndex
        trial = subscription.isTrial
        next_charge_at = subscription.nextChargeAt
        next_amount = subscription.willRenew ? nextAmount : nil
        cancel_at_period_end = runs && subscription.cancelsAtPeriodEnd
        change_to = subscription.change?.sku.rawValue
        price_change = runs ? change : nil
        failed_at = subscription.failedAt
        tries = subscription.tries
        retry_at = runs ? subscription.nextTryAt : nil
        refusal = subscription.refusal
        payment_method = method.map(PaymentMethod.init)
        ended_at = subscription.endedAt
        end_reason = subscription.endReason?.rawValue
    }
}

/// An event of `subscription.changed`: the snapshot, with its cause.
struct SubscriptionChange: Encodable {
    let snapshot: SubscriptionSnapshot
    let cause: ManagedSubscription.ChangeCause

    private enum CodingKeys: String, CodingKey { case cause }

    func encode(to encoder: any Encoder) throws {
        try snapshot.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(cause.rawValue, forKey: .cause)
    }
}

/// An event of `subscription.payment_failed`: the snapshot, with the order and the payment that failed.
struct SubscriptionPaymentFailure: Encodable {
    let snapshot: SubscriptionSnapshot
    let order: ID<Order>?
    let payment: ID<Payment>?

    private enum CodingKeys: String, CodingKey { case order_id, payment_id }

    func encode(to encoder: any Encoder) throws {
        try snapshot.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(order, forKey: .order_id)
        try fields.encode(payment, forKey: .payment_id)
    }
}

/// Makes the snapshots of managed subscriptions.
enum ManagedSnapshots {
    private static let namedOrders: Int64 = 100

    static func snapshot(
        _ standing: ManagedSubscriptionLedger.Standing, from db: any Database, at now: Timestamp
    ) throws -> SubscriptionSnapshot {
        let (record, subscription) = (standing.record, standing.subscription)
        let change = try announced(record, from: db)
        let mandates = try db.mandates.list(of: subscription.id)
        let shown = mandates.last { $0.state == .active } ?? mandates.last
        return SubscriptionSnapshot(
            subscription, standing.facts,
            orders: try db.managedSubscriptions.orders(of: subscription.id, limit: namedOrders),
            ManagedParts(
                subscription, nextAmount: nextAmount(subscription, change), change: change, method: shown?.face),
            at: now)
    }

    static func load(
        _ record: ManagedSubscriptionRecord, from db: any Database, at now: Timestamp
    ) throws -> SubscriptionSnapshot {
        try snapshot(try ManagedSubscriptionLedger.standing(record, in: db), from: db, at: now)
    }

    /// The amount of the next charge: that of a changed plan, of an announced price that holds by then, or the present
    /// one.
    static func nextAmount(_ subscription: ManagedSubscription, _ change: ManagedParts.PriceChange?) -> Money {
        if let plan = subscription.change { return plan.price }
        guard let change, change.applies_at <= subscription.periodEnd else { return subscription.price }
        return change.amount
    }

    /// Finds the announced price of a subscription, with the start of the first period that has it.
    static func announced(
        _ record: ManagedSubscriptionRecord, from db: any Database
    ) throws -> ManagedParts.PriceChange? {
        let subscription = record.subscription
        guard let id = record.priceChange, let change = try db.priceChanges.find(id),
            let amount = change.prices.first(where: { $0.currency == subscription.price.currency })
        else { return nil }
        return ManagedParts.PriceChange(
            amount: amount, effective_at: change.effectiveAt,
            applies_at: subscription.firstStart(from: change.effectiveAt))
    }
}
