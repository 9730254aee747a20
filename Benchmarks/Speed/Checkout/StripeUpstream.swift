import Domain
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A stand-in for Stripe's API on a loopback port, on one thread: each PaymentIntent is made after the same time, or never.
struct StripeUpstream: Sendable {
    /// The time before an answer; nil never answers.
    typealias Pause = TimeAmount?

    let port: Int
    private let group: MultiThreadedEventLoopGroup
    private let pause: HeldPause

    var url: String { "http://127.0.0.1:\(port)" }

    /// Sets the time that the calls from now on wait.
    func set(_ pause: Pause) { self.pause.set(pause) }

    /// Starts a stand-in, runs the body and closes it with its connections.
    static func whileAnswering<T>(
        after pause: Pause, _ body: (StripeUpstream) async throws -> T
    ) async throws -> T {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let held = HeldPause(pause)
        let result: Result<T, any Error>
        do {
            let channel = try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 1_024)
                .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(UpstreamConnection(held))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            guard let port = channel.localAddress?.port else {
                throw BenchFailure(description: "the upstream has no port")
            }
            result = .success(try await body(StripeUpstream(port: port, group: group, pause: held)))
        } catch { result = .failure(error) }
        try await group.shutdownGracefully()
        return try result.get()
    }
}

/// A pause that can be changed while the stand-in answers.
private final class HeldPause: Sendable {
    private let held: Mutex<StripeUpstream.Pause>

    init(_ pause: StripeUpstream.Pause) { held = Mutex(pause) }

    var current: StripeUpstream.Pause { held.withLock { $0 } }

    func set(_ pause: StripeUpstream.Pause) { held.withLock { $0 = pause } }
}

private final class UpstreamConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private static let contentLength = Array("\r\ncontent-length:".utf8)

    private let pause: HeldPause
    private var received = ByteBuffer()

    init(_ pause: HeldPause) { self.pause = pause }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        let channel = context.channel
        while let form = take() {
            guard let pause = pause.current else { continue }
            let reply = Self.reply(to: form)
            channel.eventLoop.scheduleTask(in: pause) { channel.writeAndFlush(reply, promise: nil) }
        }
        if received.readableBytes == 0 { received.clear() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// The form of the next request, removed from the buffer; nil while it is not whole.
    private func take() -> String? {
        guard let head = received.withUnsafeReadableBytes({ HeadBytes.end($0) }) else { return nil }
        let length =
            received.withUnsafeReadableBytes { bytes in
                HeadBytes.number(after: Self.contentLength, in: UnsafeRawBufferPointer(rebasing: bytes[..<head]))
            } ?? 0
        guard received.readableBytes >= head + length else { return nil }
        received.moveReaderIndex(forwardBy: head)
        return received.readString(length: length)
    }

    private static func reply(to form: String) -> ByteBuffer {
        var fields: [String: String] = [:]
        for pair in form.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1).map { PercentEncoding.text($0, readsPlus: true) ?? "" }
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        let payment = fields["metadata[payment_id]"] ?? ""
        let isMade = !payment.isEmpty
        let body =
            isMade
            ? """
            {"id":"pi_\(payment)","object":"payment_intent","status":"requires_payment_method",\
            "amount":\(fields["amount"] ?? "0"),"amount_received":0,"currency":"\(fields["currency"] ?? "")",\
            "client_secret":"pi_\(payment)_secret_bench","livemode":false,\
            "metadata":{"payment_id":"\(payment)","order_id":"\(fields["metadata[order_id]"] ?? "")"}}
            """ : #"{"object":"list","data":[],"has_more":false}"#
        return ByteBuffer(
            string: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                + body)
    }
}
