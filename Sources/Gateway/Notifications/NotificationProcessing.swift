import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

extension Notifications {
    /// Processes a notification now, unless another worker does; after a failure its job repeats it.
    func processNow(_ notification: ID<Domain.Notification>) async {
        _ = try? await queue.performNow(.processNotification, subject: notification.rawValue) {
            (job) async throws(GatewayError) in try await process(job)
        }
    }

    /// Applies the facts of a stored notification, once.
    ///
    /// - Parameter facts: the facts where this process has just stored them; nil reads them.
    func process(_ job: ClaimedJob, known facts: [ProviderFact]? = nil) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Domain.Notification>(job.subject) else { return .done }
        var asked: [ProviderFact] = []
        while true {
            switch try await process(id, of: job, facts, asked) {
            case .done(let outcome): return outcome
            // That transaction changed nothing; the next one has the amounts.
            case .lacks(let unknown): asked += try await amounts(of: unknown)
            }
        }
    }

    /// The end of a transaction that applies facts.
    private enum Processing {
        case done(JobOutcome)
        /// The amounts of these refunds must be queried before anything is applied.
        case lacks([UnknownRefund])
    }

    /// Applies the facts of a notification in one transaction, which also ends the job where nothing follows.
    ///
    /// - Parameters:
    ///   - known: the notification's facts; nil reads them.
    ///   - asked: the providers' answers about refunds whose amounts the notification lacks.
    private func process(
        _ id: ID<Domain.Notification>, of job: ClaimedJob, _ known: [ProviderFact]?, _ asked: [ProviderFact]
    ) async throws(GatewayError) -> Processing {
        let (logger, registry, keyRing) = (logger, registry, keyRing)
        let audit = AuditContext(actor: .system("notification"), requestID: id.rawValue)
        return try await settlements.run(audit) { settlement -> Processing in
            guard let stored = try settlement.tx.notifications.lock(id) else { return .done(.done) }
            settlement.log.context = AuditContext(actor: .provider(stored.account), requestID: id.rawValue)
            let facts = try known ?? JSONDecoder().decode([ProviderFact].self, from: Data(stored.facts.utf8))
            let unknown = try asked.isEmpty ? UnknownRefund.all(facts, from: stored.account, in: settlement.tx) : []
            guard unknown.isEmpty else { return .lacks(unknown) }
            try settlement.lockUsers(of: facts + asked)
            // The answers are stored as facts as well, for a rebuild.
            for fact in asked { _ = try settlement.apply(fact, from: stored.account) }
            for fact in facts {
                if case .store(let statement) = fact {
                    // A purchase is granted even where its evidence cannot be opened.
                    let evidence = try? stored.evidence(of: statement.purchase, by: keyRing)
                    try settlement.purchases.apply(
                        statement, from: registry.source(of: stored.account, evidence: evidence))
                } else if try !settlement.apply(fact, from: stored.account, isStored: true) {
                    logger.notice("a notification names an unknown payment", metadata: ["notification": "\(id)"])
                }
            }
            try settlement.tx.notifications.markProcessed(id, at: settlement.now)
            // Refunds are sent after the commit, under the job's lease.
            guard settlement.followUps.refunds.isEmpty else { return .done(.done) }
            let isEnded = try settlement.tx.jobs.finish(job.lease, requests: job.asked, at: settlement.now)
            return .done(isEnded ? .recorded : .done)
        }
    }
}

extension StoredNotification {
    /// The raw text of the notification as a purchase's evidence, sealed for that column; nil where the text has been
    /// deleted.
    fileprivate func evidence(of purchase: StorePurchase?, by keyRing: KeyRing) throws -> Data? {
        guard let purchase, let body else { return nil }
        let text = try keyRing.open(body, context: SealedNotification.bodyPlace(id))
        return try keyRing.seal(text, context: purchase.evidenceContext)
    }
}
