import Domain
import Foundation
import GRDB
import GRDBSQLite

/// The view that one closure has of a SQLite connection.
///
/// After a failed statement every further one fails too, as on PostgreSQL, so that code that swallows a statement's
/// error is wrong on both engines.
final class SQLiteTransaction: Transaction {
    private let connection: GRDB.Database
    /// The first error of a statement.
    private(set) var failure: StoreError?
    private(set) var changedUsers: [ID<User>] = []
    private(set) var changesDueTimes = false
    /// The connection's number of changed rows when this view was made.
    private let changesBefore: Int32
    private var mayHaveChangedSchema = false

    init(_ connection: GRDB.Database) {
        self.connection = connection
        changesBefore = sqlite3_total_changes(connection.sqliteConnection)
    }

    /// True where the statements have changed rows, or may have changed the schema.
    var hasChanges: Bool {
        mayHaveChangedSchema || sqlite3_total_changes(connection.sqliteConnection) != changesBefore
    }

    var dialect: Dialect { .sqlite }

    func rows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> [Row] {
        try perform { connection in
            let statement = try connection.cachedStatement(sql: sql)
            var columns: ResultColumns?
            var rows: [Row] = []
            try statement.run(arguments, on: connection) {
                let shared = columns ?? ResultColumns(statement.names)
                columns = shared
                rows.append(Row(columns: shared, values: statement.values))
            }
            return rows
        }
    }

    func execute(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> Int {
        try perform { connection in
            let before = sqlite3_total_changes(connection.sqliteConnection)
            let statement = try connection.cachedStatement(sql: sql)
            if arguments.isEmpty {
                // The statement may change the schema, which GRDB must notice.
                mayHaveChangedSchema = true
                try statement.execute()
            } else {
                try statement.run(arguments, on: connection)
            }
            // The number of changes keeps its old value across a statement that changes no row, such as CREATE TABLE.
            guard sqlite3_total_changes(connection.sqliteConnection) != before else { return 0 }
            return Int(sqlite3_changes(connection.sqliteConnection))
        }
    }

    // SQLite runs in this process, so deferring gains nothing.

    func deferredRows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> DeferredResult<[Row]> {
        DeferredResult(try rows(sql, arguments))
    }

    func deferredExecute(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> DeferredResult<Int> {
        DeferredResult(try execute(sql, arguments))
    }

    func enqueue(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) {
        _ = try execute(sql, arguments)
    }

    func markChanged(_ user: ID<User>) { changedUsers.append(user) }

    func markDueTimes() { changesDueTimes = true }

    private func perform<T>(_ body: (GRDB.Database) throws -> T) throws(StoreError) -> T {
        if let failure { throw failure }
        do {
            return try body(connection)
        } catch {
            let failure = error as? StoreError ?? StoreError(sqlite: error)
            self.failure = failure
            throw failure
        }
    }
}

extension String {
    /// True where the text holds U+0000; `memchr` reads many bytes at a time.
    private var holdsNUL: Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        } ?? utf8.contains(0)
    }

    /// Returns the text, or throws where it contains U+0000: PostgreSQL cannot store that, and C would cut the text
    /// there.
    func bindable() throws(StoreError) -> String {
        guard !holdsNUL else { throw .statement("a bound text holds U+0000") }
        return self
    }
}
