import Domain
import Store

extension WebhookRecord {
    /// The event types that the endpoint requested and that the key which made it could read.
    var shownTypes: Set<EventType> {
        let readable = EventType.readable(with: Set(scopes.compactMap(Scope.init)))
        return types.isEmpty ? readable : readable.intersection(types.compactMap(EventType.init))
    }

    /// Returns the types of ``shownTypes`` that are sent now, which some valid key of the partner may read.
    ///
    /// A webhook belongs to its partner, not to the key that made it.
    ///
    /// - Parameter scopes: the scopes of all keys of the partner that are not revoked.
    func deliveredTypes(_ scopes: Set<String>) -> Set<EventType> {
        shownTypes.intersection(EventType.readable(with: Set(scopes.compactMap(Scope.init))))
    }
}

/// An endpoint in the dispatcher, with the types that it may get.
struct EventAudience: Sendable {
    let webhook: ID<Webhook>
    private let partner: String
    private let types: Set<EventType>

    /// - Parameter scopes: the scopes of the partner's valid keys.
    init(_ record: WebhookRecord, scopes: Set<String>) {
        webhook = record.id
        partner = record.partner
        types = record.deliveredTypes(scopes)
    }

    /// Returns true for an event that the endpoint may get; an event of another partner's order stays hidden.
    func sees(_ event: UndispatchedEvent) -> Bool {
        types.contains(event.type) && (event.partner == nil || event.partner == partner)
    }
}
