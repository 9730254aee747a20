import NIOCore
import Synchronization

/// Runs the tasks of connections in several groups (branches) of limited size.
///
/// The framework gives every connection a task in one group, and the runtime finds a finished task by walking the list
/// of the group: with 10,000 short connections that took two fifths of the server's time. So the framework's task only
/// passes its connection to a branch, which is a group of its own. The first task of a branch stays as long as the
/// branch has connections, so that the framework's group still ends after all of them, and cancels them.
final class ConnectionTasks: Sendable {
    typealias Work = @Sendable () async -> Void

    private struct Addition: Sendable {
        let executor: any TaskExecutor
        let work: Work
    }

    private struct Branch {
        let additions: AsyncStream<Addition>.Continuation
        var count = 1
    }

    private struct State {
        var branches: [Int: Branch] = [:]
        /// The branches that have room for another connection.
        var roomy: [Int] = []
        var made = 0
    }

    private enum Place {
        case handedOver
        case newBranch(Int, AsyncStream<Addition>)
        /// The branch was cancelled, and with it this task.
        case cancelled
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: the most connections of a branch.
    init(capacity: Int = 128) { self.capacity = capacity }

    /// The number of branches.
    var branches: Int { state.withLock(\.branches.count) }

    /// Runs the work on the executor, and returns when the caller's task is no longer needed for it.
    func run(on executor: any TaskExecutor, _ work: @escaping Work) async {
        switch place(Addition(executor: executor, work: work)) {
        case .handedOver: break
        case .cancelled: await work()
        case .newBranch(let branch, let additions):
            await withDiscardingTaskGroup { group in
                group.addTask(executorPreference: executor) { [self] in
                    await work()
                    leave(branch)
                }
                for await addition in additions {
                    group.addTask(executorPreference: addition.executor) { [self] in
                        await addition.work()
                        leave(branch)
                    }
                }
            }
        }
    }

    private func place(_ addition: Addition) -> Place {
        state.withLock { state in
            guard let number = state.roomy.last, var branch = state.branches[number] else {
                let (additions, continuation) = AsyncStream.makeStream(of: Addition.self)
                state.made += 1
                state.branches[state.made] = Branch(additions: continuation)
                if capacity > 1 { state.roomy.append(state.made) }
                return .newBranch(state.made, additions)
            }
            if case .terminated = branch.additions.yield(addition) { return .cancelled }
            branch.count += 1
            state.branches[number] = branch
            if branch.count == capacity { state.roomy.removeLast() }
            return .handedOver
        }
    }

    private func leave(_ number: Int) {
        state.withLock { state in
            guard var branch = state.branches[number] else { return }
            if branch.count == capacity { state.roomy.append(number) }
            branch.count -= 1
            state.branches[number] = branch
            guard branch.count == 0 else { return }
            branch.additions.finish()
            state.branches[number] = nil
            state.roomy.removeAll { $0 == number }
        }
    }
}

/// Runs tasks on the thread of an event loop.
///
/// A connection's requests run where its socket is read and written, so that no part of a request or answer is passed
/// to another thread and back. On an idle server that saves a third of the cost of a short request, under full load
/// nothing. Code that runs here must not block for long, because the loop's other connections wait.
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
