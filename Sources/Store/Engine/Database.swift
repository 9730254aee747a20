package import Domain

/// A view of the database inside one `read`, `report` or `write` closure; it is not `Sendable`, so it cannot outlive the closure.
///
/// Queries are reached by subject, such as `db.orders.find(id)`. SQL is written once for both engines, with `?` for each
/// bound value.
package protocol Database {
    var dialect: Dialect { get }

    /// Runs a SELECT, or a statement with RETURNING, and returns its rows.
    func rows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> [Row]

    /// Runs a SELECT, or a statement with RETURNING, that shares a round trip with the statements after it.
    func deferredRows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> DeferredResult<[Row]>
}

extension Database {
    package func rows(_ sql: String) throws(StoreError) -> [Row] { try rows(sql, []) }

    /// The first row of ``rows(_:_:)``; nil when there is none.
    package func row(_ sql: String, _ arguments: any SQLBindable...) throws(StoreError) -> Row? {
        try rows(sql, arguments).first
    }

    package func deferredRows(
        _ sql: String, _ arguments: any SQLBindable...
    ) throws(StoreError) -> DeferredResult<[Row]> {
        try deferredRows(sql, arguments)
    }
}

/// A transaction that may write; all statements of its closure are committed together or not at all.
///
/// A closure may run more than once (after a serialization failure), so its only effects must be its statements.
package protocol Transaction: Database {
    /// Runs a statement and returns the number of rows that it changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> Int

    /// Runs a statement that shares a round trip with the statements after it; the result is the number of changed rows.
    func deferredExecute(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> DeferredResult<Int>

    /// Runs a statement without a result.
    ///
    /// It may be sent with the next statement: its failure then shows there, or at the end of the closure.
    func enqueue(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError)

    /// Marks a user as changed by this transaction, for ``StoreEngine/userChanges``.
    func markChanged(_ user: ID<User>)

    /// Marks that this transaction may make something due at another time, for
    /// ``StoreEngine/afterChangesOfDueTimes(_:)``.
    func markDueTimes()
}

extension Transaction {
    @discardableResult
    package func execute(_ sql: String, _ arguments: any SQLBindable...) throws(StoreError) -> Int {
        try execute(sql, arguments)
    }

    package func deferredExecute(
        _ sql: String, _ arguments: any SQLBindable...
    ) throws(StoreError) -> DeferredResult<Int> {
        try deferredExecute(sql, arguments)
    }

    package func enqueue(_ sql: String, _ arguments: any SQLBindable...) throws(StoreError) {
        try enqueue(sql, arguments)
    }

    /// Sends a text to every process that listens to a channel, at the commit; PostgreSQL only.
    ///
    /// - Parameter text: at most ``StoreLimits/message`` bytes.
    package func send(_ text: String, to channel: String) throws(StoreError) {
        _ = try rows("SELECT pg_notify(?, ?)", [channel, text])
    }
}

/// Limits that the engines set.
package enum StoreLimits {
    /// The most bytes of a message; PostgreSQL takes fewer than 8,000 (NOTIFY).
    package static let message = 7_900
}

/// The SQL of one engine, where the two differ.
package enum Dialect: Sendable {
    case sqlite
    case postgres

    /// True where writers need row locks; SQLite has one writer.
    package var locksRows: Bool { self == .postgres }

    /// An aggregate expression that joins the texts of a group with spaces.
    package func joined(_ expression: String) -> String {
        switch self {
        case .sqlite: "group_concat(\(expression), ' ')"
        case .postgres: "string_agg(\(expression), ' ')"
        }
    }

    /// The suffix of a SELECT that locks its rows until the commit; SQLite has one writer, so it needs none.
    package var forUpdate: String {
        switch self {
        case .sqlite: ""
        case .postgres: " FOR UPDATE"
        }
    }

    /// The suffix of a SELECT whose rows no other transaction may change until the commit.
    package var forShare: String {
        switch self {
        case .sqlite: ""
        case .postgres: " FOR SHARE"
        }
    }

    /// The suffix of a SELECT whose rows no other transaction may delete or rekey until the commit, while it may update them.
    package var forKeyShare: String {
        switch self {
        case .sqlite: ""
        case .postgres: " FOR KEY SHARE"
        }
    }

    /// The suffix of a SELECT that takes rows for work and passes over those that another worker is taking.
    package var skipLocked: String {
        switch self {
        case .sqlite: ""
        case .postgres: " FOR UPDATE SKIP LOCKED"
        }
    }

    /// The suffix of a table's name that names the index to use: SQLite has no statistics, and prefers the index with
    /// more columns compared for equality, however many rows match.
    package func indexed(by index: String) -> String {
        switch self {
        case .sqlite: " INDEXED BY \(index)"
        case .postgres: ""
        }
    }

    /// The real time, the clock of leases: the database's on PostgreSQL, so that no node's clock counts; the bound value
    /// on SQLite.
    ///
    /// A subquery, so that a statement evaluates it once: an index cannot be searched by a value that may differ from
    /// row to row.
    package var realClock: String {
        switch self {
        case .sqlite: "?"
        case .postgres: "(SELECT COALESCE(floor(extract(epoch FROM clock_timestamp()))::bigint, ?))"
        }
    }

    /// Business time, the clock of due times: on PostgreSQL the database's clock and the offset of the table `clock`, read
    /// in the statement, so that no node is behind; the bound value on SQLite, whose only process knows the offset.
    package var businessClock: String {
        switch self {
        case .sqlite: "?"
        case .postgres:
            """
            (SELECT COALESCE(CASE WHEN c.stands_until > r.now THEN c.stands_at END, r.now + c.offset_seconds, ?)
            FROM clock c, (SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS now) r)
            """
        }
    }

    /// Turns the portable types of a migration into this engine's: `{int}`, `{text}`, `{blob}`, `{strict}`,
    /// and `{clustered}` for a table that is stored in the order of its primary key where the engine can.
    package func schema(_ sql: String) -> String {
        switch self {
        case .sqlite:
            sql.replacing("{int}", with: "INTEGER").replacing("{text}", with: "TEXT")
                .replacing("{blob}", with: "BLOB").replacing("{strict}", with: "STRICT")
                .replacing("{clustered}", with: "STRICT, WITHOUT ROWID")
        case .postgres:
            sql.replacing("{int}", with: "BIGINT").replacing("{text}", with: "TEXT COLLATE \"C\"")
                .replacing("{blob}", with: "BYTEA").replacing("{strict}", with: "")
                .replacing("{clustered}", with: "")
        }
    }
}
