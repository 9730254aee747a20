import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Hummingbird
import NIOCore

/// The route of the live stream: server-sent events (WHATWG HTML, section 9.2) of what a user's app shows.
struct StreamRoutes {
    let gateway: Gateway
    let tokens: UserTokens

    private static let mediaType = "text/event-stream; charset=utf-8"
    /// The milliseconds after which a client connects again.
    private static let retry = "retry: 3000\n\n"

    var routes: [Route] {
        [
            Route(
                "readStream", .get, "/v1/public/stream", .user, sessions: [.checkout, .portal], .live,
                "Tells what changes, while the connection stands",
                note: """
                    Server-sent events: `entitlements` with the version, at the start and after each change; `order` with \
                    an order's state; a comment every 15 seconds; `bye` with the reason before the stream ends. A \
                    checkout's session gets its own orders alone. A user has at most 5 streams on a node.
                    """,
                answers: .other("text/event-stream", "Events, until either side ends it."), refuses: [.notFound],
                handle: stream)
        ]
    }

    private func stream(_ call: Call) async throws(GatewayError) -> Answer {
        let headers = [
            HTTPField(name: .cacheControl, value: "no-store, no-transform"),
            HTTPField(name: .xAccelBuffering, value: "no"),
        ]
        guard call.request.method != .head else {
            return .streamed(contentType: Self.mediaType, body: ResponseBody(), headers: headers)
        }
        let subscription = try await open(call)
        let body = ResponseBody { writer in
            let connection = ClientConnection.current
            connection?.whenEnded { [weak subscription] in subscription?.close() }
            defer { connection?.whenEnded(nil) }
            try await writer.write(ByteBuffer(string: Self.retry))
            while let events = await subscription.next() {
                try await writer.write(ByteBuffer(string: try events.map(Self.text).joined()))
            }
            subscription.close()
            try await writer.finish(nil)
        }
        return .streamed(contentType: Self.mediaType, body: body, headers: headers)
    }

    private func open(_ call: Call) async throws(GatewayError) -> LiveSubscription {
        if let caller = call.session {
            let audience: LiveAudience = caller.purpose == .checkout ? .checkout(caller.id) : .portal(caller.id)
            return try await gateway.live.open(
                caller.user, audience, id: caller.session.user, until: caller.session.readableUntil)
        }
        guard let token = call.request.headerFields.bearer else { throw .unauthenticated }
        return try await gateway.live.open(call.user, .user, until: tokens.end(of: token))
    }

    private static func text(_ event: LiveEvent) throws -> String {
        switch event {
        case .entitlements(let state):
            "id: \(state.version)\nevent: entitlements\ndata: \(try data(state))\n\n"
        case .order(let order): "event: order\ndata: \(try data(order))\n\n"
        case .comment: ":\n\n"
        case .bye(let reason): "event: bye\ndata: \(try data(["reason": reason]))\n\n"
        }
    }

    private static func data(_ value: some Encodable) throws -> String {
        String(decoding: try Answer.encode(value), as: UTF8.self)
    }
}
