import NIOCore
import NIOHTTP1

/// Tells a client that waits for it to send its body (RFC 9110 section 10.1.1).
///
/// Whether the body is wanted only reading the request shows, and bodies are small here; without a word curl and others
/// wait a second before they send one.
final class ContinueHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Requests that still have no whole answer.
    private var unanswered = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            // Behind a request that is not answered yet it would stand in that one's answer.
            if unanswered == 0 && head.version == .http1_1
                && head.headers["expect"].contains(where: { $0.lowercased() == "100-continue" })
            {
                let interim = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
            }
            unanswered += 1
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { unanswered -= 1 }
        context.write(data, promise: promise)
    }
}
