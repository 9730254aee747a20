import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization

@testable import RemoteProvider

/// A remote account with all dependencies of its provider, and a plugin that can lie.
final class RemoteFixture: Sendable {
    let clock = ManualClock()
    let plugin: ScriptedPlugin
    let transport: RecordingTransport
    let book = InMemoryBook()
    let ids: IDSource
    let context: ProviderContext
    private let lines: RemoteLines

    var logged: [String] { lines.all }

    /// - Parameter answer: answers instead of the plugin.
    init(_ plugin: ScriptedPlugin? = nil, answer: RecordingTransport.Answer? = nil) {
        let plugin = plugin ?? ScriptedPlugin()
        self.plugin = plugin
        let time = clock.time
        transport = RecordingTransport { request throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return plugin.answer(request, now: time.now.rawValue)
        }
        let lines = RemoteLines()
        self.lines = lines
        ids = IDSource(time: time, random: SeededRandom().source)
        context = ProviderContext(
            http: transport, time: time, random: SeededRandom(7).source, book: book,
            notifyURL: "https://pay.example/v1/notify/plug", publicURL: "https://pay.example",
            log: ProviderLog { lines.add($0, $1, $2) })
    }

    static func account(
        _ settings: [String: SettingValue] = [:], secrets: [String] = [ScriptedPlugin.secret],
        isDevelopment: Bool = true
    ) -> ProviderAccount {
        let standard: [String: SettingValue] = [
            "url": .text("https://plugin.example/v1"), "secrets": .list(secrets.map { .text($0) }),
        ]
        return ProviderAccount(
            id: AccountID("plug")!, settings: ProviderSettings(standard.merging(settings) { $1 }),
            isDevelopment: isDevelopment)
    }

    func provider(secrets: [String] = [ScriptedPlugin.secret], isDevelopment: Bool = true) throws -> RemoteProvider {
        try RemoteProvider(account: Self.account(secrets: secrets, isDevelopment: isDevelopment), context: context)
    }

    func attempt(
        _ amount: Money = cny(3990), accepts: Set<ContractType> = Set(ContractType.allCases)
    ) -> PaymentAttempt {
        PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: amount, title: "VIP monthly", platform: .web,
            returnURL: "https://app.example/done", expiresAt: clock.now.adding(seconds: 1_800), accepts: accepts)
    }

    func reference(_ amount: Money = cny(3990)) -> ProviderReference {
        ProviderReference(payment: ids.make(), reference: nil, amount: amount)
    }

    func refund(_ payment: ProviderReference, _ amount: Money = cny(3990)) -> RefundAttempt {
        RefundAttempt(refund: ids.make(), payment: payment, amount: amount, reason: "a secret reason")
    }
}

/// Returns the result of a call.
func ending<Value: Sendable>(
    _ call: () async throws(ProviderError) -> Value
) async -> Result<Value, ProviderError> {
    do throws(ProviderError) { return .success(try await call()) } catch { return .failure(error) }
}

extension Result where Failure == ProviderError {
    var error: ProviderError? { if case .failure(let error) = self { error } else { nil } }
}

/// The lines that a provider logged.
final class RemoteLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ level: ProviderLog.Level, _ message: String, _ fields: [String: String]) {
        let words = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.withLock { $0.append(([level.rawValue, message] + words).joined(separator: " ")) }
    }
}

func cny(_ value: Int64) -> Money { Money(value: value, currency: Currency("CNY")!) }
