import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import StripeProvider
import TestSupport

/// A whole gateway with one Stripe account.
struct StripeDesk: ProviderDesk {
    static let account = "stripe-main"

    let desk: Desk
    let gateway: Gateway

    /// - Parameter http: leads to Stripe, or to what stands in for it.
    init(_ desk: Desk, http: any HTTPTransport, settings: [String: SettingValue] = [:]) throws {
        self.desk = desk
        let account = try desk.account(Self.account, http: http, isTest: true) {
            try StripeProvider(account: StripeFixture.account(settings), context: $0, pause: { _ in })
        }
        gateway = desk.gateway(with: [account])
    }

    /// Delivers a notification, as Stripe posts it.
    @discardableResult
    func notify(_ body: Data, _ signature: String) async throws -> Acknowledgement {
        try await notify(StripeStandIn.notification(body, [signature]))
    }

    func notify(_ type: String, _ object: Any, id: String) async throws {
        let body = StripeStandIn.event(type, object, id: id)
        try await notify(
            body, StripeStandIn.signature(body, at: desk.clock.now.rawValue, secret: StripeFixture.secret))
    }
}
