import Domain
import Logging
import ProviderKit
import Store

extension Gateway {
    /// A store decides without an answer so many seconds after it asked.
    private static let answerWindow: Int64 = 12 * 3_600

    /// Tells a store how much of a purchase was used; what is not sent in its time is not sent at all.
    func answerConsumption(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let subject = ConsumptionSubject(job.subject) else { return .done }
        let now = time.now
        let found = try await read { db in try ConsumptionQuestion(subject, job.id, in: db, at: now) }
        guard let found else { return .done }
        switch found.answer {
        case .failure(let silence):
            try await conclude(found, "consumption.not_answered", silence.rawValue, job)
            return .done
        case .success(let report):
            return try await send(report, found, at: subject.account, job)
        }
    }

    private func send(
        _ report: ConsumptionReport, _ question: ConsumptionQuestion, at account: AccountID, _ job: ClaimedJob
    ) async throws(GatewayError) -> JobOutcome {
        do throws(ProviderError) {
            guard let provider = registry[account]?.provider as? any ConsumptionAnswering else { throw .unsupported }
            try await provider.answer(report)
        } catch {
            switch error {
            case .unsupported:
                try await conclude(question, "consumption.not_answered", "the account has no key to answer with", job)
                return .done
            case .rejected(let reason), .unfit(let reason):
                try await conclude(question, "consumption.refused", reason, job)
                return .done
            case .unavailable, .outcomeUnknown, .unproven:
                let isOver = question.askedAt.adding(seconds: Self.answerWindow) <= time.now
                guard isOver || job.attempt > job.kind.backOff.count else { throw .providerUnavailable }
                logger.warning("a store was not told of consumption in time", metadata: ["job": "\(job.id)"])
                try await conclude(question, "consumption.not_answered", "the store could not be reached in time", job)
                return .done
            }
        }
        let preference = report.preference?.rawValue ?? "no_preference"
        try await conclude(question, "consumption.answered", report.words, job, inside: ", \(preference)")
        return .done
    }

    /// What became of the question, in the order's history and in the audit.
    ///
    /// - Parameter more: what is not for the order's owner to read.
    private func conclude(
        _ question: ConsumptionQuestion, _ action: String, _ words: String, _ job: ClaimedJob, inside more: String = ""
    ) async throws(GatewayError) {
        try await settle(cause(job)) { settlement in
            guard let order = try settlement.tx.orders.lock(question.order) else { return }
            try settlement.note(order, action, words)
            try settlement.audit(order, action, before: "", after: "\(question.transaction): \(words)\(more)")
        }
    }
}

/// A store's question with what can be answered to it now.
private struct ConsumptionQuestion: Sendable {
    let order: ID<Order>
    let transaction: String
    let askedAt: Timestamp
    let answer: Answer

    enum Answer: Sendable {
        case success(ConsumptionReport)
        case failure(ConsumptionSilence)
    }

    init?(_ subject: ConsumptionSubject, _ job: ID<Job>, in db: any Database, at now: Timestamp) throws {
        // The store asked under the transaction's own id; what was given stands under the one that has the order.
        guard let asked = try db.purchases.find(subject.environment, subject.key).value(),
            let record = try db.purchases.listTransactions(of: asked).first,
            let order = try record.order.flatMap({ try db.orders.find($0) }),
            let sku = try record.sku.flatMap({ try db.skus.find($0) })
        else { return nil }
        self.order = order.id
        transaction = asked.purchase.transactionID
        askedAt = try db.jobs.find(job, at: now)?.createdAt ?? now
        // The catalogue and the customer may have changed their minds since.
        if let silence = try ConsumptionSilence(record, in: db) {
            answer = .failure(silence)
        } else {
            answer = .success(
                try ConsumptionReport(record, order, asked: transaction, sku: sku, in: db, at: now))
        }
    }
}

extension ConsumptionReport {
    /// For the order's history, as its owner reads it, and for the audit.
    fileprivate var words: String {
        let share = percentage.map { "\($0 / 1_000) % used" } ?? "use not known"
        return "\(isDelivered ? "delivered" : "not delivered"), \(share)"
    }
}
