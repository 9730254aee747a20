package import Domain
package import FoundationEssentials

/// How events leave the building: nothing here follows a redirect, uses a proxy or returns what the endpoint answered.
package protocol WebhookTransport: Sendable {
    /// Resolves the host and checks every address that it has; what is dialled later is one of them.
    ///
    /// - Returns: why the endpoint must not or cannot be dialled.
    func open(_ url: WebhookURL) async -> Result<any WebhookSession, WebhookRefusal>
}

/// An endpoint that was checked a moment ago; its connections are used again.
package protocol WebhookSession: Sendable {
    func post(_ message: WebhookMessage) async -> WebhookReply
    func close() async
}

/// Why an endpoint is not dialled.
package struct WebhookRefusal: Error, Sendable, Equatable {
    package let fault: Delivery.Fault

    package init(_ fault: Delivery.Fault) { self.fault = fault }
}

/// One signed message.
package struct WebhookMessage: Sendable {
    package let headers: [(name: String, value: String)]
    package let body: Data

    package init(headers: [(name: String, value: String)], body: Data) {
        self.headers = headers
        self.body = body
    }
}

/// How an attempt ended.
package enum WebhookReply: Sendable, Equatable {
    case replied(status: Int, retryAfter: String? = nil)
    case failed(Delivery.Fault)
}
