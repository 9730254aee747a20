import Crypto
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import SandboxProvider

/// A sandbox account with everything that its provider touches.
struct SandboxBench {
    static let secret = "the secret of the sandbox tests"

    let clock = ManualClock()
    let book = InMemoryBook()
    let transport: RecordingTransport
    let ids: IDSource
    let context: ProviderContext

    init(answer: @escaping RecordingTransport.Answer = { _ in IncomingReply(status: 200) }) {
        let random = SeededRandom().source
        transport = RecordingTransport(answer: answer)
        ids = IDSource(time: clock.time, random: random)
        context = ProviderContext(
            http: transport, time: clock.time, random: random, book: book,
            notifyURL: "https://pay.example/v1/notify/box", publicURL: "https://pay.example")
    }

    func provider(
        _ settings: [String: SettingValue] = [:],
        sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) throws -> SandboxProvider {
        try SandboxProvider(account: Self.account(settings), context: context, sleep: sleep)
    }

    static func account(_ settings: [String: SettingValue], isDevelopment: Bool = true) -> ProviderAccount {
        ProviderAccount(
            id: AccountID("box")!,
            settings: ProviderSettings(["secret": .text(secret)].merging(settings) { $1 }), isDevelopment: isDevelopment
        )
    }

    func attempt(_ value: Int64 = 3990, title: String = "VIP monthly", returnURL: String? = nil) -> PaymentAttempt {
        PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: cny(value), title: title, platform: .web,
            returnURL: returnURL,
            expiresAt: clock.now.adding(seconds: 1_800), accepts: Set(ContractType.allCases))
    }

    func refund(_ attempt: PaymentAttempt, _ amount: Money) -> RefundAttempt {
        RefundAttempt(refund: ids.make(), payment: reference(attempt), amount: amount, reason: "a test")
    }

    func reference(_ attempt: PaymentAttempt) -> ProviderReference {
        ProviderReference(payment: attempt.payment, reference: nil, amount: attempt.amount)
    }
}

func cny(_ value: Int64) -> Money { Money(value: value, currency: Currency("CNY")!) }

/// The header's value, made independently of the provider's code.
func signature(_ body: Data, at time: Int64, secret: String = SandboxBench.secret) -> String {
    let key = SymmetricKey(data: Data(secret.utf8))
    let code = HMAC<SHA256>.authenticationCode(for: Data("\(time).".utf8) + body, using: key)
    return "t=\(time),v1=" + Hex.encoded(code)
}

func notification(_ body: Data, _ signatures: [String]) -> RawNotification {
    RawNotification(
        method: .post,
        headers: [(name: "content-type", value: "application/json")]
            + signatures.map { (name: "x-sandbox-signature", value: $0) },
        body: body)
}
