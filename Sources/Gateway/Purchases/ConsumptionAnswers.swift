import Domain
import Logging
import ProviderKit
import Store

/// Answers a store's request about how much of a purchase was used.
struct ConsumptionAnswers: Sendable {
    let settlements: SettlementRunner
    let logger: Logger

    /// The seconds after its request at which a store decides without an answer.
    private static let window: Int64 = 12 * 3_600

    private var now: Timestamp { settlements.time.now }

    /// Sends a store the answer to its request; an answer that cannot be sent in time is dropped.
    func send(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let subject = ConsumptionSubject(job.subject) else { return .done }
        let now = settlements.time.reading
        let found = try await settlements.store.read { db in try ConsumptionQuestion(subject, job.id, in: db, at: now) }
        guard let found else { return .done }
        switch found.answer {
        case .failure(let silence):
            try await record("consumption.not_answered", silence.rawValue, of: found, job)
            return .done
        case .success(let report):
            return try await send(report, found, at: subject.account, job)
        }
    }

    private func send(
        _ report: ConsumptionReport, _ question: ConsumptionQuestion, at account: AccountID, _ job: ClaimedJob
    ) async throws(GatewayError) -> JobOutcome {
        do throws(ProviderError) {
            guard let provider = settlements.providers.registry[account]?.provider as? any ConsumptionAnswering else {
                throw .unsupported
            }
            try await settlements.providers.measured(account) { () async throws(ProviderError) in
                try await provider.answer(report)
            }
        } catch {
            switch error {
            case .unsupported:
                try await record(
                    "consumption.not_answered", "the account has no key to answer with", of: question, job)
                return .done
            case .rejected(let reason), .unfit(let reason):
                try await record("consumption.refused", reason, of: question, job)
                return .done
            case .unavailable, .outcomeUnknown, .unproven:
                let isOver = question.askedAt.adding(seconds: Self.window) <= now
                guard isOver || job.attempt > job.kind.backOff.count else { throw .providerUnavailable }
                logger.warning("a store was not told of consumption in time", metadata: ["job": "\(job.id)"])
                try await record(
                    "consumption.not_answered", "the store could not be reached in time", of: question, job)
                return .done
            }
        }
        let preference = report.preference?.rawValue ?? "no_preference"
        try await record("consumption.answered", report.summary, of: question, job, inAudit: ", \(preference)")
        return .done
    }

    /// Records the outcome of a request in the order's timeline and in the audit.
    ///
    /// - Parameter addition: text for the audit only, which the order's owner does not read.
    private func record(
        _ action: String, _ text: String, of question: ConsumptionQuestion, _ job: ClaimedJob,
        inAudit addition: String = ""
    ) async throws(GatewayError) {
        try await settlements.run(job.audit) { settlement in
            guard let order = try settlement.tx.orders.lock(question.order) else { return }
            try settlement.log.appendTimeline(order, action, text)
            try settlement.log.audit(order, action, before: "", after: "\(question.transaction): \(text)\(addition)")
        }
    }
}

/// A store's request and the current answer.
private struct ConsumptionQuestion: Sendable {
    let order: ID<Order>
    let transaction: String
    let askedAt: Timestamp
    let answer: Answer

    enum Answer: Sendable {
        case success(ConsumptionReport)
        case failure(ConsumptionSilence)
    }

    init?(_ subject: ConsumptionSubject, _ job: ID<Job>, in db: any Database, at reading: ClockReading) throws {
        let now = reading.business
        // The store names one transaction; the grant and the order may be those of another transaction of the same
        // purchase.
        guard let asked = try db.purchases.find(subject.environment, subject.key).value(),
            let record = try db.purchases.listTransactions(of: asked).first,
            let order = try record.order.flatMap({ try db.orders.find($0) }),
            let sku = try record.sku.flatMap({ try db.skus.find($0) })
        else { return nil }
        self.order = order.id
        transaction = asked.purchase.transactionID
        askedAt = try db.jobs.find(job, at: reading.real)?.createdAt ?? now
        // The catalogue or the customer's consent may have changed since the request.
        if let silence = try ConsumptionSilence(record, in: db) {
            answer = .failure(silence)
        } else {
            answer = .success(
                try ConsumptionReport(record, order, asked: transaction, sku: sku, in: db, at: now))
        }
    }
}

