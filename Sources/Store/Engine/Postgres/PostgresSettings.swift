/// The bounds of the PostgreSQL engine; every wait has one.
package struct PostgresSettings: Sendable {
    /// Connections, each with its own thread.
    package var connections = 8
    /// The most calls that wait for a connection; a further caller gets ``StoreError/unavailable(_:)``.
    package var waiting = 1_024
    /// The longest time that a call waits for a connection, and for connecting; with what follows, less than a second.
    package var patience = Duration.milliseconds(800)
    /// The time without any answer after which a waiting statement makes the server suspect.
    package var silence = Duration.milliseconds(400)
    /// The time that a suspect server has to answer an attempt to connect.
    package var probe = Duration.milliseconds(300)
    /// The interval at which one call is tried while the server does not answer.
    package var trialInterval = Duration.milliseconds(100)
    package var lockTimeout = Duration.seconds(2)
    package var statementTimeout = Duration.seconds(5)
    /// The time after which the server ends a transaction that sends nothing.
    package var idleTimeout = Duration.seconds(10)
    /// The number of times that a closure runs again after a serialization failure, a deadlock or a lock timeout.
    package var retries = 5
    /// The most prepared statements of a connection.
    package var preparedStatements = 256
    /// The longest pause between two attempts to connect.
    package var longestPause = Duration.milliseconds(500)
    /// A number in 0..<1, different each time, which spreads the retries of several nodes; without it they retry in
    /// step.
    package var jitter: @Sendable () -> Double = { 0.5 }
    /// The name of a process that serves the database, 16 characters; nil for other processes.
    package var node: String?
    /// The limits of ``Store/report(_:)``, whose connections are separate from ``connections``.
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

    /// The settings of a command, behind which no other call waits, so that a busy server may take its time.
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
