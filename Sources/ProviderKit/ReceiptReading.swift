public import Domain

/// A provider whose store issues receipts of many purchases.
public protocol ReceiptReading: PurchaseVerifying {
    /// Verifies a receipt, offline.
    ///
    /// - Parameter text: base64, as apps send it.
    /// - Throws: ``PurchaseRefusal`` with the precise reason.
    func read(receipt text: String) throws(PurchaseRefusal) -> StoreReceipt

    /// True where receipts of production are accepted; one that is then refused for its environment is a test receipt.
    var takesProductionReceipts: Bool { get }

    /// Returns the apps that have this shared secret, compared in constant time.
    func apps(withSecret secret: String) -> Set<String>

    /// Returns whether the store can be queried about a receipt's purchases.
    func canConfirm(_ receipt: StoreReceipt) -> Bool

    /// Queries the store about the current state of a receipt's purchases.
    ///
    /// - Parameters:
    ///   - text: the receipt, unchanged.
    ///   - unsigned: the purchases that are known only from receipts, newest first.
    ///   - isHurried: true where a client waits, so that no call is repeated, and slow ones are left out.
    func confirm(
        _ receipt: StoreReceipt, text: String, unsigned: [StorePurchase], isHurried: Bool
    ) async throws(ReceiptConfirmationError) -> StoreAnswer

    /// Queries the store for a transaction that is not in a receipt, in its app and environment.
    ///
    /// - Returns: nil where the answer does not verify.
    func transaction(
        _ id: String, besides receipt: StoreReceipt
    ) async throws(ReceiptConfirmationError) -> StoreAnswer.Item?
}

/// The errors of a query about a receipt.
public enum ReceiptConfirmationError: Error, Sendable, Equatable {
    case store(StoreSyncError)
    /// The store itself refuses the receipt, with this status of `verifyReceipt`: 21003 or 21010.
    case rejected(status: Int64)
}
