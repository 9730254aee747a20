import Domain
import Logging
import ProviderKit
import Store

/// What is known of a receipt's purchases besides the receipt.
enum ReceiptStanding: Sendable, Equatable {
    /// The store says where they stand: these.
    case confirmed(Set<StoreSubject>)
    /// Nobody can be asked.
    case unasked
    /// The store did not answer, not in full, or does not know them yet: it is asked again. What it did say is settled.
    case stale(Set<StoreSubject>)
    /// The store calls the receipt worthless, with this status.
    case rejected(Int64)

    /// What the store spoke of.
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

extension Gateway {
    /// Asks where a receipt's purchases stand while its client waits; what is not answered now is asked again by a job.
    func confirm(
        _ read: ReadReceipt, unsigned: [StorePurchase], context: CallContext
    ) async throws(GatewayError) -> ReceiptStanding {
        guard read.reader.canConfirm(read.receipt) else { return .unasked }
        let answer: StoreAnswer
        do throws(ReceiptConfirmationError) {
            answer = try await read.reader.confirm(
                read.receipt, text: read.text, unsigned: unsigned, isHurried: true)
        } catch {
            switch error {
            case .rejected(let status): return .rejected(status)
            case .store(let error):
                logger.info("a receipt was not confirmed", metadata: ["reason": "\(error)"])
                try await askLater(about: read, context: context)
                return .stale([])
            }
        }
        let cause = AuditContext(actor: context.actor, requestID: context.requestID)
        try await settle(answer, of: read, cause, endsJob: answer.isWhole)
        let subjects = Set(answer.items.compactMap { StoreSubject($0.statement) })
        guard !answer.isWhole else { return .confirmed(subjects) }
        try await askLater(about: read, context: context)
        return .stale(subjects)
    }

    /// Asks again about a receipt whose store could not answer; the subject is the receipt's digest.
    func checkReceipt(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let digest = ReceiptDigest(job.subject), let kept = try await keptReceipt(digest),
            kept.reader.canConfirm(kept.receipt)
        else { return .done }
        let news = try await read { db in
            try ReceiptNews(kept.receipt.entries.map(\.purchase), user: nil, from: db)
        }
        let answer: StoreAnswer
        do throws(ReceiptConfirmationError) {
            answer = try await kept.reader.confirm(
                kept.receipt, text: kept.text, unsigned: news.unsigned, isHurried: false)
        } catch {
            return outcome(of: error, job)
        }
        try await settle(answer, of: kept, cause(job), endsJob: false)
        return answer.isWhole ? .done : .pending
    }

    private func outcome(of error: ReceiptConfirmationError, _ job: ClaimedJob) -> JobOutcome {
        switch error {
        case .store(.retryable(let after?)): return .again(after: max(1, after.rawValue - time.now.rawValue))
        // What the store has not known for days it will not know.
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
