public import Domain
import Synchronization

/// A clock for tests, which moves only by ``advance(seconds:)``.
public final class ManualClock: Sendable {
    private let milliseconds: Mutex<Int64>

    /// - Parameter seconds: since 1970-01-01 UTC.
    public init(_ seconds: Int64 = 1_736_860_000) { milliseconds = Mutex(seconds * 1_000) }

    public var time: TimeSource { TimeSource { [self] in milliseconds.withLock { $0 } } }
    public var now: Timestamp { time.now }

    /// Moves the clock; negative seconds turn it back.
    public func advance(seconds: Int64) { milliseconds.withLock { $0 += seconds * 1_000 } }
}
