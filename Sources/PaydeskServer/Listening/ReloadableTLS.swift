import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import Synchronization

/// The certificate and the key with which new connections are answered; those that are open keep theirs.
final class ServedCertificate: Sendable {
    private let served: Mutex<NIOSSLContext>

    /// - Throws: where the certificate is not the key's.
    init(_ tls: ServerTLS) throws { served = Mutex(try NIOSSLContext(configuration: tls.settings)) }

    var context: NIOSSLContext { served.withLock { $0 } }

    func replace(by tls: ServerTLS) throws {
        let context = try NIOSSLContext(configuration: tls.settings)
        served.withLock { $0 = context }
    }
}

/// TLS in front of a channel, with the certificate that is served when a connection begins.
struct ReloadableTLS<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let certificate: ServedCertificate

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: certificate.context))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
