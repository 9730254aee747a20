import NIOCore
import NIOPosix
import Synchronization

/// Sends requests at their times whether or not earlier ones are answered, on one thread.
///
/// A request goes out on a connection that waits for no answer; where there is none, one is made. Its delay counts from
/// the time at which it was to be sent, so that a server that falls behind cannot hide it.
enum OpenLoopClient {
    /// The time to wait for answers after the last request was due.
    private static let patience = TimeAmount.seconds(30)

    /// - Parameters:
    ///   - tally: counts the answers by status.
    ///   - staysAwake: true where the client's thread hardly sleeps; for a thread that has a core of its own.
    /// - Returns: the delay of each request in seconds; nil for an answer other than 200, or none in time.
    static func run(
        _ requests: [ByteBuffer], perSecond: Int64, port: UInt16, patience: TimeAmount = patience,
        tally: StatusTally = StatusTally(), staysAwake: Bool = false
    ) async throws -> [Double?] {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let interval = TimeAmount.nanoseconds(1_000_000_000 / perSecond)
        let run = OpenLoopRun(requests, interval, tally, ended: loop.makePromise())
        for number in requests.indices {
            loop.scheduleTask(deadline: run.due(number)) {
                if let channel = run.freeChannel(for: number) { return run.send(number, on: channel) }
                connect(run, group, port).whenComplete { result in
                    switch result {
                    case .success(let channel): run.use(channel, for: number)
                    case .failure: run.end(number, after: nil)
                    }
                }
            }
        }
        loop.scheduleTask(deadline: run.due(requests.count) + patience) { run.giveUp() }
        if staysAwake { loop.stayAwake(until: run.ended.futureResult) }
        let delays = try await run.ended.futureResult.get()
        try await group.shutdownGracefully()
        return delays
    }

    private static func connect(
        _ run: OpenLoopRun, _ group: MultiThreadedEventLoopGroup, _ port: UInt16
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: group)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(OpenLoopConnection(run))
                }
            }
            .connect(host: "127.0.0.1", port: Int(port))
    }
}

/// The state that the connections of an open-loop client share.
private final class OpenLoopRun: Sendable {
    private struct State {
        var free: [any Channel] = []
        /// The request whose answer a connection waits for.
        var awaited: [ObjectIdentifier: Int] = [:]
        var delays: [Double?]
        var isEnded: [Bool]
        var left: Int
    }

    private let requests: [ByteBuffer]
    private let interval: TimeAmount
    private let tally: StatusTally
    /// The time of the first request, late enough that connections are made before it.
    private let begin = NIODeadline.now() + .milliseconds(100)
    private let state: Mutex<State>
    let ended: EventLoopPromise<[Double?]>

    init(_ requests: [ByteBuffer], _ interval: TimeAmount, _ tally: StatusTally, ended: EventLoopPromise<[Double?]>) {
        self.requests = requests
        self.interval = interval
        self.tally = tally
        self.ended = ended
        state = Mutex(
            State(
                delays: Array(repeating: nil, count: requests.count),
                isEnded: Array(repeating: false, count: requests.count), left: requests.count))
    }

    func due(_ number: Int) -> NIODeadline { begin + interval * number }

    func freeChannel(for number: Int) -> (any Channel)? {
        state.withLock { state in
            guard let channel = state.free.popLast() else { return nil }
            state.awaited[ObjectIdentifier(channel)] = number
            return channel
        }
    }

    func use(_ channel: any Channel, for number: Int) {
        state.withLock { $0.awaited[ObjectIdentifier(channel)] = number }
        send(number, on: channel)
    }

    func send(_ number: Int, on channel: any Channel) {
        tally.sent(after: NIODeadline.now() - due(number))
        channel.writeAndFlush(requests[number], promise: nil)
    }

    func take(_ status: Int, on channel: any Channel) {
        let number = state.withLock { state in
            state.free.append(channel)
            return state.awaited.removeValue(forKey: ObjectIdentifier(channel))
        }
        guard let number else { return }
        tally.add(status)
        let delay = NIODeadline.now() - due(number)
        end(number, after: status == 200 ? Double(delay.nanoseconds) / 1e9 : nil)
    }

    /// Forgets a connection that will carry no more answers; the request that waited on it has failed.
    func lose(_ channel: any Channel) {
        let number = state.withLock { state in
            state.free.removeAll { $0 === channel }
            return state.awaited.removeValue(forKey: ObjectIdentifier(channel))
        }
        if let number { end(number, after: nil) }
    }

    func end(_ number: Int, after delay: Double?) {
        let delays = state.withLock { state -> [Double?]? in
            guard !state.isEnded[number] else { return nil }
            state.isEnded[number] = true
            state.delays[number] = delay
            state.left -= 1
            return state.left == 0 ? state.delays : nil
        }
        if let delays { ended.succeed(delays) }
    }

    func giveUp() {
        let numbers = state.withLock { state in state.isEnded.indices.filter { !state.isEnded[$0] } }
        for number in numbers { end(number, after: nil) }
    }
}

private final class OpenLoopConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let run: OpenLoopRun
    private var received = ByteBuffer()

    init(_ run: OpenLoopRun) { self.run = run }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        do {
            while let reply = try ReplyReader.take(&received) { run.take(reply.status, on: context.channel) }
        } catch {
            context.close(promise: nil)
        }
        if received.readableBytes == 0 { received.clear() }
    }

    func channelInactive(context: ChannelHandlerContext) { run.lose(context.channel) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
