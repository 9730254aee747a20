import Foundation
import TestSupport

/// The CPU time of PostgreSQL itself for one load on one session and on several, each of them a process.
///
/// The difference is the cost of spreading in which no node of Paydesk has a part.
struct PgbenchSpread {
    private static let database = "bench_spread"
    /// A script of pgbench whose transactions touch different rows, so that sessions do not wait for each other.
    private static let script = "simple-update"
    private static let scale = 10
    private static let settling = Duration.seconds(2)

    private let bench: Workbench
    private let program: String
    private let target: [String]

    init(_ program: String, of cluster: PostgresCluster, bench: Workbench) async throws {
        self.bench = bench
        self.program = program
        target = ["-h", "127.0.0.1", "-p", "\(cluster.port)", "-U", "paydesk"]
        try cluster.administer("CREATE DATABASE \(Self.database)")
        _ = try await bench.run(
            [program, "-i", "-q", "-s", "\(Self.scale)"] + target + [Self.database], name: "pgbench")
    }

    /// The CPU seconds of PostgreSQL for one transaction.
    func cost(sessions: Int, perSecond: Int64, seconds: Int) async throws -> Double {
        let whole = seconds + 2 * Int(Self.settling.components.seconds)
        async let output = bench.run(
            [
                program, "-n", "-M", "prepared", "-b", Self.script, "-c", "\(sessions)", "-R", "\(perSecond)",
                "-T", "\(whole)",
            ] + target + [Self.database], name: "pgbench")
        try await Task.sleep(for: Self.settling)
        let processes = try await PostgresProcesses.all(bench)
        let before = try PostgresProcesses.seconds(processes)
        try await Task.sleep(for: .seconds(seconds))
        let after = try PostgresProcesses.seconds(processes)
        _ = try await output
        return (after - before) / (Double(perSecond) * Double(seconds))
    }
}

/// The processes of the run's PostgreSQL that serve its databases.
enum PostgresProcesses {
    /// The ids of the processes that now serve a connection each.
    static func all(_ bench: Workbench) async throws -> [Int32] {
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
