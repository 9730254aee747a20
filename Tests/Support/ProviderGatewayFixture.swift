package import Domain
package import Gateway
package import ProviderKit

/// A whole gateway with an account of one provider beside those of ``GatewayFixture``.
package protocol ProviderGatewayFixture: Sendable {
    /// The account that pays where a test names none.
    static var account: String { get }
    var desk: GatewayFixture { get }
    /// The gateway that has the account.
    var gateway: Gateway { get }
}

extension ProviderGatewayFixture {
    package func checkout(
        _ sku: String = "vip_month", user: String = "alice", provider: String = Self.account
    ) async throws -> PaymentContract {
        try await desk.checkout(
            sku, user: user, provider: provider, returnURL: "https://app.example/done", at: gateway)
    }

    /// Another attempt for the same order.
    package func retry(
        _ contract: PaymentContract, provider: String = Self.account, user: String = "alice"
    ) async throws -> PaymentContract {
        try await desk.retry(contract.order, user: user, provider: provider, at: gateway)
    }

    /// Delivers a notification, as the service posts it.
    @discardableResult
    package func notify(_ raw: RawNotification, account: String = Self.account) async throws -> Acknowledgement {
        desk.clock.tick()
        return try await gateway.notifications.receive(token: GatewayFixture.notifyToken(account), raw)
    }

    package func order(_ contract: PaymentContract) async throws -> OrderSnapshot {
        try await gateway.orders.find(contract.order.rawValue)
    }

    package func state(_ contract: PaymentContract) async throws -> Order.Status { try await order(contract).status }

    /// Runs every job that is due.
    package func work() async throws { try await gateway.work() }
}
