import NIOCore
import NIOPosix
import Synchronization

/// A connection that sends a request at a steady pace, each after the answer to the last.
enum PacedClient {
    private static let patience = TimeAmount.seconds(120)

    /// Sends attaches.
    ///
    /// - Returns: the time of the answer to each attach, by the id of its order.
    /// - Throws: at the first answer that is not 200 or names no order.
    static func attach(
        _ requests: [ByteBuffer], perSecond: Int64, port: UInt16
    ) async throws -> [String: ContinuousClock.Instant] {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let run = PacedRun()
        let result: Result<[String: ContinuousClock.Instant], any Error>
        do {
            let channel = try await ClientBootstrap(group: group)
                .channelOption(.socketOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            PacedConnection(run, requests, .nanoseconds(1_000_000_000 / perSecond)))
                    }
                }
                .connect(host: "127.0.0.1", port: Int(port)).get()
            let watch = channel.eventLoop.scheduleTask(in: patience) {
                run.fail("no answer in time")
                channel.close(promise: nil)
            }
            try await channel.closeFuture.get()
            watch.cancel()
            result = .success(try run.finish(requests.count))
        } catch { result = .failure(error) }
        try await group.shutdownGracefully()
        return try result.get()
    }
}

/// The answers to a paced client's requests.
private final class PacedRun: Sendable {
    private let state = Mutex((orders: [String: ContinuousClock.Instant](), fault: String?.none))

    private static let order = Array(#""order_id":""#.utf8)

    func take(_ reply: ReplyReader.Reply) {
        let now = ContinuousClock.now
        let order = reply.body.withUnsafeReadableBytes { HeadBytes.word(after: Self.order, count: 30, in: $0) }
        guard reply.status == 200, let order else {
            return fail("an attach is answered \(reply.status): \(String(buffer: reply.body).prefix(300))")
        }
        state.withLock { $0.orders[order] = now }
    }

    func fail(_ fault: String) {
        state.withLock { $0.fault = $0.fault ?? fault }
    }

    func finish(_ count: Int) throws -> [String: ContinuousClock.Instant] {
        let (orders, fault) = state.withLock { ($0.orders, $0.fault) }
        if let fault { throw BenchFailure(description: fault) }
        guard orders.count == count else {
            throw BenchFailure(description: "\(count) attaches made \(orders.count) orders")
        }
        return orders
    }
}

private final class PacedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let run: PacedRun
    private let requests: [ByteBuffer]
    private let interval: TimeAmount
    private var started = NIODeadline.now()
    private var sent = 0
    private var received = ByteBuffer()

    init(_ run: PacedRun, _ requests: [ByteBuffer], _ interval: TimeAmount) {
        self.run = run
        self.requests = requests
        self.interval = interval
    }

    func channelActive(context: ChannelHandlerContext) {
        started = .now()
        send(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        do {
            guard let reply = try ReplyReader.take(&received) else { return }
            if received.readableBytes == 0 { received.clear() }
            run.take(reply)
            guard sent < requests.count else { return context.close(promise: nil) }
            context.eventLoop.assumeIsolated().scheduleTask(deadline: started + interval * sent) {
                self.send(context)
            }
        } catch {
            run.fail("an answer is not understood: \(String(buffer: received).prefix(300))")
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        run.fail("a connection failed: \(error)")
        context.close(promise: nil)
    }

    private func send(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(requests[sent]), promise: nil)
        sent += 1
    }
}
