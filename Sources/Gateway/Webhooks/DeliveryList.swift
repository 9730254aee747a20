package import Domain
import Store

/// A delivery in the form that its partner sees, without the endpoint's answer.
package struct DeliveryView: Encodable, Sendable {
    package let id: ID<Delivery>
    let webhook_id: ID<Webhook>
    package let event_id: ID<Event>
    package let type: String
    package let seq: Int64
    package let status: String
    package let attempts: Int64
    let next_at: Timestamp?
    let last_status: Int64?
    let last_error: String?
    let created_at: Timestamp
    let done_at: Timestamp?

    /// - Parameter isEnded: true where the webhook is disabled, so that nothing is sent even where the row is still
    ///   pending.
    ///   waits to be ended.
    init(_ record: DeliveryRecord, isEnded: Bool = false) {
        let isEnded = isEnded && record.state == .pending
        id = record.id
        webhook_id = record.webhook
        event_id = record.event
        type = record.type
        seq = record.seq
        status = isEnded ? Delivery.State.failed.rawValue : record.state.rawValue
        attempts = record.attempts
        next_at = isEnded ? nil : record.nextAt
        last_status = record.lastStatus
        last_error = isEnded ? Delivery.Fault.disabled.rawValue : record.lastError
        created_at = record.createdAt
        done_at = record.doneAt
    }
}

/// An attempt to deliver an event, with the beginning of the endpoint's answer.
struct DeliveryAttempt: Codable, Sendable {
    let at: Timestamp
    let status: Int64?
    let error: String?
    let body: String?

    private enum CodingKeys: CodingKey { case at, status, error, body }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(at, forKey: .at)
        try fields.encode(status, forKey: .status)
        try fields.encode(error, forKey: .error)
        try fields.encode(body, forKey: .body)
    }
}

/// A delivery with its attempts, oldest first, for admins.
package struct DeliveryDetail: Encodable, Sendable {
    let view: DeliveryView
    let history: [DeliveryAttempt]

    private enum CodingKeys: CodingKey { case history }

    package func encode(to encoder: any Encoder) throws {
        try view.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(history, forKey: .history)
    }
}

extension Webhooks {
    /// Lists an endpoint's deliveries, those of the newest events first.
    ///
    /// - Throws: `notFound`, also for another partner's endpoint.
    package func deliveries(
        of webhook: String, partner: String, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<DeliveryView> {
        guard let id = ID<Webhook>(webhook) else { throw .unknown(.webhook, webhook) }
        let before = try Cursor(number: cursor).position ?? .max
        let views = try await store.report { db in
            guard let owner = try db.webhooks.find(id), owner.partner == partner else {
                throw GatewayError.unknown(.webhook, webhook)
            }
            return try db.deliveries.list(of: id, before: before, limit: limit + 1).map {
                DeliveryView($0, isEnded: owner.status == .disabled)
            }
        }
        return Page(views, limit: limit) { String($0.seq) }
    }

    /// Sends an event again, whatever the outcome of its delivery; the schedule begins again.
    ///
    /// - Throws: `notFound`, also for another partner's delivery; `forbidden` for a key that may not read the webhook's
    ///   types; `conflict` while the webhook is disabled.
    package func redeliver(
        _ delivery: String, by key: AuthenticatedKey, context: CallContext
    ) async throws(GatewayError) -> DeliveryView {
        guard let id = ID<Delivery>(delivery), let found = try await store.read({ db in try db.deliveries.find(id) })
        else {
            throw .unknown(.delivery, delivery)
        }
        let job = settlements.ids.make(Job.self)
        let view = try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            let webhook = try WebhookWriter(settlement).lock(found.webhook, for: key)
            guard let before = try tx.deliveries.find(id) else { throw GatewayError.unknown(.delivery, delivery) }
            guard webhook.status == .enabled else {
                throw GatewayError.conflict(reason: "the webhook is disabled", resource: webhook.id.rawValue)
            }
            try tx.deliveries.redeliver(id, at: settlement.now)
            let kind = before.state == .pending && !before.isFirstDone ? JobKind.deliverWebhook : .retryDeliveries
            try tx.jobs.enqueue(
                job, kind: kind.rawValue, subject: webhook.id.rawValue, delay: 0, at: settlement.now)
            try settlement.log.audit(
                subject: webhook.id.rawValue, "delivery.redelivered", before: before.state.rawValue, after: id.rawValue)
            guard let after = try tx.deliveries.find(id) else { throw GatewayError.unknown(.delivery, delivery) }
            return DeliveryView(after)
        }
        settlements.signals.deliveries.notify()
        return view
    }
}
