package import Store

/// The cost of some statements, counted and not timed, so that it is the same on every machine.
package struct StatementCosts: Sendable, Equatable {
    package var statements = 0
    /// The statements that insert, update or delete.
    package var writes = 0
    /// The entries of tables and indexes that the writes insert or delete, each once; nil where the engine does not tell.
    package var entries: Int?
    /// The b-trees in memory that the statements open; nil where the engine does not tell.
    package var temporaryTrees: Int?

    /// Counts statements; the b-trees by SQLite's EXPLAIN (https://sqlite.org/opcode.html), as if each write met one row.
    package init(_ sent: [StatementWatch.Sent], on engine: TestEngine, _ store: Store) async throws {
        statements = sent.count
        writes = sent.filter { sent in ["INSERT", "UPDATE", "DELETE"].contains { sent.sql.hasPrefix($0) } }.count
        guard engine == .sqlite else { return }
        // SQLite leaves constraints out of what it prepares on a connection that only reads.
        let programs = try await store.write { db in
            try sent.map { statement in
                try db.rows("EXPLAIN " + statement.sql, statement.arguments).map {
                    (opcode: try $0.text("opcode"), cursor: try $0.int("p1"))
                }
            }
        }
        var (entries, trees) = (0, 0)
        for program in programs {
            let open = Set(program.filter { $0.opcode == "OpenWrite" }.map(\.cursor))
            let changes = program.filter { ["Insert", "IdxInsert", "Delete", "IdxDelete"].contains($0.opcode) }
            entries += changes.filter { open.contains($0.cursor) }.count
            trees += program.filter { ["OpenEphemeral", "OpenAutoindex", "SorterOpen"].contains($0.opcode) }.count
        }
        (self.entries, temporaryTrees) = (entries, trees)
    }
}
