import Domain
import Foundation
import Gateway
import ProviderKit
import StripeProvider
import TestSupport

/// A whole gateway with one Stripe account.
struct StripeDesk: Sendable {
    static let account = "stripe-main"

    let desk: Desk
    let gateway: Gateway

    /// - Parameter http: leads to Stripe, or to what stands in for it.
    init(_ desk: Desk, http: any HTTPTransport, settings: [String: SettingValue] = [:]) throws {
        let base = desk.gateway
        let id = try AccountID.test(Self.account)
        let context = ProviderContext(
            http: http, time: base.time, random: base.random, book: StoredBook(store: base.store, account: id),
            notifyURL: "", publicURL: Desk.publicURL)
        let provider = try StripeProvider(
            account: StripeBench.account(settings), context: context, pause: { _ in })
        let account = ConfiguredAccount(
            id: id, provider: provider, enabled: true, routing: AccountRouting(platforms: [.web], priority: 1),
            notifyToken: Desk.notifyToken(Self.account))
        self.desk = desk
        gateway = Gateway(
            store: base.store,
            registry: ProviderRegistry(
                kinds: Array(base.registry.kinds.values) + [StripeProvider.self],
                accounts: base.registry.accounts + [account]),
            keyRing: base.keyRing, time: base.time, random: base.random, calls: base.calls, webhooks: base.webhooks,
            settings: base.settings, logger: base.logger, pause: Pauses.forever)
    }

    func checkout(user: String = "alice") async throws -> PaymentContract {
        desk.clock.tick()
        return try await gateway.openCheckout(
            CheckoutRequest(
                sku: "vip_month", quantity: 1, days: nil, platform: .web, currency: Desk.money(0).currency,
                provider: Self.account, accept: ContractType.base, returnURL: "https://app.example/done"),
            user: Desk.user(user), context: .test)
    }

    /// Delivers a notification, as Stripe posts it.
    @discardableResult
    func notify(_ body: Data, _ signature: String) async throws -> Acknowledgement {
        try await gateway.receiveNotification(
            token: Desk.notifyToken(Self.account), StripeStandIn.notification(body, [signature]))
    }

    func notify(_ type: String, _ object: Any, id: String) async throws {
        let body = StripeStandIn.event(type, object, id: id)
        try await notify(
            body, StripeStandIn.signature(body, at: desk.clock.now.rawValue, secret: StripeBench.secret))
    }

    func state(_ contract: PaymentContract) async throws -> Order.Status {
        try await gateway.readOrder(contract.order.rawValue).status
    }
}
