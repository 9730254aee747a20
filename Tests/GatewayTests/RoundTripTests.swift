import Domain
import Gateway
import ProviderKit
import Store
import TestSupport
import Testing

/// How often the hot paths wait for PostgreSQL: each wait is a turn of two processes.
@Suite struct RoundTripTests {
    @Test func `an attach waits for PostgreSQL few times`() async throws {
        try await withAppleDesk(on: .postgres) { apple in
            let proxy = try PostgresProxy(to: PostgresCluster.running().port)
            defer { proxy.stop() }
            let store = try apple.desk.database.openAnother(through: proxy)
            let account = apple.gateway.registry.accounts.first { $0.id.rawValue == "apple-iap" }
            let node = apple.desk.node(store: store, replacing: account)
            // A call that meets a connection which is just being opened waits for that as well.
            func fewest(_ calls: [(AppleSale, String)]) async throws -> Int {
                var counts: [Int] = []
                for (sale, user) in calls {
                    let before = proxy.questions
                    _ = try await node.attachPurchase(
                        .signedTransaction(sale.jws), fallback: nil, user: Desk.user(user), context: .test)
                    counts.append(proxy.questions - before)
                }
                return try #require(counts.min())
            }
            let sales = (0..<8).map { _ in apple.sale() }
            // By somebody new, by somebody known, and once more.
            #expect(try await fewest(sales.prefix(4).enumerated().map { ($1, "new \($0)") }) == 8)
            #expect(try await fewest(sales.suffix(4).map { ($0, "new 0") }) == 7)
            #expect(try await fewest(sales.suffix(4).map { ($0, "new 0") }) == 5)
            await store.engine.close()
        }
    }
}