extension ConsumptionReport {
    private static let whole: Int64 = 100_000

    /// Reports that a purchase was delivered, and how much of it was used.
    ///
    /// - Parameter id: the transaction that the store named.
    fileprivate init(
        _ record: PurchaseRecord, _ order: Order, asked id: String, sku: SKU, in db: any Database, at now: Timestamp
    ) throws {
        let purchase = record.purchase
        let source = LedgerSource(kind: Grant.SourceKind.appleTransaction.rawValue, id: record.key)
        let booked = try db.wallets.booked(source, user: order.user, environment: purchase.environment)
        let entitlement = try Self.entitlement(of: record, in: db, at: now)
        let isDelivered = !booked.isEmpty || entitlement != nil
        let balances = try db.wallets.balances(of: order.user).value()[purchase.environment] ?? [:]
        let used =
            booked.isEmpty
            ? Self.usedTime(of: purchase, entitlement, at: now)
            : Self.usedUnits(booked.mapValues(\.sum), balances: balances)
        self.init(
            environment: purchase.environment, bundleID: purchase.bundleID, transactionID: id,
            isAutoRenewable: purchase.isSubscription, isDelivered: isDelivered,
            percentage: isDelivered ? used : 0, preference: Preference(rawValue: sku.consumption.rawValue))
    }

    /// Finds the entitlement that a purchase gives its owner for some time; nil where there is none.
    private static func entitlement(
        of record: PurchaseRecord, in db: any Database, at now: Timestamp
    ) throws -> Entitlement? {
        guard let owner = record.user else { return nil }
        let purchase = record.purchase
        let kind: Grant.SourceKind = purchase.isSubscription ? .appleSubscription : .appleTransaction
        let id = purchase.isSubscription ? purchase.originalTransactionID : record.key
        return EntitlementRules.fold(try db.grants.list(of: owner).value(), now: now).entitlements.first {
            $0.grant.environment == purchase.environment && $0.grant.source == Grant.Source(kind: kind, id: id)
                && ($0.endsAt ?? .farFuture) > $0.startsAt
        }
    }

    /// Returns the elapsed share of the paid time in thousandths of a percent; nil for a perpetual purchase.
    private static func usedTime(
        of purchase: StorePurchase, _ entitlement: Entitlement?, at now: Timestamp
    ) -> Int64? {
        let start = purchase.isSubscription ? purchase.purchased : entitlement?.startsAt
        let end = purchase.isSubscription ? purchase.expires : entitlement?.endsAt
        guard let start, let end, end > start else { return nil }
        let length = end.rawValue - start.rawValue
        return whole * min(max(now.rawValue - start.rawValue, 0), length) / length
    }

    /// Returns the share of the credited units that was certainly spent, in thousandths of a percent, as the mean over
    /// the units; nil where all of them were taken back.
    ///
    /// All that is left of a balance counts as left of this purchase, so that no more is reported than was spent.
    private static func usedUnits(_ credited: [String: Int64], balances: [String: Int64]) -> Int64? {
        let shares = credited.filter { $0.value > 0 }.map { unit, amount in
            let left = min(max(balances[unit] ?? 0, 0), amount)
            return Int64((Double(amount - left) / Double(amount) * Double(whole)).rounded(.down))
        }
        return shares.isEmpty ? nil : shares.reduce(0, +) / Int64(shares.count)
    }

    /// The text for the audit and for the order's timeline, which its owner reads.
    fileprivate var summary: String {
        let share = percentage.map { "\($0 / 1_000) % used" } ?? "use not known"
        return "\(isDelivered ? "delivered" : "not delivered"), \(share)"
    }
}
