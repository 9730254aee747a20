import ApplePayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import TestSupport

/// An Apple Pay account whose gateway a test scripts.
struct ApplePayFixture: ProviderFixture {
    typealias Answer = @Sendable (OutgoingRequest) -> IncomingReply

    /// The answers that are still to be given.
    private final class Script: Sendable {
        private struct State {
            var answers: [Answer] = []
            var failure: HTTPTransportError?
        }

        private let state = Mutex(State())

        func add(_ answers: [Answer]) { state.withLock { $0.answers += answers } }
        func fail(_ error: HTTPTransportError) { state.withLock { $0.failure = error } }

        func answer(_ request: OutgoingRequest) throws(HTTPTransportError) -> IncomingReply {
            let (answer, failure) = state.withLock { state in
                (state.answers.isEmpty ? nil : state.answers.removeFirst(), state.failure)
            }
            if let failure { throw failure }
            return answer?(request) ?? IncomingReply(status: 200, body: ApplePayFixture.session)
        }
    }

    static let session = Data(#"{ "epochTimestamp":1, "signature":"30", "nonce":"AB", "new":{"x":[1]} }"#.utf8)

    private let script = Script()
    let test: TestContext

    init() {
        let script = script
        test = TestContext(account: "apple-pay", clock: ManualClock(1_795_000_000)) {
            request, _ throws(HTTPTransportError) in
            try script.answer(request)
        }
    }

    var requests: [OutgoingRequest] { transport.requests }

    /// The answers of the gateway, one after the other; then sessions.
    func answer(_ answers: Answer...) { script.add(answers) }

    /// No call arrives from now on, or none is answered.
    func fail(_ error: HTTPTransportError) { script.fail(error) }

    /// - Parameter edit: changes the settings of a valid account.
    func provider(
        isDevelopment: Bool = true, _ edit: (inout [String: SettingValue]) -> Void = { _ in }
    ) throws -> ApplePayProvider {
        var settings = ApplePayGatewayFixtureSetup().settings
        edit(&settings)
        return try ApplePayProvider(
            account: ProviderAccount(
                id: try .test("apple-pay"), settings: ProviderSettings(settings), isDevelopment: isDevelopment),
            context: context)
    }

    /// Returns the faults of settings; empty where they are valid.
    func faults(
        isDevelopment: Bool = true, _ edit: (inout [String: SettingValue]) -> Void
    ) -> [ProviderSetupError.Fault] {
        do {
            _ = try provider(isDevelopment: isDevelopment, edit)
            return []
        } catch {
            return (error as? ProviderSetupError)?.faults ?? []
        }
    }
}
