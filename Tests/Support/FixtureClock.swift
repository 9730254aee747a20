package import Domain
import Synchronization

/// The clock of a ``GatewayFixture``: it stands still until a test moves it.
///
/// Ids sort by their millisecond, so that a desk moves the clock one millisecond before each step whose ids must sort
/// after the earlier ones.
package final class FixtureClock: Sendable {
    private let milliseconds: Mutex<Int64>

    /// - Parameter seconds: since 1970-01-01 UTC.
    package init(_ seconds: Int64) { milliseconds = Mutex(seconds * 1_000) }

    package var time: TimeSource { TimeSource { [self] in milliseconds.withLock { $0 } } }
    package var now: Timestamp { time.now }

    package func tick() { milliseconds.withLock { $0 += 1 } }

    /// Moves the clock forward; negative seconds turn it back.
    package func advance(seconds: Int64) { milliseconds.withLock { $0 += seconds * 1_000 } }

    package func advance(days: Int64) { advance(seconds: days * 86_400) }

    package func set(_ seconds: Int64) { milliseconds.withLock { $0 = seconds * 1_000 } }
}
