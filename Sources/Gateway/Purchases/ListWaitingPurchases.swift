package import Domain
import Store

/// A kept purchase that gives nothing yet.
package struct WaitingPurchaseView: Encodable, Sendable {
    let transaction_id: String
    let original_transaction_id: String
    let product_id: String
    let bundle_id: String
    let type: String
    let environment: Environment
    let account: String
    @Nullable private(set) var price: Money?
    let purchased_at: Timestamp
    @Nullable private(set) var expires_at: Timestamp?
    let received_at: Timestamp
    @Nullable private(set) var user_id: String?
    @Nullable private(set) var sku: String?
    let cursor: String

    init(_ waiting: WaitingPurchase) {
        let purchase = waiting.record.purchase
        transaction_id = purchase.transactionID
        original_transaction_id = purchase.originalTransactionID
        product_id = purchase.productID
        bundle_id = purchase.bundleID
        type = purchase.kind.rawValue
        environment = purchase.environment
        account = waiting.record.account.rawValue
        price = purchase.price
        purchased_at = purchase.purchased
        expires_at = purchase.expires
        received_at = waiting.receivedAt
        user_id = waiting.record.user?.rawValue
        sku = waiting.record.sku?.rawValue
        cursor = "\(waiting.receivedAt.rawValue)~\(purchase.environment.rawValue)~\(waiting.key)"
    }

    private enum CodingKeys: String, CodingKey {
        case transaction_id, original_transaction_id, product_id, bundle_id, type, environment, account, price
        case purchased_at, expires_at, received_at, user_id, sku
    }
}

extension Gateway {
    /// Purchases that wait for a SKU or for a user, newest first; nil: for either.
    package func listWaitingPurchases(
        _ wait: PurchaseWait?, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<WaitingPurchaseView> {
        let cursor = try Cursor(cursor) { text -> WaitingCursor? in
            let parts = text.split(separator: "~", maxSplits: 2).map(String.init)
            guard parts.count == 3, let at = Int64(parts[0]), Environment(rawValue: parts[1]) != nil else { return nil }
            return WaitingCursor(receivedAt: Timestamp(at), environment: parts[1], key: parts[2])
        }
        let found = try await report { db in
            try db.purchases.listWaiting(wait, before: cursor.position, limit: limit + 1)
        }
        return Page(found.map(WaitingPurchaseView.init), limit: limit, cursor: \.cursor)
    }
}
