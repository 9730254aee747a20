public import Domain

/// A provider whose store gives apps receipts of many purchases.
public protocol ReceiptReading: PurchaseVerifying {
    /// Verifies a receipt, offline.
    ///
    /// - Parameter text: base64, as apps send it.
    /// - Throws: ``PurchaseRefusal`` with the precise reason.
    func read(receipt text: String) throws(PurchaseRefusal) -> StoreReceipt

    /// True where receipts of production are accepted; one that is then refused for its environment is a test receipt.
    var takesProductionReceipts: Bool { get }

    /// The apps whose shared secret this is, compared in constant time.
    func apps(withSecret secret: String) -> Set<String>

    /// Returns whether the store can be queried about a receipt's purchases.
    func canConfirm(_ receipt: StoreReceipt) -> Bool

    /// Asks the store where a receipt's purchases stand by now.
    ///
    /// - Parameters:
    ///   - text: the receipt as it came.
    ///   - unsigned: what nothing but receipts is known of yet, newest first.
    ///   - isHurried: a client waits, so that nothing is asked twice, and what takes too long is left out.
    func confirm(
        _ receipt: StoreReceipt, text: String, unsigned: [StorePurchase], isHurried: Bool
    ) async throws(ReceiptConfirmationError) -> StoreAnswer

    /// Asks the store for a transaction that a receipt does not hold, in its app and environment.
    ///
    /// - Returns: nil where the answer does not verify.
    func transaction(
        _ id: String, besides receipt: StoreReceipt
    ) async throws(ReceiptConfirmationError) -> StoreAnswer.Item?
}

/// The errors of a query about a receipt.
public enum ReceiptConfirmationError: Error, Sendable, Equatable {
    case store(StoreSyncError)
    /// The store itself calls the receipt worthless, with its `verifyReceipt` status: 21003 or 21010.
    case rejected(status: Int64)
}
