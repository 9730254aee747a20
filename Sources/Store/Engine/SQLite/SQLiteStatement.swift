import FoundationEssentials
import GRDB
import GRDBSQLite

// Runs statements through SQLite's own interface. GRDB prepares and caches the statements and owns the connections, but
// its work around each run (boxed values, observers, a look at the schema) costs more than most statements here.
extension GRDB.Statement {
    /// Runs the statement to its end, because one with RETURNING has done its work only then.
    ///
    /// - Throws: ``StoreError``, and leaves the statement ready for its next run.
    func run(
        _ arguments: [any SQLBindable], on connection: GRDB.Database, row: () -> Void = {}
    ) throws(StoreError) {
        defer { sqlite3_reset(sqliteStatement) }
        guard Int(sqlite3_bind_parameter_count(sqliteStatement)) == arguments.count else {
            throw .statement("a statement has \(arguments.count) values for its places")
        }
        for (index, argument) in arguments.enumerated() {
            let code = try bind(argument.sql, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw Self.failure(code, on: connection) }
        }
        while true {
            switch sqlite3_step(sqliteStatement) {
            case SQLITE_ROW: row()
            case SQLITE_DONE: return
            case let code: throw Self.failure(code, on: connection)
            }
        }
    }

    /// The names of the result's columns; GRDB's own list stays that of the first run.
    var names: [String] {
        guard sqlite3_stmt_status(sqliteStatement, SQLITE_STMTSTATUS_REPREPARE, 0) != 0 else { return columnNames }
        return (0..<sqlite3_column_count(sqliteStatement)).map { index in
            sqlite3_column_name(sqliteStatement, index).map { String(cString: $0) } ?? ""
        }
    }

    /// The values of the statement's current row.
    var values: [SQLValue] {
        (0..<sqlite3_column_count(sqliteStatement)).map(value)
    }

    private func value(_ index: Int32) -> SQLValue {
        switch sqlite3_column_type(sqliteStatement, index) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(sqliteStatement, index))
        case SQLITE_FLOAT: return .text(String(sqlite3_column_double(sqliteStatement, index)))
        case SQLITE_BLOB:
            // The bytes before their count, the order that SQLite requires; an empty blob has a null pointer.
            guard let bytes = sqlite3_column_blob(sqliteStatement, index) else { return .blob(Data()) }
            return .blob(Data(bytes: bytes, count: Int(sqlite3_column_bytes(sqliteStatement, index))))
        default:
            guard let bytes = sqlite3_column_text(sqliteStatement, index) else { return .text("") }
            let count = Int(sqlite3_column_bytes(sqliteStatement, index))
            return .text(String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self))
        }
    }

    /// Binds a copy of the value.
    private func bind(_ value: SQLValue, at index: Int32) throws(StoreError) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(sqliteStatement, index)
        case .integer(let value): return sqlite3_bind_int64(sqliteStatement, index, value)
        case .text(let value):
            var text = try value.bindable()
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text(sqliteStatement, index, $0.baseAddress, Int32($0.count), Self.copied)
                }
            }
        case .blob(let value):
            // A null pointer would bind NULL.
            guard !value.isEmpty else { return sqlite3_bind_zeroblob(sqliteStatement, index, 0) }
            return value.withUnsafeBytes {
                sqlite3_bind_blob(sqliteStatement, index, $0.baseAddress, Int32($0.count), Self.copied)
            }
        }
    }

    /// `SQLITE_TRANSIENT`: SQLite makes its own copy.
    private static var copied: sqlite3_destructor_type {
        unsafeBitCast(OpaquePointer(bitPattern: -1), to: sqlite3_destructor_type.self)
    }

    private static func failure(_ code: Int32, on connection: GRDB.Database) -> StoreError {
        StoreError(sqlite: connection.error(code))
    }
}

extension GRDB.Database {
    /// Runs a statement that has neither values nor rows, such as COMMIT, which stays prepared.
    ///
    /// - Throws: SQLite's own error, because the caller of a commit must know whether the disk was full.
    func step(_ sql: String) throws {
        let statement = try cachedStatement(sql: sql).sqliteStatement
        defer { sqlite3_reset(statement) }
        let code = sqlite3_step(statement)
        guard code == SQLITE_DONE else { throw error(code) }
    }

    fileprivate func error(_ code: Int32) -> DatabaseError {
        let message = sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }
}
