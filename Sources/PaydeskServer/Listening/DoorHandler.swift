import HTTPAPI
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Answers what the door turns away, before any task hears of it.
///
/// It stands behind the decoder of HTTP/1. Only a connection that owes no answer is refused here, so that answers keep the
/// order of their requests.
final class DoorHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// A door, and how its refusals begin.
    struct Entrance: Sendable {
        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let refuse: @Sendable (HTTPRequestHead) -> Door.Refusal?
    }

    private let entrance: Entrance
    /// The framework closes what it has not heard of for its idle time, so from time to time a request goes on to it.
    private let hearsAgain: TimeAmount
    private var lastHeard = NIODeadline.uptimeNanoseconds(0)
    /// Requests that went on and still have no whole answer.
    private var unanswered = 0
    /// Whether the rest of a request that was refused is passed over, and then the connection closed.
    private var isRefusing = false
    private var isLast = false
    /// Whether anything of this read was passed over, and whether anything went on.
    private var isPassedOver = false
    private var wentOn = false

    init(_ entrance: Entrance, idle: TimeAmount) {
        self.entrance = entrance
        hearsAgain = .nanoseconds(idle.nanoseconds / 2)
    }

    func handlerAdded(context: ChannelHandlerContext) { lastHeard = context.eventLoop.now }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            let now = context.eventLoop.now
            if unanswered == 0, now - lastHeard < hearsAgain, let refusal = entrance.refuse(head) {
                (isRefusing, isPassedOver) = (true, true)
                isLast = !head.isKeepAlive
                answer(refusal, head.version, context)
            } else {
                lastHeard = now
                unanswered += 1
                goOn(context, data)
            }
        case .body:
            guard isRefusing else { return goOn(context, data) }
            isPassedOver = true
        case .end:
            guard isRefusing else { return goOn(context, data) }
            (isRefusing, isPassedOver) = (false, true)
            if isLast { context.close(promise: nil) }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if wentOn || !isPassedOver { context.fireChannelReadComplete() }
        (isPassedOver, wentOn) = (false, false)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { unanswered -= 1 }
        context.write(data, promise: promise)
    }

    private func goOn(_ context: ChannelHandlerContext, _ data: NIOAny) {
        wentOn = true
        context.fireChannelRead(data)
    }

    private func answer(_ refusal: Door.Refusal, _ version: HTTPVersion, _ context: ChannelHandlerContext) {
        var headers = entrance.headers
        headers.add(name: "X-Request-Id", value: refusal.requestID)
        headers.add(name: "Content-Length", value: String(refusal.body.readableBytes))
        if isLast { headers.add(name: "Connection", value: "close") }
        let head = HTTPResponseHead(version: version, status: entrance.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(refusal.body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

extension DoorHandler.Entrance {
    init(_ door: Door) {
        self.init(
            status: HTTPResponseStatus(statusCode: door.status.code),
            headers: HTTPHeaders(door.headers.map { ($0.name.rawName, $0.value) })
        ) { door.refusal(method: $0.method.rawValue, target: $0.uri, headers: $0.headers) }
    }
}
