import Domain
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Gateway

/// How often the hot paths wait for PostgreSQL: each wait is a turn of two processes.
@Suite struct RoundTripTests {
    @Test func `an attach and a pass over its events wait for PostgreSQL few times`() async throws {
        try await withAppleDesk(on: .postgres) { apple in
            let proxy = try PostgresProxy(to: PostgresCluster.running().port)
            defer { proxy.stop() }
            let store = try apple.desk.database.openAnother(through: proxy)
            let node = apple.node(store: store)
            // A call that meets a connection which is just being opened waits for that as well.
            func fewest(_ calls: [(AppleSale, String)]) async throws -> (attach: Int, pass: Int) {
                var (attaches, passes): ([Int], [Int]) = ([], [])
                for (sale, user) in calls {
                    let before = proxy.questions
                    _ = try await node.attachPurchase(
                        .signedTransaction(sale.jws), fallback: nil, user: Desk.user(user), context: .test)
                    let between = proxy.questions
                    _ = try await node.dispatchEvents()
                    attaches.append(between - before)
                    passes.append(proxy.questions - between)
                }
                return (try #require(attaches.min()), try #require(passes.min()))
            }
            let sales = (0..<8).map { _ in apple.sale() }
            // By somebody new, by somebody known, and once more.
            #expect(try await fewest(sales.prefix(4).enumerated().map { ($1, "new \($0)") }) == (8, 5))
            #expect(try await fewest(sales.suffix(4).map { ($0, "new 0") }) == (7, 5))
            #expect(try await fewest(sales.suffix(4).map { ($0, "new 0") }) == (5, 1))
            #expect(try await apple.desk.count("events WHERE seq IS NULL") == 0)
            await store.engine.close()
        }
    }
}
