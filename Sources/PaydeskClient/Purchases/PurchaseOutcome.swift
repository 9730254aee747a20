/// The end of a purchase for the screen that began it.
public enum PurchaseOutcome: Sendable, Equatable {
    /// The server has it, and this is what it gave; nil where the server will grant it later.
    case purchased(AttachedPurchase?)
    /// Apple has the money and the device has the transaction; the server is asked until it has it too.
    case kept
    /// The server refused it; it is kept on the device, and sent again at the next start.
    case refused(Refusal)
    /// Somebody has to approve it first.
    case pending
    case cancelled
}

/// News of the queue, also of purchases that no screen waits for.
public enum PurchaseEvent: Sendable, Equatable {
    case stored(PurchaseRecord, AttachedPurchase?)
    case finished(transactionID: String)
    case kept(PurchaseRecord)
    case refused(PurchaseRecord, Refusal)
    /// A file that could not be read; the App Store brings its transaction again.
    case unreadable(file: String)
    /// A file that could not be written: a full disk. The App Store keeps the transaction, which goes on in memory.
    case notWritten(PurchaseRecord, String)
}
