import FoundationEssentials
import GRDB

/// One closure's view of a SQLite connection.
///
/// After a statement has failed every further one fails too, as on PostgreSQL, so that code which swallows a
/// statement's error is wrong on both engines and not only on the one that the tests forgot.
final class SQLiteTransaction: Transaction {
    private let connection: GRDB.Database
    /// The first error of a statement.
    private(set) var failure: StoreError?

    init(_ connection: GRDB.Database) {
        self.connection = connection
    }

    var dialect: Dialect { .sqlite }

    func rows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> [Row] {
        try perform { connection in
            let statement = try connection.cachedStatement(sql: sql)
            let cursor = try GRDB.Row.fetchCursor(statement, arguments: try Self.arguments(arguments))
            let columns = statement.columnNames
            var rows: [Row] = []
            // To the end in every case: a statement with RETURNING has done its work only then.
            while let row = try cursor.next() {
                rows.append(Row(columns: columns, values: row.databaseValues.map(SQLValue.init)))
            }
            return rows
        }
    }

    func execute(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> Int {
        try perform { connection in
            let before = connection.totalChangesCount
            try connection.cachedStatement(sql: sql).execute(arguments: try Self.arguments(arguments))
            // `changesCount` keeps its old value across a statement that changes no row, such as CREATE TABLE.
            return connection.totalChangesCount == before ? 0 : connection.changesCount
        }
    }

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

    private static func arguments(_ values: [any SQLBindable]) throws(StoreError) -> StatementArguments {
        var bound: [DatabaseValue] = []
        bound.reserveCapacity(values.count)
        for value in values {
            switch value.sql {
            case .null: bound.append(.null)
            case .integer(let value): bound.append(value.databaseValue)
            case .text(let value): bound.append(try value.bindable().databaseValue)
            case .blob(let value): bound.append(value.databaseValue)
            }
        }
        return StatementArguments(bound)
    }
}

extension SQLValue {
    fileprivate init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let value): self = .integer(value)
        case .double(let value): self = .text(String(value))
        case .string(let value): self = .text(value)
        case .blob(let value): self = .blob(value)
        }
    }
}

extension String {
    /// The text itself, refused on both engines when it holds U+0000: PostgreSQL cannot store that, and C would cut it.
    func bindable() throws(StoreError) -> String {
        guard !utf8.contains(0) else { throw .statement("a bound text holds U+0000") }
        return self
    }
}
