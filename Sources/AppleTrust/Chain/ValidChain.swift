import Crypto

/// A sound chain, which the cache stores; its certificates need not be valid now.
struct ValidChain<Profile: ChainProfile>: Sendable {
    let leafKey: Profile.LeafKey
    /// The time when all three certificates are valid.
    let interval: ValidityInterval
    let anchor: SHA256Digest
}

/// The two certificates that a peer sends, as DER.
struct PeerCertificates: Sendable {
    let leaf: [UInt8]
    let intermediate: [UInt8]
    let leafDigest: SHA256Digest
    let intermediateDigest: SHA256Digest

    init(leaf: [UInt8], intermediate: [UInt8]) {
        self.leaf = leaf
        self.intermediate = intermediate
        leafDigest = SHA256.hash(data: leaf)
        intermediateDigest = SHA256.hash(data: intermediate)
    }
}
