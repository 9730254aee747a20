public import Domain
import Synchronization

/// Randomness for tests: the same bytes in every run (SplitMix64), no block of them twice.
public final class SeededRandom: Sendable {
    private let state: Mutex<UInt64>

    public init(_ seed: UInt64 = 1) { state = Mutex(seed) }

    public var source: RandomSource {
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
