import Domain
import Store

extension WebhookRecord {
    /// The types that an endpoint asked for and that the key which made it could read.
    var shownTypes: Set<EventType> {
        let readable = EventType.readable(with: Set(scopes.compactMap(Scope.init)))
        return types.isEmpty ? readable : readable.intersection(types.compactMap(EventType.init))
    }

    /// The types of ``shownTypes`` that are sent now: those that some valid key of the partner may read, because a webhook
    /// belongs to its partner, not to the key that made it.
    ///
    /// - Parameter scopes: those of every key of the partner that is not revoked.
    func deliveredTypes(_ scopes: Set<String>) -> Set<EventType> {
        shownTypes.intersection(EventType.readable(with: Set(scopes.compactMap(Scope.init))))
    }
}

/// An endpoint as the dispatcher sees it: what it may get.
struct EventAudience: Sendable {
    let webhook: ID<Webhook>
    private let partner: String
    private let types: Set<EventType>

    /// - Parameter scopes: those of the partner's good keys.
    init(_ record: WebhookRecord, scopes: Set<String>) {
        webhook = record.id
        partner = record.partner
        types = record.deliveredTypes(scopes)
    }

    /// An event of an order that another partner made stays hidden.
    func sees(_ event: UndispatchedEvent) -> Bool {
        types.contains(event.type) && (event.partner == nil || event.partner == partner)
    }
}
