import Gateway
import HTTPAPI
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// HTTP/1.1 with a time limit for everything that a client can delay.
struct LimitedHTTP1: ServerChildChannel {
    private let http: HTTP1Channel
    private let limits: ClientTimeLimits
    private let entrance: LoadSheddingHandler.Entrance?
    private let tasks = ConnectionTasks()

    init(responder: @escaping HTTPChannelHandler.Responder, limits: ClientTimeLimits, shedder: LoadShedder?) {
        http = HTTP1Channel(responder: responder, configuration: .init(idleTimeout: limits.idle))
        self.limits = limits
        entrance = shedder.map(LoadSheddingHandler.Entrance.init)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { [limits, entrance] value in
            let pipeline = channel.pipeline.syncOperations
            // The next piece of an answer waits while this many bytes have not been taken.
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: .init(low: 16 << 10, high: 32 << 10))
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            var handlers: [any ChannelHandler] = [SlowClientHandler(limits), HostHandler()]
            if let entrance { handlers.append(LoadSheddingHandler(entrance, idle: limits.idle)) }
            handlers.append(ContinueHandler())
            try pipeline.addHandlers(handlers, position: .after(decoder))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        let executor = EventLoopExecutor(value.channel.eventLoop)
        await tasks.run(on: executor) { [http] in
            await ProviderCalls.$executor.withValue(executor) {
                await ClientConnection.$current.withValue(ClientConnection(value.channel)) {
                    await http.handle(value: value, logger: logger)
                }
            }
        }
    }
}

extension HTTPServerBuilder {
    /// - Parameter certificate: is served by TLS; nil for HTTP without it.
    static func limitedHTTP1(
        _ limits: ClientTimeLimits = ClientTimeLimits(), shedder: LoadShedder? = nil,
        certificate: ServedCertificate? = nil
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            let http = LimitedHTTP1(responder: responder, limits: limits, shedder: shedder)
            guard let certificate else { return http }
            return ReloadableTLS(base: http, certificate: certificate)
        }
    }
}
