import Domain
import Gateway

/// The webhook transport of commands that compose the gateway but deliver nothing.
struct NoWebhooks: WebhookTransport {
    func open(_: WebhookURL) async -> Result<any WebhookSession, WebhookRefusal> {
        .failure(WebhookRefusal(.connection))
    }
}
