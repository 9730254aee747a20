/// The function of the verifier that reads a text.
///
/// The first byte of an input selects it with its upper bits; the lower two bits are the target's own.
enum Reader: UInt8, CaseIterable {
    case transaction, renewalInfo, payload
    /// The explainer first, and then the reader that fits; it verifies several signatures.
    case explained

    init(of mode: UInt8) { self = Reader.allCases[Int(mode >> 2) % Reader.allCases.count] }

    /// Selects the explainer for one in eight inputs only, because it parses and verifies a chain each time.
    func sparing(_ input: [UInt8]) -> Reader {
        self == .explained && !input.reduce(0, &+).isMultiple(of: 8) ? .transaction : self
    }

    /// Returns every input once for each reader, after the byte that selects it.
    static func seeds(way: UInt8, _ inputs: [[UInt8]]) -> [[UInt8]] {
        allCases.flatMap { reader in inputs.map { [reader.rawValue << 2 | way] + $0 } }
    }
}
