import Foundation
import Store
import TestSupport

@testable import Domain
@testable import Gateway

// What partners and their endpoints do at a desk.
extension GatewayFixture {
    static let hook = "https://hooks.example/paydesk"

    func partnerKey(_ partner: String = "acme", _ scopes: Set<Scope>? = nil) async throws -> AuthenticatedKey {
        let scopes = scopes ?? [.webhooksWrite, .ordersRead, .entitlementsRead]
        let issued = try await gateway.keys.create(
            name: partner, partner: partner, scopes: scopes.map(\.rawValue), context: .test)
        return try await gateway.keys.authenticate(key: issued.key)
    }

    @discardableResult
    func subscribe(
        _ url: String = GatewayFixture.hook, types: [EventType] = [], partner: String = "acme",
        scopes: Set<Scope>? = nil
    ) async throws -> WebhookView {
        clock.tick()
        return try await gateway.webhooks.create(
            url: url, types: types.map(\.rawValue), by: try await partnerKey(partner, scopes), context: .test)
    }

    /// Appends an event by itself, as a node whose clock says this would.
    func append(
        _ subject: String, _ type: EventType = .orderAnomaly, partner: String? = nil, data: String = "{}"
    ) async throws {
        clock.tick()
        let event = EventRecord(
            id: gateway.ids.make(), subject: subject, type: type, user: nil, partner: partner, at: clock.now,
            data: data)
        try await store.write { tx in try tx.events.insert(event) }
    }

    /// Many events at once, each of a subject.
    func append(many subjects: [String]) async throws {
        let events = subjects.map { subject in
            clock.tick()
            return EventRecord(
                id: gateway.ids.make(), subject: subject, type: .orderAnomaly, user: nil, partner: nil, at: clock.now,
                data: "{}")
        }
        try await store.write { tx in for event in events { try tx.events.insert(event) } }
    }

    /// Makes the deliveries of what was appended, without attempting any.
    func dispatch() async throws {
        let job = try await gateway.jobQueue.claim(.dispatchEvents, subject: "")
        if job == nil { try await gateway.workFinder.prepare() }
        _ = try await gateway.events.dispatch()
        if let job { await gateway.worker.perform(job) }
    }

    /// Runs what is due of one kind, once.
    func perform(_ kind: JobKind, of endpoints: WebhookHealth = .any) async throws {
        for job in try await gateway.jobQueue.claim([kind], of: endpoints, limit: 50) {
            await gateway.worker.perform(job)
        }
    }

    func change(_ webhook: WebhookView, _ change: WebhookChange) async throws {
        _ = try await gateway.webhooks.change(
            webhook.id.rawValue, change, by: try await partnerKey(), context: .test)
    }

    func deliveries(_ webhook: WebhookView) async throws -> [DeliveryView] {
        let page = try await gateway.webhooks.deliveries(
            of: webhook.id.rawValue, partner: "acme", cursor: nil, limit: 200)
        return page.items.sorted { $0.seq < $1.seq }
    }

    func status(_ webhook: WebhookView) async throws -> String {
        let view = try await gateway.webhooks.find(webhook.id.rawValue, of: "acme")
        return view.disabled_reason ?? view.status
    }
}
