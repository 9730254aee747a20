import ProviderTesting

/// A seeded generator, so that a seed determines what every client does.
struct Dice: RandomNumberGenerator, Sendable {
    private var generator: SplitMix64

    /// - Parameter path: numbers that give each round and each client a sequence of its own.
    init(_ seed: UInt64, _ path: Int...) {
        generator = SplitMix64(seed)
        for step in path { generator = SplitMix64(generator.next() ^ UInt64(truncatingIfNeeded: step)) }
    }

    mutating func next() -> UInt64 { generator.next() }

    /// Returns true with a probability of this many percent.
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
