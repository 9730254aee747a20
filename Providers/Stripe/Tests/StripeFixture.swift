import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization

/// A Stripe account with everything that its provider touches.
final class StripeFixture: ProviderFixture {
    static let secret = "whsec_planted0secret0of0the0tests"
    static let publishable = "pk_test_key0for0clients"
    static let price = usd(3990)
    static let returnURL: String? = "https://app.example/done?a=1&b=é"

    let standIn = FakeStripeServer()
    let test: TestContext
    let pauses = Mutex<[Duration]>([])

    /// - Parameter answer: answers instead of the fake server.
    init(answer: RecordingTransport.Answer? = nil) {
        let standIn = standIn
        test = TestContext(account: "stripe") { request, now throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return standIn.answer(request, now: now.rawValue)
        }
    }

    func provider(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) throws -> StripeProvider {
        try StripeProvider(
            account: Self.account(settings, isDevelopment: isDevelopment), context: context,
            pause: { [weak self] pause in self?.pauses.withLock { $0.append(pause) } })
    }

    static func account(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) -> ProviderAccount {
        let standard: [String: SettingValue] = [
            "secret_key": .text(FakeStripeServer.key), "publishable_key": .text(publishable),
            "webhook_secrets": .list([.text(secret)]), "recurring_payment_method_types": .list([.text("card")]),
        ]
        return ProviderAccount(
            id: AccountID("stripe-main")!, settings: ProviderSettings(standard.merging(settings) { $1 }),
            isDevelopment: isDevelopment)
    }

    static let sessions: [String: SettingValue] = ["mode": .text("checkout_session")]

    /// A payment that was opened and paid.
    func paid(_ provider: StripeProvider, _ amount: Money = usd(3990)) async throws -> ProviderReference {
        let attempt = attempt(amount)
        let opened = try await provider.open(attempt)
        _ = standIn.act(succeed: true, on: attempt.payment.rawValue)
        return reference(attempt, opened.reference)
    }

    /// Makes a genuine notification with the current time.
    func notification(
        _ type: String, _ object: Any, id: String = "evt_1", before: [String: Any]? = nil
    ) -> RawNotification {
        let body = FakeStripeServer.event(type, object, id: id, before: before)
        return FakeStripeServer.notification(
            body, [FakeStripeServer.signature(body, at: clock.now.rawValue, secret: Self.secret)])
    }

    /// The calls, `POST payment_intents`.
    var calls: [String] { transport.requests.map { FakeStripeServerCall($0).name } }
}

func usd(_ value: Int64) -> Money { money(value, "USD") }

func money(_ value: Int64, _ code: String) -> Money { Money(value: value, currency: Currency(code)!) }
