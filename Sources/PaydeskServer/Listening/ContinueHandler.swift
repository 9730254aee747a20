import NIOCore
import NIOHTTP1

/// Answers `Expect: 100-continue`, so that a waiting client sends its body (RFC 9110 section 10.1.1).
///
/// Every body is asked for: only the whole request shows if it is wanted, and bodies are small here. Without the
/// interim answer curl and others wait a second before they send the body.
final class ContinueHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The requests without a complete answer.
    private var unanswered = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            // While an earlier request is unanswered, the interim answer would appear inside that request's answer.
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
