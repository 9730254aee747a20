import Crypto
import Domain
import Foundation

/// A numbered step of the schema, written once for both engines.
package struct Migration: Sendable, Equatable {
    package let number: Int
    package let name: String
    /// Statements that end in ";\n", with the portable types of ``Dialect/schema(_:)``.
    package let sql: String
    /// Statements whose SQL differs between the engines, such as triggers; run unchanged after the others.
    package let particular: [Dialect: [String]]

    package init(number: Int, name: String, sql: String, particular: [Dialect: [String]] = [:]) {
        self.number = number
        self.name = name
        self.sql = sql
        self.particular = particular
    }

    /// SHA-256 of the texts for both engines in hexadecimal, by which an edit of an applied migration is noticed.
    package var digest: String {
        let others = [Dialect.sqlite, .postgres].flatMap { dialect in
            (particular[dialect] ?? []).map { ";\n-- \(dialect)\n\($0)" }
        }
        return Hex.encoded(SHA256.hash(data: Data((sql + others.joined()).utf8)))
    }

    /// The statements in this engine's SQL; pieces that are only comments are left out.
    package func statements(_ dialect: Dialect) -> [String] {
        let common = (dialect.schema(sql) + "\n").split(separator: ";\n").compactMap { piece -> String? in
            let lines = piece.split(separator: "\n").filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("--") }
            let text = lines.joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
            return text.isEmpty ? nil : text
        }
        return common + (particular[dialect] ?? [])
    }
}

/// The reasons why a database and this binary do not fit together.
package enum MigrationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The database has a migration that this binary does not know: it was written by a newer one.
    case unknown(number: Int, name: String)
    /// A migration was applied with another text.
    case changed(number: Int, name: String)
    /// The numbers of the list are not strictly ascending.
    case order(number: Int)

    package var description: String {
        switch self {
        case .unknown(let number, let name): "the database has migration \(number) (\(name)) of a newer Paydesk"
        case .changed(let number, let name): "migration \(number) (\(name)) was applied with another text"
        case .order(let number): "migration \(number) is out of order"
        }
    }
}

/// Brings a schema up to date; several nodes may start at once.
package enum Migrator {
    private static let table = """
        CREATE TABLE IF NOT EXISTS schema_migrations (
            number {int} NOT NULL PRIMARY KEY,
            name {text} NOT NULL,
            digest {text} NOT NULL,
            applied_at {int} NOT NULL
        ) {strict}
        """

    /// A number for advisory locks that no other program should use on the same database.
    private static let advisoryLock: Int64 = 0x7061_7964_6573_6b

    /// Returns the migrations that the database does not have yet: all of them for an empty database.
    ///
    /// - Throws: ``MigrationError`` when the database was migrated by another binary.
    package static func pending(_ migrations: [Migration], in store: Store) async throws -> [Migration] {
        try check(migrations)
        return try await store.read { database in try pending(migrations, in: database) }
    }

    /// Applies what is pending, each migration in its own transaction.
    ///
    /// - Parameter time: seconds since 1970, stored with each migration.
    /// - Returns: the migrations that this call applied.
    @discardableResult
    package static func apply(
        _ migrations: [Migration], to store: Store, at time: Int64
    ) async throws -> [Migration] {
        var applied: [Migration] = []
        for migration in try await pending(migrations, in: store) {
            let isNew = try await store.write { transaction in
                try prepare(transaction)
                // Since the check, another node may have applied this migration, or a newer one further migrations.
                guard try pending(migrations, in: transaction).contains(migration) else { return false }
                for statement in migration.statements(transaction.dialect) { try transaction.execute(statement) }
                try transaction.execute(
                    "INSERT INTO schema_migrations (number, name, digest, applied_at) VALUES (?, ?, ?, ?)",
                    migration.number, migration.name, migration.digest, time)
                return true
            }
            if isNew { applied.append(migration) }
        }
        return applied
    }

    private static func prepare(_ transaction: any Transaction) throws(StoreError) {
        // Before CREATE TABLE IF NOT EXISTS, which fails on PostgreSQL when two transactions run it at once.
        if let postgres = transaction as? PostgresTransaction {
            try postgres.liftTimeLimits()
            _ = try postgres.row("SELECT 1 AS one FROM pg_advisory_xact_lock(?)", advisoryLock)
        }
        try transaction.execute(transaction.dialect.schema(table))
    }

    private static func check(_ migrations: [Migration]) throws(MigrationError) {
        for (earlier, later) in zip(migrations, migrations.dropFirst()) where earlier.number >= later.number {
            throw .order(number: later.number)
        }
    }

    private static func pending(_ migrations: [Migration], in database: any Database) throws -> [Migration] {
        guard try hasTable(database) else { return migrations }
        let rows = try database.rows("SELECT number, name, digest FROM schema_migrations ORDER BY number")
        var missing = migrations
        for row in rows {
            let number = Int(try row.int("number"))
            let name = try row.text("name")
            guard let index = missing.firstIndex(where: { $0.number == number }) else {
                throw MigrationError.unknown(number: number, name: name)
            }
            let known = missing.remove(at: index)
            guard try row.text("digest") == known.digest else {
                throw MigrationError.changed(number: number, name: name)
            }
        }
        return missing
    }

    private static func hasTable(_ database: any Database) throws(StoreError) -> Bool {
        let sql =
            switch database.dialect {
            case .sqlite: "SELECT 1 AS one FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'"
            case .postgres: "SELECT 1 AS one WHERE to_regclass('schema_migrations') IS NOT NULL"
            }
        return try database.row(sql) != nil
    }
}
