import Foundation
import TestSupport
import Testing

@Suite("A node in trouble", .timeLimit(.minutes(10)))
struct OutageTests {
    enum Outage: CaseIterable {
        /// The server has stopped, and its port refuses connections.
        case gone
        /// The server, or the network, does not answer.
        case silent
    }

    /// The times are printed, the best of some rounds, and not asserted, because they depend on the machine.
    @Test(arguments: Outage.allCases)
    func `without its database a node answers 503, and is back by itself after its return`(
        _ outage: Outage
    ) async throws {
        let cluster = try PostgresCluster.running()
        let proxy = try PostgresProxy(to: cluster.port)
        defer { proxy.stop() }
        let name = "paydesk_outage_\(proxy.port)"
        try cluster.administer("CREATE DATABASE \(name)")
        let url = "postgres://paydesk@127.0.0.1:\(proxy.port)/\(name)?sslmode=disable&gssencmode=disable"
        let installation = try Installation(database: url)
        try await installation.whileServing { server in
            let token = try await installation.token()
            let key = try await Self.adminKey(installation)
            var refusals = Rounds()
            var returns = Rounds()
            for round in 0..<3 {
                _ = try await installation.buy(token)
                switch outage {
                case .gone: proxy.stop()
                case .silent: proxy.cut(.silent)
                }
                for (call, bearer) in [
                    ("POST /v1/public/checkout", token), ("GET /v1/admin/skus", key), ("GET /readyz", ""),
                ] {
                    let began = ContinuousClock.now
                    let reply = try #require(await Self.send(call, bearer, "\(round)", installation.port), "\(call)")
                    refusals.add(call, .now - began)
                    #expect(reply.status == 503, "\(call): \(reply.body)")
                }
                #expect(await LoopbackHTTP.send("GET", "/healthz", port: installation.port)?.status == 200)
                switch outage {
                case .gone: try proxy.restart()
                case .silent: proxy.cut(.never)
                }
                let began = ContinuousClock.now
                let call = "GET /v1/public/orders"
                while await Self.send(call, token, "", installation.port)?.status != 200 {
                    try #require(server.ended() == nil, "\(server.errors)")
                }
                returns.add("return", .now - began)
            }
            print("outage: \(outage), answered \(refusals.best), \(returns.best)")
            let check = try await installation.run("check")
            #expect(check.status == 0, "\(check.output)")
        }
        try cluster.administer("DROP DATABASE \(name) WITH (FORCE)")
    }

    private struct Rounds {
        private(set) var best: [String: Duration] = [:]

        mutating func add(_ name: String, _ time: Duration) { best[name] = min(best[name] ?? time, time) }
    }

    private static func adminKey(_ installation: Installation) async throws -> String {
        let made = try await installation.run("keys", "create", "--name", "ops", "--scopes", "admin", "--json")
        let json = try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: String]
        return try #require(json?["key"], "\(made.errors)")
    }

    private static func send(
        _ call: String, _ bearer: String, _ key: String, _ port: UInt16
    ) async -> LoopbackHTTP.Reply? {
        let parts = call.split(separator: " ").map(String.init)
        let isPost = parts[0] == "POST"
        return await LoopbackHTTP.send(
            parts[0], parts[1], port: port,
            headers: ["Authorization": "Bearer \(bearer)"].merging(isPost ? ["Idempotency-Key": key] : [:]) { $1 },
            body: isPost ? #"{"sku":"coins","platform":"web","currency":"CNY"}"# : "")
    }

    @Test(arguments: Outage.allCases)
    func `a node that starts before its database waits for it`(_ outage: Outage) async throws {
        let cluster = try PostgresCluster.running()
        let proxy = try PostgresProxy(to: cluster.port)
        defer { proxy.stop() }
        let name = "paydesk_start_\(proxy.port)"
        try cluster.administer("CREATE DATABASE \(name)")
        let url = "postgres://paydesk@127.0.0.1:\(proxy.port)/\(name)?sslmode=disable&gssencmode=disable"
        let installation = try Installation(database: url)
        switch outage {
        case .gone: proxy.stop()
        case .silent: proxy.cut(.silent)
        }
        let server = try installation.start("serve")
        while !server.errors.contains("does not answer yet") {
            try #require(server.ended() == nil, "\(server.errors)")
            await SpawnedProgram.pause()
        }
        switch outage {
        case .gone: try proxy.restart()
        case .silent: proxy.cut(.never)
        }
        while await LoopbackHTTP.send("GET", "/readyz", port: installation.port)?.status != 200 {
            try #require(server.ended() == nil, "\(server.errors)")
            await SpawnedProgram.pause()
        }
        server.send(SIGTERM)
        #expect(try await server.wait() == 0, "\(server.errors)")
        try cluster.administer("DROP DATABASE \(name) WITH (FORCE)")
    }

    @Test
    func `a stop answers whatever was accepted, and what comes later is not served`() async throws {
        let installation = try Installation(delay: 1_500)
        let server = try await installation.serve()
        let token = try await installation.token()
        let port = installation.port
        let replies = try await withThrowingTaskGroup(of: LoopbackHTTP.Reply?.self) { group in
            for number in 0..<16 {
                group.addTask {
                    await LoopbackHTTP.send(
                        "POST", "/v1/public/checkout", port: port,
                        headers: ["Authorization": "Bearer \(token)", "Idempotency-Key": "stop-\(number)"],
                        body: #"{"sku":"coins","platform":"web","currency":"CNY"}"#)
                }
            }
            // Each order is durable before its provider is called, which shows that its request was accepted.
            var accepted = 0
            while accepted < 16 {
                let orders = try await installation.call("GET", "/v1/public/orders", token)
                accepted = (orders["items"] as? [Any])?.count ?? 0
            }
            server.send(SIGTERM)
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(replies.count == 16)
        for reply in replies { #expect(reply?.status == 200) }
        let status = try await server.wait()
        #expect(status == 0, "\(server.errors)")
        #expect(await LoopbackHTTP.send("GET", "/healthz", port: port) == nil)
    }

    @Test
    func `a client that does not end its head loses the connection, others do not`() async throws {
        let installation = try Installation()
        try await installation.whileServing { _ in
            let answer = try await LoopbackHTTP.untilClosed("GET /healthz HTTP/1.1\r\nHo", port: installation.port)
            #expect(answer.isEmpty)
            #expect(await LoopbackHTTP.send("GET", "/healthz", port: installation.port)?.status == 200)
        }
    }
}
