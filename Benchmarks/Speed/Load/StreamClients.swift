import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Clients that hold a live stream each, and note when the events of each arrive.
final class StreamClients: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// The node that each client asks.
    private let ports: [UInt16]
    /// The arrivals of the events `entitlements`, for each client.
    private let arrivals: Mutex<[[ContinuousClock.Instant]]>

    /// - Parameter ports: the port for each client.
    init(at ports: [UInt16]) {
        self.ports = ports
        arrivals = Mutex([[ContinuousClock.Instant]](repeating: [], count: ports.count))
    }

    /// Opens the stream of each customer, a hundred at a time, and returns when each has its first event.
    func open(_ customers: [Customer]) async throws {
        for start in stride(from: 0, to: customers.count, by: 100) {
            for number in start..<min(start + 100, customers.count) {
                let port = ports[number]
                let request = RequestBytes.get("/v1/public/stream", port: port, token: customers[number].token)
                let channel = try await ClientBootstrap(group: group)
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(
                                EventCounter { [self] in arrivals.withLock { $0[number].append(.now) } })
                        }
                    }
                    .connect(host: "127.0.0.1", port: Int(port)).get()
                try await channel.writeAndFlush(request)
            }
            try await wait(for: 1, of: start..<min(start + 100, customers.count))
        }
    }

    /// Waits until clients have a number of events, at most ten seconds.
    func wait(for count: Int, of clients: Range<Int>) async throws {
        for _ in 0..<1_000 {
            if arrivals.withLock({ all in clients.allSatisfy { all[$0].count >= count } }) { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw BenchFailure(description: "a stream has fewer than \(count) events after ten seconds")
    }

    /// The arrival of a client's event by number, from 0.
    func arrival(_ event: Int, of client: Int) -> ContinuousClock.Instant? {
        arrivals.withLock { $0[client].count > event ? $0[client][event] : nil }
    }

    func leave() async throws { try await group.shutdownGracefully() }
}

/// Calls a closure for each event `entitlements` of a stream.
private final class EventCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private static let name = "event: entitlements\n"

    private let note: @Sendable () -> Void
    /// The end of what arrived before, which may hold the beginning of a name.
    private var rest = ""

    init(_ note: @escaping @Sendable () -> Void) { self.note = note }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        rest += String(buffer: unwrapInboundIn(data))
        let parts = rest.components(separatedBy: Self.name)
        for _ in parts.dropFirst() { note() }
        rest = String((parts.last ?? "").suffix(Self.name.utf8.count - 1))
    }
}
