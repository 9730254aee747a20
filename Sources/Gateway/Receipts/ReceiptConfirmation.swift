import Domain
import Logging
import ProviderKit
import Store

/// The result of querying a store about a receipt's purchases.
enum ReceiptConfirmationResult: Sendable, Equatable {
    /// The store stated the status of these original transactions.
    case confirmed(Set<StoreSubject>)
    /// No store can be queried.
    case unasked
    /// The store did not answer, not completely, or does not know the purchases yet: a job queries again. It answered
    /// about these.
    case stale(Set<StoreSubject>)
    /// The store refuses the receipt, with this status of `verifyReceipt`.
    case rejected(Int64)

    /// The original transactions that the store answered about.
    var answered: Set<StoreSubject> {
        switch self {
        case .confirmed(let subjects), .stale(let subjects): subjects
        case .unasked, .rejected: []
        }
    }

    var source: ReceiptSource {
        if case .confirmed = self { return .appStore }
        return .receipt
    }

    var isStale: Bool {
        if case .stale = self { return true }
        return false
    }
}

/// Queries stores about the current status of receipts' purchases.
struct ReceiptConfirmation: Sendable {
    let store: StoreAccess
    let reader: ReceiptReader
    let purchases: ReceiptPurchases
    let time: BusinessTime
    let logger: Logger

    /// Queries the store while the client waits; a job queries the rest later.
    ///
    /// - Parameter unsigned: the purchases that are known only from receipts.
    func confirm(
        _ verified: VerifiedReceipt, unsigned: [StorePurchase], context: CallContext
    ) async throws(GatewayError) -> ReceiptConfirmationResult {
        guard verified.reader.canConfirm(verified.receipt) else { return .unasked }
        let answer: StoreAnswer
        do throws(ReceiptConfirmationError) {
            answer = try await verified.reader.confirm(
                verified.receipt, text: verified.text, unsigned: unsigned, isHurried: true)
        } catch {
            switch error {
            case .rejected(let status): return .rejected(status)
            case .store(let error):
                logger.info("a receipt was not confirmed", metadata: ["reason": "\(error)"])
                try await purchases.askLater(about: verified, context: context)
                return .stale([])
            }
        }
        try await purchases.apply(answer, of: verified, context.audit, endsJob: answer.isWhole)
        let subjects = Set(answer.items.compactMap { StoreSubject($0.statement) })
        guard !answer.isWhole else { return .confirmed(subjects) }
        try await purchases.askLater(about: verified, context: context)
        return .stale(subjects)
    }

    /// Queries a store again that could not answer about a receipt; the job's subject is the receipt's digest.
    func check(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let digest = ReceiptDigest(job.subject), let verified = try await reader.stored(digest),
            verified.reader.canConfirm(verified.receipt)
        else { return .done }
        let news = try await store.read { db in
            try ReceiptNews(verified.receipt.entries.map(\.purchase), user: nil, from: db)
        }
        let answer: StoreAnswer
        do throws(ReceiptConfirmationError) {
            answer = try await verified.reader.confirm(
                verified.receipt, text: verified.text, unsigned: news.unsigned, isHurried: false)
        } catch {
            return outcome(of: error, job)
        }
        try await purchases.apply(answer, of: verified, job.audit, endsJob: false)
        return answer.isWhole ? .done : .pending
    }

    private func outcome(of error: ReceiptConfirmationError, _ job: ClaimedJob) -> JobOutcome {
        switch error {
        case .store(.retryable(let after?)): return .again(after: max(1, after.rawValue - time.real.now.rawValue))
        // After days of retries the store will not report the purchase any more.
        case .store(.unknownYet) where job.attempt > job.kind.backOff.count:
            logger.notice("a store does not know what a receipt holds")
        case .store(.retryable(nil)), .store(.unknownYet), .store(.startAgain): return .pending
        case .store(.refused(let why)):
            logger.notice("a store was asked about a receipt in vain", metadata: ["reason": "\(why)"])
        case .rejected(let status):
            logger.warning("a store rejects a receipt that verifies", metadata: ["status": "\(status)"])
        }
        return .done
    }
}
