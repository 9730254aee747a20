import Domain
package import Store
import Synchronization

/// Records every statement that a gateway sends.
package final class StatementWatch: Sendable {
    package struct Sent: Sendable {
        package let sql: String
        package let arguments: [SQLValue]
    }

    private let sent = Mutex<[Sent]>([])
    private let keepsStatements: Bool
    /// A closure that runs before each report.
    private let hold: @Sendable () async -> Void

    /// - Parameter keepsStatements: false where the process's own memory is measured.
    package init(keepsStatements: Bool = true, beforeReport hold: @escaping @Sendable () async -> Void = {}) {
        self.keepsStatements = keepsStatements
        self.hold = hold
    }

    /// Removes and returns the statements that were sent since the last call.
    package func taken() -> [Sent] {
        sent.withLock { sent in
            defer { sent = [] }
            return sent
        }
    }

    fileprivate func note(_ sql: String, _ arguments: [any SQLBindable]) {
        guard keepsStatements else { return }
        sent.withLock { $0.append(Sent(sql: sql, arguments: arguments.map(\.sql))) }
    }

    fileprivate func beforeReport() async { await hold() }
}

/// An engine whose statements a ``StatementWatch`` records.
package struct WatchedEngine: StoreEngine {
    let base: any StoreEngine
    let watch: StatementWatch

    package init(_ base: any StoreEngine, _ watch: StatementWatch) {
        self.base = base
        self.watch = watch
    }

    package var dialect: Dialect { base.dialect }
    package var isCongested: Bool { base.isCongested }
    package var userChanges: UserChanges? { base.userChanges }
    package var commits: Int64 { base.commits }
    package func afterChangesOfDueTimes(_ action: @escaping @Sendable () -> Void) -> Bool {
        base.afterChangesOfDueTimes(action)
    }
    package var connectionsInUse: Int { base.connectionsInUse }

    package func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        try await base.write { [watch] tx in try body(WatchedTransaction(base: tx, watch: watch)) }
    }

    package func read<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T {
        try await base.read { [watch] db in try body(WatchedDatabase(base: db, watch: watch)) }
    }

    package func report<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T {
        await watch.beforeReport()
        return try await base.report { [watch] db in try body(WatchedDatabase(base: db, watch: watch)) }
    }

    package func databaseTime() async throws -> Int64 { try await base.databaseTime() }
    package func liveNodes() async throws -> Int64 { try await base.liveNodes() }
    package func listen(to channel: String, _ take: @escaping @Sendable (DatabaseMessage) -> Void) async {
        await base.listen(to: channel, take)
    }

    package func close() async { await base.close() }
    /// Closes the engine: no test runs it as a service.
    package func run() async throws { await base.close() }
}

private struct WatchedDatabase: Database {
    let base: any Database
    let watch: StatementWatch

    var dialect: Dialect { base.dialect }

    func rows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> [Row] {
        watch.note(sql, arguments)
        return try base.rows(sql, arguments)
    }

    func deferredRows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> DeferredResult<[Row]> {
        watch.note(sql, arguments)
        return try base.deferredRows(sql, arguments)
    }
}

private struct WatchedTransaction: Transaction {
    let base: any Transaction
    let watch: StatementWatch

    var dialect: Dialect { base.dialect }

    func rows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> [Row] {
        watch.note(sql, arguments)
        return try base.rows(sql, arguments)
    }

    func deferredRows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> DeferredResult<[Row]> {
        watch.note(sql, arguments)
        return try base.deferredRows(sql, arguments)
    }

    func execute(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> Int {
        watch.note(sql, arguments)
        return try base.execute(sql, arguments)
    }

    func deferredExecute(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> DeferredResult<Int> {
        watch.note(sql, arguments)
        return try base.deferredExecute(sql, arguments)
    }

    func enqueue(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) {
        watch.note(sql, arguments)
        try base.enqueue(sql, arguments)
    }

    func markChanged(_ user: ID<User>) { base.markChanged(user) }
    func markDueTimes() { base.markDueTimes() }
}
