package import Domain
package import Store

/// A subscription in the form that clients and events have (`docs/api.md`, section 4).
package struct SubscriptionSnapshot: Encodable, Sendable, Equatable {
    package struct Offer: Encodable, Sendable, Equatable {
        let type: String
        @Nullable private(set) var identifier: String?
        @Nullable private(set) var discount_type: String?
        @Nullable private(set) var period: String?
    }

    /// The largest number of orders that are listed, the newest.
    private static let namedOrders = 100

    package let id: ID<Subscription>
    /// The owner's internal id, in events only.
    package var userID: ID<User>?
    @Nullable package private(set) var sku: String?
    package let status: Subscription.Status
    package let product_id: String
    @Nullable package private(set) var auto_renew_product_id: String?
    package let will_renew: Bool
    package let expires_at: Timestamp
    @Nullable package private(set) var grace_expires_at: Timestamp?
    package let environment: Environment
    @Nullable package private(set) var offer: Offer?
    @Nullable package private(set) var price_increase: String?
    @Nullable package private(set) var commitment_expires_at: Timestamp?
    package let is_family_shared: Bool
    package let original_transaction_id: String
    package let orders: [ID<Order>]

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
        case id, userID = "user_id", sku, status, product_id, auto_renew_product_id, will_renew, expires_at
        case grace_expires_at, environment, offer, price_increase, commitment_expires_at, is_family_shared
        case original_transaction_id, orders
    }
}
