import NIOCore
import NIOPosix

/// A client on one thread that does as little as HTTP/1.1 allows: sends prepared bytes, counts whole answers.
enum LoadClient {
    /// The longest time that a plan may take before its connections are closed.
    private static let patience = TimeAmount.seconds(180)

    /// Sends the plan's requests over connections that are kept, each waiting for its answer before the next.
    ///
    /// - Returns: the number of answers.
    /// - Throws: at the first answer that is not 200.
    static func run(_ plan: LoadPlan, port: UInt16) async throws -> Int {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let run = LoadRun(plan)
        let result: Result<Int, any Error>
        do {
            try await connectAndWait(plan, run, port, group)
            result = .success(try run.finish())
        } catch { result = .failure(error) }
        try await group.shutdownGracefully()
        return try result.get()
    }

    private static func connectAndWait(
        _ plan: LoadPlan, _ run: LoadRun, _ port: UInt16, _ group: MultiThreadedEventLoopGroup
    ) async throws {
        let loop = group.next()
        let bootstrap = ClientBootstrap(group: group)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LoadConnection(run))
                }
            }
        let connecting = (0..<plan.clients).map { _ in bootstrap.connect(host: "127.0.0.1", port: Int(port)) }
        let channels = try await EventLoopFuture.whenAllSucceed(connecting, on: loop).get()
        let watch = loop.scheduleTask(in: patience) {
            run.fail("no answer in time")
            for channel in channels { channel.close(promise: nil) }
        }
        let closed = EventLoopFuture.andAllSucceed(channels.map(\.closeFuture), on: loop)
        if plan.staysAwake { loop.stayAwake(until: closed) }
        try await closed.get()
        watch.cancel()
    }
}

/// A connection: sends the next request when the answer to the last is whole.
private final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let run: LoadRun
    private var received = ByteBuffer()
    private var awaits = false

    init(_ run: LoadRun) { self.run = run }

    func channelActive(context: ChannelHandlerContext) { sendNext(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        do {
            while let reply = try ReplyReader.take(&received) {
                awaits = false
                run.take(reply)
                sendNext(context)
            }
        } catch {
            run.fail("an answer is not understood: \(String(buffer: received).prefix(300))")
            context.close(promise: nil)
        }
        if received.readableBytes == 0 { received.clear() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if awaits { run.fail("the server closed a connection before its answer") }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        run.fail("a connection failed: \(error)")
        context.close(promise: nil)
    }

    private func sendNext(_ context: ChannelHandlerContext) {
        guard let request = run.next() else {
            context.close(promise: nil)
            return
        }
        awaits = true
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
    }
}
