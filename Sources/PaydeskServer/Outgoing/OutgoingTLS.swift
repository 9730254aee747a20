import NIOSSL
import ProviderKit
import Synchronization

/// The TLS settings of calls with a client certificate, made once for each identity.
///
/// The client reuses connections by these settings, so equal calls must have the same object.
final class OutgoingTLS: Sendable {
    /// The most identities in the cache; when it is full it is cleared.
    private static let capacity = 64

    private let known = Mutex<[OutgoingIdentity: TLSConfiguration]>([:])

    /// - Throws: where a certificate or the key cannot be read.
    func configuration(_ identity: OutgoingIdentity) throws -> TLSConfiguration {
        if let found = known.withLock({ $0[identity] }) { return found }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(identity.certificates).map { .certificate($0) }
        tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: identity.privateKey, format: .pem))
        if let roots = identity.trustedRoots {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(roots))
        }
        let made = tls
        return known.withLock { known in
            if let found = known[identity] { return found }
            if known.count >= Self.capacity { known = [:] }
            known[identity] = made
            return made
        }
    }
}
