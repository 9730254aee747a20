import GRDB
import Synchronization

/// The connections for reading; one caller at a time uses each, on the caller's own thread.
final class SQLiteReaders: Sendable {
    private final class Reader: Sendable {
        let connection: DatabaseQueue
        let turn = Mutex(())

        init(_ connection: DatabaseQueue) { self.connection = connection }
    }

    private let readers: [Reader]
    private let waiting = Atomic<Int>(0)

    /// The number of connections.
    var count: Int { readers.count }

    init(_ connections: [DatabaseQueue]) {
        readers = connections.map(Reader.init)
    }

    /// Runs the closure on one consistent snapshot.
    ///
    /// Uses the first free connection, so that as few page caches as possible are filled with the same pages.
    func read<T: Sendable>(_ body: (any Database) throws -> T) throws -> T {
        for reader in readers {
            let result = try reader.turn.withLockIfAvailable { _ in try Self.read(reader.connection, body) }
            if let result { return result }
        }
        let number = waiting.add(1, ordering: .relaxed).oldValue
        let reader = readers[number % readers.count]
        return try reader.turn.withLock { _ in try Self.read(reader.connection, body) }
    }

    /// - Parameter isOver: ends the running statement when it returns true; nil lets every statement finish.
    static func read<T: Sendable>(
        _ queue: DatabaseQueue, endingWhen isOver: (() -> Bool)? = nil, _ body: (any Database) throws -> T
    ) throws -> T {
        try queue.unsafeRead { connection in
            try connection.step("BEGIN")
            defer { end(connection) }
            let view = SQLiteTransaction(connection)
            guard let isOver else { return try Self.value(of: view, body) }
            return try SQLiteProgress.watch(connection, isOver) { try Self.value(of: view, body) }
        }
    }

    private static func value<T: Sendable>(
        of view: SQLiteTransaction, _ body: (any Database) throws -> T
    ) throws -> T {
        let value = try body(view)
        if let failure = view.failure { throw failure }
        return value
    }

    /// Ends a read-only transaction; an error that has ended it already is reported by the read itself.
    private static func end(_ connection: GRDB.Database) {
        guard connection.isInsideTransaction else { return }
        try? connection.step("COMMIT")
        if connection.isInsideTransaction { try? connection.execute(sql: "ROLLBACK") }
    }

    func close() {
        for reader in readers { try? reader.connection.close() }
    }
}
