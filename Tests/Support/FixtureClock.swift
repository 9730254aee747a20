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

/// Randomness of a ``GatewayFixture``: the same bytes in every run (SplitMix64), none of them twice.
package final class FixtureRandom: Sendable {
    private let state: Mutex<UInt64>

    package init(_ seed: UInt64) { state = Mutex(seed) }

    package var source: RandomSource {
        RandomSource { [self] count in (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 24) } }
    }

    private func next() -> UInt64 {
        let counter = state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            return state
        }
        let first = (counter ^ (counter >> 30)) &* 0xBF58_476D_1CE4_E5B9
        let second = (first ^ (first >> 27)) &* 0x94D0_49BB_1331_11EB
        return second ^ (second >> 31)
    }
}
