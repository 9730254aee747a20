import Domain
import Foundation
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization

/// A PayPal account with all dependencies of its provider.
final class PayPalFixture: Sendable {
    let clock = ManualClock()
    let standIn = FakePayPalServer()
    let transport: RecordingTransport
    let ids: IDSource
    let context: ProviderContext
    let book = InMemoryBook()
    private let log = Log()

    /// - Parameter answer: answers instead of the fake server.
    init(answer: RecordingTransport.Answer? = nil) {
        let (clock, standIn, log) = (clock, standIn, log)
        transport = RecordingTransport(changesSomething: Self.changesSomething) { request throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return standIn.answer(request, now: clock.now.rawValue)
        }
        let random = SeededRandom().source
        ids = IDSource(time: clock.time, random: random)
        context = ProviderContext(
            http: transport, time: clock.time, random: random, book: book,
            notifyURL: "https://pay.example/v1/notify/paypal", publicURL: "https://pay.example",
            log: ProviderLog { level, message, fields in
                let words = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                log.add(([level.rawValue, message] + words).joined(separator: " "))
            })
    }

    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    var lines: [String] { log.all }

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

    func attempt(
        _ amount: Money = usd(3990), title: String = "VIP monthly", returnURL: String? = "https://app.example/done"
    ) -> PaymentAttempt {
        PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: amount, title: title, platform: .web, returnURL: returnURL,
            expiresAt: clock.now.adding(seconds: 1_800), accepts: Set(ContractType.allCases))
    }

    func reference(_ attempt: PaymentAttempt, _ reference: String? = nil) -> ProviderReference {
        ProviderReference(payment: attempt.payment, reference: reference, amount: attempt.amount)
    }

    func refund(_ payment: ProviderReference, _ amount: Money, reference: String? = nil) -> RefundAttempt {
        RefundAttempt(
            refund: ids.make(), payment: payment, amount: amount, reason: "a secret reason", reference: reference)
    }

    /// Opens, approves and captures a payment.
    func paid(_ provider: PayPalProvider, _ amount: Money = usd(3990)) async throws -> ProviderReference {
        let attempt = attempt(amount)
        let opened = try await provider.open(attempt)
        _ = standIn.approve(attempt.payment.rawValue)
        let reference = reference(attempt, opened.reference)
        _ = try await provider.query(reference)
        return reference
    }

    /// Makes a genuine notification with the current time.
    func notification(_ type: String, _ resource: [String: Any], id: String = "WH-1") -> RawNotification {
        let body = PayPalTestCertificates.event(type, resource, id: id)
        return PayPalTestCertificates.notification(body, PayPalTestCertificates.headers(body, at: clock.now.rawValue))
    }

    /// The calls, `POST v2/checkout/orders`, without those for tokens.
    var calls: [String] { transport.requests.map { FakePayPalServerCall($0).name }.filter { !$0.hasSuffix("token") } }
}

func usd(_ value: Int64) -> Money { Money(value: value, currency: Currency("USD")!) }
