import Foundation
import Store
import TestSupport

@testable import Domain
@testable import Gateway

// What partners and their endpoints do at a desk.
extension Desk {
    static let hook = "https://hooks.example/paydesk"

    func partnerKey(_ partner: String = "acme", _ scopes: Set<Scope>? = nil) async throws -> AuthenticatedKey {
        let scopes = scopes ?? [.webhooksWrite, .ordersRead, .entitlementsRead]
        let issued = try await gateway.createKey(
            name: partner, partner: partner, scopes: scopes.map(\.rawValue), context: .test)
        return try await gateway.authenticate(key: issued.key)
    }

    @discardableResult
    func subscribe(
        _ url: String = Desk.hook, types: [EventType] = [], partner: String = "acme", scopes: Set<Scope>? = nil
    ) async throws -> WebhookView {
        clock.tick()
        return try await gateway.createWebhook(
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
        try await store.write { tx in try tx.appendEvent(event) }
    }

    func deliveries(_ webhook: WebhookView) async throws -> [DeliveryView] {
        let page = try await gateway.listDeliveries(
            of: webhook.id.rawValue, partner: "acme", cursor: nil, limit: 200)
        return page.items.sorted { $0.seq < $1.seq }
    }

    func status(_ webhook: WebhookView) async throws -> String {
        let view = try await gateway.readWebhook(webhook.id.rawValue, of: "acme")
        return view.disabled_reason ?? view.status
    }
}
