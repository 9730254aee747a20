package import Domain

/// A right of an API key; `admin` implies every other.
package enum Scope: String, Sendable, CaseIterable {
    case admin
    case adminRead = "admin:read"
    case entitlementsRead = "entitlements:read"
    case entitlementsWrite = "entitlements:write"
    case ordersRead = "orders:read"
    case checkoutWrite = "checkout:write"
    case refundsWrite = "refunds:write"
    case eventsRead = "events:read"
    case webhooksWrite = "webhooks:write"
}

extension EventType {
    /// The scope that a key needs for events of this type (`docs/api.md` section 10).
    package var readScope: Scope {
        switch self {
        case .orderOpened, .orderPaid, .orderClosed, .orderAnomaly, .refundSucceeded, .refundFailed, .disputeOpened,
            .disputeClosed:
            .ordersRead
        case .purchaseAttached, .purchaseTransferred, .purchaseUnmapped, .subscriptionChanged,
            .subscriptionPaymentFailed,
            .subscriptionRenewalUpcoming, .subscriptionPriceChange, .entitlementsChanged,
            .balanceOverdrawn, .consentRescinded:
            .entitlementsRead
        }
    }

    /// The types that keys with these scopes may read.
    package static func readable(with scopes: Set<Scope>) -> Set<EventType> {
        Set(allCases.filter { scopes.contains(.admin) || scopes.contains($0.readScope) })
    }
}
