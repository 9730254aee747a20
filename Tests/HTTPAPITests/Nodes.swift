import Gateway
import Hummingbird
import HummingbirdTesting
import Logging
import Store
import TestSupport

@testable import HTTPAPI

/// Runs a test with the HTTP APIs of several nodes, which share only the database.
///
/// - Parameter nodes: the number of nodes that each of them assumes.
func withNodes(
    _ count: Int, on engine: TestEngine, _ setup: CounterSetup = CounterSetup(), nodes: Int64 = 1,
    _ body: @Sendable ([Counter]) async throws -> Void
) async throws {
    try await withCounter(on: engine, setup) { counter in
        // A SQLite file has one owner, so that its nodes share the store as well.
        let stores = try (0..<count).map { _ in
            engine == .postgres ? try counter.desk.database.openAnother() : counter.desk.store
        }
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await serve(stores[...], like: counter, setup, nodes: nodes, counters: [], body))
        } catch { result = .failure(error) }
        if engine == .postgres { for store in stores { await store.engine.close() } }
        try result.get()
    }
}

private func serve(
    _ stores: ArraySlice<Store>, like first: Counter, _ setup: CounterSetup, nodes: Int64, counters: [Counter],
    _ body: @Sendable ([Counter]) async throws -> Void
) async throws {
    guard let store = stores.first else { return try await body(counters) }
    let api = API(
        gateway: first.desk.node(store: store),
        settings: APISettings(
            corsOrigins: [], limits: setup.limits,
            tokens: UserTokenRules(keys: setup.keys, issuer: setup.issuer, audience: setup.audience),
            version: "0.0.0-test", metricsText: { "" }, nodes: { nodes }),
        logger: setup.desk.logger)
    let app = Application(router: api.router(), logger: Logger(label: "http") { _ in SwiftLogNoOpLogHandler() })
    try await app.test(.router) { client in
        let counter = try Counter(desk: first.desk, api: api, client: client, adminKey: first.adminKey)
        try await serve(
            stores.dropFirst(), like: first, setup, nodes: nodes, counters: counters + [counter], body)
    }
}
