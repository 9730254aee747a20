import Foundation
package import Gateway
package import ProviderKit
import Synchronization

/// Carries the sandbox's notifications to the gateway within the process.
package final class FixtureTransport: HTTPTransport {
    package enum Mode: Sendable {
        case delivers
        /// The request never reaches the gateway.
        case drops
        /// The request reaches the gateway, and the sender never learns of it.
        case losesReplies
    }

    private struct State {
        var gateway: Gateway?
        var mode = Mode.delivers
        var sent: [OutgoingRequest] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var mode: Mode {
        get { state.withLock { $0.mode } }
        set { state.withLock { $0.mode = newValue } }
    }

    /// Every request that was sent, in order.
    package var sent: [OutgoingRequest] { state.withLock { $0.sent } }

    package func connect(to gateway: Gateway) { state.withLock { $0.gateway = gateway } }

    package func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        let (gateway, mode) = state.withLock { state in
            state.sent.append(request)
            return (state.gateway, state.mode)
        }
        guard mode != .drops, let gateway, let token = request.url.split(separator: "/").last else { throw .notSent }
        let notification = RawNotification(method: .post, headers: request.headers, body: request.body)
        let reply: IncomingReply
        do throws(GatewayError) {
            let answer = try await gateway.notifications.receive(token: String(token), notification)
            reply = IncomingReply(status: answer.status, body: Data(answer.body.utf8))
        } catch {
            reply = IncomingReply(status: error == .notFound ? 404 : 400)
        }
        if mode == .losesReplies { throw .outcomeUnknown }
        return reply
    }
}
