import Domain
import Foundation
package import Store
import Synchronization

/// The plans of a store's statements, read from the engines' EXPLAIN.
///
/// A statement is at fault where it walks a growing table from one end, or along an index by conditions that many rows
/// meet (a state, an account, a range), or where it sorts the rows of such a walk. ``AllowedWalks`` lists the walks
/// that are allowed.
///
/// On SQLite the tested plan is the plan that runs in production, because the planner has no statistics in either
/// place; EXPLAIN does not tell how many rows of a walk the other conditions drop. PostgreSQL chooses by its
/// statistics. Here the tables are empty, and sequential scans, bitmap scans, hash and merge joins count as very
/// expensive, so that a remaining scan proves that no index serves. The test does not prove that a server in production
/// uses the index, or the best of several. Statements of triggers are not seen on either engine.
package enum StatementPlans {
    private static let known = Mutex<[TestEngine: Set<String>]>([:])

    /// - Returns: the faults of those statements that no test of this process has sent before.
    package static func faults(
        in sent: [StatementWatch.Sent], on engine: TestEngine, _ store: Store
    ) async throws -> [String] {
        let new = known.withLock { known in
            sent.filter { known[engine, default: []].insert($0.sql).inserted }
        }.filter { statement in
            ["SELECT", "WITH", "UPDATE", "DELETE", "INSERT"].contains { statement.sql.hasPrefix($0) }
        }
        guard !new.isEmpty else { return [] }
        return try await store.report { db in
            switch engine {
            case .sqlite: try new.flatMap { try SQLitePlan($0, in: db).faults }
            case .postgres:
                try {
                    for kind in ["seqscan", "hashjoin", "mergejoin", "bitmapscan"] {
                        _ = try db.rows("SELECT set_config('enable_\(kind)', 'off', true)")
                    }
                    return try new.flatMap { try PostgresPlan($0, in: db).faults }
                }()
            }
        }
    }
}

/// A scan of a table, or of a range of one of its indexes.
struct Walk: Hashable {
    let table: String
    /// The name of the index; empty for the table itself.
    let index: String

    var isAllowed: Bool { AllowedWalks.smallTables.contains(table) || AllowedWalks.reasons[self] != nil }
}

/// Columns in which many rows have the same value, so that equality selects little.
private let common: Set<String> = [
    "state", "status", "kind", "environment", "account", "partner", "type", "source_kind", "audience", "day", "slot",
    "currency", "processor", "webhook", "first_done", "is_pattern", "active", "holder", "level", "unit", "meter",
    "name", "product_id", "bundle_id",
]

extension String {
    /// Returns whether a condition of a plan compares a column with few rows per value for equality.
    ///
    /// - Parameter pattern: matches an equality; its group is the column.
    fileprivate func isSelective(_ pattern: String) -> Bool {
        guard let equal = try? Regex<(Substring, Substring)>(pattern) else { return false }
        return matches(of: equal).contains { !common.contains(String($0.output.1)) }
    }
}

/// SQLite's EXPLAIN QUERY PLAN (https://sqlite.org/eqp.html).
private struct SQLitePlan {
    let sql: String
    let lines: [(id: Int64, parent: Int64, detail: String)]

    init(_ sent: StatementWatch.Sent, in db: any Database) throws {
        sql = sent.sql
        lines = try db.rows("EXPLAIN QUERY PLAN " + sql, sent.arguments).map {
            (try $0.int("id"), try $0.int("parent"), try $0.text("detail"))
        }
    }

    var faults: [String] {
        let names = names
        let walks = lines.compactMap { line in walk(line.detail, names).map { (line.parent, $0) } }
        let isSorted = { (parent: Int64) in
            lines.contains {
                $0.parent == parent && $0.detail.hasPrefix("USE TEMP B-TREE FOR") && !$0.detail.contains("PART OF")
            }
        }
        return walks.compactMap { parent, walk in
            if !walk.isAllowed { return "sqlite walks \(walk.table) by \(walk.index): \(sql)" }
            guard isSorted(parent), !AllowedWalks.smallTables.contains(walk.table), !AllowedWalks.sorted.contains(walk)
            else { return nil }
            return "sqlite sorts \(walk.table) by \(walk.index): \(sql)"
        }
    }

    /// The tables by the names that they have in the statement.
    private var names: [String: String] {
        var names: [String: String] = [:]
        for match in sql.matches(of: /(?:FROM|JOIN|INTO|UPDATE|,)\s+([a-z_]+)(?:\s+(?:AS\s+)?([a-z_]+)\b)?/) {
            let table = String(match.output.1)
            names[table] = table
            if let alias = match.output.2 { names[String(alias)] = table }
        }
        return names
    }

    private func walk(_ detail: String, _ names: [String: String]) -> Walk? {
        let words = detail.split(separator: " ").map(String.init)
        guard words.count > 1, words[0] == "SCAN" || words[0] == "SEARCH", let table = names[words[1]],
            AllowedWalks.tables.contains(table)
        else { return nil }
        if words[0] == "SEARCH", detail.isSelective(#"([a-z_]+)=\?"#) { return nil }
        let index = words.firstIndex(of: "INDEX").flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
        return Walk(table: table, index: index ?? (detail.contains("PRIMARY KEY") ? "\(table)_pkey" : ""))
    }
}

/// PostgreSQL's EXPLAIN (https://www.postgresql.org/docs/current/using-explain.html).
private struct PostgresPlan {
    let sql: String
    let plan: JSONValue

    init(_ sent: StatementWatch.Sent, in db: any Database) throws {
        sql = sent.sql
        let rows = try db.rows("EXPLAIN (FORMAT JSON, COSTS OFF) " + sql, sent.arguments)
        let text = try rows.map { try $0.text("QUERY PLAN") }.joined()
        plan = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    var faults: [String] {
        var found: [String] = []
        if case .array(let plans) = plan {
            for case .object(let top) in plans { if let root = top["Plan"] { visit(root, isSorted: false, &found) } }
        }
        return found
    }

    private func visit(_ node: JSONValue, isSorted: Bool, _ found: inout [String]) {
        guard case .object(let node) = node else { return }
        func text(_ name: String) -> String { if case .string(let text)? = node[name] { text } else { "" } }
        let (kind, table) = (text("Node Type"), text("Relation Name"))
        let condition = text("Index Cond")
        let isWalk = kind == "Seq Scan" || kind.hasPrefix("Index") && condition.isEmpty
        if AllowedWalks.tables.contains(table), isWalk {
            let walk = Walk(table: table, index: text("Index Name"))
            if !walk.isAllowed {
                found.append("postgres walks \(walk.table) by \(walk.index): \(sql)")
            } else if isSorted, !AllowedWalks.smallTables.contains(table), !AllowedWalks.sorted.contains(walk) {
                found.append("postgres sorts \(walk.table) by \(walk.index): \(sql)")
            }
        }
        guard case .array(let plans)? = node["Plans"] else { return }
        for plan in plans { visit(plan, isSorted: kind == "Sort" || (isSorted && kind != "Limit"), &found) }
    }
}
