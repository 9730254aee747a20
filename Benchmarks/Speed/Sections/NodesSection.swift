import NIOCore
import Store
import TestSupport

/// The cost of further nodes on one PostgreSQL, and the proof that several nodes act once for each key.
struct NodesSection {
    let bench: Workbench
    let cluster: PostgresCluster

    private static let clients = 64
    private static let keys = 1_000
    /// The keys of a user, fewer than the 20 open orders that a user may have.
    private static let keysOfUser = 10
    private static let warmUp = 1_000
    private static let turns = 3
    /// The seconds of load in each turn.
    private static let seconds = 12
    /// The share of one node's greatest rate that is asked of one node, and of four together.
    private static let load = 0.4

    private struct Cost {
        let server: Double
        let database: Double
    }

    /// A way in which a load is spread over nodes.
    ///
    /// `besideIdle` against `one` shows the cost of further nodes without load. `four` against `quarter` shows the cost
    /// of loaded nodes for each other, where each has as much load. `four` against `one` mixes the two with a third
    /// effect: with a quarter of the load every attach of a single node costs more, because fewer share the common
    /// work.
    private enum Spread: CaseIterable {
        case one
        case besideIdle
        case quarter
        case four

        var nodes: Int { self == .one || self == .quarter ? 1 : 4 }
        var loaded: Int { self == .four ? 4 : 1 }
        /// The divisor of the load.
        var part: Int64 { self == .quarter ? 4 : 1 }
    }

    func figures() async throws -> [Figure] {
        let first = try Installation(bench, on: .postgres)
        defer { first.remove() }
        try first.addAccount("box", Installation.sandbox)
        let more = try (1...3).map { _ in try Installation(bench, like: first) }
        defer { for node in more { node.remove() } }
        for node in more { try node.addAccount("box", Installation.sandbox) }
        var costs: [Spread: [Cost]] = [:]
        let perSecond = try await first.whileServing { server in
            _ = try await saturate([server], attaches: Self.warmUp)
            try first.analyze()
            let most = try await saturate([server], attaches: bench.attaches)
            // A multiple of four, so that each of four nodes has the same rate.
            return max(4, Int64(most * Self.load) / 4 * 4)
        }
        for _ in 0..<Self.turns {
            for spread in Spread.allCases {
                try first.analyze()
                let nodes = spread.nodes == 1 ? [first] : [first] + more
                let measured = try await Installation.whileServing(nodes) { servers in
                    try await cost(servers, loaded: spread.loaded, of: first, perSecond: perSecond / spread.part)
                }
                costs[spread, default: []].append(measured)
            }
        }
        // Last, because the many open orders bring jobs that are no part of an attach.
        let orders = try await first.whileServing { try await effects(of: [$0], more[0], more[1], first) }
        let keys = Figure(
            section: .nodes, name: "orders of \(Self.clients) clients × \(Self.keys) keys on three nodes",
            value: Double(orders), unit: "", base: .figure("keys", Double(Self.keys)), aim: .exactly(1), isDuty: true)
        let spreading = try await spreading(perSecond)
        return [keys]
            + Self.figures(
                "attach, PostgreSQL, \(perSecond) a second on one node beside three without load", .besideIdle,
                of: .one, "one alone", costs, aim: .atMost(1.1))
            + Self.figures(
                "attach, PostgreSQL, \(perSecond / 4) a second on each of four nodes", .four, of: .quarter,
                "one node with as many", costs, aim: .atMost(1.1))
            + Self.figures("the same", .four, of: .one, "one node with them all", costs, aim: .atMost(1.1))
            + Self.figures(
                "attach, PostgreSQL, \(perSecond / 4) a second on one node", .quarter, of: .one,
                "that node with \(perSecond)", costs, aim: nil)
            + spreading
    }

    /// The cost of the same spread where no node takes part; empty where pgbench is missing.
    private func spreading(_ perSecond: Int64) async throws -> [Figure] {
        guard let program = try Pgbench.program(of: cluster) else { return [] }
        let pgbench = try await PgbenchSpread(program, of: cluster, bench: bench)
        var (one, four): ([Double], [Double]) = ([], [])
        for _ in 0..<Self.turns {
            one.append(try await pgbench.cost(sessions: 1, perSecond: perSecond, seconds: Self.seconds))
            four.append(try await pgbench.cost(sessions: 4, perSecond: perSecond, seconds: Self.seconds))
        }
        return [
            Figure(
                section: .nodes,
                name: "pgbench, no node, \(perSecond / 4) updates a second by each of four sessions, CPU of PostgreSQL",
                value: four.median * 1_000_000, unit: "µs",
                base: .figure("one session with them all", one.median * 1_000_000))
        ]
    }

