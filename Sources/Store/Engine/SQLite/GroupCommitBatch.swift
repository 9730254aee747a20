import Domain
import GRDB

/// A write in the queue: the closure to run, and the way to answer its caller.
struct QueuedWrite: Sendable {
    /// Runs the closure and returns the call that answers the caller once the commit is durable.
    let run: @Sendable (any Transaction) throws -> @Sendable () -> Void
    let fail: @Sendable (any Error) -> Void
}

/// The outcome of a batch.
enum BatchOutcome {
    /// Committed; each of `answers` answers one caller.
    case committed(answers: [@Sendable () -> Void], changesDueTimes: Bool)
    /// The batch wrote no row, and the engine may go on.
    case refused(StoreError)
    /// The engine can no longer be trusted.
    case failed(StoreError)
}

/// A SQLite transaction with the writes of many callers.
///
/// A savepoint for each write costs a good part of it, because it copies the pages that the write changes. So the batch
/// runs without any: a write that fails before it changed a row needs no undoing. Where one fails later, the whole
/// transaction is rolled back, and the writes run again, each in a savepoint.
struct GroupCommitBatch {
    let connection: GRDB.Database
    let changes: UserChanges
    let rehearse: Bool
    /// True where each write gets a savepoint at once.
    let usesSavepoints: Bool
    /// Sends COMMIT; a parameter, so that a test can make it fail as a disk does.
    let commit: @Sendable (GRDB.Database) throws -> Void

    /// Runs the writes that `next` returns until it returns nil, and commits them together.
    ///
    /// A write whose closure throws is rolled back alone and answered with its error after the commit.
    ///
    /// - Returns: the outcome, and true where a write failed after it had changed a row, so that all ran again.
    func run(next: () -> QueuedWrite?) -> (outcome: BatchOutcome, ranAgain: Bool) {
        var ranAgain = false
        var done = Effects()
        do throws(StoreError) {
            do {
                try connection.step("BEGIN IMMEDIATE")
            } catch {
                throw StoreError(sqlite: error)
            }
            var taken: [QueuedWrite] = []
            while let write = next() {
                taken.append(write)
                if usesSavepoints || ranAgain {
                    try perform(write, into: &done)
                } else if try !attempt(write, into: &done) {
                    ranAgain = true
                    done = Effects()
                    try beginAgain()
                    for write in taken { try perform(write, into: &done) }
                }
            }
        } catch {
            abandon()
            // A full disk rolled the transaction back, so no row was written.
            if case .unavailable = error { return (.refused(error), ranAgain) }
            return (.failed(error), ranAgain)
        }
        return (finish(done), ranAgain)
    }

    /// The effects of the writes that ran.
    private struct Effects {
        /// Each answers one caller.
        var answers: [@Sendable () -> Void] = []
        var changed: [ID<User>] = []
        var changesDueTimes = false
        /// True as long as no effect of a write is in the transaction.
        var isEmpty = true
    }

    /// The range of statements that a failed write rolls back.
    private enum Scope {
        case transaction, savepoint
    }

    /// Runs a write without a savepoint.
    ///
    /// - Returns: false where it failed after it had changed a row, and writes before it have changed some, too.
    /// - Throws: an error that ends the whole transaction, not this write alone.
    private func attempt(_ write: QueuedWrite, into done: inout Effects) throws(StoreError) -> Bool {
        let transaction = SQLiteTransaction(connection)
        let result = Result { try write.run(transaction) }
        if try keep(result, transaction, into: &done) { return true }
        try check(transaction)
        if transaction.hasChanges {
            guard done.isEmpty else { return false }
            try beginAgain()
        }
        done.answers.append(failing(write, result, transaction))
        return true
    }

