import Domain

/// The view that one closure has of a PostgreSQL transaction.
///
/// A failed statement aborts the transaction on the server, so every further one fails with the same error.
final class PostgresTransaction: Transaction {
    private let connection: PostgresConnection
    /// The first error of a statement.
    private(set) var fault: PostgresFault?

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    var dialect: Dialect { .postgres }

    func rows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> [Row] {
        try perform(sql, arguments).rows()
    }

    func execute(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> Int {
        try perform(sql, arguments).touched
    }

    func deferredRows(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> DeferredResult<[Row]> {
        let answer = try send(sql, arguments)
        return DeferredResult { () throws(StoreError) in try self.result(answer).rows() }
    }

    func deferredExecute(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> DeferredResult<Int> {
        let answer = try send(sql, arguments)
        return DeferredResult { () throws(StoreError) in try self.result(answer).touched }
    }

    func enqueue(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) {
        try recordingFault { () throws(PostgresFault) in try connection.enqueue(sql, arguments) }
    }

    /// Does nothing: other nodes write as well, so a list of changed users cannot be complete.
    func markChanged(_ user: ID<User>) {}

    /// Does nothing, for the same reason.
    func markDueTimes() {}

    /// Sends queued statements that no later statement took along.
    func flush() throws(StoreError) {
        try recordingFault { () throws(PostgresFault) in _ = try connection.flush() }
    }

    /// Removes the time limits of this transaction, for a migration; they are restored after it.
    func liftTimeLimits() throws(StoreError) {
        connection.replyLimit = nil
        try execute("SET LOCAL statement_timeout = 0")
        try execute("SET LOCAL lock_timeout = 0")
    }

    private func send(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> PostgresPipeline.Answer {
        let answer = PostgresPipeline.Answer()
        try recordingFault { () throws(PostgresFault) in try connection.enqueue(sql, arguments, answer) }
        return answer
    }

    private func result(_ answer: PostgresPipeline.Answer) throws(StoreError) -> PostgresResult {
        if let result = answer.result { return result }
        try flush()
        guard let result = answer.result else { throw .statement("an answer is waited for outside its closure") }
        return result
    }

    private func perform(_ sql: String, _ arguments: [any SQLBindable]) throws(StoreError) -> PostgresResult {
        try recordingFault { () throws(PostgresFault) in try connection.execute(sql, arguments) }
    }

    private func recordingFault<T>(_ body: () throws(PostgresFault) -> T) throws(StoreError) -> T {
        if let fault { throw fault.storeError }
        do {
            return try body()
        } catch {
            fault = error
            throw error.storeError
        }
    }
}
