/// The function of the verifier that reads a text.
///
/// A target's first byte chooses: the upper bits the reader, the lower two whatever the target makes of them.
enum Reader: UInt8, CaseIterable {
    case transaction, renewalInfo, payload
    /// The explainer first, and then whichever reader fits; it costs several signatures.
    case explained

    init(of mode: UInt8) { self = Reader.allCases[Int(mode >> 2) % Reader.allCases.count] }

    /// The explainer for one in eight inputs only, where it would parse and verify a chain again and again.
    func sparing(_ input: [UInt8]) -> Reader {
        self == .explained && !input.reduce(0, &+).isMultiple(of: 8) ? .transaction : self
    }

    /// Every input once for each reader, behind the byte that chooses it.
    static func seeds(way: UInt8, _ inputs: [[UInt8]]) -> [[UInt8]] {
        allCases.flatMap { reader in inputs.map { [reader.rawValue << 2 | way] + $0 } }
    }
}
