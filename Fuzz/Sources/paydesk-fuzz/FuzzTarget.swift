/// A way into AppleTrust: how bytes become a call, and what must hold afterwards.
protocol FuzzTarget: Sendable {
    var name: String { get }
    /// Inputs to start from, minted anew; the first is accepted, so that mutations begin behind the checks.
    var seeds: [[UInt8]] { get }
    /// Words that mutations insert.
    var words: [String] { get }
    /// Tries one input and reports a finding where a property does not hold.
    ///
    /// - Returns: whether the input was accepted.
    func run(_ input: [UInt8]) -> Bool
}
