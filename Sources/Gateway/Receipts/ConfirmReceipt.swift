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
    /// The store did not answer, or does not know them yet: it is asked again.
    case stale
    /// The store calls the receipt worthless, with this status.
    case rejected(Int64)
}

extension Gateway {
    /// Asks where a receipt's purchases stand while its client waits; what is not answered now is asked again by a job.
    func confirm(_ read: ReadReceipt, context: CallContext) async throws(GatewayError) -> ReceiptStanding {
        guard read.reader.canConfirm(read.receipt) else { return .unasked }
        let answer: StoreAnswer
        do throws(ReceiptConfirmationError) {
            answer = try await read.reader.confirm(read.receipt, text: read.text, isHurried: true)
        } catch {
            switch error {
            case .rejected(let status): return .rejected(status)
            case .store(let error):
                logger.info("a receipt was not confirmed", metadata: ["reason": "\(error)"])
                try await askLater(about: read, context: context)
                return .stale
            }
        }
        try await settle(answer, of: read, Cause(actor: context.actor, requestID: context.requestID), isAnswered: true)
        return .confirmed(Set(answer.items.compactMap { StoreSubject($0.statement) }))
    }

    /// Asks again about a receipt whose store could not answer; the subject is the receipt's digest.
    func checkReceipt(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let digest = ReceiptDigest(job.subject), let read = try await keptReceipt(digest),
            read.reader.canConfirm(read.receipt)
        else { return .done }
        do throws(ReceiptConfirmationError) {
            let answer = try await read.reader.confirm(read.receipt, text: read.text, isHurried: false)
            do throws(GatewayError) {
                try await settle(answer, of: read, cause(job), isAnswered: false)
            } catch {
                // Settling is asked for again like the answer.
                logger.notice("a receipt's answer was not settled", metadata: ["reason": "\(error)"])
                return .pending
            }
        } catch {
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
        }
        return .done
    }

    private func askLater(about read: ReadReceipt, context: CallContext) async throws(GatewayError) {
        let sealed = try sealed(read)
        let (digest, account) = (read.receipt.digest, read.account)
        try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
            try settlement.tx.keepReceipt(digest, account: account, evidence: sealed, at: settlement.now)
            try settlement.askLater(about: digest)
        }
    }

    /// - Parameter isAnswered: a client has the answer, so that no job needs to ask.
    private func settle(
        _ answer: StoreAnswer, of read: ReadReceipt, _ cause: Cause, isAnswered: Bool
    ) async throws(GatewayError) {
        let sealed = try sealed(read)
        let (digest, account) = (read.receipt.digest, read.account)
        try await settle(answer, from: account, cause) { settlement in
            // What the answer's purchases are known by stands beside them.
            try settlement.tx.keepReceipt(digest, account: account, evidence: sealed, at: settlement.now)
        } after: { settlement in
            guard isAnswered else { return }
            try settlement.tx.dropJob(kind: JobKind.checkReceipt.rawValue, subject: digest.rawValue)
        }
    }
}
