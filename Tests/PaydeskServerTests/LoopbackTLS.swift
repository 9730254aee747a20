import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport

/// A local TLS server that accepts only clients with a certificate of a known authority.
final class LoopbackTLS: Sendable {
    typealias Answer = @Sendable (String) -> (status: Int, body: String)

    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let log: Log

    /// The bodies of the requests that arrived.
    var received: [String] { log.bodies.withLock { $0 } }
    var port: Int { channel.localAddress?.port ?? 0 }

    /// - Parameters:
    ///   - own: the server's certificate.
    ///   - clients: the authorities whose certificates are accepted, up to their root.
    init(own: ApplePayIdentity, clients: [ApplePayIdentity], answer: @escaping Answer) async throws {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: own.der, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(own.keyPEM.utf8), format: .pem)))
        tls.certificateVerification = .noHostnameVerification
        tls.trustRoots = .certificates(try clients.map { try NIOSSLCertificate(bytes: $0.der, format: .der) })
        let (context, log) = (try NIOSSLContext(configuration: tls), Log())
        self.log = log
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handlers = channel.pipeline.syncOperations
                    try handlers.addHandler(NIOSSLServerHandler(context: context))
                    try handlers.configureHTTPServerPipeline()
                    try handlers.addHandler(Exchange(log: log, answer: answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func stop() async throws {
        try await channel.close()
        try await group.shutdownGracefully()
    }

    fileprivate final class Log: Sendable {
        let bodies = Mutex<[String]>([])
    }

    /// Answers each request when it is complete.
    private final class Exchange: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let log: Log
        private let answer: Answer
        private var body = ""

        init(log: Log, answer: @escaping Answer) {
            self.log = log
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head: body = ""
            case .body(let part): body += String(buffer: part)
            case .end:
                log.bodies.withLock { $0.append(body) }
                let reply = answer(body)
                let headers: HTTPHeaders = [
                    "content-length": "\(reply.body.utf8.count)", "location": "https://127.0.0.1:1/elsewhere",
                ]
                let status = HTTPResponseStatus(statusCode: reply.status)
                context.write(
                    wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: reply.body)))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
