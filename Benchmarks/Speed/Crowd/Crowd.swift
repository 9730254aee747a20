import NIOCore
import NIOPosix
import Synchronization

/// Connections that only occupy the server: idle ones, and ones that send a byte a second; each is made again when it
/// ends.
final class Crowd: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let port: UInt16
    private let isOver = Atomic<Bool>(false)
    private let open = Atomic<Int>(0)

    init(port: UInt16) { self.port = port }

    var connections: Int { open.load(ordering: .relaxed) }

    /// Opens connections of each kind, 400 a second in all, and returns when all are open.
    ///
    /// The openings are spread because the connections also end one by one: if all came at once, the measurement
    /// would show how fast connections are made.
    func gather(idle: Int, dribbling: Int) async throws {
        let loop = group.next()
        let all = idle + dribbling
        let begin = NIODeadline.now()
        let joining = (0..<all).map { number in
            // The two kinds are mixed evenly.
            let isDribbling = number * dribbling / all != (number + 1) * dribbling / all
            return loop.flatScheduleTask(deadline: begin + .microseconds(2_500) * number) { [self] in
                join(isDribbling: isDribbling)
            }.futureResult
        }
        try await EventLoopFuture.andAllSucceed(joining, on: loop).get()
    }

    func leave() async throws {
        isOver.store(true, ordering: .relaxed)
        try await group.shutdownGracefully()
    }

    @discardableResult
    private func join(isDribbling: Bool) -> EventLoopFuture<Void> {
        ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if isDribbling { try channel.pipeline.syncOperations.addHandler(Dribble()) }
                }
            }
            .connect(host: "127.0.0.1", port: Int(port))
            .map { [self] channel in
                open.add(1, ordering: .relaxed)
                channel.closeFuture.whenComplete { [self] _ in
                    open.subtract(1, ordering: .relaxed)
                    if !isOver.load(ordering: .relaxed) { join(isDribbling: isDribbling) }
                }
            }
            .flatMapError { [self] error in
                // A busy server lets a connection wait and fail: the crowd tries again until it is over.
                isOver.load(ordering: .relaxed)
                    ? group.next().makeFailedFuture(error) : join(isDribbling: isDribbling)
            }
    }
}

/// Sends a request's head one byte a second and never ends it.
private final class Dribble: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The beginning of a head that no parser refuses before its end, so that only the timeout ends the connection.
    private static let head = Array("GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ".utf8)

    private var task: RepeatedTask?

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        let sent = NIOLoopBoundBox(0, eventLoop: context.eventLoop)
        task = context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { _ in
            let byte = sent.value < Self.head.count ? Self.head[sent.value] : UInt8(ascii: "a")
            sent.value += 1
            channel.writeAndFlush(ByteBuffer(bytes: [byte]), promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { task?.cancel() }
}
