import NIOCore
import NIOHTTP1

/// The time that a client may take for each part of an exchange; a slower client's connection is closed.
struct ClientTimeLimits: Sendable {
    /// From the first byte of a request's head to its end.
    var head = TimeAmount.seconds(10)
    /// From the head to the end of the body; longer than the pipeline waits, which answers before.
    var body = TimeAmount.seconds(25)
    /// Between two requests, and before the first; longer than the minute for which proxies keep a connection to use it
    /// again, so that no request meets a connection that is being closed.
    var idle = TimeAmount.seconds(75)
    /// Until a client that takes nothing of its answer has taken some of it.
    var answer = TimeAmount.seconds(30)
}

/// Closes connections whose clients send or take so slowly that they only hold them.
///
/// It stands behind the decoder of HTTP/1, so bytes that make no part of a message yet show as a read without one. A
/// request that arrives as a whole costs no timer. The time between requests is the framework's to limit.
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
    /// True where the bytes of this read were parts of a message.
    private var hasPart = false
    /// Requests that still have no whole answer.
    private var unanswered = 0
    private var arrival: Scheduled<Void>?
    private var departure: Scheduled<Void>?

    init(_ limits: ClientTimeLimits) { self.limits = limits }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasPart = true
        switch unwrapInboundIn(data) {
        case .head:
            // The head had its own time; the body's is only counted where the body does not come along.
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
        // While an answer is made, such a read may be the end of the client's sending, which it is free to announce.
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
