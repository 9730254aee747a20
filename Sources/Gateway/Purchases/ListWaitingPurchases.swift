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
    let price: Money?
    let purchased_at: Timestamp
    let expires_at: Timestamp?
    let received_at: Timestamp
    let user_id: String?
    let sku: String?
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

    /// What is not known is null, never left out.
    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(transaction_id, forKey: .transaction_id)
        try fields.encode(original_transaction_id, forKey: .original_transaction_id)
        try fields.encode(product_id, forKey: .product_id)
        try fields.encode(bundle_id, forKey: .bundle_id)
        try fields.encode(type, forKey: .type)
        try fields.encode(environment, forKey: .environment)
        try fields.encode(account, forKey: .account)
        try fields.encode(price, forKey: .price)
        try fields.encode(purchased_at, forKey: .purchased_at)
        try fields.encode(expires_at, forKey: .expires_at)
        try fields.encode(received_at, forKey: .received_at)
        try fields.encode(user_id, forKey: .user_id)
        try fields.encode(sku, forKey: .sku)
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
