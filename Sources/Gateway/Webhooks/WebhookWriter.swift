import Domain
import Store

/// Writes changes of an endpoint inside a settlement's transaction.
struct WebhookWriter {
    private let settlement: Settlement

    init(_ settlement: Settlement) { self.settlement = settlement }

    private var tx: any Transaction { settlement.tx }
    private var now: Timestamp { settlement.now }

    /// Locks an endpoint for a change by a key of its partner.
    ///
    /// A key that may not read all types of the endpoint may not change it: it could redirect the events to itself,
    /// read the secret, or withhold the events from the partner.
    ///
    /// - Throws: `notFound`, also for another partner's endpoint; `forbidden` for a key without the scopes.
    func lock(_ id: ID<Webhook>, for key: AuthenticatedKey) throws -> WebhookRecord {
        guard let record = try tx.webhooks.lock(id), record.partner == key.partner else {
            throw GatewayError.unknown(.webhook, id.rawValue)
        }
        guard record.shownTypes.isSubset(of: EventType.readable(with: key.scopes)) else { throw GatewayError.forbidden }
        return record
    }

    /// Disables an endpoint.
    func disable(_ id: ID<Webhook>, _ reason: Webhook.DisabledReason) throws {
        try tx.webhooks.disable(id, reason)
        if try !tx.end(id, at: now) { try endLater(id) }
        try settlement.log.audit(subject: id.rawValue, "webhook.disabled", before: "enabled", after: reason.rawValue)
    }

    /// Enables an endpoint, which gets the events from now on.
    ///
    /// - Throws: `conflict` while its old deliveries are still being ended, because they would be sent.
    func enable(_ webhook: WebhookRecord) throws {
        guard try tx.end(webhook.id, at: now) else {
            throw GatewayError.conflict(
                reason: "its old deliveries are still being ended; try again soon", resource: webhook.id.rawValue)
        }
        try tx.webhooks.enable(webhook.id)
        try settlement.log.audit(
            subject: webhook.id.rawValue, "webhook.enabled", before: webhook.disabledReason?.rawValue ?? "",
            after: "enabled")
    }

    /// Deletes an endpoint: hides it at once, and deletes its rows now or in a job.
    ///
    /// The endpoint's own jobs end when they do not find it any more: they lock their job and then wait for the
    /// endpoint's row, which is locked here.
    func delete(_ id: ID<Webhook>) throws {
        try tx.webhooks.retire(id)
        if try !tx.drop(id) { try endLater(id) }
    }

    private func endLater(_ id: ID<Webhook>) throws {
        try tx.jobs.enqueue(
            settlement.ids.make(), kind: JobKind.endDeliveries.rawValue, subject: id.rawValue, delay: 0, at: now)
    }
}

extension Transaction {
    /// The largest number of rows that one transaction ends or deletes, so that it stays within the time limit of a
    /// statement.
    private var endedAtOnce: Int64 { 500 }

    /// Ends deliveries of an endpoint.
    ///
    /// - Returns: true where none is left.
    func end(_ id: ID<Webhook>, at now: Timestamp) throws(StoreError) -> Bool {
        try deliveries.end(of: id, limit: endedAtOnce, at: now) < endedAtOnce
    }

    /// Deletes deliveries of an endpoint, and after the last of them the endpoint.
    ///
    /// - Returns: true where the endpoint is deleted.
    func drop(_ id: ID<Webhook>) throws(StoreError) -> Bool {
        guard try deliveries.delete(of: id, limit: endedAtOnce) < endedAtOnce else { return false }
        try webhooks.delete(id)
        return true
    }
}
