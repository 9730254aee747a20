import CSQLiteSettings
import Foundation
import GRDB

/// The files of one SQLite database and the settings of every connection to it.
enum SQLiteFile {
    /// The time in seconds that a connection waits for a lock that another process holds briefly (recovery, a last
    /// close).
    static let busyTimeout: TimeInterval = 5

    /// Creates the folder (0700) and the file (0600) where they are missing.
    ///
    /// - Returns: the path without symbolic links, so that two names of one file find the same lock.
    static func prepare(_ path: String) throws(StoreError) -> String {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .unavailable("cannot create the folder \(folder.path)")
        }
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let descriptor = open(real, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unavailable("cannot open \(real): \(systemError())") }
        defer { close(descriptor) }
        // The -wal and -shm files inherit this mode from the database file.
        guard fchmod(descriptor, 0o600) == 0 else { throw .unavailable("cannot protect \(real): \(systemError())") }
        return real
    }

    /// Switches off SQLite's memory statistics, which take a global lock for every allocation of every connection.
    ///
    /// Has an effect only before the first connection of the process; SQLite refuses it later, without harm.
    private static let withoutMemoryStatistics: Void = { _ = csqlite_memstatus(0) }()

    /// The connections of one database.
    struct Connections {
        /// The writer, with a reader of its own for backups.
        let pool: DatabasePool
        let readers: SQLiteReaders
        let reports: SQLiteReports
    }

    /// Opens one writer, and readers and reports that cannot write.
    static func connect(
        _ path: String, readers: Int, reports: ReportLimits, readOnly: Bool
    ) throws(StoreError) -> Connections {
        withoutMemoryStatistics
        do {
            let pool = try DatabasePool(path: path, configuration: configuration(readOnly: readOnly))
            if !readOnly { try pool.writeWithoutTransaction(makeDurable) }
            func connections(_ count: Int, cache: Int) throws -> [DatabaseQueue] {
                try (0..<count).map { _ in
                    try DatabaseQueue(path: path, configuration: configuration(readOnly: true, cache: cache))
                }
            }
            return Connections(
                pool: pool, readers: SQLiteReaders(try connections(readers, cache: cacheKiB)),
                reports: SQLiteReports(try connections(reports.threads, cache: cacheKiB / 4), limits: reports))
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(sqlite: error)
        }
    }

    /// The cache of each connection; the default of 2 MB holds only the upper levels of few indexes.
    private static let cacheKiB = 65_536

    private static func configuration(readOnly: Bool, cache: Int = cacheKiB) -> Configuration {
        var configuration = Configuration()
        configuration.label = "paydesk"
        configuration.readonly = readOnly
        configuration.foreignKeysEnabled = true
        configuration.maximumReaderCount = 1
        configuration.persistentReadOnlyConnections = true
        configuration.busyMode = .timeout(busyTimeout)
        configuration.prepareDatabase { connection in
            // A memory-mapped database turns an I/O error into a signal and a stray pointer into a corrupt file.
            try connection.execute(sql: "PRAGMA mmap_size = 0")
            try connection.execute(sql: "PRAGMA cache_size = -\(cache)")
            // Every write of a batch but the first has a savepoint, which copies the pages that change: in memory,
            // because a file for them would cost more than the changes themselves.
            try connection.execute(sql: "PRAGMA temp_store = MEMORY")
            // Without it SQLite prepares a statement anew at each execution where a bound value could make a partial
            // index usable, such as an environment for `purchases_in_xcode`: a quarter of a sync's CPU time.
            guard csqlite_keep_plans(connection.sqliteConnection) == SQLITE_OK else {
                throw StoreError.failed("SQLite refused SQLITE_DBCONFIG_ENABLE_QPSG")
            }
            if connection.configuration.readonly { try connection.execute(sql: "PRAGMA query_only = 1") }
        }
        return configuration
    }

    /// Sets the durability of a commit and reads it back: SQLite ignores an unknown PRAGMA value without an error.
    private static func makeDurable(_ connection: GRDB.Database) throws {
        try connection.execute(sql: "PRAGMA synchronous = FULL")
        // 4,000 pages (16 MB): pages that every write changes, such as the ends of indexes, are copied into the file
        // less often.
        try connection.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
        let synchronous = try Int.fetchOne(connection, sql: "PRAGMA synchronous")
        let journal = try String.fetchOne(connection, sql: "PRAGMA journal_mode")
        let foreignKeys = try Int.fetchOne(connection, sql: "PRAGMA foreign_keys")
        guard synchronous == 2, journal == "wal", foreignKeys == 1 else {
            throw StoreError.failed(
                "SQLite did not accept synchronous=FULL (2), journal_mode=wal, foreign_keys=1; it has "
                    + "\(String(describing: synchronous)), \(journal ?? "none"), \(String(describing: foreignKeys))")
        }
    }
}

extension StoreError {
    /// Maps an error of SQLite to the reaction that it allows; SQLite's messages name tables and columns, never bound
    /// values.
    init(sqlite error: any Error) {
        guard let error = error as? DatabaseError else {
            self = .failed("SQLite: \(type(of: error))")
            return
        }
        let text = "SQLite error \(error.extendedResultCode.rawValue): \(error.message ?? "no message")"
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_CANTOPEN, .SQLITE_INTERRUPT, .SQLITE_NOMEM,
            .SQLITE_PERM, .SQLITE_ABORT:
            self = .unavailable(text)
        case .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_PROTOCOL, .SQLITE_INTERNAL:
            self = .failed(text)
        default:
            self = .statement(text)
        }
    }
}
