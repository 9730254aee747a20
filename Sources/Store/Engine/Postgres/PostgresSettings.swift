/// The bounds of the PostgreSQL engine; every wait has one.
package struct PostgresSettings: Sendable {
    /// Connections, each with its own thread.
    package var connections = 8
    /// Calls that wait for a connection; beyond it a caller gets ``StoreError/unavailable(_:)``.
    package var waiting = 1_024
    /// The time that a call waits for a connection, and for connecting; with what comes after it, less than a second.
    package var patience = Duration.milliseconds(800)
    /// A statement that is not answered for so long while nothing else is answered either makes the server suspect.
    package var silence = Duration.milliseconds(400)
    /// The time that a suspect server has to answer an attempt to connect.
    package var probe = Duration.milliseconds(300)
    /// While the server does not answer, one call in so long is tried.
    package var trialInterval = Duration.milliseconds(100)
    package var lockTimeout = Duration.seconds(2)
    package var statementTimeout = Duration.seconds(5)
    /// The server ends a transaction that sends nothing for so long.
    package var idleTimeout = Duration.seconds(10)
    /// The number of times that a closure runs again after a serialization failure, a deadlock or a lock timeout.
    package var retries = 5
    /// Prepared statements kept on a connection.
    package var preparedStatements = 256
    /// The longest pause between two attempts to connect.
    package var longestPause = Duration.milliseconds(500)
    /// Spreads the retries of several nodes: a number in 0..<1, different each time; without one they stay in step.
    package var jitter: @Sendable () -> Double = { 0.5 }
    /// This process's name among those that serve the database, 16 characters; nil for one that serves nobody.
    package var node: String?
    /// The bounds of ``Store/report(_:)``, whose connections are others than ``connections``.
    package var reports = ReportLimits()
    /// Runs every write closure twice, the first time rolled back; for tests.
    package var rehearse = false

    package init() {}

    /// The settings of the pool that runs reports.
    var ofReports: PostgresSettings {
        var settings = self
        settings.connections = reports.threads
        settings.waiting = reports.waiting
        settings.patience = max(patience, reports.time)
        settings.statementTimeout = reports.time
        return settings
    }

    /// The settings of a command: nobody waits behind it, so that a busy server may take its time.
    package static var ofCommand: PostgresSettings {
        var settings = PostgresSettings()
        settings.patience = .seconds(10)
        settings.silence = .seconds(10)
        settings.probe = .seconds(10)
        return settings
    }
}

extension Duration {
    var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
