import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization

@testable import RemoteProvider

/// A remote account with everything that its provider touches, and a plugin that can lie.
struct RemoteFixture: ProviderFixture {
    static let returnURL: String? = "https://app.example/done"

    let plugin: ScriptedPlugin
    let test: TestContext

    /// - Parameter answer: instead of the plugin.
    init(_ plugin: ScriptedPlugin? = nil, answer: RecordingTransport.Answer? = nil) {
        let plugin = plugin ?? ScriptedPlugin()
        self.plugin = plugin
        test = TestContext(account: "plug") { request, now throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return plugin.answer(request, now: now.rawValue)
        }
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

    /// The reference of a payment that was never opened here.
    func reference(_ amount: Money = Self.price) -> ProviderReference { reference(attempt(amount)) }

    func setup(accepts: Set<ContractType> = [.url, .qr]) -> SetupAttempt {
        SetupAttempt(
            setup: ids.make(), subscription: ids.make(), currency: Self.price.currency, title: "Club",
            terms: "CNY 39.90 a month", platform: .web, returnURL: Self.returnURL,
            expiresAt: clock.now.adding(seconds: 1_800), accepts: accepts)
    }

    func reference(_ setup: SetupAttempt) -> SetupReference {
        SetupReference(setup: setup.setup, subscription: setup.subscription, reference: nil)
    }

    func mandate(_ reference: String = "M-1", customer: String? = nil) -> MandateReference {
        MandateReference(subscription: ids.make(), reference: reference, customer: customer, ownsCustomer: true)
    }

    func charge(_ mandate: MandateReference? = nil) -> MandateCharge {
        MandateCharge(
            payment: ids.make(), order: ids.make(), periodIndex: 1, amount: Self.price, title: "Club",
            mandate: mandate ?? self.mandate())
    }

    func provider(secrets: [String] = [ScriptedPlugin.secret], isDevelopment: Bool = true) throws -> RemoteProvider {
        try RemoteProvider(account: Self.account(secrets: secrets, isDevelopment: isDevelopment), context: context)
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

func cny(_ value: Int64) -> Money { Money(value: value, currency: Currency("CNY")!) }
