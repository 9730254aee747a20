package import Domain

/// A message of a stream to its client.
package enum LiveEvent: Sendable, Equatable {
    case entitlements(LiveEntitlements)
    case order(LiveOrder)
    /// A sign that the connection stands.
    case comment
    /// The last event.
    case bye(LiveEnd)
}

/// The version of a user's entitlements, which the client reads where it is new to it.
package struct LiveEntitlements: Encodable, Sendable, Equatable {
    package let version: Int64
    /// The time at which time alone changes them; null for never.
    @Nullable package private(set) var next_change_at: Timestamp?

    init(_ snapshot: EntitlementSnapshot) {
        version = snapshot.version
        next_change_at = snapshot.next_change_at
    }
}

package struct LiveOrder: Encodable, Sendable, Equatable {
    package let id: ID<Order>
    package let status: String
    package let next_action: NextAction
}

/// The reason for which a stream ends.
package enum LiveEnd: String, Encodable, Sendable, CaseIterable {
    /// The node stops.
    case shutdown
    /// The token's or the session's time is over.
    case expired
    /// The session was ended.
    case ended
    /// The user was erased.
    case erased
}

/// The reader of a stream, who decides what it shows.
package enum LiveAudience: Hashable, Sendable {
    /// The user: entitlements and all orders.
    case user
    /// A session of the user, which sees the same.
    case portal(ID<Session>)
    /// A session that sees the orders that it made.
    case checkout(ID<Session>)

    var session: ID<Session>? {
        switch self {
        case .user: nil
        case .portal(let session), .checkout(let session): session
        }
    }

    var showsEntitlements: Bool { if case .checkout = self { false } else { true } }
}
