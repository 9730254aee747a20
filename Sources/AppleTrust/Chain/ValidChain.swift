import Crypto

/// A chain that was found sound, independent of any time: what the cache keeps.
struct ValidChain: Sendable {
    let leafKey: P256.Signing.PublicKey
    /// When all three certificates are valid.
    let interval: ValidityInterval
    let anchor: SHA256Digest
}

/// The two certificates of a header, as DER.
struct PeerCertificates: Sendable {
    let leaf: [UInt8]
    let intermediate: [UInt8]
}
