package import Domain
package import FoundationEssentials

/// The HTTP client for webhooks, which follows no redirect, uses no proxy and reads only the beginning of an answer's body.
package protocol WebhookTransport: Sendable {
    /// Resolves the host and checks all its addresses; connections go to one of them.
    ///
    /// - Returns: a session, or the reason why the endpoint must not or cannot be called.
    func open(_ url: WebhookURL) async -> Result<any WebhookSession, WebhookRefusal>
}

/// An endpoint whose addresses were just checked; its connections are reused.
package protocol WebhookSession: Sendable {
    func post(_ message: WebhookMessage) async -> WebhookReply
    func close() async
}

/// The reason why an endpoint is not called.
package struct WebhookRefusal: Error, Sendable, Equatable {
    package let fault: Delivery.Fault

    package init(_ fault: Delivery.Fault) { self.fault = fault }
}

/// A signed message.
package struct WebhookMessage: Sendable {
    package let headers: [(name: String, value: String)]
    package let body: Data
    /// The time limit of the attempt, where it is shorter than the transport's own.
    package let limit: Duration?

    package init(headers: [(name: String, value: String)], body: Data, limit: Duration? = nil) {
        self.headers = headers
        self.body = body
        self.limit = limit
    }
}

/// The end of an attempt.
package enum WebhookReply: Sendable, Equatable {
    /// - Parameter body: the first 1,000 characters of the answer; nil for an empty one.
    case replied(status: Int, retryAfter: String? = nil, body: String? = nil)
    case failed(Delivery.Fault)
}
