import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import StripeProvider
import TestSupport

/// A whole gateway with one Stripe account.
struct StripeGatewayFixture: ProviderGatewayFixture {
    static let account = "stripe-main"

    let desk: GatewayFixture
    let gateway: Gateway

    /// - Parameter http: the transport to Stripe or to the fake server.
    init(_ desk: GatewayFixture, http: any HTTPTransport, settings: [String: SettingValue] = [:]) throws {
        self.desk = desk
        let account = try desk.account(Self.account, http: http, isTest: true) {
            try StripeProvider(account: StripeFixture.account(settings), context: $0, pause: { _ in })
        }
        gateway = desk.gateway(with: [account])
    }

    /// Delivers a notification, as Stripe posts it.
    @discardableResult
    func notify(_ body: Data, _ signature: String) async throws -> Acknowledgement {
        try await notify(FakeStripeServer.notification(body, [signature]))
    }

    func notify(_ type: String, _ object: Any, id: String) async throws {
        let body = FakeStripeServer.event(type, object, id: id)
        try await notify(
            body, FakeStripeServer.signature(body, at: desk.clock.now.rawValue, secret: StripeFixture.secret))
    }
}
