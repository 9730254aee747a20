import Foundation
import Store
import TestSupport

/// The rate of attaches over HTTP beside the rate at which the same PostgreSQL runs their statements alone.
struct PgbenchSection {
    let bench: Workbench
    let cluster: PostgresCluster
    let program: String

    private static let turns = 3
    private static let warmUp = 500

    /// The statements of one attach, and the rows that it adds to each table.
    private struct Recording {
        let script: PgbenchScript
        let growth: [String: Int]
        let settings: [String]
    }

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: .postgres)
        defer { installation.remove() }
        try await installation.whileServing { _ = try await $0.measure(plan($0, Self.warmUp)) }
        try installation.analyze()
        let log = try StatementLog(cluster)
        let recording = try await log.whileOn {
            try await installation.whileServing { try await record($0, installation, log) }
        }
        let pgbench = try Pgbench(
            program, recording.script, copying: installation, settings: recording.settings, of: cluster, bench: bench)
        let connections = PostgresSettings().connections
        var (attaches, transactions): ([Double], [Double]) = ([], [])
        for turn in 0..<Self.turns {
            // A stopped server does not look for work while pgbench runs.
            let attach = try await installation.whileServing { server in
                _ = try await server.measure(plan(server, Self.warmUp))
                return try await server.measure(plan(server, bench.attaches))
            }
            attaches.append(attach.perSecond)
            let seconds = max(2, Int(attach.wallSeconds.rounded()))
            transactions.append(
                try await pgbench.run(
                    seconds: seconds, turn: turn, connections: connections, adding: recording.growth
                ).perSecond)
        }
        return [
            Figure(
                section: .pgbench, name: "attach, PostgreSQL, \(Workbench.manyClients) clients, by the clock",
                value: attaches.median, unit: "/s",
                base: .figure("pgbench -c \(connections), same statements", transactions.median), aim: .atLeast(0.5)),
            Figure(
                section: .pgbench, name: "statements of an attach, BEGIN and COMMIT with them",
                value: Double(recording.script.roundTrips), unit: ""),
        ]
    }

    /// The attaches of a measurement; a 503, as on a busy machine, does not count as an answer.
    private func plan(_ server: ServerProcess, _ count: Int) -> LoadPlan {
        LoadPlan(
            clients: Workbench.manyClients, length: .once,
            requests: (0..<count).map { _ in Customer.new().attach(port: server.port) }, accepts: [200, 503])
    }

    // MARK: Recording

    /// Records the statements of two attaches, and the rows that a third one adds.
    private func record(
        _ server: ServerProcess, _ installation: Installation, _ log: StatementLog
    ) async throws -> Recording {
        // The numbers lie far apart, so that the script takes no id of the store for a time.
        var transactions: [[RecordedStatement]] = []
        for id in ["470000123456789", "480000987654321"] {
            let customer = try await attachOnce(server, id)
            let found = try log.transactions(binding: customer.name)
            guard found.count == 1 else {
                throw BenchFailure(description: "an attach made \(found.count) transactions that name its user")
            }
            transactions += found
        }
        let script = try PgbenchScript(transactions[0], transactions[1])
        let database = try cluster.address(database: try installation.databaseName)
        let before = try database.rows(of: script.tables)
        _ = try await attachOnce(server, "490000567891234")
        return Recording(
            script: script, growth: try database.rows(of: script.tables).merging(before) { $0 - $1 },
            settings: try log.sessionSettings())
    }

    private func attachOnce(_ server: ServerProcess, _ transactionID: String) async throws -> Customer {
        let customer = Customer.new()
        let sale = Customer.purchase().with { $0.id = transactionID }
        let request = customer.attach(sale, port: server.port)
        _ = try await LoadClient.run(LoadPlan(clients: 1, length: .once, requests: [request]), port: server.port)
        return customer
    }
}