    /// Runs a write in its savepoint; the first that has an effect needs none, because to undo it is to undo the
    /// transaction.
    ///
    /// - Throws: an error that ends the whole transaction, not this write alone.
    private func perform(_ write: QueuedWrite, into done: inout Effects) throws(StoreError) {
        let scope: Scope = done.isEmpty ? .transaction : .savepoint
        if rehearse {
            if scope == .savepoint { try savepoint("SAVEPOINT write") }
            let transaction = SQLiteTransaction(connection)
            _ = try? write.run(transaction)
            try undo(transaction, scope)
        }
        if scope == .savepoint { try savepoint("SAVEPOINT write") }
        let transaction = SQLiteTransaction(connection)
        let result = Result { try write.run(transaction) }
        if try keep(result, transaction, into: &done) {
            if scope == .savepoint { try savepoint("RELEASE write") }
        } else {
            try undo(transaction, scope)
            done.answers.append(failing(write, result, transaction))
        }
    }

    /// Adds the effects of a write that succeeded; returns false for one that failed.
    private func keep(
        _ result: Result<@Sendable () -> Void, any Error>, _ transaction: SQLiteTransaction, into done: inout Effects
    ) throws(StoreError) -> Bool {
        guard case .success(let answer) = result, transaction.failure == nil else { return false }
        // SQLITE_FULL or an I/O error can roll the whole transaction back, and so can a closure's own ROLLBACK; the next
        // write would then be in none, or in a new one that has lost its neighbours' writes.
        try checkTransaction()
        done.answers.append(answer)
        done.changed += transaction.changedUsers
        if transaction.changesDueTimes { done.changesDueTimes = true }
        if transaction.hasChanges { done.isEmpty = false }
        return true
    }

    /// Makes the answer of a write that failed.
    private func failing(
        _ write: QueuedWrite, _ result: Result<@Sendable () -> Void, any Error>, _ transaction: SQLiteTransaction
    ) -> @Sendable () -> Void {
        let error: any Error =
            if case .failure(let error) = result { error } else {
                transaction.failure ?? StoreError.failed("a write failed without an error")
            }
        return { write.fail(error) }
    }

    /// Throws where a failed write has ended the transaction, or has shown that the storage cannot be trusted.
    private func check(_ transaction: SQLiteTransaction) throws(StoreError) {
        if case .failed(let text)? = transaction.failure { throw .failed(text) }
        try checkTransaction(transaction.failure)
    }

    private func undo(_ transaction: SQLiteTransaction, _ scope: Scope) throws(StoreError) {
        try check(transaction)
        switch scope {
        case .savepoint:
            try savepoint("ROLLBACK TO write")
            try savepoint("RELEASE write")
        case .transaction: try beginAgain()
        }
    }

    /// Rolls the transaction back and begins it anew.
    private func beginAgain() throws(StoreError) {
        do {
            try connection.step("ROLLBACK")
            try connection.step("BEGIN IMMEDIATE")
        } catch {
            throw StoreError(sqlite: error)
        }
    }

    private func checkTransaction(_ cause: StoreError? = nil) throws(StoreError) {
        guard connection.isInsideTransaction else {
            if case .unavailable? = cause { throw .unavailable("the disk is full") }
            throw .failed("a batch was rolled back as a whole: \(cause?.text ?? "a closure ended the transaction")")
        }
    }

    private func savepoint(_ sql: String) throws(StoreError) {
        do {
            try connection.step(sql)
        } catch {
            throw .failed("\(sql): \(StoreError(sqlite: error))")
        }
    }

    private func finish(_ done: Effects) -> BatchOutcome {
        do {
            changes.announce(done.changed)
            try commit(connection)
            changes.committed(done.changed)
            return .committed(answers: done.answers, changesDueTimes: done.changesDueTimes)
        } catch {
            let isFull = (error as? DatabaseError)?.resultCode == .SQLITE_FULL
            abandon()
            // SQLite detects a full disk before the commit record is complete, and rolls the transaction back.
            if isFull { return .refused(.unavailable("the disk is full")) }
            return .failed(.outcomeUnknown("a commit failed: \(StoreError(sqlite: error))"))
        }
    }

    /// Leaves no transaction open, whatever happened before.
    private func abandon() {
        if connection.isInsideTransaction { try? connection.execute(sql: "ROLLBACK") }
    }
}
