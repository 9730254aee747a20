import CLibpq
import Foundation

/// A connection to PostgreSQL; it is not `Sendable`: only the thread that opened it uses it.
///
/// libpq is used through its asynchronous calls and `poll`, so that every wait has a limit.
package final class PostgresConnection {
    let pointer: OpaquePointer
    let health: PostgresHealth?
    private let settings: PostgresSettings
    var statements: PostgresStatementCache
    var pipeline = PostgresPipeline()
    /// True while the reply to a posted command has not been read.
    private var isOwedReply = false
    /// The time to wait for a reply; nil waits as long as the connection stands.
    ///
    /// The server's own limits end a statement earlier, but it replies only after all statements that were sent
    /// together.
    var replyLimit: Duration?

    /// Connects and sets the session up.
    ///
    /// - Parameter health: records when the server answers; without it a silent server is waited for until the time
    ///   limit.
    /// - Throws: ``StoreError/unavailable(_:)`` when there is no session by `deadline`.
    package convenience init(
        _ address: PostgresAddress, settings: PostgresSettings, by deadline: ContinuousClock.Instant
    ) throws(StoreError) {
        try self.init(address, settings: settings, health: nil, by: deadline)
    }

    init(
        _ address: PostgresAddress, settings: PostgresSettings, health: PostgresHealth?,
        by deadline: ContinuousClock.Instant
    ) throws(StoreError) {
        let parameters = address.connectionParameters(node: settings.node)
        guard let pointer = Self.start(parameters) else { throw .unavailable("out of memory") }
        self.health = health
        self.pointer = pointer
        self.settings = settings
        statements = PostgresStatementCache(limit: settings.preparedStatements)
        replyLimit = deadline - .now
        do throws(PostgresFault) {
            try connect(by: deadline)
            replyLimit = max(.milliseconds(1), deadline - .now)
            try command(Self.setup(settings))
        } catch {
            throw .unavailable(error.storeError.text)
        }
        restoreTimeLimits()
    }

    deinit { PQfinish(pointer) }

    var isOpen: Bool { PQstatus(pointer) == CONNECTION_OK }
    var isInTransaction: Bool { PQtransactionStatus(pointer) == PQTRANS_INTRANS }
    /// True when no transaction is open on the server.
    var isIdle: Bool { PQtransactionStatus(pointer) == PQTRANS_IDLE }

    /// Returns whether the server has not closed the connection, as far as this machine knows.
    func isStillThere() -> Bool {
        // A server that hangs up sends its last messages before the end of the stream, so one look is not enough.
        for _ in 1...3 where isOpen {
            guard poll(POLLIN, by: .now) else { return true }
            guard PQconsumeInput(pointer) == 1 else { return false }
        }
        return isOpen
    }

    func restoreTimeLimits() {
        replyLimit = settings.statementTimeout + .seconds(2)
    }

    func forgetStatements() { statements.removeAll() }

    // MARK: Statements

    /// Runs statements without values by the simple protocol, also those that cannot run inside a transaction.
    @discardableResult
    package func run(_ sql: String) throws(StoreError) -> [Row] {
        let result: PostgresResult
        do { result = try command(sql) } catch { throw error.storeError }
        return try result.rows()
    }

    @discardableResult
    func command(_ sql: String) throws(PostgresFault) -> PostgresResult {
        try takeReply()
        guard PQsendQuery(pointer, sql) == 1 else { throw .lost(lastMessage) }
        return try reply()
    }

    /// Sends a command without waiting for its reply, which is read before anything else is sent.
    func post(_ sql: String) throws(PostgresFault) {
        try takeReply()
        guard PQsendQuery(pointer, sql) == 1 else { throw .lost(lastMessage) }
        isOwedReply = true
    }

    /// Reads the reply to a posted command, which has mostly arrived by now.
    func takeReply() throws(PostgresFault) {
        guard isOwedReply else { return }
        isOwedReply = false
        _ = try reply()
    }

    // MARK: Waiting

    /// Returns the result of the last command; all its results are read, so that the connection is free for the next
    /// one.
    private func reply() throws(PostgresFault) -> PostgresResult {
        var last: PostgresResult?
        while let result = try nextResult() {
            if last?.isSuccess ?? true { last = result }
        }
        health?.recordAnswer()
        guard let last else { throw .lost(lastMessage) }
        guard isOpen else { throw .lost(last.isSuccess ? lastMessage : PostgresFault(last).storeError.text) }
        guard last.isSuccess else { throw PostgresFault(last) }
        return last
    }

    /// Returns the next result, waiting for it; nil after a statement's last one.
    func nextResult() throws(PostgresFault) -> PostgresResult? {
        var deadline: ContinuousClock.Instant?
        while PQisBusy(pointer) == 1 {
            if deadline == nil { deadline = replyLimit.map { ContinuousClock.now + $0 } }
            try awaitReply(by: deadline)
            guard PQconsumeInput(pointer) == 1 else { throw .lost(lastMessage) }
        }
        return PQgetResult(pointer).map(PostgresResult.init)
    }

    /// Returns when there is something to read.
    ///
    /// - Throws: `lost` at the deadline, and as soon as the server is known not to answer.
    private func awaitReply(by deadline: ContinuousClock.Instant?) throws(PostgresFault) {
        // A call without a deadline, such as a migration, is not watched.
        let watcher = deadline == nil ? nil : health
        var interval = settings.silence
        while true {
            let look = watcher == nil ? nil : ContinuousClock.now + interval
            let end = [deadline, look].compactMap { $0 }.min()
            if poll(POLLIN, by: end) { return }
            if let deadline, deadline <= .now { break }
            switch watcher?.verdict() {
            case .answers, nil: interval = settings.silence
            case .isProbing: interval = .milliseconds(20)
            case .isDown: throw .lost("PostgreSQL does not answer")
            }
        }
        throw .lost("PostgreSQL does not answer")
    }

    private func connect(by deadline: ContinuousClock.Instant) throws(PostgresFault) {
        PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        switch Self.connect(pointer, by: deadline) {
        case .connected: health?.recordAnswer()
        case .refused: throw .lost(lastMessage)
        case .silent:
            health?.recordFailure()
            throw .lost("PostgreSQL does not answer")
        }
    }

    private enum Greeting {
        case connected
        case refused
        case silent
    }

    private static func connect(_ pointer: OpaquePointer, by deadline: ContinuousClock.Instant) -> Greeting {
        var status = PQstatus(pointer) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            guard status != PGRES_POLLING_FAILED else { return .refused }
            let events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard poll(pointer, Int32(events), by: deadline) else { return .silent }
            status = PQconnectPoll(pointer)
        }
        return .connected
    }

    /// Tries to connect; returns true when the server answers, even with a refusal.
    static func isAnswered(_ address: PostgresAddress, by deadline: ContinuousClock.Instant) -> Bool {
        guard let pointer = start(address.connectionParameters) else { return false }
        defer { PQfinish(pointer) }
        PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        switch connect(pointer, by: deadline) {
        case .connected: return true
        case .silent: return false
        // The refusal of the server, such as of one connection too many, in contrast to one of the network.
        case .refused: return String(cString: PQerrorMessage(pointer)).contains("FATAL")
        }
    }

    private func poll(_ events: Int32, by deadline: ContinuousClock.Instant?) -> Bool {
        Self.poll(pointer, events, by: deadline)
    }

    /// Waits until the socket is ready or broken; returns false at the deadline, which may be now for a single look.
    static func poll(
        _ pointer: OpaquePointer, _ events: Int32, by deadline: ContinuousClock.Instant?
    ) -> Bool {
        var descriptor = pollfd(fd: PQsocket(pointer), events: Int16(events), revents: 0)
        guard descriptor.fd >= 0 else { return true }
        while true {
            let left = deadline.map { max(.zero, $0 - .now) }
            // Rounded up, so that the last wait does not become a busy loop.
            let limit = left.map { $0 == .zero ? 0 : Int32(clamping: $0.milliseconds + 1) } ?? -1
            let ready = Foundation.poll(&descriptor, 1, limit)
            if ready > 0 || (ready < 0 && errno != EINTR) { return true }
            if left == .zero { return false }
        }
    }

    /// libpq's last message on one line; it can name the host and the user, never a password or a value.
    var lastMessage: String {
        let lines = String(cString: PQerrorMessage(pointer)).split(separator: "\n")
        return lines.isEmpty ? "the connection to PostgreSQL is lost" : lines.joined(separator: " ")
    }

    // MARK: The session

    private static func start(_ parameters: [String: String]) -> OpaquePointer? {
        let keywords = parameters.keys.map { strdup($0) }
        let values = parameters.values.map { strdup($0) }
        defer { for copy in keywords + values { free(copy) } }
        return PQconnectStartParams(
            keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
    }

    private static func setup(_ settings: PostgresSettings) -> String {
        """
        SET client_encoding = 'UTF8'; SET TimeZone = 'UTC'; SET bytea_output = 'hex';
        SET standard_conforming_strings = on; SET synchronous_commit = on;
        SET default_transaction_isolation = 'read committed';
        SET lock_timeout = \(settings.lockTimeout.milliseconds);
        SET statement_timeout = \(settings.statementTimeout.milliseconds);
        SET idle_in_transaction_session_timeout = \(settings.idleTimeout.milliseconds);
        SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3
        """
    }
}

extension StoreError {
    /// The message without the case.
    package var text: String {
        switch self {
        case .unavailable(let text), .outcomeUnknown(let text), .failed(let text), .corrupt(let text),
            .statement(let text), .owned(let text):
            text
        }
    }
}
