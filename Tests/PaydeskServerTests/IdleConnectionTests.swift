import Hummingbird
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import PaydeskServer

@Suite("Idle connections")
struct IdleConnectionTests {
    /// The framework's timer closes them, so the test uses a server of the framework, with a short time.
    @Test(.timeLimit(.minutes(1)))
    func `a connection that says nothing for its time is closed, before a request and after one`() async throws {
        let (ports, said) = AsyncStream.makeStream(of: Int.self)
        let router = Router()
        router.get("/") { _, _ in "hello" }
        let application = Application(
            router: router, server: .limitedHTTP1(ClientTimeLimits(idle: .milliseconds(300))),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { said.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "idle") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            let port = try #require(await ports.first { _ in true })
            for request in ["", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"] {
                let taken = Taken(asking: request)
                let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .channelInitializer { $0.pipeline.addHandler(taken) }
                    .connect(host: "127.0.0.1", port: port).get()
                try await client.closeFuture.get()
                #expect(taken.text.hasSuffix("hello") == !request.isEmpty)
            }
            group.cancelAll()
        }
    }

    /// Sends a request at once and stores the answer.
    private final class Taken: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        typealias OutboundOut = ByteBuffer

        private let request: String
        private let bytes = Mutex(ByteBuffer())

        init(asking request: String) { self.request = request }

        var text: String { bytes.withLock { String(buffer: $0) } }

        func channelActive(context: ChannelHandlerContext) {
            if !request.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil) }
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var part = unwrapInboundIn(data)
            bytes.withLock { _ = $0.writeBuffer(&part) }
        }
    }
}
