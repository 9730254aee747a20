/// An entry point of AppleTrust: it makes a call from bytes and checks properties of the result.
protocol FuzzTarget: Sendable {
    var name: String { get }
    /// The first inputs, made anew; the first one is accepted, so that mutations also reach the code behind the checks.
    var seeds: [[UInt8]] { get }
    /// Words that mutations insert.
    var words: [String] { get }
    /// Tries an input and reports a finding where a property does not hold.
    ///
    /// - Returns: true where the input was accepted.
    func run(_ input: [UInt8]) -> Bool
}
