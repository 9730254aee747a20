import NIOCore
import Store
import TestSupport

/// What further nodes on one PostgreSQL cost, and whether they do together what one does.
struct NodesSection {
    let bench: Workbench

    private static let clients = 64
    private static let keys = 1_000
    private static let turns = 3

    private struct Cost {
        let server: Double
        let database: Double
    }

    func figures() async throws -> [Figure] {
        let first = try Installation(bench, on: .postgres)
        defer { first.remove() }
        try first.addAccount("box", Installation.sandbox)
        let more = try (1...3).map { _ in try Installation(bench, like: first) }
        defer { for node in more { node.remove() } }
        for node in more { try node.addAccount("box", Installation.sandbox) }
        var (one, four): ([Cost], [Cost]) = ([], [])
        var orders = 0
        try await first.whileServing { server in
            _ = try await cost([server])
            orders = try await effects(of: [server], more[0], more[1], first)
        }
        for _ in 0..<Self.turns {
            one.append(try await first.whileServing { try await warmCost([$0]) })
            four.append(try await Self.whileServing([first] + more) { try await warmCost($0) })
        }
        func median(_ costs: [Cost], _ what: (Cost) -> Double) -> Double {
            costs.map(what).sorted()[costs.count / 2] * 1_000_000
        }
        return [
            Figure(
                section: .nodes, name: "orders of \(Self.clients) clients × \(Self.keys) keys on three nodes",
                value: Double(orders), unit: "", base: .figure("keys", Double(Self.keys)), aim: .exactly(1),
                isDuty: true),
            Figure(
                section: .nodes, name: "attach, PostgreSQL, four nodes, CPU of the nodes",
                value: median(four, \.server),
                unit: "µs", base: .figure("one node", median(one, \.server)), aim: .atMost(1.1)),
            Figure(
                section: .nodes, name: "the same, CPU of nodes and PostgreSQL",
                value: median(four) { $0.server + $0.database }, unit: "µs",
                base: .figure("one node", median(one) { $0.server + $0.database }), aim: .atMost(1.1)),
        ]
    }

    private static func whileServing<T>(
        _ installations: [Installation], _ running: [ServerProcess] = [],
        _ body: ([ServerProcess]) async throws -> T
    ) async throws -> T {
        guard let next = installations.first else { return try await body(running) }
        return try await next.whileServing { server in
            try await whileServing(Array(installations.dropFirst()), running + [server], body)
        }
    }

    // MARK: The cost of an attach

    /// The second of two: the first prepares every statement on every connection, four times as many on four nodes.
    private func warmCost(_ nodes: [ServerProcess]) async throws -> Cost {
        _ = try await cost(nodes)
        return try await cost(nodes)
    }

    /// CPU seconds of one attach, with all clients spread over the nodes.
    private func cost(_ nodes: [ServerProcess]) async throws -> Cost {
        let each = bench.attaches / nodes.count
        let plans = nodes.map { node in
            LoadPlan(
                clients: Self.clients / nodes.count, length: .once,
                requests: (0..<each).map { _ in Customer.new().attach(port: node.port) }, accepts: [200, 503])
        }
        let postgres = try await Postgres.processes(bench)
        let before = try Postgres.seconds(postgres)
        let measured = try await withThrowingTaskGroup(of: Measurement.self) { group in
            for (node, plan) in zip(nodes, plans) { group.addTask { try await node.measure(plan) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let after = try Postgres.seconds(postgres)
        let answers = Double(measured.map(\.answers).reduce(0, +))
        return Cost(
            server: measured.map(\.cpuSeconds).reduce(0, +) / answers, database: (after - before) / answers)
    }

    // MARK: One effect for each key

    private func effects(
        of running: [ServerProcess], _ second: Installation, _ third: Installation, _ first: Installation
    ) async throws -> Int {
        let customer = Customer.new()
        let before = try first.orders()
        try await Self.whileServing([second, third], running) { nodes in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, node) in nodes.enumerated() {
                    let clients = Self.clients / 3 + (number < Self.clients % 3 ? 1 : 0)
                    group.addTask { try await insist(customer, clients, at: node) }
                }
                try await group.waitForAll()
            }
        }
        return try first.orders() - before
    }

    /// Every client sends every key; one that another client has just taken is answered 409, and on a busy machine a node
    /// may ask to come again.
    private func insist(_ customer: Customer, _ clients: Int, at node: ServerProcess) async throws {
        let requests = (0..<Self.keys * clients).map { number in
            RequestBytes.post(
                "/v1/public/checkout", port: node.port, token: customer.token,
                body: #"{"sku":"vip_month","platform":"web","currency":"CNY"}"#, key: "key-\(number / clients)")
        }
        let plan = LoadPlan(clients: clients, length: .once, requests: requests, accepts: [200, 409, 502, 503])
        _ = try await LoadClient.run(plan, port: node.port)
    }
}

/// The processes of the run's PostgreSQL.
private enum Postgres {
    /// The server and its children as they are now: each serves one connection until that ends.
    static func processes(_ bench: Workbench) async throws -> [Int32] {
        let text = try await bench.run(["ps", "-e", "-o", "pid=,args="], name: "ps")
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            let isPostgres = parts.count == 2 && (parts[1].hasPrefix("postgres: paydesk bench_"))
            return isPostgres ? Int32(parts[0]) : nil
        }
    }

    static func seconds(_ processes: [Int32]) throws -> Double {
        processes.reduce(0) { sum, process in sum + ((try? CPUTime.of(process)) ?? 0) }
    }
}
