import AlipayProvider
import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import TestSupport

/// A whole gateway with one Alipay account.
struct AlipayDesk: Sendable {
    static let account = "alipay-main"

    let desk: Desk
    let gateway: Gateway

    /// - Parameter http: leads to Alipay, or to what stands in for it.
    init(_ desk: Desk, http: any HTTPTransport, settings: [String: SettingValue] = [:]) throws {
        let base = desk.gateway
        let id = try AccountID.test(Self.account)
        let context = ProviderContext(
            http: http, time: base.time, random: base.random, book: StoredBook(store: base.store, account: id),
            notifyURL: "\(Desk.publicURL)/v1/notify/\(Desk.notifyToken(Self.account))", publicURL: Desk.publicURL)
        let provider = try AlipayProvider(account: AlipayBench.account(settings), context: context)
        let account = ConfiguredAccount(
            id: id, provider: provider, enabled: true, routing: AccountRouting(platforms: [.web], priority: 1),
            notifyToken: Desk.notifyToken(Self.account))
        self.desk = desk
        gateway = Gateway(
            store: base.store,
            registry: ProviderRegistry(
                kinds: Array(base.registry.kinds.values) + [AlipayProvider.self],
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

    /// Another attempt for the same order.
    func retry(_ contract: PaymentContract, provider: String, user: String = "alice") async throws -> PaymentContract {
        desk.clock.tick()
        return try await gateway.retryCheckout(
            contract.order.rawValue,
            RetryRequest(
                platform: .web, currency: nil, provider: provider, accept: ContractType.base, returnURL: nil),
            user: Desk.user(user), context: .test)
    }

    /// Delivers a notification, as Alipay posts it.
    @discardableResult
    func notify(_ raw: RawNotification) async throws -> Acknowledgement {
        desk.clock.tick()
        return try await gateway.receiveNotification(token: Desk.notifyToken(Self.account), raw)
    }

    func order(_ contract: PaymentContract) async throws -> OrderSnapshot {
        try await gateway.readOrder(contract.order.rawValue)
    }
}
