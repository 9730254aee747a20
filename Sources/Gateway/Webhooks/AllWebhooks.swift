package import Domain
import FoundationEssentials
import Store

// The endpoints of every partner, for admins.
extension Webhooks {
    /// Lists the endpoints of every partner, newest first, each with its partner.
    package func listAll(cursor: String?, limit: Int64) async throws(GatewayError) -> Page<WebhookView> {
        let cursor = try Cursor(cursor, of: Webhook.self)
        let found = try await store.report { db in try db.webhooks.list(before: cursor.position, limit: limit + 1) }
        return Page(found.map { WebhookView($0, showsPartner: true) }, limit: limit) { $0.id.rawValue }
    }

    /// Switches any endpoint on or off.
    ///
    /// - Throws: `notFound`, `conflict`.
    package func setStatus(
        _ status: Webhook.Status, of webhook: String, by key: AuthenticatedKey, context: CallContext
    ) async throws(GatewayError) -> WebhookView {
        let owner = try await owner(of: webhook, as: key)
        var view = try await change(webhook, WebhookChange(status: status), by: owner, context: context)
        view.partner = owner.partner
        return view
    }

    /// Makes a new secret of any endpoint, like ``rotateSecret(of:by:context:)``.
    package func rotateAnySecret(
        of webhook: String, by key: AuthenticatedKey, context: CallContext
    ) async throws(GatewayError) -> WebhookView {
        let owner = try await owner(of: webhook, as: key)
        var view = try await rotateSecret(of: webhook, by: owner, context: context)
        view.partner = owner.partner
        return view
    }

    /// Lists any endpoint's deliveries, those of the newest events first.
    package func allDeliveries(
        of webhook: String, by key: AuthenticatedKey, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<DeliveryView> {
        let owner = try await owner(of: webhook, as: key)
        return try await deliveries(of: webhook, partner: owner.partner, cursor: cursor, limit: limit)
    }

    /// Finds any delivery with its attempts.
    ///
    /// - Throws: `notFound`.
    package func findDelivery(_ delivery: String) async throws(GatewayError) -> DeliveryDetail {
        let found = try await store.read { db -> DeliveryDetail? in
            guard let id = ID<Delivery>(delivery), let record = try db.deliveries.find(id),
                let webhook = try db.webhooks.find(record.webhook), !webhook.isRetired,
                let history = try db.deliveries.history(of: id)
            else { return nil }
            let attempts = try JSONDecoder().decode([DeliveryAttempt].self, from: Data(history.utf8))
            return DeliveryDetail(
                view: DeliveryView(record, isEnded: webhook.status == .disabled), history: attempts)
        }
        guard let found else { throw .unknown(.delivery, delivery) }
        return found
    }

    /// Sends an event of any delivery once more, like ``redeliver(_:by:context:)``.
    package func redeliverAny(
        _ delivery: String, by key: AuthenticatedKey, context: CallContext
    ) async throws(GatewayError) -> DeliveryView {
        let webhook = try await store.read { db in
            try ID<Delivery>(delivery).flatMap { try db.deliveries.find($0) }?.webhook
        }
        guard let webhook else { throw .unknown(.delivery, delivery) }
        let owner = try await owner(of: webhook.rawValue, as: key)
        return try await redeliver(delivery, by: owner, context: context)
    }

    /// Returns a caller with all rights over an endpoint of its partner's.
    private func owner(of webhook: String, as key: AuthenticatedKey) async throws(GatewayError) -> AuthenticatedKey {
        guard let id = ID<Webhook>(webhook), let record = try await store.read({ db in try db.webhooks.find(id) }),
            !record.isRetired
        else { throw .unknown(.webhook, webhook) }
        return AuthenticatedKey(id: key.id, partner: record.partner, scopes: [.admin], console: key.console)
    }
}
