import Domain
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Gateway

/// Counts the round trips to PostgreSQL in the hot paths; each one switches between two processes.
@Suite struct RoundTripTests {
    @Test func `an attach and a pass over its events wait for PostgreSQL few times`() async throws {
        try await withAppleDesk(on: .postgres) { apple in
            try await Self.withProxy(apple.desk) { store, proxy in
                let node = apple.node(store: store)
                func fewest(_ calls: [(AppleSale, String)]) async throws -> [Int] {
                    try await Self.fewest(proxy, calls) { sale, user in
                        _ = try await node.purchases.attach(
                            .signedTransaction(sale.jws), fallback: nil, user: GatewayFixture.user(user), context: .test
                        )
                    } then: {
                        _ = try await node.events.dispatch()
                    }
                }
                let sales = (0..<8).map { _ in apple.sale() }
                let byNew = try await fewest(sales.prefix(4).enumerated().map { ($1, "new \($0)") })
                let byKnown = try await fewest(sales.suffix(4).map { ($0, "new 0") })
                let again = try await fewest(sales.suffix(4).map { ($0, "new 0") })
                #expect((byNew, byKnown, again) == ([7, 5], [6, 5], [5, 1]))
                #expect(try await apple.desk.count("events WHERE seq IS NULL") == 0)
            }
        }
    }

    @Test func `a checkout and its payment wait for PostgreSQL few times`() async throws {
        try await withDesk(on: .postgres) { desk in
            try await Self.withProxy(desk) { store, proxy in
                let node = desk.node(store: store)
                var contract: PaymentContract?
                let fewest = try await Self.fewest(proxy, (0..<4).map { "new \($0)" }) { user in
                    contract = try await desk.checkout(user: user, at: node)
                } then: {
                    try await desk.notify("payment.succeeded", try #require(contract), at: node)
                }
                #expect(fewest == [11, 15])
                #expect(try await desk.count("orders WHERE state = 'paid'") == 4)
            }
        }
    }

    private static func withProxy(
        _ desk: GatewayFixture, _ body: (Store, PostgresProxy) async throws -> Void
    ) async throws {
        let proxy = try PostgresProxy(to: PostgresCluster.running().port)
        defer { proxy.stop() }
        let store = try desk.database.openAnother(through: proxy)
        try await body(store, proxy)
        await store.engine.close()
    }

    /// Returns the fewest round trips of each of two steps: a call may also wait for a connection that is just being
    /// opened.
    private static func fewest<Call>(
        _ proxy: PostgresProxy, _ calls: [Call], _ first: (Call) async throws -> Void,
        then second: () async throws -> Void
    ) async throws -> [Int] {
        var counts: [[Int]] = []
        for call in calls {
            let before = proxy.questions
            try await first(call)
            let between = proxy.questions
            try await second()
            counts.append([between - before, proxy.questions - between])
        }
        return try (0..<2).map { step in try #require(counts.map { $0[step] }.min()) }
    }
}
