import Crypto

/// The keys that sign all samples.
///
/// They are derived from their names, so that a seed of one process verifies in another and a finding can be reproduced
/// anywhere. Only this fuzzer trusts them.
enum Keys {
    static let root = key("root")
    static let intermediate = key("intermediate")
    static let leaf = key("leaf")
    static let xcode = key("xcode")
    static let merchant = key("merchant")

    private static func key(_ name: String) -> P256.Signing.PrivateKey {
        Harness.minted {
            try P256.Signing.PrivateKey(rawRepresentation: SHA256.hash(data: Array("paydesk-fuzz \(name)".utf8)))
        }
    }
}
