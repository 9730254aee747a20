import Domain
import Encodings

/// A notification with the JWS that was signed once for it.
package struct SentNotification: Sendable {
    package let row: BoxNotification
    package let signedPayload: String

    package init(row: BoxNotification, signedPayload: String) {
        self.row = row
        self.signedPayload = signedPayload
    }
}

/// The rows that the box's server API reads.
package protocol ServerAPIReader: Sendable {
    /// Apple's rate limit in calls a second; nil for none.
    func callsPerSecond() async throws -> Int64?

    /// - Returns: nil for an id that the box does not know.
    func transaction(_ id: String) async throws -> BoxTransaction?

    /// The transactions of a customer behind a place, in the order of `signedAt`, then of `transactionID`.
    ///
    /// - Parameter place: nil for the first ones.
    func transactions(of customer: String, after place: HistoryPlace?, limit: Int) async throws -> [BoxTransaction]

    /// All subscriptions of a customer.
    func subscriptions(of customer: String) async throws -> [BoxSubscription]

    /// - Returns: nil for a UUID that the box does not know.
    func notification(_ uuid: String) async throws -> SentNotification?

    /// The notifications behind a number, in the order of their numbers.
    ///
    /// - Parameters:
    ///   - number: 0 for the first ones.
    ///   - dates: the first and the last `signedAt`.
    func notifications(
        signed dates: ClosedRange<Int64>, after number: Int64, limit: Int
    ) async throws -> [SentNotification]
}

/// The acts of the box's server API; each sends its notification as the delivery's mode says.
package protocol ServerAPIActs: Sendable {
    /// Extends the running period of a subscription.
    ///
    /// - Returns: the subscription with its new end.
    /// - Throws: `BoxError.conflict` where its state does not allow it.
    func extend(_ originalTransactionID: String, days: Int64) async throws -> BoxSubscription

    /// Makes a notification of the type `TEST`.
    func requestTest() async throws -> BoxNotification
}

/// The place behind a transaction in a customer's history.
///
/// A transaction that changes gets a newer `signedAt` and moves to the end, so that a caller who stored the last page's
/// revision reads it again.
package struct HistoryPlace: Sendable, Equatable {
    package let signedAt: Int64
    package let transactionID: String

    package init(signedAt: Int64, transactionID: String) {
        self.signedAt = signedAt
        self.transactionID = transactionID
    }

    init(behind row: BoxTransaction) { self.init(signedAt: row.signedAt, transactionID: row.transactionID) }

    /// Apple's `revision`: base64url of the two.
    var revision: String { PageToken.encoded([String(signedAt), transactionID]) }

    /// - Returns: nil for a text that is no revision of the box.
    init?(revision: String) {
        guard let parts = PageToken.decoded(revision), parts.count == 2, let signedAt = Int64(parts[0]),
            BoxTransactionID.isOne(parts[1])
        else { return nil }
        self.init(signedAt: signedAt, transactionID: parts[1])
    }
}

/// The ids of the box's transactions: 18 digits that begin with 9.
enum BoxTransactionID {
    static func isOne(_ text: String) -> Bool { text.hasPrefix("9") && text.isDigits(18...18) }
}

/// The tokens of pages: base64url of short texts, which hold no `.`.
enum PageToken {
    static func encoded(_ parts: [String]) -> String { Base64URL.encoded(parts.joined(separator: ".").utf8) }

    static func decoded(_ text: String) -> [String]? {
        guard text.utf8.count <= 256, let bytes = Base64.decodeURL(Array(text.utf8)[...]),
            let joined = String(validating: bytes, as: UTF8.self)
        else { return nil }
        return joined.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }
}
