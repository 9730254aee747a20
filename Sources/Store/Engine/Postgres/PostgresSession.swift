import Foundation

/// The work of one thread of the pool: at most one connection, and the transactions that run on it.
final class PostgresSession {
    /// The outcome of one attempt at a transaction.
    private enum Outcome<T> {
        case done(T)
        case threw(any Error)
        case again(String)
        case lost(String)
    }

    private let address: PostgresAddress
    private let settings: PostgresSettings
    private let health: PostgresHealth
    private var connection: PostgresConnection?
    private var failures = 0
    private var nextAttempt: ContinuousClock.Instant?
    private var lastFailure = ""

    init(address: PostgresAddress, settings: PostgresSettings, health: PostgresHealth) {
        self.address = address
        self.settings = settings
        self.health = health
    }

    var isConnected: Bool { connection?.isOpen ?? false }

    /// The pause before the next attempt to connect.
    var pause: Duration { nextAttempt.map { max(.zero, $0 - .now) } ?? .zero }

    /// Connects if there is no connection.
    ///
    /// - Throws: ``StoreError/unavailable(_:)``, at once while the pause after a failed attempt lasts.
    func connect(by deadline: ContinuousClock.Instant) throws(StoreError) {
        _ = try connected(by: deadline)
    }

    func drop() { connection = nil }

    private func connected(by deadline: ContinuousClock.Instant) throws(StoreError) -> PostgresConnection {
        if let connection, connection.isOpen { return connection }
        connection = nil
        guard pause == .zero else { throw .unavailable(lastFailure) }
        do {
            let opened = try PostgresConnection(address, settings: settings, health: health, by: deadline)
            connection = opened
            failures = 0
            nextAttempt = nil
            return opened
        } catch {
            failures += 1
            lastFailure = error.text
            let longest = min(settings.longestPause.milliseconds, 10 << Int64(min(failures, 10)))
            nextAttempt = .now + .milliseconds(longest / 2 + Int64(Double(longest) / 2 * settings.jitter()))
            throw error
        }
    }

    // MARK: Transactions

    /// Runs a closure in READ COMMITTED and commits it.
    func write<T>(
        by deadline: ContinuousClock.Instant, _ body: (any Transaction) throws -> T
    ) throws -> T {
        try repeated(by: deadline) { connection in
            if settings.rehearse, case .lost(let text) = rehearse(connection, body) { return .lost(text) }
            return attempt(connection, "BEGIN ISOLATION LEVEL READ COMMITTED", body) { value in
                commit(connection, value)
            }
        }
    }

    /// Runs a closure on one snapshot.
    func read<T>(by deadline: ContinuousClock.Instant, _ body: (any Database) throws -> T) throws -> T {
        try repeated(by: deadline) { connection in
            attempt(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", body) { value in
                // The value is valid however a read-only transaction ends, so the end is not waited for.
                do throws(PostgresFault) { try connection.post("ROLLBACK") } catch { self.connection = nil }
                return .done(value)
            }
        }
    }

    /// Repeats an attempt after a lost race (with a growing, random pause) and once after a lost connection.
    private func repeated<T>(
        by deadline: ContinuousClock.Instant, _ attempt: (PostgresConnection) -> Outcome<T>
    ) throws -> T {
        var deadline = deadline
        var races = 0
        var isSecondConnection = false
        while true {
            switch attempt(try connected(by: deadline)) {
            case .done(let value):
                return value
            case .threw(let error):
                throw error
            case .again(let text):
                guard races < settings.retries else { throw StoreError.unavailable(text) }
                races += 1
                Thread.sleep(forTimeInterval: (0.001 + 0.004 * settings.jitter()) * Double(1 << races))
            case .lost(let text):
                connection = nil
                // An unresponsive server is not waited for a second time.
                guard !isSecondConnection, !health.isDown else { throw StoreError.unavailable(text) }
                isSecondConnection = true
                deadline = .now + settings.patience
            }
        }
    }

    private func attempt<T>(
        _ connection: PostgresConnection, _ begin: String, _ body: (PostgresTransaction) throws -> T,
        finish: (T) -> Outcome<T>
    ) -> Outcome<T> {
        // BEGIN is sent with the first statement.
        connection.enqueue(begin)
        defer { connection.restoreTimeLimits() }
        let transaction = PostgresTransaction(connection)
        let result = Result { try body(transaction) }
        // A failure of the queued statements is recorded as the transaction's fault.
        if case .success = result { try? transaction.flush() }
        switch (result, transaction.fault) {
        case (.success(let value), nil):
            guard connection.isInTransaction else {
                self.connection = nil
                return .threw(StoreError.statement("a closure ended its own transaction"))
            }
            return finish(value)
        case (.success, let fault?):
            abandon(connection, after: fault)
            return outcome(of: fault, thrown: nil, connection)
        case (.failure(let error), let fault):
            abandon(connection, after: fault)
            return fault.map { outcome(of: $0, thrown: error, connection) } ?? .threw(error)
        }
    }

    /// - Parameter thrown: the closure's error, which the caller gets unless the closure may run again.
    private func outcome<T>(
        of fault: PostgresFault, thrown: (any Error)?, _ connection: PostgresConnection
    ) -> Outcome<T> {
        switch fault {
        case .lost(let text):
            return .lost(text)
        case .again(let text):
            return .again(text)
        case .stale(let text):
            connection.forgetStatements()
            return .again(text)
        case .refused(let error):
            return .threw(thrown ?? error)
        }
    }

    private func commit<T>(_ connection: PostgresConnection, _ value: T) -> Outcome<T> {
        guard connection.isStillThere() else { return .lost("the connection was lost before COMMIT") }
        do throws(PostgresFault) {
            let result = try connection.command("COMMIT")
            guard result.command == "COMMIT" else {
                return .threw(StoreError.statement("PostgreSQL rolled the transaction back"))
            }
            return .done(value)
        } catch {
            if case .lost(let text) = error {
                // From here on the outcome is unknown: the server may have committed, and only its reply is lost.
                self.connection = nil
                return .threw(StoreError.outcomeUnknown("the connection was lost during COMMIT: \(text)"))
            }
            return outcome(of: error, thrown: nil, connection)
        }
    }

    private func rehearse<T>(
        _ connection: PostgresConnection, _ body: (PostgresTransaction) throws -> T
    ) -> Outcome<T> {
        attempt(connection, "BEGIN ISOLATION LEVEL READ COMMITTED", body) { value in
            rollBack(connection)
            return .done(value)
        }
    }

    /// Ends a failed transaction; a lost connection is dropped.
    private func abandon(_ connection: PostgresConnection, after fault: PostgresFault?) {
        if case .lost? = fault { self.connection = nil } else { rollBack(connection) }
    }

    /// Rolls the transaction back; a connection that cannot do even that is dropped.
    private func rollBack(_ connection: PostgresConnection) {
        connection.forgetWaiting()
        // No statement of the transaction was sent, not even BEGIN.
        guard !connection.isIdle else { return }
        do throws(PostgresFault) { try connection.command("ROLLBACK") } catch { self.connection = nil }
    }
}
