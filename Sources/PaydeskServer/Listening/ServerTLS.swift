import Domain
import NIOSSL

/// The certificate and the key of `http.tls`, loaded and compared with each other.
struct ServerTLS {
    let settings: TLSConfiguration
    /// The first and the last second of the validity of the server's own certificate.
    let validFrom: Timestamp
    let validUntil: Timestamp

    /// - Throws: the faulty setting with its problem and remedy (exit 2).
    init(_ files: Configuration.TLS) throws(CommandError) {
        let chain: [NIOSSLCertificate]
        do { chain = try NIOSSLCertificate.fromPEMFile(files.certificatePath) } catch { chain = [] }
        guard let own = chain.first else {
            throw Self.fault(
                "certificate", "\(files.certificatePath) holds no certificate in PEM",
                "put the server's own certificate there, and its intermediates after it")
        }
        let key: NIOSSLPrivateKey
        do { key = try NIOSSLPrivateKey(bytes: Array(files.privateKeyPEM.utf8), format: .pem) } catch {
            throw Self.fault("private_key", "cannot be read", "write a key in PEM that no passphrase protects")
        }
        var settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        // RFC 8996: TLS 1.0 and 1.1 must not be used.
        settings.minimumTLSVersion = .tlsv12
        do { _ = try NIOSSLContext(configuration: settings) } catch {
            throw Self.fault(
                "private_key", "is not the key of \(files.certificatePath)",
                "name the key with which that certificate was requested")
        }
        self.settings = settings
        validFrom = Timestamp(Int64(own.notValidBefore))
        validUntil = Timestamp(Int64(own.notValidAfter))
    }

    private static func fault(_ key: String, _ problem: String, _ remedy: String) -> CommandError {
        .usage("paydesk.yaml: http.tls.\(key): \(problem); \(remedy)")
    }
}