    private static func figures(
        _ name: String, _ spread: Spread, of base: Spread, _ baseName: String, _ costs: [Spread: [Cost]], aim: Aim?
    ) -> [Figure] {
        func median(_ spread: Spread, _ what: (Cost) -> Double) -> Double {
            (costs[spread] ?? []).map(what).median * 1_000_000
        }
        func figure(_ whose: String, _ what: (Cost) -> Double) -> Figure {
            Figure(
                section: .nodes, name: "\(name), CPU of \(whose)", value: median(spread, what), unit: "µs",
                base: .figure(baseName, median(base, what)), aim: aim)
        }
        return [
            figure("all nodes", \.server), figure("all nodes and PostgreSQL") { $0.server + $0.database },
        ]
    }

    // MARK: The cost of an attach

    /// The CPU seconds of one attach under a steady load on the first nodes, with all the nodes' other work included.
    ///
    /// The load stays far below the greatest rate: nodes at their limit wait for each other and for the cores, and
    /// share less of each turn.
    ///
    /// - Parameters:
    ///   - loaded: the number of nodes that get load.
    ///   - perSecond: attaches a second of all these nodes together.
    private func cost(
        _ nodes: [ServerProcess], loaded: Int, of installation: Installation, perSecond: Int64
    ) async throws -> Cost {
        // Prepares every statement on every connection, of which four nodes have four times as many. The jobs that this
        // leaves must end first, or their cost would count.
        _ = try await saturate(nodes, attaches: Self.warmUp * nodes.count)
        try await settle(installation)
        let each = perSecond / Int64(loaded)
        let busy = nodes.prefix(loaded)
        let requests = busy.map { node in
            (0..<Int(each) * Self.seconds).map { _ in Customer.new().attach(port: node.port) }
        }
        let postgres = try await PostgresProcesses.all(bench)
        let before = (try nodes.reduce(0) { $0 + (try CPUTime.of($1.pid)) }, try PostgresProcesses.seconds(postgres))
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for (node, requests) in zip(busy, requests) {
                group.addTask {
                    try await OpenLoopClient.run(requests, perSecond: each, port: node.port).count { $0 != nil }
                }
            }
            return try await group.reduce(0, +)
        }
        let after = (try nodes.reduce(0) { $0 + (try CPUTime.of($1.pid)) }, try PostgresProcesses.seconds(postgres))
        let asked = requests.map(\.count).reduce(0, +)
        guard answers * 100 >= asked * 99 else {
            throw BenchFailure(description: "of \(asked) attaches \(asked - answers) failed: the machine is too busy")
        }
        return Cost(
            server: (after.0 - before.0) / Double(answers), database: (after.1 - before.1) / Double(answers))
    }

    /// Waits until every event has its number.
    private func settle(_ installation: Installation) async throws {
        for _ in 0..<600 {
            if try installation.count("events WHERE seq IS NULL") == 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchFailure(description: "events still have no number a minute after the load")
    }

    /// The greatest number of attaches a second for all clients together, spread over the nodes.
    private func saturate(_ nodes: [ServerProcess], attaches: Int) async throws -> Double {
        let plans = nodes.map { node in
            LoadPlan(
                clients: Self.clients / nodes.count, length: .once,
                requests: (0..<attaches / nodes.count).map { _ in Customer.new().attach(port: node.port) },
                accepts: [200, 503])
        }
        return try await withThrowingTaskGroup(of: Measurement.self) { group in
            for (node, plan) in zip(nodes, plans) { group.addTask { try await node.measure(plan) } }
            return try await group.reduce(0) { $0 + $1.perSecond }
        }
    }

    // MARK: One effect for each key

    private func effects(
        of running: [ServerProcess], _ second: Installation, _ third: Installation, _ first: Installation
    ) async throws -> Int {
        let customers = (0..<Self.keys / Self.keysOfUser).map { _ in Customer.new() }
        let before = try first.count("orders")
        try await Installation.whileServing([second, third], beside: running) { nodes in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, node) in nodes.enumerated() {
                    let clients = Self.clients / 3 + (number < Self.clients % 3 ? 1 : 0)
                    group.addTask { try await insist(customers, clients, at: node) }
                }
                try await group.waitForAll()
            }
        }
        return try first.count("orders") - before
    }

    /// Sends every key from every client.
    ///
    /// A key that another client has just taken is answered 409; on a busy machine a node may answer 502 or 503.
    private func insist(_ customers: [Customer], _ clients: Int, at node: ServerProcess) async throws {
        let requests = (0..<Self.keys * clients).map { number in
            let key = number / clients
            return customers[key % customers.count].checkout(port: node.port, key: "key-\(key)")
        }
        let plan = LoadPlan(clients: clients, length: .once, requests: requests, accepts: [200, 409, 502, 503])
        _ = try await LoadClient.run(plan, port: node.port)
    }
}
