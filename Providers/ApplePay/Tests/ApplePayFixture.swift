import ApplePayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import TestSupport

/// An Apple Pay account with a scripted gateway of Apple's.
final class ApplePayFixture: HTTPTransport {
    typealias Answer = @Sendable (OutgoingRequest) -> IncomingReply

    private struct State {
        var answers: [Answer] = []
        var requests: [OutgoingRequest] = []
        var failure: HTTPTransportError?
    }

    static let session = Data(#"{ "epochTimestamp":1, "signature":"30", "nonce":"AB", "new":{"x":[1]} }"#.utf8)

    private let state = Mutex(State())
    let logged = Mutex<[String]>([])

    var requests: [OutgoingRequest] { state.withLock { $0.requests } }

    /// Sets the next answers of the gateway; after them it issues sessions.
    func answer(_ answers: Answer...) { state.withLock { $0.answers += answers } }

    /// Makes all calls fail from now on.
    func fail(_ error: HTTPTransportError) { state.withLock { $0.failure = error } }

    func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        let (answer, failure) = state.withLock { state in
            state.requests.append(request)
            return (state.answers.isEmpty ? nil : state.answers.removeFirst(), state.failure)
        }
        if let failure { throw failure }
        guard let answer else { return IncomingReply(status: 200, body: Self.session) }
        return answer(request)
    }

    /// - Parameter edit: changes the settings of a valid account.
    func provider(
        isDevelopment: Bool = true, _ edit: (inout [String: SettingValue]) -> Void = { _ in }
    ) throws -> ApplePayProvider {
        var settings = ApplePayGatewayFixtureSetup().settings
        edit(&settings)
        return try ApplePayProvider(
            account: ProviderAccount(
                id: try .test("apple-pay"), settings: ProviderSettings(settings), isDevelopment: isDevelopment),
            context: ProviderContext(
                http: self, time: TimeSource { 1_795_000_000_000 }, random: SeededRandom(1).source,
                book: InMemoryBook(), notifyURL: "", publicURL: "https://pay.example",
                log: ProviderLog { level, message, metadata in
                    let fields = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
                    self.logged.withLock { $0.append("\(level.rawValue) \(message)\(fields)") }
                }))
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
