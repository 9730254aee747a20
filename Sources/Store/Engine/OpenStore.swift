extension Store {
    /// Opens the database for `serve` and for commands that write.
    ///
    /// - Parameters:
    ///   - node: the name of a process that serves, 16 characters; nil for a command (PostgreSQL only).
    ///   - now: seconds since 1970 by the node's clock; PostgreSQL uses its own clock instead.
    ///   - jitter: a random number in 0..<1, which spreads retries (PostgreSQL only).
    ///   - onFailure: called when the storage can no longer be trusted (SQLite only); the process has to stop.
    /// - Throws: ``StoreError/owned(_:)`` when another process has the SQLite file.
    package static func open(
        _ url: DatabaseURL, connections: Int = 8, rehearse: Bool = false, node: String? = nil,
        now: @escaping @Sendable () -> Int64, jitter: @escaping @Sendable () -> Double,
        onFailure: @escaping @Sendable (StoreError) -> Void
    ) throws(StoreError) -> Store {
        switch url {
        case .sqlite(let path):
            return Store(engine: try SQLiteEngine(path: path, rehearse: rehearse, now: now, onFailure: onFailure))
        case .postgres(let address):
            var settings = node == nil ? PostgresSettings.ofCommand : PostgresSettings()
            settings.connections = connections
            settings.rehearse = rehearse
            settings.jitter = jitter
            settings.node = node
            return Store(engine: PostgresEngine(address, settings: settings))
        }
    }

    /// Opens the database for commands that only read, also while `serve` runs: no lock, and ``write(_:)`` throws.
    package static func openReadOnly(
        _ url: DatabaseURL, now: @escaping @Sendable () -> Int64
    ) throws(StoreError) -> Store {
        switch url {
        case .sqlite(let path):
            return Store(engine: try SQLiteEngine(readOnly: path, now: now))
        case .postgres(let address):
            var settings = PostgresSettings.ofCommand
            settings.connections = 1
            // A check reads whole tables.
            settings.statementTimeout = .seconds(600)
            settings.reports = .ofCommand
            return Store(engine: PostgresEngine(address, settings: settings, readOnly: true))
        }
    }
}
