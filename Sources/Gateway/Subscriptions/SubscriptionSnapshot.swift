package import Domain
package import Store

/// A subscription in the form that clients and events have (`docs/api.md`, section 4).
package struct SubscriptionSnapshot: Encodable, Sendable, Equatable {
    /// The party that renews a subscription, and with whom it is managed.
    package enum Source: String, Encodable, Sendable, CaseIterable {
        case appStore = "app_store"
        case paydesk
    }

    package struct Offer: Encodable, Sendable, Equatable {
        let type: String
        @Nullable private(set) var identifier: String?
        @Nullable private(set) var discount_type: String?
        @Nullable private(set) var period: String?
    }

    /// The largest number of orders that are listed, the newest.
    private static let namedOrders = 100

    package let id: ID<Subscription>
    package let source: Source
    package var manage: Source { source }
    /// The owner's internal id, in events only.
    package var userID: ID<User>?
    @Nullable package private(set) var sku: String?
    package let status: Subscription.Status
    @Nullable package private(set) var product_id: String?
    @Nullable package private(set) var auto_renew_product_id: String?
    package let will_renew: Bool
    package let expires_at: Timestamp
    @Nullable package private(set) var grace_expires_at: Timestamp?
    package let environment: Environment
    @Nullable package private(set) var offer: Offer?
    @Nullable package private(set) var price_increase: String?
    @Nullable package private(set) var commitment_expires_at: Timestamp?
    package let is_family_shared: Bool
    @Nullable package private(set) var original_transaction_id: String?
    package let orders: [ID<Order>]
    /// The parts that only a managed subscription has; otherwise null, false or 0.
    package let renewal: ManagedParts

    /// Makes a subscription's snapshot.
    ///
    /// - Returns: nil where no SKU names any of its products.
    package static func load(
        _ record: SubscriptionRecord, from db: any Database, at now: Timestamp
    ) throws -> SubscriptionSnapshot? {
        SubscriptionSnapshot(
            record, among: try db.purchases.list(record.environment, original: record.original), at: now)
    }

    /// Makes the snapshots of many subscriptions in their order; those without a known product are left out.
    static func load(
        _ records: [SubscriptionRecord], from db: any Database, at now: Timestamp
    ) throws -> [SubscriptionSnapshot] {
        let kept = try db.purchases.list(of: records.map { StoreSubject($0.environment, $0.original) })
        return records.compactMap {
            SubscriptionSnapshot($0, among: kept[StoreSubject($0.environment, $0.original)] ?? [], at: now)
        }
    }

    /// - Parameter purchases: all stored transactions of the subscription, oldest first.
    private init?(_ record: SubscriptionRecord, among purchases: [PurchaseRecord], at now: Timestamp) {
        let known = purchases.filter { ($0.user == record.user || record.environment != .xcode) && $0.sku != nil }
        let state = SubscriptionState(
            known.mergedByPurchase.map(\.purchase), renewal: record.renewal, isRevoked: record.isRevoked)
        guard let state else { return nil }
        self.init(record, state, known, at: now)
    }

    init(
        _ record: SubscriptionRecord, _ state: SubscriptionState, _ transactions: [PurchaseRecord], at now: Timestamp
    ) {
        // Product, SKU and status are those of the running period; the end and the next product are those of the last.
        let (current, last) = (state.running(at: now).purchase, state.last.purchase)
        id = record.id
        source = .appStore
        renewal = ManagedParts()
        sku = transactions.first { $0.purchase.transactionID == current.transactionID }?.sku?.rawValue
        status = state.status(at: now)
        product_id = current.productID
        auto_renew_product_id =
            current == last
            ? state.nextProductID ?? (state.willRenew == false ? nil : last.productID)
            : state.periods.first { $0.startsAt > now }?.purchase.productID
        let runs = status == .active || status == .inGracePeriod || status == .scheduled
        will_renew = (runs || status == .inBillingRetry) && (state.willRenew ?? runs)
        expires_at = state.paidUntil
        grace_expires_at = state.graceUntil
        environment = record.environment
        offer = current.offer.map {
            Offer(type: $0.type, identifier: $0.identifier, discount_type: $0.discount, period: $0.period)
        }
        price_increase = record.renewal?.priceIncrease.map { $0 == 0 ? "pending" : "accepted" }
        let committed = [last.commitmentEndsAt, record.renewal?.commitmentEndsAt].compactMap { $0 }.max()
        commitment_expires_at = committed.map { Timestamp($0.flooredSeconds) }
        is_family_shared = current.isFamilyShared
        original_transaction_id = record.original
        orders = Array(transactions.compactMap(\.order).suffix(Self.namedOrders))
    }

    private enum CodingKeys: String, CodingKey {
        case id, source, manage, userID = "user_id", sku, status, product_id, auto_renew_product_id, will_renew
        case expires_at, grace_expires_at, environment, offer, price_increase, commitment_expires_at
        case is_family_shared, original_transaction_id, orders
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(source, forKey: .source)
        try fields.encode(manage, forKey: .manage)
        try fields.encodeIfPresent(userID, forKey: .userID)
        try fields.encode(_sku, forKey: .sku)
        try fields.encode(status, forKey: .status)
        try fields.encode(_product_id, forKey: .product_id)
        try fields.encode(_auto_renew_product_id, forKey: .auto_renew_product_id)
        try fields.encode(will_renew, forKey: .will_renew)
        try fields.encode(expires_at, forKey: .expires_at)
        try fields.encode(_grace_expires_at, forKey: .grace_expires_at)
        try fields.encode(environment, forKey: .environment)
        try fields.encode(_offer, forKey: .offer)
        try fields.encode(_price_increase, forKey: .price_increase)
        try fields.encode(_commitment_expires_at, forKey: .commitment_expires_at)
        try fields.encode(is_family_shared, forKey: .is_family_shared)
        try fields.encode(_original_transaction_id, forKey: .original_transaction_id)
        try fields.encode(orders, forKey: .orders)
        try renewal.encode(to: encoder)
    }
}

extension SubscriptionSnapshot {
    /// Makes the snapshot of a subscription that Paydesk renews itself.
    ///
    /// - Parameter orders: its orders, oldest first.
    init(
        _ subscription: ManagedSubscription, _ facts: RenewalFacts, orders: [ID<Order>], _ parts: ManagedParts,
        at now: Timestamp
    ) {
        id = subscription.id
        source = .paydesk
        renewal = parts
        _sku = Nullable(wrappedValue: subscription.sku.rawValue)
        status = subscription.status(at: now, facts)
        will_renew = subscription.willRenew
        expires_at = subscription.expiresAt
        _grace_expires_at = Nullable(wrappedValue: subscription.graceExpiresAt(at: now, facts))
        environment = subscription.environment
        _offer = Nullable(
            wrappedValue: subscription.isTrial
                ? Offer(
                    type: "introductory", identifier: nil, discount_type: "FREE_TRIAL",
                    period: "P\(subscription.trialDays)D") : nil)
        _product_id = Nullable(wrappedValue: nil)
        _auto_renew_product_id = Nullable(wrappedValue: nil)
        _price_increase = Nullable(wrappedValue: nil)
        _commitment_expires_at = Nullable(wrappedValue: nil)
        is_family_shared = false
        _original_transaction_id = Nullable(wrappedValue: nil)
        self.orders = orders
    }
}
