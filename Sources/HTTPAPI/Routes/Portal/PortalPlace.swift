import Domain
import Gateway
import Pages

/// A page of the portal, by its path below the session's.
enum PortalPlace: Sendable, Equatable {
    case overview
    case order(String)
    case subscription(String)
    /// The payment method of a subscription.
    case card(String)
    case nothing

    /// The path below the session's.
    var path: String {
        switch self {
        case .overview, .nothing: ""
        case .order(let id): "/orders/\(id)"
        case .subscription(let id): "/subscriptions/\(id)"
        case .card(let id): "/subscriptions/\(id)/card"
        }
    }

    /// Returns the address of the page on which a session replaces a subscription's payment method.
    ///
    /// A session may return there whatever `return_urls` says.
    static func card(_ subscription: String, of session: ID<Session>, at publicURL: String) -> String {
        publicURL + PortalFrame.path(session.rawValue) + PortalPlace.card(subscription).path
    }
}
