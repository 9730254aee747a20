import CLibpq

/// Statements that are sent to the server together, so that their answers are waited for once (libpq's pipeline mode).
///
/// A wait switches between two processes and a thread, which costs more than most statements do. The server runs the
/// statements one after the other, and none after one that fails.
struct PostgresPipeline {
    /// A statement with its values, prepared once per text and types.
    struct Message {
        let key: PostgresStatementCache.Key
        let arguments: PostgresArguments
        /// The receiver of the result; nil for a statement without one.
        var answer: Answer?
    }

    /// Holds the result of a statement once it has arrived.
    final class Answer {
        fileprivate(set) var result: PostgresResult?
    }

    /// The steps that are answered by one result each.
    fileprivate enum Step {
        case deallocation(String)
        case preparation(PostgresStatementCache.Key, name: String)
        case run(Answer?)
    }

    /// The most statements that wait to be sent.
    fileprivate static let limit = 16

    /// The statements that will be sent with the next one whose result is needed.
    fileprivate(set) var waiting: [Message] = []
    /// Prepared statements on the server that left the cache and are to be deallocated.
    fileprivate var abandoned: [String] = []
}

extension PostgresConnection {
    /// Queues a statement without values, such as BEGIN, to be sent with the next one.
    func enqueue(_ sql: String) { pipeline.waiting.append(.init(key: .init(sql: sql, types: []), arguments: .none)) }

    /// Queues a statement to be sent with the next one, whose answer also reports this one's failure.
    func enqueue(
        _ sql: String, _ values: [any SQLBindable], _ answer: PostgresPipeline.Answer? = nil
    ) throws(PostgresFault) {
        var message = try message(sql, values)
        message.answer = answer
        pipeline.waiting.append(message)
        if pipeline.waiting.count >= PostgresPipeline.limit { try flush() }
    }

    /// Runs one statement with bound values after the queued ones.
    func execute(_ sql: String, _ values: [any SQLBindable]) throws(PostgresFault) -> PostgresResult {
        pipeline.waiting.append(try message(sql, values))
        guard let result = try flush() else { throw .lost(lastMessage) }
        return result
    }

    /// Drops the queued statements, which have not been sent.
    func forgetWaiting() { pipeline.waiting = [] }

    /// Sends the queued statements.
    ///
    /// - Returns: the result of the last one; nil when none was queued.
    @discardableResult
    func flush() throws(PostgresFault) -> PostgresResult? {
        let messages = pipeline.waiting
        guard !messages.isEmpty else { return nil }
        pipeline.waiting = []
        try takeReply()
        guard PQenterPipelineMode(pointer) == 1 else { throw .lost(lastMessage) }
        let steps = try send(messages)
        guard PQpipelineSync(pointer) == 1 else { throw .lost(lastMessage) }
        let result = try results(of: steps)
        guard PQexitPipelineMode(pointer) == 1 else { throw .lost(lastMessage) }
        return try result.get()
    }

    private func message(
        _ sql: String, _ values: [any SQLBindable]
    ) throws(PostgresFault) -> PostgresPipeline.Message {
        let arguments: PostgresArguments
        do { arguments = try PostgresArguments(values) } catch { throw .refused(error) }
        return .init(key: .init(sql: sql, types: arguments.types), arguments: arguments)
    }

    // MARK: Sending

    private func send(_ messages: [PostgresPipeline.Message]) throws(PostgresFault) -> [PostgresPipeline.Step] {
        var steps: [PostgresPipeline.Step] = []
        for (index, message) in messages.enumerated() {
            let name = try prepared(message.key, &steps) { steps throws(PostgresFault) in
                // No DEALLOCATE may come before a BEGIN; before the last message, the transaction has begun.
                guard index == messages.count - 1, index > 0 || isInTransaction else { return }
                for name in pipeline.abandoned { try deallocate(name, &steps) }
                pipeline.abandoned = []
            }
            let isSent = message.arguments.withPointers { count, values, lengths, formats in
                PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 0) == 1
            }
            guard isSent else { throw .lost(lastMessage) }
            steps.append(.run(message.answer))
        }
        return steps
    }

    /// - Parameter makeRoom: called once the statement that leaves the cache is known.
    private func prepared(
        _ key: PostgresStatementCache.Key, _ steps: inout [PostgresPipeline.Step],
        makeRoom: (inout [PostgresPipeline.Step]) throws(PostgresFault) -> Void
    ) throws(PostgresFault) -> String {
        let known = statements.name(key)
        if known == nil, let old = statements.evict() { pipeline.abandoned.append(old) }
        try makeRoom(&steps)
        if let known { return known }
        let name = statements.nextName()
        let sql = PostgresPlaceholders.numbered(key.sql)
        guard PQsendPrepare(pointer, name, sql, Int32(clamping: key.types.count), key.types) == 1 else {
            throw .lost(lastMessage)
        }
        statements.insert(key, name: name)
        steps.append(.preparation(key, name: name))
        return name
    }

    private func deallocate(_ name: String, _ steps: inout [PostgresPipeline.Step]) throws(PostgresFault) {
        guard PQsendQueryParams(pointer, "DEALLOCATE \(name)", 0, nil, nil, nil, nil, 0) == 1 else {
            throw .lost(lastMessage)
        }
        steps.append(.deallocation(name))
    }

    // MARK: Answers

    /// Returns the last step's result, or the first failure; all answers are read, so that the connection is free.
    private func results(
        of steps: [PostgresPipeline.Step]
    ) throws(PostgresFault) -> Result<PostgresResult, PostgresFault> {
        var fault: PostgresFault?
        var last: PostgresResult?
        var failed: [PostgresPipeline.Step] = []
        for step in steps {
            // Each statement has one result, followed by nil.
            guard let result = try nextResult(), try nextResult() == nil else { throw .lost(lastMessage) }
            guard isOpen else { throw .lost(PostgresFault(result).storeError.text) }
            if result.isSuccess {
                if case .run(let answer?) = step { answer.result = result }
            } else {
                failed.append(step)
                if !result.isSkipped { fault = fault ?? PostgresFault(result) }
            }
            last = result
        }
        guard let end = try nextResult(), end.endsPipeline else { throw .lost(lastMessage) }
        health?.recordAnswer()
        undo(failed)
        if let fault { return .failure(fault) }
        guard let last, last.isSuccess else { throw .lost(lastMessage) }
        return .success(last)
    }

    /// Corrects the list of prepared statements after steps that had no effect.
    private func undo(_ steps: [PostgresPipeline.Step]) {
        var missing: Set<String> = []
        for step in steps {
            switch step {
            case .preparation(let key, let name):
                statements.remove(key, name: name)
                missing.insert(name)
            case .deallocation(let name): pipeline.abandoned.append(name)
            case .run: break
            }
        }
        pipeline.abandoned.removeAll { missing.contains($0) }
    }
}
