package import Domain
import ProviderKit
import Store

/// The outcome of one transaction of a restore.
package struct RestoredItem: Encodable, Sendable, Equatable {
    package enum Status: String, Encodable, Sendable {
        case attached, rejected
        case alreadyAttached = "already_attached"
    }

    package let index: Int
    package let status: Status
    /// The error with which an attach of this transaction alone would have failed; nil unless rejected.
    package let refusal: GatewayError?

    private enum CodingKeys: String, CodingKey { case index, status }
}

extension RestoredItem {
    init(_ index: Int, refusal: GatewayError) {
        self.init(index: index, status: .rejected, refusal: refusal)
    }

    init(_ index: Int, _ outcome: ClaimOutcome, of purchase: StorePurchase) {
        switch outcome {
        case .attached(_, let isNew):
            self.init(index: index, status: isNew ? .attached : .alreadyAttached, refusal: nil)
        case .unknownProduct: self.init(index, refusal: .unknownProduct(purchase.productID))
        case .anotherUser: self.init(index, refusal: .purchaseBelongsToAnotherUser)
        case .revoked: self.init(index, refusal: .purchaseRevoked)
        }
    }
}

/// The owner of a purchase after an admin's transfer.
package struct TransferredPurchase: Encodable, Sendable, Equatable {
    package let original_transaction_id: String
    package let environment: Environment
    /// The internal id; it is replaced by the app's own id where it is shown.
    package let user_id: String
    /// False where the user owned it before.
    package let transferred: Bool
}

/// An Apple product id that is no pattern, with its SKU, in the list of `/apple-iap/products`.
package struct AppleProductView: Sendable {
    package let number: Int64
    package let productID: String
    package let name: String
    package let price: Money
    package let planCode: String
}

/// A stored purchase of a store, for admins.
package struct StoredPurchaseView: Encodable, Sendable {
    let transaction_id: String
    let original_transaction_id: String
    let product_id: String
    let bundle_id: String
    let type: String
    let environment: Environment
    let account: String
    /// True where an App Store in a box sold it.
    let box: Bool
    @Nullable private(set) var price: Money?
    let purchased_at: Timestamp
    @Nullable private(set) var expires_at: Timestamp?
    let received_at: Timestamp
    @Nullable private(set) var user_id: String?
    @Nullable private(set) var sku: String?
    let cursor: String

    /// - Parameter userName: the app's own id of the user; nil leaves the internal one.
    init(_ arrived: ArrivedPurchase, userName: String? = nil) {
        let purchase = arrived.record.purchase
        transaction_id = purchase.transactionID
        original_transaction_id = purchase.originalTransactionID
        product_id = purchase.productID
        bundle_id = purchase.bundleID
        type = purchase.kind.rawValue
        environment = purchase.environment
        account = arrived.record.account.rawValue
        box = purchase.isFromBox
        price = purchase.price
        purchased_at = purchase.purchased
        expires_at = purchase.expires
        received_at = arrived.receivedAt
        user_id = userName ?? arrived.record.user?.rawValue
        sku = arrived.record.sku?.rawValue
        cursor = "\(arrived.receivedAt.rawValue)~\(purchase.environment.rawValue)~\(arrived.key)"
    }

    private enum CodingKeys: String, CodingKey {
        case transaction_id, original_transaction_id, product_id, bundle_id, type, environment, account, box, price
        case purchased_at, expires_at, received_at, user_id, sku
    }
}
