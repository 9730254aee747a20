import Domain
import Foundation
import Gateway
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization
import TestSupport

/// A whole gateway with one PayPal account.
struct PayPalGatewayFixture: ProviderGatewayFixture {
    static let account = "paypal-main"

    let desk: GatewayFixture
    let gateway: Gateway
    let standIn: FakePayPalServer
    let transport: RecordingTransport

    init(_ desk: GatewayFixture) throws {
        let (standIn, clock) = (FakePayPalServer(), desk.clock)
        let transport = RecordingTransport(changesSomething: PayPalFixture.changesSomething) { request in
            standIn.answer(request, now: clock.now.rawValue)
        }
        self.desk = desk
        self.standIn = standIn
        self.transport = transport
        let account = try desk.account(Self.account, http: transport) {
            try PayPalProvider(account: PayPalFixture.account(), context: $0)
        }
        gateway = desk.gateway(with: [account])
    }

    func checkout() async throws -> PaymentContract {
        try await checkout("walkie")
    }

    func retry(_ contract: PaymentContract, _ account: String) async throws -> PaymentContract {
        try await retry(contract, provider: account)
    }

    /// Approves the payment at PayPal like the payer.
    func approve(_ contract: PaymentContract) throws -> FakePayPalServer.Order? {
        let payment = try desk.payment(contract).rawValue
        return standIn.approve(payment) ? standIn.order(payment) : nil
    }

    /// Refreshes the order like the app after the payer's return.
    func comeBack(_ contract: PaymentContract) async throws -> Order.Status {
        try await desk.pass(seconds: 60)
        return try await gateway.reconciliation.refresh(
            contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test
        ).status
    }

    @discardableResult
    func notify(_ type: String, _ resource: [String: Any], id: String) async throws -> Acknowledgement {
        let body = PayPalTestCertificates.event(type, resource, id: id)
        let headers = PayPalTestCertificates.headers(body, at: desk.clock.now.rawValue)
        return try await notify(PayPalTestCertificates.notification(body, headers))
    }
}
