import NIOCore
import Synchronization

/// The number of answers by status, and the number of requests that the client itself sent late.
final class StatusTally: Sendable {
    /// The delay beyond which a request counts as late.
    private static let tolerance = TimeAmount.milliseconds(100)

    private let counts = Mutex<[Int: Int]>([:])
    private let lateCount = Atomic<Int>(0)

    func add(_ status: Int) { counts.withLock { $0[status, default: 0] += 1 } }

    func sent(after delay: TimeAmount) {
        if delay > Self.tolerance { lateCount.add(1, ordering: .relaxed) }
    }

    func count(of status: Int) -> Int { counts.withLock { $0[status] ?? 0 } }

    var all: Int { counts.withLock { $0.values.reduce(0, +) } }
    /// Requests that the client could not send in time; where they are many, the figures say nothing about the server.
    var late: Int { lateCount.load(ordering: .relaxed) }
}
