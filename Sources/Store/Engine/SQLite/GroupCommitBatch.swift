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
    case committed(answers: [@Sendable () -> Void])
    /// The batch wrote no row, and the engine may go on.
    case refused(StoreError)
    /// The engine can no longer be trusted.
    case failed(StoreError)
}

/// A SQLite transaction with the writes of many callers, each but the first in its own savepoint.
///
/// A savepoint copies the pages that its write changes, which costs a good part of the write. The first write needs
/// none: to undo it is to undo the transaction.
struct GroupCommitBatch {
    let connection: GRDB.Database
    let changes: UserChanges
    let rehearse: Bool
    /// Sends COMMIT; a parameter, so that a test can make it fail as a disk does.
    let commit: @Sendable (GRDB.Database) throws -> Void

    /// Runs the writes that `next` returns until it returns nil, and commits them together.
    ///
    /// A write whose closure throws is rolled back alone and answered with its error after the commit.
    func run(next: () -> QueuedWrite?) -> BatchOutcome {
        do {
            try connection.step("BEGIN IMMEDIATE")
        } catch {
            let error = StoreError(sqlite: error)
            if case .unavailable = error { return .refused(error) }
            return .failed(error)
        }
        var answers: [@Sendable () -> Void] = []
        var changed: [ID<User>] = []
        var isFirst = true
        while let write = next() {
            do throws(StoreError) {
                let done = try perform(write, in: isFirst ? .transaction : .savepoint)
                answers.append(done.answer)
                changed += done.changed
                isFirst = isFirst && done.isUndone
            } catch {
                abandon()
                // A full disk rolled the transaction back, so no row was written.
                if case .unavailable = error { return .refused(error) }
                return .failed(error)
            }
        }
        return finish(answers, changed)
    }

    /// The range of statements that a failed write rolls back.
    private enum Scope {
        case transaction, savepoint
    }

    /// The outcome of one write.
    private struct Performed {
        /// Answers the write's caller.
        let answer: @Sendable () -> Void
        var changed: [ID<User>] = []
        /// True when no effect of the write is left.
        var isUndone = false
    }

    /// - Throws: an error that ends the whole transaction, not this write alone.
    private func perform(_ write: QueuedWrite, in scope: Scope) throws(StoreError) -> Performed {
        if rehearse {
            if scope == .savepoint { try savepoint("SAVEPOINT write") }
            let transaction = SQLiteTransaction(connection)
            _ = try? write.run(transaction)
            try undo(transaction, scope)
        }
        if scope == .savepoint { try savepoint("SAVEPOINT write") }
        let transaction = SQLiteTransaction(connection)
        let result = Result { try write.run(transaction) }
        switch (result, transaction.failure) {
        case (.success(let answer), nil):
            // SQLITE_FULL or an I/O error can roll the whole transaction back, and so can a closure's own ROLLBACK;
            // the next savepoint would then open a new transaction that has lost its neighbours' writes.
            try checkTransaction()
            if scope == .savepoint { try savepoint("RELEASE write") }
            return Performed(answer: answer, changed: transaction.changedUsers)
        case (.success, let failure?):
            try undo(transaction, scope)
            return Performed(answer: { write.fail(failure) }, isUndone: true)
        case (.failure(let error), _):
            try undo(transaction, scope)
            return Performed(answer: { write.fail(error) }, isUndone: true)
        }
    }

    private func undo(_ transaction: SQLiteTransaction, _ scope: Scope) throws(StoreError) {
        if case .failed(let text)? = transaction.failure { throw .failed(text) }
        try checkTransaction(transaction.failure)
        switch scope {
        case .savepoint:
            try savepoint("ROLLBACK TO write")
            try savepoint("RELEASE write")
        case .transaction:
            do {
                try connection.step("ROLLBACK")
                try connection.step("BEGIN IMMEDIATE")
            } catch {
                throw StoreError(sqlite: error)
            }
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

    private func finish(_ answers: [@Sendable () -> Void], _ changed: [ID<User>]) -> BatchOutcome {
        do {
            changes.announce(changed)
            try commit(connection)
            changes.committed(changed)
            return .committed(answers: answers)
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
