import NIOCore
import NIOPosix

/// An endpoint of webhooks on a loopback port, on one thread.
struct Receiver: Sendable {
    enum Answer: Sendable {
        case now(Int)
        case late(Int, TimeAmount)
        /// No answer, while the connection stays open.
        case never
    }

    let port: Int
    private let group: MultiThreadedEventLoopGroup

    var url: String { "http://127.0.0.1:\(port)/hook" }

    /// Starts an endpoint that answers each message as the closure decides.
    static func start(_ answer: @escaping @Sendable (Message) -> Answer) async throws -> Receiver {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let channel = try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 256)
                .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(ReceiverConnection(answer))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            guard let port = channel.localAddress?.port else {
                throw BenchFailure(description: "a receiver has no port")
            }
            return Receiver(port: port, group: group)
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    /// Starts an endpoint, runs the body and closes the endpoint with its connections.
    static func whileAnswering<T>(
        _ answer: @escaping @Sendable (Message) -> Answer, _ body: (Receiver) async throws -> T
    ) async throws -> T {
        let receiver = try await start(answer)
        let result: Result<T, any Error>
        do { result = .success(try await body(receiver)) } catch { result = .failure(error) }
        try await receiver.group.shutdownGracefully()
        return try result.get()
    }
}

private final class ReceiverConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let answer: @Sendable (Message) -> Receiver.Answer
    private var received = ByteBuffer()

    init(_ answer: @escaping @Sendable (Message) -> Receiver.Answer) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        do {
            while let message = try Message.take(&received) { reply(answer(message), context.channel) }
        } catch {
            // The server records this attempt as failed, and the event stays without an answer, which the run reports.
            context.close(promise: nil)
        }
        if received.readableBytes == 0 { received.clear() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func reply(_ answer: Receiver.Answer, _ channel: any Channel) {
        switch answer {
        case .now(let status): channel.writeAndFlush(Self.bytes(status), promise: nil)
        case .late(let status, let pause):
            channel.eventLoop.scheduleTask(in: pause) { channel.writeAndFlush(Self.bytes(status), promise: nil) }
        case .never: break
        }
    }

    private static func bytes(_ status: Int) -> ByteBuffer {
        ByteBuffer(string: "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Failed")\r\nContent-Length: 0\r\n\r\n")
    }
}
