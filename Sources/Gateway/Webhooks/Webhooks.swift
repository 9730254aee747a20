package import Domain
import Store

/// An endpoint in the form that its partner sees; the secret is present only in the answer to the request that made it.
package struct WebhookView: Encodable, Sendable {
    package let id: ID<Webhook>
    package let url: String
    package let types: [String]
    package let status: String
    let disabled_reason: String?
    let failing_since: Timestamp?
    let created_at: Timestamp
    package let secret: String?
    /// The partner, for admins alone.
    var partner: String?

    init(_ record: WebhookRecord, secret: WebhookSecret? = nil, showsPartner: Bool = false) {
        partner = showsPartner ? record.partner : nil
        id = record.id
        url = record.url
        types = record.types
        status = record.status.rawValue
        disabled_reason = record.disabledReason?.rawValue
        failing_since = record.failingSince
        created_at = record.createdAt
        self.secret = secret?.text
    }
}

/// A partner's change of an endpoint; nil leaves a member unchanged.
package struct WebhookChange: Sendable {
    package var url: String?
    package var types: [String]?
    package var status: Webhook.Status?

    package init(url: String? = nil, types: [String]? = nil, status: Webhook.Status? = nil) {
        self.url = url
        self.types = types
        self.status = status
    }
}

/// Partners' endpoints for events.
package struct Webhooks: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let keyRing: KeyRing
    let random: RandomSource
    let allowsPrivate: Bool

    private static let webhookLimit: Int64 = 50

    /// Makes an endpoint, which gets only events that the key may read.
    ///
    /// It belongs to the partner: revoking the key does not end it, but an event is sent only while some valid key of
    /// the partner may read its type.
    ///
    /// - Throws: `invalidRequest` for an unknown type or an address that may be internal, `forbidden` for a type that
    ///   the key may not read, `conflict` where the partner has too many endpoints.
    package func create(
        url: String, types: [String], by key: AuthenticatedKey, context: CallContext
    ) async throws(GatewayError) -> WebhookView {
        let address = try checkedURL(url)
        let types = try Self.checkedTypes(types, scopes: key.scopes)
        if context.resumed != nil {
            throw .conflict(reason: "this webhook was made and its secret shown once", resource: context.resumed)
        }
        let (id, secret) = (settlements.ids.make(Webhook.self), WebhookSecret(random: random))
        let record = WebhookRecord(
            id: id, partner: key.partner, url: address.text, types: types, scopes: key.scopes.map(\.rawValue).sorted(),
            secret: try secret.sealed(for: id, by: keyRing), createdAt: settlements.time.now)
        try await settlements.run(context.audit) { settlement in
            guard try settlement.tx.webhooks.count(of: record.partner) < Self.webhookLimit else {
                throw GatewayError.conflict(reason: "a partner has at most \(Self.webhookLimit) webhooks")
            }
            try settlement.tx.webhooks.insert(record)
            try settlement.tx.bind(context, to: id.rawValue)
            try settlement.log.audit(
                subject: id.rawValue, "webhook.created", before: "", after: Self.description(record.url, record.types))
        }
        return WebhookView(record, secret: secret)
    }

    /// Lists a partner's endpoints, newest first.
    package func list(
        of partner: String, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<WebhookView> {
        let cursor = try Cursor(cursor, of: Webhook.self)
        let found = try await store.report { db in
            try db.webhooks.list(of: partner, before: cursor.position, limit: limit + 1)
        }
        return Page(found.map { WebhookView($0) }, limit: limit) { $0.id.rawValue }
    }

    /// Finds an endpoint of a partner.
    ///
    /// - Throws: `notFound`, also for another partner's endpoint.
    package func find(_ webhook: String, of partner: String) async throws(GatewayError) -> WebhookView {
        guard let id = ID<Webhook>(webhook), let record = try await store.read({ db in try db.webhooks.find(id) }),
            record.partner == partner
        else { throw .unknown(.webhook, webhook) }
        return WebhookView(record)
    }

    /// Changes an endpoint.
    ///
    /// - Throws: `notFound`, `forbidden` for a key that may not read the endpoint's types, and the errors of
    ///   ``create(url:types:by:context:)``.
    package func change(
        _ webhook: String, _ change: WebhookChange, by key: AuthenticatedKey, context: CallContext
    ) async throws(GatewayError) -> WebhookView {
        guard let id = ID<Webhook>(webhook) else { throw .unknown(.webhook, webhook) }
        _ = try await find(webhook, of: key.partner)
        let url = try change.url.map { (url) throws(GatewayError) in try checkedURL(url).text }
        let types = try change.types.map { (types) throws(GatewayError) in
            try Self.checkedTypes(types, scopes: key.scopes)
        }
        return try await settlements.run(context.audit) { settlement in
            let before = try WebhookWriter(settlement).lock(id, for: key)
            let (newURL, newTypes) = (url ?? before.url, types ?? before.types)
            if types != nil {
                _ = try Self.checkedTypes(newTypes, scopes: Set(before.scopes.compactMap(Scope.init)))
            }
            if (newURL, newTypes) != (before.url, before.types) {
                try settlement.tx.webhooks.update(id, url: newURL, types: newTypes)
                try settlement.log.audit(
                    subject: id.rawValue, "webhook.changed", before: Self.description(before.url, before.types),
                    after: Self.description(newURL, newTypes))
            }
            if let status = change.status, status != before.status {
                switch status {
                case .enabled: try WebhookWriter(settlement).enable(before)
                case .disabled: try WebhookWriter(settlement).disable(id, .partner)
                }
            }
            return WebhookView(try WebhookWriter(settlement).lock(id, for: key))
        }
    }

    /// Deletes an endpoint.
    ///
    /// - Throws: `notFound`, `forbidden` for a key that may not read the endpoint's types.
    package func delete(
        _ webhook: String, by key: AuthenticatedKey, context: CallContext
    ) async throws(GatewayError) {
        guard let id = ID<Webhook>(webhook) else { throw .unknown(.webhook, webhook) }
        try await settlements.run(context.audit) { settlement in
            let before = try WebhookWriter(settlement).lock(id, for: key)
            try WebhookWriter(settlement).delete(id)
            try settlement.log.audit(
                subject: id.rawValue, "webhook.deleted", before: Self.description(before.url, before.types), after: "")
        }
    }

    /// Makes a new secret; the old one also signs for another day.
    ///
    /// - Throws: `notFound`, `forbidden` for a key that may not read the endpoint's types.
    package func rotateSecret(
        of webhook: String, by key: AuthenticatedKey, context: CallContext
    ) async throws(GatewayError) -> WebhookView {
        guard let id = ID<Webhook>(webhook) else { throw .unknown(.webhook, webhook) }
        _ = try await find(webhook, of: key.partner)
        if context.resumed != nil {
            throw .conflict(reason: "this secret was made and shown once", resource: context.resumed)
        }
        let secret = WebhookSecret(random: random)
        let (sealed, keyRing) = (try secret.sealed(for: id, by: keyRing), keyRing)
        return try await settlements.run(context.audit) { settlement in
            let before = try WebhookWriter(settlement).lock(id, for: key)
            try settlement.tx.webhooks.rotateSecret(
                of: id, to: sealed, previous: before.secret, for: DeliverySchedule.rotationOverlap, at: settlement.now)
            try settlement.tx.bind(context, to: id.rawValue)
            let old = try? WebhookSecret.open(before.secret, of: id, by: keyRing)
            try settlement.log.audit(
                subject: id.rawValue, "webhook.secret_rotated", before: old?.fingerprint ?? "unreadable",
                after: secret.fingerprint)
            return WebhookView(before, secret: secret)
        }
    }

    private func checkedURL(_ text: String) throws(GatewayError) -> WebhookURL {
        do throws(WebhookURL.Refusal) {
            return try WebhookURL(text, allowsPrivate: allowsPrivate)
        } catch {
            throw .invalidRequest(field: "url", reason: LocalizedText(stringLiteral: error.rawValue))
        }
    }

    /// - Returns: the types without repetitions, in the order of the API's list.
    private static func checkedTypes(_ names: [String], scopes: Set<Scope>) throws(GatewayError) -> [String] {
        let types = Set(names.compactMap(EventType.init))
        guard names.allSatisfy({ EventType(rawValue: $0) != nil }) else {
            throw .invalidRequest(field: "types", reason: .words(EventType.allCases.map(\.rawValue), isList: true))
        }
        guard types.isSubset(of: EventType.readable(with: scopes)) else { throw .forbidden }
        return EventType.allCases.filter(types.contains).map(\.rawValue)
    }

    private static func description(_ url: String, _ types: [String]) -> String {
        "\(url) \(types.isEmpty ? "all" : types.joined(separator: " "))"
    }
}
