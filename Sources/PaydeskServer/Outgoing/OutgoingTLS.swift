import NIOSSL
import ProviderKit
import Synchronization

/// The TLS settings of calls that show a certificate, made once for each identity.
///
/// The client keeps its connections by these settings, so equal calls must have the very same ones.
final class OutgoingTLS: Sendable {
    /// So many accounts can have an identity of their own; more than that and all are read anew.
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
