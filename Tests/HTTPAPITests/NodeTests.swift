import Domain
import Gateway
import HTTPTypes
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Several nodes on one database", .timeLimit(.minutes(10)))
struct NodeTests {
    @Test(arguments: TestEngine.allCases)
    func `64 clients with the same keys at three nodes have one effect for each key`(_ engine: TestEngine) async throws
    {
        try await withNodes(3, on: engine) { nodes in
            let token = try await nodes[0].token()
            let keys = 12
            let answers = try await withThrowingTaskGroup(of: [Int: String].self) { group in
                for client in 0..<64 {
                    group.addTask {
                        var orders: [Int: String] = [:]
                        // Each client begins elsewhere, and each key meets all three nodes at once.
                        for step in 0..<keys {
                            let key = (step + client) % keys
                            orders[key] = try await Self.insist(nodes[(client + step) % 3], token, key: "key-\(key)")
                        }
                        return orders
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 64)
            for key in 0..<keys { #expect(Set(answers.compactMap { $0[key] }).count == 1) }
            #expect(try await nodes[0].desk.count("orders") == Int64(keys))
            #expect(try await nodes[0].desk.count("payments") == Int64(keys))
        }
    }

    /// Tries until the answer is there, as a client does; the order's id.
    private static func insist(_ counter: Counter, _ token: String, key: String) async throws -> String {
        while true {
            let reply = try await counter.post(
                "/v1/public/checkout", token, Counter.ask(), headers: ["Idempotency-Key": key])
            if reply.status == 200 { return try reply.data.text("order_id") }
            try #require([409, 503].contains(reply.status), "\(reply)")
            await Task.yield()
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what an admin changes at one node holds for the next checkout at every other`(
        _ engine: TestEngine
    ) async throws {
        try await withNodes(3, on: engine) { nodes in
            let (token, admin) = (try await nodes[0].token(), nodes[0].adminKey)
            func buy(_ node: Int, _ sku: String = "vip_month") async throws -> Reply {
                nodes[node].desk.clock.tick()
                return try await nodes[node].post("/v1/public/checkout", token, Counter.ask(sku: sku))
            }
            for node in nodes.indices {
                #expect(try await buy(node).data.text("provider") == "box-url")
            }
            for (node, price) in [(0, 4100), (1, 4200), (2, 4300)] {
                let change = #"{"prices":[{"currency":"CNY","value":\#(price)}]}"#
                let patched = try await nodes[node].send(.patch, "/v1/admin/skus/vip_month", admin, body: change)
                #expect(patched.status == 200, "\(patched)")
                for other in nodes.indices {
                    #expect(try await buy(other).data["amount"].int("value") == Int64(price))
                }
            }
            for (node, account) in [(0, "box-url"), (1, "box-qr")] {
                let off = try await nodes[node].send(
                    .patch, "/v1/admin/accounts/\(account)", admin, body: #"{"enabled":false}"#)
                #expect(off.status == 200, "\(off)")
                for other in nodes.indices { #expect(try await buy(other).data.text("provider") != account) }
            }
            #expect(try await nodes[2].send(.delete, "/v1/admin/skus/vip_month", admin).status == 200)
            for node in nodes.indices { #expect(try await buy(node).status == 404) }
            let key = try await nodes[1].key("orders:read")
            #expect(try await nodes[2].get("/v1/partner/orders", key.key).status == 200)
            #expect(try await nodes[0].send(.delete, "/v1/admin/api-keys/\(key.id.rawValue)", admin).status == 200)
            for node in nodes { #expect(try await node.get("/v1/partner/orders", key.key).status == 401) }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a node goes on serving when a newer one has migrated`(_ engine: TestEngine) async throws {
        try await withNodes(1, on: engine) { nodes in
            #expect(try await nodes[0].get("/readyz").status == 200)
            try await nodes[0].desk.store.write { tx in
                try tx.execute(
                    "INSERT INTO schema_migrations (number, name, digest, applied_at) VALUES (?, ?, ?, ?)", 9_999,
                    "of the next release", "digest", 0)
            }
            let ready = try await nodes[0].get("/readyz")
            #expect(ready.status == 200, "\(ready)")
            #expect(try await nodes[0].checkout(try await nodes[0].token()).text("provider") == "box-url")
        }
    }

    @Test func `a census counts the nodes, and its last answer stands while the database is away`() async throws {
        try await withDatabase(on: .postgres) { database in
            let nodes = try ["0123456789abcdef", "fedcba9876543210", "00000000ffffffff"].map {
                try database.openAnother(node: $0)
            }
            for node in nodes { _ = try await node.engine.databaseTime() }
            let census = NodeCensus(store: nodes[0], pause: Pauses.forever)
            #expect(census.nodes == 1)
            await census.take()
            #expect(census.nodes == 3)
            for node in nodes { await node.engine.close() }
            await census.take()
            #expect(census.nodes == 3)
        }
        try await withDatabase(on: .sqlite) { database in
            let census = NodeCensus(store: database.store, pause: Pauses.forever)
            await census.take()
            #expect(census.nodes == 1)
        }
    }

    @Test func `several nodes let through together what one does`() async throws {
        var setup = CounterSetup()
        setup.limits = .init(
            userPerSecond: 6, userBurst: 30, keyPerSecond: 3, keyBurst: 9, sessionsPerMinute: 0, concurrent: 0)
        try await withNodes(3, on: .postgres, setup, nodes: 3) { nodes in
            let token = try await nodes[0].token()
            func passed(_ path: String, _ bearer: String) async throws -> Int {
                var passed = 0
                for number in 0..<90 {
                    let reply = try await nodes[number % 3].get(path, bearer)
                    if reply.status == 200 { passed += 1 } else { #expect(reply.header("Retry-After") == "1") }
                }
                return passed
            }
            #expect(try await passed("/v1/public/orders", token) == 30)
            #expect(try await passed("/v1/public/orders", token) == 0)
            nodes[0].desk.clock.advance(seconds: 1)
            #expect(try await passed("/v1/public/orders", token) == 6)
            #expect(try await passed("/v1/admin/skus", nodes[0].adminKey) == 9)
        }
    }

    @Test func `a share follows the number of nodes and is never nothing`() {
        let clock = FixtureClock(0)
        let nodes = FixtureClock(4)
        let limiter = RateLimiter(perSecond: 8, burst: 12, nodes: { nodes.now.rawValue }, time: clock.time)
        func passed() -> Int { (0..<50).count { _ in limiter.take("alice") == nil } }
        #expect(passed() == 3)
        // A node has gone: what is left of the burst grows with time only.
        nodes.set(2)
        #expect(passed() == 0)
        clock.advance(seconds: 1)
        #expect(passed() == 4)
        clock.advance(seconds: 60)
        #expect(passed() == 6)
        // More nodes than tokens: one at a time, each as late as the rate says.
        nodes.set(100)
        clock.advance(seconds: 60)
        #expect(passed() == 1)
        #expect(limiter.take("alice") == 13)
        nodes.set(0)
        clock.advance(seconds: 60)
        #expect(passed() == 12)
    }
}
