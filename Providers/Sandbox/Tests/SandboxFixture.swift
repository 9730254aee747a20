import Crypto
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import SandboxProvider

/// A sandbox account with everything that its provider touches.
struct SandboxFixture: ProviderFixture {
    static let secret = "the secret of the sandbox tests"
    static let returnURL: String? = nil

    let test: TestContext

    init(answer: @escaping RecordingTransport.Answer = { _ in IncomingReply(status: 200) }) {
        test = TestContext(account: "box") { request, _ throws(HTTPTransportError) in try await answer(request) }
    }

    func refund(_ attempt: PaymentAttempt, _ amount: Money) -> RefundAttempt { refund(reference(attempt), amount) }

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
}

func cny(_ value: Int64) -> Money { Money(value: value, currency: Currency("CNY")!) }

/// Computes the header's value independently of the provider's code.
func signature(_ body: Data, at time: Int64, secret: String = SandboxFixture.secret) -> String {
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
