import Domain
import ProviderKit
import Store

extension ConsumptionReport {
    private static let whole: Int64 = 100_000

    /// What is known of a purchase: whether it was given, and how much of it was used.
    ///
    /// - Parameter id: of the transaction that the store asked about.
    init(
        _ record: PurchaseRecord, _ order: Order, asked id: String, sku: SKU, in db: any Database, at now: Timestamp
    ) throws {
        let purchase = record.purchase
        let source = LedgerSource(kind: Grant.SourceKind.appleTransaction.rawValue, id: record.key)
        let booked = try db.wallets.booked(source, user: order.user, environment: purchase.environment)
        let given = try Self.given(record, key: record.key, in: db, at: now)
        let isDelivered = !booked.isEmpty || given != nil
        let balances = try db.wallets.balances(of: order.user).value()[purchase.environment] ?? [:]
        let used =
            booked.isEmpty
            ? Self.used(purchase, given, at: now)
            : Self.spent(booked.mapValues(\.sum), of: balances)
        self.init(
            environment: purchase.environment, bundleID: purchase.bundleID, transactionID: id,
            isAutoRenewable: purchase.isSubscription, isDelivered: isDelivered,
            percentage: isDelivered ? used : 0, preference: Preference(rawValue: sku.consumption.rawValue))
    }

    /// The grant as it lies in time; nil where it gave no moment.
    private static func given(
        _ record: PurchaseRecord, key: String, in db: any Database, at now: Timestamp
    ) throws -> Entitlement? {
        guard let owner = record.user else { return nil }
        let purchase = record.purchase
        let kind: Grant.SourceKind = purchase.isSubscription ? .appleSubscription : .appleTransaction
        let id = purchase.isSubscription ? purchase.originalTransactionID : key
        return EntitlementRules.fold(try db.grants.list(of: owner).value(), now: now).entitlements.first {
            $0.grant.environment == purchase.environment && $0.grant.source == Grant.Source(kind: kind, id: id)
                && ($0.endsAt ?? .farFuture) > $0.startsAt
        }
    }

    /// The share of the paid time that is over; nil for what never ends.
    private static func used(_ purchase: StorePurchase, _ given: Entitlement?, at now: Timestamp) -> Int64? {
        let start = purchase.isSubscription ? purchase.purchased : given?.startsAt
        let end = purchase.isSubscription ? purchase.expires : given?.endsAt
        guard let start, let end, end > start else { return nil }
        let length = end.rawValue - start.rawValue
        return whole * min(max(now.rawValue - start.rawValue, 0), length) / length
    }

    /// The share of the credited units that cannot be there any more, as the mean over the units.
    ///
    /// Units are not told apart: whatever is left of a balance counts as left of this purchase, so that a store is never told
    /// of more than was spent. Units that were taken back already say nothing.
    private static func spent(_ credited: [String: Int64], of balances: [String: Int64]) -> Int64? {
        let shares = credited.filter { $0.value > 0 }.map { unit, amount in
            let left = min(max(balances[unit] ?? 0, 0), amount)
            return Int64((Double(amount - left) / Double(amount) * Double(whole)).rounded(.down))
        }
        return shares.isEmpty ? nil : shares.reduce(0, +) / Int64(shares.count)
    }
}
