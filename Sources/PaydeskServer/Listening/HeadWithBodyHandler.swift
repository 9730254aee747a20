import NIOCore
import NIOHTTP1

/// Sends an answer's head along with the first piece of its body.
///
/// The framework flushes each part by itself: two segments of TCP and two system calls where one does.
final class HeadWithBodyHandler: ChannelOutboundHandler {
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var isWaiting = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        isWaiting = if case .head = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        if !isWaiting { context.flush() }
    }
}
