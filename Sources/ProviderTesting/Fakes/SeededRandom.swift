public import Domain
import Synchronization

/// Randomness for tests: the same bytes in every run, no block of them twice.
public final class SeededRandom: Sendable {
    private let generator: Mutex<SplitMix64>

    public init(_ seed: UInt64 = 1) { generator = Mutex(SplitMix64(seed)) }

    public var source: RandomSource {
        RandomSource { [self] count in
            (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.withLock { $0.next() } >> 24) }
        }
    }
}

/// A generator with a seed, so that a failing run can be repeated.
///
/// Source: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators (2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(_ seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        let first = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        let second = (first ^ (first >> 27)) &* 0x94D0_49BB_1331_11EB
        return second ^ (second >> 31)
    }
}
