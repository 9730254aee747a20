import Domain
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A stand-in for Stripe's API on a loopback port, on one thread: each call is answered after the same time, or never.
///
/// A PaymentIntent of a mandate is paid at once, any other waits for its payer. Every payment method is known.
struct StripeUpstream: Sendable {
    /// The time before an answer; nil never answers.
    typealias Pause = TimeAmount?

    /// The customer of all payment methods.
    static let customer = "cus_bench"

    let port: Int
    private let group: MultiThreadedEventLoopGroup
    private let state: UpstreamState

    /// The PaymentIntents that were paid so far.
    var paid: Int { state.paid.load(ordering: .relaxed) }

    var url: String { "http://127.0.0.1:\(port)" }

    /// The file of an account that calls this stand-in.
    func account(_ name: String) -> String {
        """
        account: \(name)
        kind: stripe
        enabled: true
        notify_token: notify-token-of-\(name)
        routing: {platforms: [web], priority: 1}
        settings:
          secret_key: sk_test_benchmark
          publishable_key: pk_test_benchmark
          webhook_secrets: [whsec_benchmark]
          api_base: \(url)
        """
    }

    /// Sets the time that the calls from now on wait.
    func set(_ pause: Pause) { state.set(pause) }

    /// Starts a stand-in, runs the body and closes it with its connections.
    static func whileAnswering<T>(
        after pause: Pause, _ body: (StripeUpstream) async throws -> T
    ) async throws -> T {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let state = UpstreamState(pause)
        let result: Result<T, any Error>
        do {
            let channel = try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 1_024)
                .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(UpstreamConnection(state))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            guard let port = channel.localAddress?.port else {
                throw BenchFailure(description: "the upstream has no port")
            }
            result = .success(try await body(StripeUpstream(port: port, group: group, state: state)))
        } catch { result = .failure(error) }
        try await group.shutdownGracefully()
        return try result.get()
    }
}

/// The state that all connections of a stand-in share.
private final class UpstreamState: Sendable {
    let paid = Atomic<Int>(0)
    private let held: Mutex<StripeUpstream.Pause>

    init(_ pause: StripeUpstream.Pause) { held = Mutex(pause) }

    var pause: StripeUpstream.Pause { held.withLock { $0 } }

    func set(_ pause: StripeUpstream.Pause) { held.withLock { $0 = pause } }
}

private final class UpstreamConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private static let contentLength = Array("\r\ncontent-length:".utf8)

    private let state: UpstreamState
    private var received = ByteBuffer()

    init(_ state: UpstreamState) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        let channel = context.channel
        while let call = take() {
            guard let pause = state.pause else { continue }
            let reply = reply(to: call)
            channel.eventLoop.scheduleTask(in: pause) { channel.writeAndFlush(reply, promise: nil) }
        }
        if received.readableBytes == 0 { received.clear() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private struct Call {
        /// The request's first line, such as `GET /v1/payment_methods/pm_1 HTTP/1.1`.
        let line: String
        let form: String
    }

    /// The next request, removed from the buffer; nil while it is not whole.
    private func take() -> Call? {
        guard let head = received.withUnsafeReadableBytes({ HeadBytes.end($0) }) else { return nil }
        let length =
            received.withUnsafeReadableBytes { bytes in
                HeadBytes.number(after: Self.contentLength, in: UnsafeRawBufferPointer(rebasing: bytes[..<head]))
            } ?? 0
        guard received.readableBytes >= head + length, let start = received.readString(length: head),
            let form = received.readString(length: length)
        else { return nil }
        return Call(line: String(start.prefix { $0 != "\r\n" }), form: form)
    }

    private static let methods = "GET /v1/payment_methods/"

    private func reply(to call: Call) -> ByteBuffer {
        let body = call.line.hasPrefix(Self.methods) ? Self.method(call.line) : intent(call.form)
        return ByteBuffer(
            string: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                + body)
    }

    private static func method(_ line: String) -> String {
        let id = line.dropFirst(methods.count).prefix { $0 != " " && $0 != "?" }
        return """
            {"id":"\(id)","object":"payment_method","type":"card","livemode":false,"customer":"\(StripeUpstream.customer)",\
            "card":{"brand":"visa","last4":"4242","exp_month":12,"exp_year":2099}}
            """
    }

    private func intent(_ form: String) -> String {
        var fields: [String: String] = [:]
        for pair in form.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1).map { PercentEncoding.text($0, readsPlus: true) ?? "" }
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        guard let payment = fields["metadata[payment_id]"] else {
            return #"{"object":"list","data":[],"has_more":false}"#
        }
        let amount = fields["amount"] ?? "0"
        let isPaid = fields["off_session"] == "true"
        if isPaid { state.paid.add(1, ordering: .relaxed) }
        let metadata = fields.compactMap { name, value in
            name.hasPrefix("metadata[") ? "\"\(name.dropFirst(9).dropLast())\":\"\(value)\"" : nil
        }
        return """
            {"id":"pi_\(payment)","object":"payment_intent",\
            "status":"\(isPaid ? "succeeded" : "requires_payment_method")","amount":\(amount),\
            "amount_received":\(isPaid ? amount : "0"),"currency":"\(fields["currency"] ?? "")",\
            "client_secret":"pi_\(payment)_secret_bench","livemode":false,"metadata":{\(metadata.joined(separator: ","))}}
            """
    }
}
