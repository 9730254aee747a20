package import Domain
import ProviderKit
import Store

/// The answer about a receipt: a report, or a status of `verifyReceipt` that says why there is none.
package enum ReceiptAnswer: Sendable {
    case report(ReceiptReport)
    /// Apple's number, such as 21007.
    case status(Int64)
}

extension Gateway {
    /// What became of a receipt's purchases, each kept, and attached where a user asks.
    ///
    /// They are kept first, then the store is asked, and only then the user claims them, so that the store's word on whose
    /// they are counts. The answer lists the same whoever asks, and tells a user which of them are the user's.
    /// - Parameters:
    ///   - password: the app's shared secret, which counts where no user asks.
    ///   - newestOnly: of each subscription its current period alone.
    ///   - user: claims the purchases; nil leaves those that nobody has claimed unclaimed.
    /// - Throws: `invalidReceipt`, `unauthenticated` for a missing or wrong password.
    package func validateReceipt(
        _ text: String, password: String?, newestOnly: Bool, user: ExternalUserID?, context: CallContext
    ) async throws(GatewayError) -> ReceiptAnswer {
        let verified: ReadReceipt
        switch try await readReceipt(text, secret: user == nil ? password ?? "" : nil) {
        case .read(let read): verified = read
        // Where production is taken it was a test's receipt, else production's.
        case .otherEnvironment(let takesProduction): return .status(takesProduction ? 21_007 : 21_008)
        }
        let receipt = verified.receipt
        let purchases = receipt.entries.map(\.purchase)
        let news = try await read { db in try ReceiptNews(purchases, user: user, from: db) }
        if !news.unknown.isEmpty { try await keep(news.unknown, of: verified, context: context) }
        let standing = try await confirm(verified, unsigned: news.unsigned, context: context)
        if case .rejected(let status) = standing { return .status(status) }
        let now = time.now
        let subjects = receipt.subjects.union(standing.answered)
        if let user {
            // What only the store's answer names is the customer's as well.
            let named = standing.answered.subtracting(receipt.subjects)
            let others = try await read { db in
                try ReceiptNews(
                    named.flatMap { try db.purchases.list($0.environment, original: $0.original).map(\.purchase) },
                    user: user, from: db
                ).unclaimed
            }
            let unclaimed = news.unclaimed + others
            if !unclaimed.isEmpty { _ = try await claim(unclaimed, of: verified, user: user, context: context) }
        }
        let known = try await read { db in
            try ReceiptReport.Purchases(
                receipt, subjects, caller: user, newestOnly: newestOnly, from: db, now: now)
        }
        return .report(
            ReceiptReport(
                receipt: receipt, text: text, rows: known.rows, renewals: known.renewals, attachment: known.attachment,
                source: standing.source, isStale: standing.isStale, requestedAt: time.milliseconds()))
    }
}
