package import Domain

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
