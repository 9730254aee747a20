import NIOCore
import NIOHTTP1

/// Refuses an HTTP/1.1 request without a host, or with several (RFC 9112 section 3.2), and closes the connection.
///
/// It comes right after the HTTP/1 decoder, where header fields are still as they were sent; later in the pipeline,
/// several `Host` fields are merged into one.
final class HostHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The requests without a complete answer.
    private var unanswered = 0
    /// True after a refusal; further input is not read.
    private var isRefusing = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefusing else { return }
        if case .head(let head) = unwrapInboundIn(data) {
            let hosts = head.headers["host"].count
            guard hosts == 1 || (hosts == 0 && head.version != .http1_1) else {
                isRefusing = true
                return refuseInTurn(context)
            }
            unanswered += 1
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        guard isEnd else { return }
        unanswered -= 1
        if isRefusing { refuseInTurn(context) }
    }

    /// Sends the refusal once all earlier requests have been answered.
    private func refuseInTurn(_ context: ChannelHandlerContext) {
        guard unanswered == 0 else { return }
        let body = ByteBuffer(string: Self.body)
        let head = HTTPResponseHead(
            version: .http1_1, status: .badRequest,
            headers: [
                "Content-Type": "application/json; charset=utf-8", "Content-Length": String(body.readableBytes),
                "Connection": "close",
            ])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
    }

    private static let body =
        #"{"code":400,"details":{"field":"Host","reason":"must be there once"},"error":"invalid_request","#
        + #""msg":"Host: must be there once.","request_id":""}"#
}
