public import Foundation

/// The App Store as the SDK sees it; `PaydeskStoreKit` has StoreKit's.
public protocol Storefront: Sendable {
    /// False where purchases are not allowed on this device: the shop is hidden then.
    var canMakePayments: Bool { get }

    func products(_ ids: [String]) async throws -> [StoreProduct]

    /// Shows Apple's sheet and waits for the customer.
    ///
    /// - Throws: ``StorefrontError``.
    func purchase(_ product: String, appAccountToken: UUID, quantity: Int) async throws -> StorePurchase

    /// The transactions that were not finished.
    func unfinished() async -> [StoreTransaction]

    /// Transactions that arrive while the app runs: renewals, refunds, approvals, purchases on other devices.
    func updates() -> AsyncStream<StoreTransaction>

    /// The transactions that entitle the customer now.
    func currentEntitlements() async -> [StoreTransaction]

    /// Finishes a transaction; one that is finished already or not known is no error.
    func finish(_ transaction: String) async throws

    /// Asks the App Store for the customer's transactions; Apple may ask for the password.
    func sync() async throws

    func showManageSubscriptions() async throws

    /// Shows Apple's sheet for a refund.
    ///
    /// - Returns: false where the customer cancelled it.
    func requestRefund(_ transaction: String) async throws -> Bool
}

/// A product as the App Store shows it to this customer.
public struct StoreProduct: Sendable, Equatable {
    public let id: String
    public let name: String
    public let description: String
    public let price: Decimal
    /// The price in the customer's own notation.
    public let displayPrice: String

    public init(id: String, name: String, description: String, price: Decimal, displayPrice: String) {
        self.id = id
        self.name = name
        self.description = description
        self.price = price
        self.displayPrice = displayPrice
    }
}

/// A transaction that Apple signed.
public struct StoreTransaction: Sendable, Equatable {
    public let id: String
    public let productID: String
    public let jws: String
    public let appAccountToken: UUID?

    public init(id: String, productID: String, jws: String, appAccountToken: UUID?) {
        self.id = id
        self.productID = productID
        self.jws = jws
        self.appAccountToken = appAccountToken
    }
}

/// The end of Apple's purchase sheet.
public enum StorePurchase: Sendable, Equatable {
    case purchased(StoreTransaction)
    /// Somebody has to approve it; it comes later as an update.
    case pending
    case cancelled
}

/// A refusal of the App Store or of the device.
public enum StorefrontError: Error, Sendable, Equatable {
    case cancelled
    case invalidPayment
    case notAllowed
    case notAvailable
    case noNetwork
    case other(String)
}
