import Domain
import EPayProvider
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization

/// An EPay account with everything that its provider touches.
struct EPayFixture: ProviderFixture {
    let standIn: FakeEPayServer
    let test: TestContext

    /// - Parameter answer: instead of the stand-in.
    init(_ standIn: FakeEPayServer = FakeEPayServer(), answer: RecordingTransport.Answer? = nil) {
        self.standIn = standIn
        test = TestContext(account: "epay") { request, _ throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return standIn.answer(request)
        }
    }

    func provider(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) throws -> EPayProvider {
        try EPayProvider(account: Self.account(settings, isDevelopment: isDevelopment), context: context)
    }

    static let mapi: [String: SettingValue] = ["mode": .text("mapi_qr"), "type": .text("wxpay")]

    static func dialect(_ fields: [String: SettingValue]) -> [String: SettingValue] {
        ["dialect": .object(fields)]
    }

    static func account(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) -> ProviderAccount {
        let standard: [String: SettingValue] = [
            "base": .text(FakeEPayServer.base), "pid": .text(FakeEPayServer.pid), "key": .text(FakeEPayServer.key),
            "dialect": .object(["refunds": .boolean(true)]),
        ]
        return ProviderAccount(
            id: AccountID("epay-main")!, settings: ProviderSettings(standard.merging(settings) { $1 }),
            isDevelopment: isDevelopment)
    }

    /// A payment that was opened and paid.
    func paid(_ provider: EPayProvider) async throws -> ProviderReference {
        let attempt = attempt()
        if case .url(let address) = try await provider.open(attempt).instruction { _ = standIn.visit(address) }
        _ = standIn.act(1, attempt.payment.rawValue)
        return reference(attempt)
    }
}

func cny(_ value: Int64) -> Money { Money(value: value, currency: Currency("CNY")!) }
