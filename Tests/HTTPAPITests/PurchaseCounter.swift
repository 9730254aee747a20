import Domain
import Gateway
import Hummingbird
import HummingbirdTesting
import Logging
import TestSupport
import Testing

@testable import HTTPAPI

/// Runs a test with the HTTP API of a gateway that sells through the App Store.
func withPurchaseCounter(
    on engine: TestEngine, _ setup: AppStoreGatewayFixtureSetup = AppStoreGatewayFixtureSetup(),
    _ body: @Sendable (Counter, AppStoreGatewayFixture) async throws -> Void
) async throws {
    try await withAppleDesk(on: engine, setup) { apple in
        try await withCounter(of: apple, logger: setup.desk.logger) { try await body($0, apple) }
    }
}

/// Runs a test with the HTTP API of an existing fixture.
func withCounter(
    of apple: AppStoreGatewayFixture, logger: Logger = GatewayFixtureSetup().logger,
    _ body: @Sendable (Counter) async throws -> Void
) async throws {
    let api = API(
        gateway: apple.gateway,
        settings: APISettings(
            corsOrigins: [], limits: CounterSetup().limits,
            tokens: UserTokenRules(keys: .secret(Array(Counter.userSecret.utf8)), issuer: "", audience: ""),
            version: "0.0.0-test", metricsText: { "" }),
        logger: logger)
    let admin = try await apple.gateway.keys.create(name: "admin", partner: nil, scopes: ["admin"], context: .test)
    let app = Application(router: api.router(), logger: Logger(label: "http") { _ in SwiftLogNoOpLogHandler() })
    try await app.test(.router) { client in
        try await body(try Counter(desk: apple.desk, api: api, client: client, adminKey: admin.key))
    }
}

enum PurchasePath {
    static let attach = "/v1/public/iap/apple/transactions/attach"
    static let restore = "/v1/public/iap/apple/restore"
    static let status = "/v1/public/iap/apple/status"
}

extension AppleSale {
    /// Returns the body of an attach.
    func body(_ more: String = "") -> String { #"{"signed_transaction_jws":"\#(jws)"\#(more)}"# }
}
