import Domain
import Store

/// Rows in one transaction, so that nobody waits long for it and no backlog outgrows a statement's time.
private let endedAtOnce: Int64 = 500

extension Gateway {
    /// Transactions in one run.
    private static let endingRounds = 40

    /// Ends what was under way to an endpoint that was switched off, or deletes all of one that was deleted.
    ///
    /// Meanwhile nothing of it goes out and its partner sees it as ended: that follows from the endpoint's own row.
    func endDeliveries(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Webhook>(job.subject) else { return .done }
        for _ in 0..<Self.endingRounds {
            let now = time.now
            let isOver = try await write { tx in
                guard let webhook = try tx.webhooks.lock(id), webhook.status == .disabled else { return true }
                return webhook.isRetired ? try tx.drop(id) : try tx.end(id, at: now)
            }
            if isOver { return .done }
        }
        return .again(after: 0)
    }
}

extension Settlement {
    /// Switches an endpoint off and says so in the audit.
    func disable(_ id: ID<Webhook>, _ reason: Webhook.DisabledReason) throws {
        try tx.webhooks.disable(id, reason)
        if try !tx.end(id, at: now) { try endLater(id) }
        try log.audit(subject: id.rawValue, "webhook.disabled", before: "enabled", after: reason.rawValue)
    }

    /// Switches an endpoint on: it gets what happens from now on.
    ///
    /// - Throws: `conflict` while what it missed is still being ended, because that would go out, too.
    func enable(_ webhook: WebhookRecord) throws {
        guard try tx.end(webhook.id, at: now) else {
            throw GatewayError.conflict(
                reason: "its old deliveries are still being ended; try again soon", resource: webhook.id.rawValue)
        }
        try tx.webhooks.enable(webhook.id)
        try log.audit(
            subject: webhook.id.rawValue, "webhook.enabled", before: webhook.disabledReason?.rawValue ?? "",
            after: "enabled")
    }

    /// Deletes an endpoint: it is gone for everybody at once, its rows as soon as may be.
    ///
    /// Its jobs end by themselves when they find it gone: a run holds its job and waits for the endpoint's row, which is held
    /// here.
    func delete(_ id: ID<Webhook>) throws {
        try tx.webhooks.retire(id)
        if try !tx.drop(id) { try endLater(id) }
    }

    private func endLater(_ id: ID<Webhook>) throws {
        try tx.jobs.enqueue(
            ids.make(), kind: JobKind.endDeliveries.rawValue, subject: id.rawValue, delay: 0, at: now)
    }
}

extension Transaction {
    /// - Returns: whether nothing is under way any more.
    fileprivate func end(_ id: ID<Webhook>, at now: Timestamp) throws(StoreError) -> Bool {
        try deliveries.end(of: id, limit: endedAtOnce, at: now) < endedAtOnce
    }

    /// - Returns: whether the endpoint is gone with all that it had.
    fileprivate func drop(_ id: ID<Webhook>) throws(StoreError) -> Bool {
        guard try deliveries.delete(of: id, limit: endedAtOnce) < endedAtOnce else { return false }
        try webhooks.delete(id)
        return true
    }
}
