import Domain
import FoundationEssentials
import ProviderKit
import Store

/// A raw notification in its stored form: sealed, because it may contain personal data.
struct SealedNotification {
    let body: Data
    /// The method, query string and headers.
    let head: Data

    private struct Head: Codable {
        struct Field: Codable {
            let name: String
            let value: String
        }

        let method: ProviderManifest.NotificationMethod
        let query: String
        let headers: [Field]
    }

    init(_ notification: RawNotification, _ id: ID<Domain.Notification>, by keyRing: KeyRing) throws {
        let head = Head(
            method: notification.method, query: notification.query,
            headers: notification.headers.map { Head.Field(name: $0.name, value: $0.value) })
        body = try keyRing.seal(notification.body, context: Self.bodyPlace(id))
        self.head = try keyRing.seal(try JSONText.encoded(head), context: Self.headPlace(id))
    }

    /// Opens a stored notification, with the real time at which it arrived, which is that of its id.
    ///
    /// - Returns: nil for one that an earlier release sealed in another form.
    static func open(
        body: Data, head: Data, _ id: ID<Domain.Notification>, by keyRing: KeyRing
    ) throws -> RawNotification? {
        let opened = try keyRing.open(head, context: headPlace(id))
        guard let head = try? JSONDecoder().decode(Head.self, from: opened) else { return nil }
        return RawNotification(
            method: head.method, query: head.query, headers: head.headers.map { (name: $0.name, value: $0.value) },
            body: try keyRing.open(body, context: bodyPlace(id)), receivedAt: id.madeAt)
    }

    static func bodyPlace(_ id: ID<Domain.Notification>) -> String { "notifications.body/\(id)" }
    private static func headPlace(_ id: ID<Domain.Notification>) -> String { "notifications.headers/\(id)" }
}
