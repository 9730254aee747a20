import Domain
import Foundation
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization

/// A PayPal account with everything that its provider touches.
struct PayPalFixture: ProviderFixture {
    static let price = usd(3990)
    static let returnURL: String? = "https://app.example/done"

    let standIn = FakePayPalServer()
    let test: TestContext

    /// - Parameter answer: instead of the stand-in.
    init(answer: RecordingTransport.Answer? = nil) {
        let standIn = standIn
        test = TestContext(account: "paypal", changesSomething: Self.changesSomething) {
            request, now throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return standIn.answer(request, now: now.rawValue)
        }
    }

    static func changesSomething(_ request: OutgoingRequest) -> Bool {
        request.method == "POST" && !request.url.hasSuffix("/token") && !request.url.hasSuffix("-signature")
    }

    func provider(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) throws -> PayPalProvider {
        try PayPalProvider(account: Self.account(settings, isDevelopment: isDevelopment), context: context)
    }

    static func account(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) -> ProviderAccount {
        let standard: [String: SettingValue] = [
            "client_id": .text(FakePayPalServer.clientID), "client_secret": .text(FakePayPalServer.clientSecret),
            "webhook_id": .text(PayPalTestCertificates.webhookID),
            "root_certificates": .list([.text(PayPalTestCertificates.rootFile)]),
        ]
        return ProviderAccount(
            id: AccountID("paypal-main")!, settings: ProviderSettings(standard.merging(settings) { $1 }),
            isDevelopment: isDevelopment)
    }

    static let byAPI: [String: SettingValue] = ["webhook_verification": .text("api")]

    /// A payment that was opened, approved and captured.
    func paid(_ provider: PayPalProvider, _ amount: Money = usd(3990)) async throws -> ProviderReference {
        let attempt = attempt(amount)
        let opened = try await provider.open(attempt)
        _ = standIn.approve(attempt.payment.rawValue)
        let reference = reference(attempt, opened.reference)
        _ = try await provider.query(reference)
        return reference
    }

    /// A genuine notification of now.
    func notification(_ type: String, _ resource: [String: Any], id: String = "WH-1") -> RawNotification {
        let body = PayPalTestCertificates.event(type, resource, id: id)
        return PayPalTestCertificates.notification(body, PayPalTestCertificates.headers(body, at: clock.now.rawValue))
    }

    /// What was sent, `POST v2/checkout/orders`, without the token's.
    var calls: [String] { transport.requests.map { FakePayPalServerCall($0).name }.filter { !$0.hasSuffix("token") } }
}

func usd(_ value: Int64) -> Money { Money(value: value, currency: Currency("USD")!) }
