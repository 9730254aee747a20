import HTTPAPI
import NIOCore

/// Tells an answer that lasts when its client has closed the connection or its side of it.
///
/// It is added to a connection at the first such answer, since other requests need none.
final class ClientEndHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private var act: (@Sendable () -> Void)?

    /// - Parameter act: is called once; nil ends the watch.
    func watch(_ act: (@Sendable () -> Void)?) { self.act = act }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { end() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        act?()
        act = nil
    }
}

extension ClientConnection {
    init(_ channel: any Channel) {
        self.init { act in
            channel.eventLoop.execute {
                let pipeline = channel.pipeline.syncOperations
                if let handler = try? pipeline.handler(type: ClientEndHandler.self) { return handler.watch(act) }
                guard let act else { return }
                let handler = ClientEndHandler()
                handler.watch(act)
                guard channel.isActive, (try? pipeline.addHandler(handler, position: .first)) != nil else {
                    return act()
                }
            }
        }
    }
}
