import Domain
import Foundation
import Gateway
import ProviderKit

/// The transport of commands that compose the gateway but call no provider.
struct NoTransport: HTTPTransport {
    func send(_: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply { throw .notSent }
}

/// The webhook transport of commands that compose the gateway but deliver nothing.
struct NoWebhooks: WebhookTransport {
    func open(_: WebhookURL) async -> Result<any WebhookSession, WebhookRefusal> {
        .failure(WebhookRefusal(.connection))
    }
}

/// The account book of commands that make providers without a database.
struct NoBook: AccountBook {
    func value(_: String) async throws(ProviderError) -> Data? { throw .unavailable }

    func update(_: String, _: @escaping @Sendable (Data?) -> Data?) async throws(ProviderError) -> Data? {
        throw .unavailable
    }
}
