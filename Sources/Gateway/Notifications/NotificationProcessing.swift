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
    func process(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Domain.Notification>(job.subject) else { return .done }
        var asked: [ProviderFact] = []
        while let unknown = try await process(id, asked) {
            // That transaction changed nothing; the next one has the amounts.
            asked += try await amounts(of: unknown)
        }
        return .done
    }

    /// Applies the facts of a notification in one transaction.
    ///
    /// - Parameter asked: the providers' answers about refunds whose amounts the notification lacks.
    /// - Returns: the refunds whose amounts must be queried first; nil after all facts were applied.
    private func process(
        _ id: ID<Domain.Notification>, _ asked: [ProviderFact]
    ) async throws(GatewayError) -> [UnknownRefund]? {
        let (logger, registry, keyRing) = (logger, registry, keyRing)
        let audit = AuditContext(actor: .system("notification"), requestID: id.rawValue)
        return try await settlements.run(audit) { settlement -> [UnknownRefund]? in
            guard let stored = try settlement.tx.notifications.lock(id) else { return nil }
            settlement.log.context = AuditContext(actor: .provider(stored.account), requestID: id.rawValue)
            let facts = try JSONDecoder().decode([ProviderFact].self, from: Data(stored.facts.utf8))
            let unknown = try asked.isEmpty ? UnknownRefund.all(facts, from: stored.account, in: settlement.tx) : []
            guard unknown.isEmpty else { return unknown }
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
            return nil
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
