import AppleIAPProvider
import Crypto
import Domain
import Foundation
import Gateway
package import ProviderKit
import Synchronization

/// Apple's server API with answers that a test sets.
package final class ScriptedAppStore: HTTPTransport {
    package typealias Answer = Result<IncomingReply, HTTPTransportError>

    private struct State {
        var answers: [Answer]
        var sent: [OutgoingRequest] = []
    }

    private let state: Mutex<State>

    /// - Parameter answers: the answers in order; the last one is given again and again.
    package convenience init(_ answers: Answer...) { self.init(answers) }

    package init(_ answers: [Answer]) { state = Mutex(State(answers: answers)) }

    /// A new In-App Purchase key in the form of its `.p8` file.
    package static func newKey() -> String { P256.Signing.PrivateKey().pemRepresentation }

    /// Every request that was sent, in order.
    package var sent: [OutgoingRequest] { state.withLock { $0.sent } }
    package var bodies: [String] { sent.map { String(decoding: $0.body, as: UTF8.self) } }
    package var paths: [String] { sent.map { "\($0.method) \($0.url.replacing("https://", with: ""))" } }

    package func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        let answer = state.withLock { state in
            state.sent.append(request)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first
        }
        return try (answer ?? .failure(.notSent)).get()
    }
}

extension Result<IncomingReply, HTTPTransportError> {
    package static func reply(_ body: String, status: Int = 200) -> Self {
        .success(IncomingReply(status: status, body: Data(body.utf8)))
    }

    /// Apple's error body, with the HTTP status that the code begins with.
    ///
    /// - Parameter code: as in 4040010; without its last four digits it is the status.
    package static func refusal(_ code: Int) -> Self {
        .reply(#"{"errorCode":\#(code),"errorMessage":"Words of Apple's."}"#, status: code / 10_000)
    }
}

extension AppStoreGatewayFixture {
    /// This desk with a key for Apple's server API, which a script answers, and with pauses that take no time.
    package func asking(_ appStore: ScriptedAppStore, entitles: String = "all") throws -> AppStoreGatewayFixture {
        let setup = AppStoreGatewayFixtureSetup { $0.entitles = entitles }.settings
        let names = ["apps", "environments", "root_certificates", "xcode_certificates", "sandbox"]
        var settings = Dictionary(uniqueKeysWithValues: names.compactMap { name in setup[name].map { (name, $0) } })
        settings["api"] = .object([
            "key_id": .text("ABC123DEFG"), "issuer_id": .text("57246542-96fe-1a63-e053-0824d011072a"),
            "private_key": .text(ScriptedAppStore.newKey()),
            "production_url": .text("https://prod.example"), "sandbox_url": .text("https://sand.example"),
        ])
        let id = try AccountID.test("apple-iap")
        let context = ProviderContext(
            http: appStore, time: gateway.time.real, businessTime: gateway.time, random: gateway.random,
            book: StoredBook(store: store, account: id),
            notifyURL: "", publicURL: GatewayFixture.publicURL)
        let provider = try AppleIAPProvider(
            account: ProviderAccount(id: id, settings: ProviderSettings(settings), isDevelopment: true),
            context: context, pause: { _ in })
        let account = ConfiguredAccount(
            id: id, provider: provider, isTest: false, enabled: true,
            routing: AccountRouting(platforms: [.ios], priority: 100),
            notifyToken: AppStoreGatewayFixture.notifyToken)
        return AppStoreGatewayFixture(desk: desk, gateway: desk.node(replacing: account))
    }

    private init(desk: GatewayFixture, gateway: Gateway) {
        self.desk = desk
        self.gateway = gateway
    }
}
