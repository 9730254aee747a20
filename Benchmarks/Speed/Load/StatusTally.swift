import NIOCore
import Synchronization

/// How many answers had which status, and how far the client itself fell behind.
final class StatusTally: Sendable {
    /// Later than this a request counts as late.
    private static let tolerance = TimeAmount.milliseconds(100)

    private let counts = Mutex<[Int: Int]>([:])
    private let lateCount = Atomic<Int>(0)

    func add(_ status: Int) { counts.withLock { $0[status, default: 0] += 1 } }

    func sent(after delay: TimeAmount) {
        if delay > Self.tolerance { lateCount.add(1, ordering: .relaxed) }
    }

    func count(of status: Int) -> Int { counts.withLock { $0[status] ?? 0 } }

    var all: Int { counts.withLock { $0.values.reduce(0, +) } }
    /// Requests that the client could not send in time: a server is not to be judged where they are many.
    var late: Int { lateCount.load(ordering: .relaxed) }
}
