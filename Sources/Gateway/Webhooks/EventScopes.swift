package import Domain
import Store

extension EventType {
    /// The scope that a webhook or the event list needs to show this type (`api.md` section 10).
    package var readScope: Scope {
        switch self {
        case .orderOpened, .orderPaid, .orderClosed, .orderAnomaly, .refundSucceeded, .refundFailed, .disputeOpened,
            .disputeClosed:
            .ordersRead
        case .purchaseAttached, .purchaseTransferred, .purchaseUnmapped, .subscriptionChanged, .entitlementsChanged,
            .balanceOverdrawn:
            .entitlementsRead
        }
    }

    /// The types that these scopes let somebody read.
    package static func readable(with scopes: Set<Scope>) -> Set<EventType> {
        Set(allCases.filter { scopes.contains(.admin) || scopes.contains($0.readScope) })
    }
}

/// An endpoint as the dispatcher sees it: what it may get.
struct EventAudience: Sendable {
    let webhook: ID<Webhook>
    private let partner: String
    private let types: Set<EventType>

    init(_ record: WebhookRecord) {
        webhook = record.id
        partner = record.partner
        let readable = EventType.readable(with: Set(record.scopes.compactMap(Scope.init)))
        let wanted = Set(record.types.compactMap(EventType.init))
        types = record.types.isEmpty ? readable : readable.intersection(wanted)
    }

    /// An event of an order that another partner made stays hidden.
    func sees(_ event: UndispatchedEvent) -> Bool {
        types.contains(event.type) && (event.partner == nil || event.partner == partner)
    }
}
