import Foundation
import Store
import TestSupport

/// PostgreSQL's own load generator on a copy of a database.
struct Pgbench {
    /// The result of one run.
    struct Run {
        let transactions: Int
        let perSecond: Double
    }

    private let bench: Workbench
    private let cluster: PostgresCluster
    private let program: String
    private let database: String
    private let script: PgbenchScript

    /// The path of `pgbench` in the folder of the running server's programs; nil where it is missing.
    static func program(of cluster: PostgresCluster) throws -> String? {
        let row = try cluster.administer("SELECT setting FROM pg_config WHERE name = 'BINDIR'").first
        let path = try row.map { try $0.text("setting") + "/pgbench" }
        return path.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }
    }

    /// Copies a database that nobody uses now; the copy's sessions get the settings of the server under test.
    init(
        _ program: String, _ script: PgbenchScript, copying installation: Installation, settings: [String],
        of cluster: PostgresCluster, bench: Workbench
    ) throws {
        self.bench = bench
        self.cluster = cluster
        self.program = program
        self.script = script
        database = "pgbench_\(installation.port)"
        try cluster.administer("CREATE DATABASE \(database) TEMPLATE \(try installation.databaseName)")
        for setting in settings { try cluster.administer("ALTER DATABASE \(database) \(setting)") }
        try script.text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    private var file: String { "\(bench.folder)/\(database).sql" }

    /// Runs the script.
    ///
    /// - Parameters:
    ///   - turn: a number that no other run on this database has, from 0 to 8.
    ///   - growth: the rows that one attach adds to each table.
    /// - Throws: where a statement failed, or the tables grew by anything else than what each attach adds.
    func run(seconds: Int, turn: Int, connections: Int, adding growth: [String: Int]) async throws -> Run {
        let constants = script.constants + [("made", "\(turn * 10_000_000)")]
        let before = try rows()
        let output = try await bench.run(
            [
                program, "-n", "-M", "prepared", "-h", "127.0.0.1", "-p", "\(cluster.port)", "-U", "paydesk", "-f",
                file,
                "-c", "\(connections)", "-j", "2", "-T", "\(seconds)",
            ] + constants.flatMap { ["-D", "\($0.name)=\($0.value)"] } + [database], name: "pgbench")
        func number(after label: String) throws -> Double {
            let line = output.split(separator: "\n").first { $0.hasPrefix(label) }
            guard let number = line.flatMap({ Double($0.dropFirst(label.count).prefix { !" (".contains($0) }) }) else {
                throw BenchFailure(description: "pgbench printed no \"\(label)\": \(output)")
            }
            return number
        }
        let run = Run(
            transactions: Int(try number(after: "number of transactions actually processed: ")),
            perSecond: try number(after: "tps = "))
        let failed = try number(after: "number of failed transactions: ")
        guard failed == 0 else { throw BenchFailure(description: "\(failed.short) transactions of pgbench failed") }
        let expected = growth.mapValues { $0 * run.transactions }
        let grown = try rows().merging(before) { $0 - $1 }
        guard grown == expected else {
            throw BenchFailure(
                description: "\(run.transactions) transactions of pgbench added \(grown), not \(expected)")
        }
        return run
    }

    private func rows() throws -> [String: Int] {
        try cluster.address(database: database).rows(of: script.tables)
    }
}

extension Installation {
    var databaseName: String {
        get throws {
            guard let name = URLComponents(string: databaseURL)?.path.dropFirst(), !name.isEmpty else {
                throw BenchFailure(description: "a database without a name")
            }
            return String(name)
        }
    }
}

extension PostgresAddress {
    /// The number of rows of each table.
    func rows(of tables: [String]) throws -> [String: Int] {
        let connection = try PostgresConnection(self, settings: PostgresSettings(), by: .now + .seconds(5))
        var rows: [String: Int] = [:]
        for table in tables {
            rows[table] = Int(try connection.run("SELECT count(*) AS count FROM \(table)").first?.int("count") ?? 0)
        }
        return rows
    }
}
