package import Domain
package import Foundation
package import Gateway
import Synchronization

/// Endpoints of partners whose answers a test sets, and which record the messages that they got.
package final class ScriptedEndpoints: WebhookTransport {
    /// A message as it arrived.
    package struct Received: Sendable {
        package let url: String
        package let headers: [String: String]
        package let body: Data
        /// The number of earlier deliveries of this event to the endpoint.
        package let repetition: Int

        package var id: String { headers["webhook-id"] ?? "" }

        /// A member of the body, as text.
        package func member(_ name: String) -> String {
            guard let object = try? JSONSerialization.jsonObject(with: body) as? [String: Any] else { return "" }
            return object[name].map { "\($0)" } ?? ""
        }
    }

    package typealias Answer = @Sendable (Received) async -> WebhookReply

    private struct State {
        var answers: [String: Answer] = [:]
        var refusals: [String: Delivery.Fault] = [:]
        var received: [Received] = []
        var opened: [String] = []
        var waiting: [(url: String, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Sets the answer of an endpoint; the default is 204.
    package func answer(_ url: String, _ answer: @escaping Answer) {
        state.withLock { $0.answers[url] = answer }
    }

    package func answer(_ url: String, status: Int, retryAfter: String? = nil) {
        answer(url) { _ in .replied(status: status, retryAfter: retryAfter) }
    }

    /// Sets the fault with which a connection to the endpoint is refused; nil lets it be made.
    package func refuse(_ url: String, _ fault: Delivery.Fault?) { state.withLock { $0.refusals[url] = fault } }

    /// Returns the deliveries that arrived at an endpoint, in their order.
    package func received(_ url: String) -> [Received] { state.withLock { $0.received.filter { $0.url == url } } }

    /// Returns when a number of messages have arrived at an endpoint.
    package func arrival(of count: Int, at url: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.received.count(where: { $0.url == url }) >= count { return true }
                state.waiting.append((url, count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    package func open(_ url: WebhookURL) async -> Result<any WebhookSession, WebhookRefusal> {
        let refusal = state.withLock { $0.refusals[url.text] }
        if let refusal { return .failure(WebhookRefusal(refusal)) }
        return .success(Session(url: url.text, endpoints: self))
    }

    private struct Session: WebhookSession {
        let url: String
        let endpoints: ScriptedEndpoints

        func post(_ message: WebhookMessage) async -> WebhookReply { await endpoints.take(message, at: url) }
        func close() async {}
    }

    private func take(_ message: WebhookMessage, at url: String) async -> WebhookReply {
        let headers = Dictionary(uniqueKeysWithValues: message.headers)
        let (answer, received, reached) = state.withLock { state in
            let before = state.received.count { $0.url == url && $0.id == headers["webhook-id"] }
            let received = Received(url: url, headers: headers, body: message.body, repetition: before)
            state.received.append(received)
            let count = state.received.count { $0.url == url }
            let reached = state.waiting.filter { $0.url == url && $0.count <= count }
            state.waiting.removeAll { $0.url == url && $0.count <= count }
            return (state.answers[url], received, reached)
        }
        for waiter in reached { waiter.continuation.resume() }
        return await answer?(received) ?? .replied(status: 204)
    }
}
