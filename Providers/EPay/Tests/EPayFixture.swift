import Domain
import EPayProvider
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization

/// An EPay account with all dependencies of its provider.
final class EPayFixture: Sendable {
    let clock = ManualClock()
    let standIn: FakeEPayServer
    let transport: RecordingTransport
    let ids: IDSource
    let context: ProviderContext
    private let lines: EPayLines

    var logged: [String] { lines.all }

    /// - Parameter answer: answers instead of the fake server.
    init(_ standIn: FakeEPayServer = FakeEPayServer(), answer: RecordingTransport.Answer? = nil) {
        self.standIn = standIn
        transport = RecordingTransport { request throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return standIn.answer(request)
        }
        let lines = EPayLines()
        self.lines = lines
        ids = IDSource(time: clock.time, random: SeededRandom().source)
        context = Self.context(http: transport, time: clock.time, log: ProviderLog { lines.add($0, $1, $2) })
    }

    static func context(
        http: any HTTPTransport, time: TimeSource = ManualClock().time, log: ProviderLog = .silent
    ) -> ProviderContext {
        ProviderContext(
            http: http, time: time, random: SeededRandom().source, book: InMemoryBook(),
            notifyURL: "https://pay.example/v1/notify/epay", publicURL: "https://pay.example", log: log)
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

    func attempt(
        _ amount: Money = cny(3990), title: String = "VIP monthly", platform: Platform = .web,
        returnURL: String? = "https://app.example/done?a=1&b=2", payerAddress: String? = nil
    ) -> PaymentAttempt {
        PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: amount, title: title, platform: platform,
            returnURL: returnURL, expiresAt: clock.now.adding(seconds: 1_800), accepts: Set(ContractType.allCases),
            payerAddress: payerAddress)
    }

    func reference(_ attempt: PaymentAttempt) -> ProviderReference {
        ProviderReference(payment: attempt.payment, reference: nil, amount: attempt.amount)
    }

    func refund(_ payment: ProviderReference, _ amount: Money = cny(3990)) -> RefundAttempt {
        RefundAttempt(refund: ids.make(), payment: payment, amount: amount, reason: "a secret reason")
    }

    /// Opens and pays a payment.
    func paid(_ provider: EPayProvider) async throws -> ProviderReference {
        let attempt = attempt()
        if case .url(let address) = try await provider.open(attempt).instruction { _ = standIn.visit(address) }
        _ = standIn.act(1, attempt.payment.rawValue)
        return reference(attempt)
    }
}

/// The lines that a provider logged.
final class EPayLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ level: ProviderLog.Level, _ message: String, _ fields: [String: String]) {
        let words = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.withLock { $0.append(([level.rawValue, message] + words).joined(separator: " ")) }
    }
}

func cny(_ value: Int64) -> Money { Money(value: value, currency: Currency("CNY")!) }
