import NIOCore
import NIOHTTP1

/// The time that a client may take for each part of an exchange; the connection of a slower client is closed.
struct ClientTimeLimits: Sendable {
    /// The time from the first byte of a request's head to its end.
    var head = TimeAmount.seconds(10)
    /// The time from the head to the end of the body; longer than the pipeline's own limit, which answers first.
    var body = TimeAmount.seconds(25)
    /// The time between two requests, and before the first.
    ///
    /// Longer than the minute for which proxies keep connections, so that no request arrives on a connection that is
    /// being closed.
    var idle = TimeAmount.seconds(75)
    /// The time for which a client may take no byte of its answer.
    var answer = TimeAmount.seconds(30)
}

/// Closes connections whose clients send or receive so slowly that they only occupy them.
///
/// It comes after the HTTP/1 decoder, so bytes that complete no part of a message show as a read without a part. A
/// request that arrives as a whole starts no timer. The framework limits the time between requests.
final class SlowClientHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Reading {
        case nothing
        case head
        case body
    }

    private let limits: ClientTimeLimits
    private var reading = Reading.nothing
    /// True where this read completed a part of a message.
    private var hasPart = false
    /// The requests without a complete answer.
    private var unanswered = 0
    private var arrival: Scheduled<Void>?
    private var departure: Scheduled<Void>?

    init(_ limits: ClientTimeLimits) { self.limits = limits }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasPart = true
        switch unwrapInboundIn(data) {
        case .head:
            // The head had its own limit; the body's limit starts only where the body does not arrive with the head.
            expectNothing()
            reading = .body
            unanswered += 1
        case .body: break
        case .end:
            expectNothing()
            reading = .nothing
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // While an answer is made, such a read may be the client's end of sending, which is allowed.
        if reading == .nothing && !hasPart && unanswered == 0 { reading = .head }
        hasPart = false
        if arrival == nil {
            switch reading {
            case .nothing: break
            case .head: arrival = closing(context, after: limits.head)
            case .body: arrival = closing(context, after: limits.body)
            }
        }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { unanswered -= 1 }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        departure?.cancel()
        departure = context.channel.isWritable ? nil : closing(context, after: limits.answer)
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        handlerRemoved(context: context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        expectNothing()
        departure?.cancel()
        departure = nil
    }

    private func expectNothing() {
        arrival?.cancel()
        arrival = nil
    }

    private func closing(_ context: ChannelHandlerContext, after time: TimeAmount) -> Scheduled<Void> {
        let channel = context.channel
        return context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
