import AlipayProvider
import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import TestSupport

/// A complete gateway with one Alipay account.
struct AlipayGatewayFixture: Sendable {
    static let account = "alipay-main"

    let desk: GatewayFixture
    let gateway: Gateway

    /// - Parameter http: the transport to Alipay or to the fake server.
    init(_ desk: GatewayFixture, http: any HTTPTransport, settings: [String: SettingValue] = [:]) throws {
        self.desk = desk
        let account = try desk.account(Self.account, http: http) {
            try AlipayProvider(account: AlipayFixture.account(settings), context: $0)
        }
        gateway = desk.gateway(with: [account])
    }

    func checkout(user: String = "alice") async throws -> PaymentContract {
        try await desk.checkout(
            user: user, provider: Self.account, returnURL: "https://app.example/done", at: gateway)
    }

    /// Makes another attempt for the same order.
    func retry(_ contract: PaymentContract, provider: String, user: String = "alice") async throws -> PaymentContract {
        try await desk.retry(contract.order, user: user, provider: provider, at: gateway)
    }

    /// Delivers a notification like Alipay.
    @discardableResult
    func notify(_ raw: RawNotification) async throws -> Acknowledgement {
        desk.clock.tick()
        return try await gateway.notifications.receive(token: GatewayFixture.notifyToken(Self.account), raw)
    }

    func order(_ contract: PaymentContract) async throws -> OrderSnapshot {
        try await gateway.orders.find(contract.order.rawValue)
    }
}
