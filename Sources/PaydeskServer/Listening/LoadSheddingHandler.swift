import HTTPAPI
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Answers the requests that the load shedder refuses, before a task handles them.
///
/// It comes after the HTTP/1 decoder. A request is refused here only on a connection without unanswered requests, so
/// that answers keep the order of their requests, and only on one that takes its answers, so that no client makes this
/// node buffer them.
final class LoadSheddingHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// A load shedder, with the status and headers of its refusals.
    struct Entrance: Sendable {
        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let refuse: @Sendable (HTTPRequestHead) -> LoadShedder.Refusal?
    }

    private let entrance: Entrance
    /// The time after which a request is passed on even under load: the framework closes connections on which it sees
    /// no request for its idle time, and this way a connection stays open for most of that time after its last request.
    private let hearsAgain: TimeAmount
    private var lastHeard = NIODeadline.uptimeNanoseconds(0)
    /// The requests that were passed on and have no complete answer.
    private var unanswered = 0
    /// True while the rest of a refused request is skipped.
    private var isRefusing = false
    private var isLast = false

    init(_ entrance: Entrance, idle: TimeAmount) {
        self.entrance = entrance
        hearsAgain = .nanoseconds(idle.nanoseconds / 5)
    }

    func handlerAdded(context: ChannelHandlerContext) { lastHeard = context.eventLoop.now }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            let now = context.eventLoop.now
            if unanswered == 0, context.channel.isWritable, now - lastHeard < hearsAgain,
                let refusal = entrance.refuse(head)
            {
                isRefusing = true
                isLast = !head.isKeepAlive
                answer(refusal, context)
            } else {
                lastHeard = now
                unanswered += 1
                context.fireChannelRead(data)
            }
        case .body:
            if !isRefusing { context.fireChannelRead(data) }
        case .end:
            guard isRefusing else { return context.fireChannelRead(data) }
            isRefusing = false
            // Data that was written before is still sent.
            if isLast { context.close(mode: .output, promise: nil) }
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { unanswered -= 1 }
        context.write(data, promise: promise)
    }

    private func answer(_ refusal: LoadShedder.Refusal, _ context: ChannelHandlerContext) {
        var headers = entrance.headers
        headers.add(name: "X-Request-Id", value: refusal.requestID)
        headers.add(name: "Content-Length", value: String(refusal.body.readableBytes))
        if isLast { headers.add(name: "Connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: entrance.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(refusal.body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

extension LoadSheddingHandler.Entrance {
    init(_ shedder: LoadShedder) {
        self.init(
            status: HTTPResponseStatus(statusCode: shedder.status.code),
            headers: HTTPHeaders(shedder.headers.map { ($0.name.rawName, $0.value) })
        ) { shedder.refusal(method: $0.method.rawValue, target: $0.uri, headers: $0.headers) }
    }
}
