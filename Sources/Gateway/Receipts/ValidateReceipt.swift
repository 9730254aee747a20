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
    /// - Parameters:
    ///   - password: the app's shared secret, which counts where no user asks.
    ///   - newestOnly: of each subscription its current period alone.
    ///   - user: claims the purchases; nil leaves those that nobody has claimed unclaimed.
    /// - Throws: `invalidReceipt`, `unauthenticated` for a missing or wrong password.
    package func validateReceipt(
        _ text: String, password: String?, newestOnly: Bool, user: ExternalUserID?, context: CallContext
    ) async throws(GatewayError) -> ReceiptAnswer {
        let verified: ReadReceipt
        do throws(GatewayError) {
            verified = try readReceipt(text, secret: user == nil ? password ?? "" : nil)
        } catch {
            guard error == .invalidReceipt(PurchaseRefusal.Reason.wrongEnvironment.rawValue) else { throw error }
            // Where production is taken it was a test's receipt, else production's.
            return .status(takesProductionReceipts ? 21_007 : 21_008)
        }
        let news = try await unknown(in: verified.receipt, to: user)
        if !news.isEmpty { _ = try await keep(news, of: verified, user: user, context: context, asksLater: true) }
        let standing = try await confirm(verified, context: context)
        var subjects = verified.receipt.subjects
        switch standing {
        case .rejected(let status): return .status(status)
        case .confirmed(let answered): subjects.formUnion(answered)
        case .unasked, .stale: break
        }
        let (now, receipt) = (time.now, verified.receipt)
        let known = try await read { [subjects] db in
            try ReceiptReport.Purchases(
                receipt, subjects, holder: user, newestOnly: newestOnly, from: db, now: now)
        }
        var isConfirmed = false
        if case .confirmed = standing { isConfirmed = true }
        return .report(
            ReceiptReport(
                receipt: receipt, text: verified.text, rows: known.rows, renewals: known.renewals,
                source: isConfirmed ? .appStore : .receipt, isStale: standing == .stale,
                requestedAt: time.milliseconds()))
    }
}
