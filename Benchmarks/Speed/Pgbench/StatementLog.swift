import Foundation
import Store
import TestSupport

/// The statements that the run's PostgreSQL gets, read from its own log.
struct StatementLog {
    private let cluster: PostgresCluster
    private let path: String

    init(_ cluster: PostgresCluster) throws {
        self.cluster = cluster
        guard let data = try cluster.administer("SHOW data_directory").first?.text("data_directory") else {
            throw BenchFailure(description: "PostgreSQL does not say where its data is")
        }
        path = URL(fileURLWithPath: data).deletingLastPathComponent().appendingPathComponent("log").path
    }

    /// Logs every statement with its values while the body runs.
    func whileOn<T>(_ body: () async throws -> T) async throws -> T {
        try await set("log_statement = 'all'", "log_line_prefix = '%p '", "log_parameter_max_length = -1")
        let result: Result<T, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try await reset()
        return try result.get()
    }

    /// The transactions that bound a value, each from BEGIN to COMMIT, oldest first.
    func transactions(binding value: String) throws -> [[RecordedStatement]] {
        try sessions().values.flatMap { session -> [[RecordedStatement]] in
            let begins = session.indices.filter { session[$0].sql.hasPrefix("BEGIN") }
            return begins.compactMap { begin in
                let end = session[begin...].firstIndex { ["COMMIT", "ROLLBACK"].contains($0.sql) }
                guard let end, session[end].sql == "COMMIT" else { return nil }
                let transaction = Array(session[begin...end])
                return transaction.contains { $0.parameters.contains(value) } ? transaction : nil
            }
        }
    }

    /// The statements that set up a session: the first `SET …; SET …` in the log, split at the semicolons.
    func sessionSettings() throws -> [String] {
        let setup = try sessions().values.flatMap { $0 }.first { $0.sql.hasPrefix("SET client_encoding") }
        guard let setup else { throw BenchFailure(description: "the log has no setup of a session") }
        return setup.sql.split(separator: ";").map { part in
            part.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    // MARK: Reading

    /// The statements of each process of the server.
    private func sessions() throws -> [Int32: [RecordedStatement]] {
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        var sessions: [Int32: [RecordedStatement]] = [:]
        for entry in Self.entries(text) {
            // The form is `PID LEVEL:  text`; an entry from before the prefix was set begins with a date.
            let parts = entry.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let process = Int32(parts[0]) else { continue }
            if let sql = Self.sql(parts[1]) {
                sessions[process, default: []].append(RecordedStatement(sql: sql))
            } else if parts[1].hasPrefix("DETAIL:  parameters: "), let last = sessions[process]?.indices.last {
                guard let values = RecordedStatement.parameters(parts[1].dropFirst("DETAIL:  parameters: ".count))
                else { throw BenchFailure(description: "a line of PostgreSQL's log is not understood: \(entry)") }
                sessions[process]?[last].parameters = values
            }
        }
        return sessions
    }

    /// The entries of the log as whole texts: a line that begins with a tab continues the entry before.
    private static func entries(_ text: String) -> [String] {
        var entries: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("\t"), let last = entries.indices.last {
                entries[last] += "\n" + line.dropFirst()
            } else {
                entries.append(String(line))
            }
        }
        return entries
    }

    /// The text of a simple statement, or of one that was prepared before: `LOG:  execute s12: SELECT …`.
    private static func sql(_ text: Substring) -> String? {
        for start in ["LOG:  statement: ", "LOG:  execute "] where text.hasPrefix(start) {
            let rest = text.dropFirst(start.count)
            guard start.hasSuffix("execute ") else { return String(rest) }
            return rest.range(of: ": ").map { String(rest[$0.upperBound...]) }
        }
        return nil
    }

    // MARK: Switching

    private func set(_ settings: String...) async throws {
        for setting in settings { try cluster.administer("ALTER SYSTEM SET \(setting)") }
        try await reload(until: "all")
    }

    private func reset() async throws {
        for name in ["log_statement", "log_line_prefix", "log_parameter_max_length"] {
            try cluster.administer("ALTER SYSTEM RESET \(name)")
        }
        try await reload(until: "none")
    }

    /// Makes the server read its settings again, and waits until a new session sees them.
    ///
    /// A session sees the settings that the server had read when the session began.
    private func reload(until expected: String) async throws {
        try cluster.administer("SELECT pg_reload_conf()")
        for _ in 0..<500 {
            if try cluster.administer("SHOW log_statement").first?.text("log_statement") == expected { return }
            await SpawnedProgram.pause()
        }
        throw BenchFailure(description: "PostgreSQL does not read its settings again")
    }
}
