import Crypto

/// A chain that was found sound, independent of any time: what the cache keeps.
struct ValidChain<Profile: ChainProfile>: Sendable {
    let leafKey: Profile.LeafKey
    /// When all three certificates are valid.
    let interval: ValidityInterval
    let anchor: SHA256Digest
}

/// The two certificates that a peer brings, as DER.
struct PeerCertificates: Sendable {
    let leaf: [UInt8]
    let intermediate: [UInt8]
}
