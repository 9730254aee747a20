import Crypto
import RefusalReasons

/// Decides whether Apple signed a payment token of one version.
struct TokenAuthenticator<Profile: ApplePayProfile>: Sendable {
    let chains: ChainValidator<Profile>

    /// Refuses a signature that is not over this content by a leaf that was valid at the signing time.
    func check(_ signature: TokenSignature, over digest: SHA256Digest) throws(AppleRefusal) {
        let peer = try peer(of: signature)
        let validator = ChainValidator(anchors: peer.anchors, cache: chains.cache)
        let chain = try validator.chain(of: peer.certificates, at: signature.signingTime)
        try Self.check(signature, over: digest, by: chain.leafKey)
    }

    static func check(
        _ signature: TokenSignature, over digest: SHA256Digest, by key: Profile.LeafKey
    ) throws(AppleRefusal) {
        guard Profile.algorithms.contains(where: signature.algorithm.elementsEqual) else {
            throw AppleRefusal(.badSignature, "signed by an algorithm that is not the version's")
        }
        try signature.check(digest)
        guard Profile.isValid(signature.signature, for: SHA256.hash(data: signature.signed), by: key)
        else { throw AppleRefusal(.badSignature, "the signature is not the leaf's") }
    }

    /// The leaf and its intermediate, and the roots to which they may lead.
    ///
    /// Apple sends no root: a third certificate must be one of the trusted roots, and then the chain must end in it.
    func peer(
        of signature: TokenSignature
    ) throws(AppleRefusal) -> (certificates: PeerCertificates, anchors: [TrustAnchor]) {
        var anchors = chains.anchors
        var intermediates = signature.others
        if intermediates.count > 1 {
            let isRoot = intermediates.map { der in
                let fingerprint = SHA256.hash(data: der)
                return anchors.contains { $0.fingerprint == fingerprint }
            }
            guard let root = isRoot.firstIndex(of: true) else {
                throw AppleRefusal(.untrustedChain, "a third certificate is not the trusted root")
            }
            let fingerprint = SHA256.hash(data: intermediates.remove(at: root))
            anchors.removeAll { $0.fingerprint != fingerprint }
        }
        guard let intermediate = intermediates.first else { throw .malformed("there is no intermediate") }
        return (PeerCertificates(leaf: Array(signature.leaf), intermediate: Array(intermediate)), anchors)
    }
}
