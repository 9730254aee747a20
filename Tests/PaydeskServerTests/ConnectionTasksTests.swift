import Synchronization
import Testing

@testable import PaydeskServer

/// Tasks of connections that run until the test ends them.
private final class Works: Sendable {
    private struct State {
        var begun: [Int: AsyncStream<Void>.Continuation] = [:]
        var cancelled: Set<Int> = []
        var ended: Set<Int> = []
        /// The tasks whose callers have returned.
        var released: Set<Int> = []
    }

    let tasks: ConnectionTasks
    private let state = Mutex(State())

    init(_ capacity: Int) { tasks = ConnectionTasks(capacity: capacity) }

    var cancelled: Set<Int> { state.withLock(\.cancelled) }
    var ended: Set<Int> { state.withLock(\.ended) }
    var released: Set<Int> { state.withLock(\.released) }

    /// Runs a task with this number, as the framework does for a connection.
    func run(_ name: Int) async {
        await tasks.run(on: globalConcurrentExecutor) { [self] in
            let (gate, opener) = AsyncStream.makeStream(of: Void.self)
            state.withLock { $0.begun[name] = opener }
            for await _ in gate {}
            state.withLock { state in
                if Task.isCancelled { state.cancelled.insert(name) }
                state.ended.insert(name)
            }
        }
        state.withLock { _ = $0.released.insert(name) }
    }

    func end(_ name: Int) { state.withLock { $0.begun[name]?.finish() } }

    func hasBegun(_ name: Int) -> Bool { state.withLock { $0.begun[name] != nil } }
}

@Suite("Tasks of connections")
struct ConnectionTasksTests {
    /// Yields until the condition holds, at most until the suite's time limit.
    private func until(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(1))) func `only the first of a branch keeps its task, until the last has ended`() async {
        let works = Works(3)
        await withDiscardingTaskGroup { group in
            for name in 1...7 {
                group.addTask { await works.run(name) }
                await until { works.hasBegun(name) }
            }
            await until { works.released.count == 4 }
            #expect(works.tasks.branches == 3)
            #expect(works.released == [2, 3, 5, 6])
            #expect(works.ended.isEmpty)

            for name in [1, 2] { works.end(name) }
            await until { works.ended == [1, 2] }
            #expect(!works.released.contains(1))
            works.end(3)
            await until { works.released.contains(1) }
            #expect(works.tasks.branches == 2)
            for name in 4...7 { works.end(name) }
        }
        #expect(works.released == Set(1...7))
        #expect(works.ended == Set(1...7))
        #expect(works.tasks.branches == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `a full branch that has lost one takes the next`() async {
        let works = Works(2)
        await withDiscardingTaskGroup { group in
            for name in 1...2 {
                group.addTask { await works.run(name) }
                await until { works.hasBegun(name) }
            }
            works.end(2)
            await until { works.ended == [2] }
            group.addTask { await works.run(3) }
            await until { works.released.contains(3) && works.hasBegun(3) }
            #expect(works.tasks.branches == 1)
            for name in [1, 3] { works.end(name) }
        }
        #expect(works.tasks.branches == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `cancelling the framework's tasks reaches every connection, also a late one`()
        async
    {
        let works = Works(8)
        await withDiscardingTaskGroup { group in
            for name in 1...3 {
                group.addTask { await works.run(name) }
                await until { works.hasBegun(name) }
            }
            group.cancelAll()
            group.addTask { await works.run(4) }
        }
        #expect(works.cancelled == [1, 2, 3, 4])
        #expect(works.tasks.branches == 0)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [1, 2, 16]) func `each of many runs once`(_ capacity: Int) async {
        let works = Works(capacity)
        await withDiscardingTaskGroup { group in
            for name in 0..<200 { group.addTask { await works.run(name) } }
            for name in 0..<200 {
                await until { works.hasBegun(name) }
                works.end(name)
            }
        }
        #expect(works.ended == Set(0..<200))
        #expect(works.released == Set(0..<200))
        #expect(works.tasks.branches == 0)
    }
}
