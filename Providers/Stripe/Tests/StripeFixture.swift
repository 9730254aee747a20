import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization

/// A Stripe account with all dependencies of its provider.
final class StripeFixture: Sendable {
    static let secret = "whsec_planted0secret0of0the0tests"
    static let publishable = "pk_test_key0for0clients"

    let clock = ManualClock()
    let standIn = FakeStripeServer()
    let transport: RecordingTransport
    let ids: IDSource
    let context: ProviderContext
    let logged = Mutex<[String]>([])
    let pauses = Mutex<[Duration]>([])

    /// - Parameter answer: answers instead of the fake server.
    init(answer: RecordingTransport.Answer? = nil) {
        let (clock, standIn) = (clock, standIn)
        transport = RecordingTransport { request throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return standIn.answer(request, now: clock.now.rawValue)
        }
        let random = SeededRandom().source
        ids = IDSource(time: clock.time, random: random)
        let sink = Box()
        context = ProviderContext(
            http: transport, time: clock.time, random: random, book: InMemoryBook(),
            notifyURL: "https://pay.example/v1/notify/stripe", publicURL: "https://pay.example",
            log: ProviderLog { level, message, fields in
                sink.bench?.logged.withLock {
                    let words = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                    $0.append(([level.rawValue, message] + words).joined(separator: " "))
                }
            })
        sink.hold(self)
    }

    /// A reference from the log to the fixture, which is made after it.
    private final class Box: Sendable {
        private struct Weak { weak var bench: StripeFixture? }
        private let held = Mutex(Weak())
        var bench: StripeFixture? { held.withLock { $0.bench } }
        func hold(_ bench: StripeFixture) { held.withLock { $0.bench = bench } }
    }

    func provider(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) throws -> StripeProvider {
        try StripeProvider(
            account: Self.account(settings, isDevelopment: isDevelopment), context: context,
            pause: { [weak self] pause in self?.pauses.withLock { $0.append(pause) } })
    }

    static func account(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) -> ProviderAccount {
        let standard: [String: SettingValue] = [
            "secret_key": .text(FakeStripeServer.key), "publishable_key": .text(publishable),
            "webhook_secrets": .list([.text(secret)]),
        ]
        return ProviderAccount(
            id: AccountID("stripe-main")!, settings: ProviderSettings(standard.merging(settings) { $1 }),
            isDevelopment: isDevelopment)
    }

    static let sessions: [String: SettingValue] = ["mode": .text("checkout_session")]

    func attempt(
        _ amount: Money = usd(3990), title: String = "VIP monthly",
        returnURL: String? = "https://app.example/done?a=1&b=é",
        expires: Int64 = 1_800
    ) -> PaymentAttempt {
        PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: amount, title: title, platform: .web, returnURL: returnURL,
            expiresAt: clock.now.adding(seconds: expires), accepts: Set(ContractType.allCases))
    }

    func reference(_ attempt: PaymentAttempt, _ reference: String? = nil) -> ProviderReference {
        ProviderReference(payment: attempt.payment, reference: reference, amount: attempt.amount)
    }

    func refund(_ payment: ProviderReference, _ amount: Money, reference: String? = nil) -> RefundAttempt {
        RefundAttempt(
            refund: ids.make(), payment: payment, amount: amount, reason: "a secret reason", reference: reference)
    }

    /// Opens and pays a payment.
    func paid(_ provider: StripeProvider, _ amount: Money = usd(3990)) async throws -> ProviderReference {
        let attempt = attempt(amount)
        let opened = try await provider.open(attempt)
        _ = standIn.act(succeed: true, on: attempt.payment.rawValue)
        return reference(attempt, opened.reference)
    }

    /// Makes a genuine notification with the current time.
    func notification(_ type: String, _ object: Any, id: String = "evt_1") -> RawNotification {
        let body = FakeStripeServer.event(type, object, id: id)
        return FakeStripeServer.notification(
            body, [FakeStripeServer.signature(body, at: clock.now.rawValue, secret: Self.secret)])
    }

    /// The calls, `POST payment_intents`.
    var calls: [String] { transport.requests.map { FakeStripeServerCall($0).name } }
}

func usd(_ value: Int64) -> Money { money(value, "USD") }

func money(_ value: Int64, _ code: String) -> Money { Money(value: value, currency: Currency(code)!) }
