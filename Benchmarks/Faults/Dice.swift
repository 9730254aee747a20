/// A seeded generator (SplitMix64), so that a seed determines what every client does.
struct Dice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// - Parameter path: numbers that give each round and each client a sequence of its own.
    init(_ seed: UInt64, _ path: Int...) {
        state = seed
        for step in path { state = next() ^ UInt64(truncatingIfNeeded: step) }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns true with a probability of this many percent.
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
