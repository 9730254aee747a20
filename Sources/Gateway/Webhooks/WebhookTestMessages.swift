import Domain
import FoundationEssentials
import Store

/// The result of a test message, in the form that the endpoint's partner sees.
package struct WebhookTestView: Encodable, Sendable {
    /// The `webhook-id` of the message.
    let id: ID<Event>
    let at: Timestamp
    /// The status of the endpoint's answer; null without one.
    @Nullable private(set) var status: Int64?
    /// The reason for which the message counts as failed; null for an answer of 2xx.
    @Nullable private(set) var error: String?
    /// The beginning of the answer.
    @Nullable private(set) var body: String?

    fileprivate init(_ id: ID<Event>, at: Timestamp, _ reply: WebhookReply) {
        self.id = id
        self.at = at
        switch reply {
        case .failed(let fault):
            status = nil
            error = fault.rawValue
            body = nil
        case .replied(let code, _, let text):
            status = Int64(code)
            error = (200...299).contains(code) ? nil : Delivery.Fault.status.rawValue
            body = text
        }
    }
}

/// Test messages to partners' endpoints.
///
/// A test message is signed like an event's and says nothing about anything: its type is no event's, so that an endpoint
/// in production does not take it for a purchase. It is sent once, at once, also to an endpoint that is disabled; it
/// is no delivery, and its failure does not disable the endpoint.
package struct WebhookTestMessages: Sendable {
    /// The type of a test message.
    package static let type = "webhook.test"

    let settlements: SettlementRunner
    let keyRing: KeyRing
    let transport: any WebhookTransport
    let allowsPrivate: Bool
    let limiter: RateLimiter

    /// The messages that a partner may send in a minute.
    static let perMinute: Int64 = 30
    /// The time limit of the endpoint's answer, for which the caller waits.
    private static let limit = Duration.seconds(10)

    /// The members of a test message's body, in the form of an event's.
    private struct Message: Encodable {
        struct Facts: Encodable {
            let webhook_id: ID<Webhook>
        }

        let type = WebhookTestMessages.type
        let timestamp: Timestamp
        let seq = 0
        let sequence = 0
        let subject: ID<Webhook>
        let data: Facts
    }

    /// Sends a test message to an endpoint of the key's partner.
    ///
    /// - Throws: `notFound`, also for another partner's endpoint; `forbidden` for a key that may not read the
    ///   endpoint's types; `rateLimited`.
    package func send(to webhook: String, by key: AuthenticatedKey) async throws(GatewayError) -> WebhookTestView {
        let (time, now) = (settlements.time, settlements.time.now)
        guard let id = ID<Webhook>(webhook),
            let record = try await settlements.store.read({ db in try db.webhooks.findForSigning(id, at: now) }),
            !record.isRetired, record.partner == key.partner
        else { throw .unknown(.webhook, webhook) }
        guard record.shownTypes.isSubset(of: EventType.readable(with: key.scopes)) else { throw .forbidden }
        if let wait = limiter.take(key.partner, 1) { throw .rateLimited(retryAfter: max(1, wait)) }
        var secrets = [try WebhookSecret.open(record.secret, of: id, by: keyRing)]
        if let previous = record.previousSecret {
            secrets.append(try WebhookSecret.open(previous, of: id, by: keyRing))
        }
        let message = settlements.ids.make(Event.self)
        guard let url = try? WebhookURL(record.url, allowsPrivate: allowsPrivate) else {
            return WebhookTestView(message, at: now, .failed(.blockedAddress))
        }
        let body: Data
        do {
            body = try JSONText.encoded(Message(timestamp: now, subject: id, data: .init(webhook_id: id)))
        } catch {
            throw .internalError
        }
        switch await transport.open(url) {
        case .failure(let refusal): return WebhookTestView(message, at: now, .failed(refusal.fault))
        case .success(let session):
            let stamp = time.real.now.rawValue
            let headers = WebhookSecret.headers(secrets, id: message.rawValue, timestamp: stamp, body: body)
            let reply = await session.post(WebhookMessage(headers: headers, body: body, limit: Self.limit))
            await session.close()
            return WebhookTestView(message, at: now, reply)
        }
    }
}
