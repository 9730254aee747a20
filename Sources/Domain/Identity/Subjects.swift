import Encodings

/// A buyer.
///
/// Requests and answers name a buyer by the app's own id; all other data uses an internal id, so that the erasure of a
/// person deletes one mapping.
package enum User: Identified { package static let idPrefix = "usr" }
/// A provider notification as it arrived.
package enum Notification: Identified {
    package static let idPrefix = "ntf"

    /// The state of a notification in the inbox; a `rejected` one did not verify.
    package enum Status: String, Sendable, CaseIterable {
        case stored, processed, quarantined, rejected
    }
}
/// A final fact that a provider gave in answer to a query.
package enum LearnedFact: Identified { package static let idPrefix = "fct" }
/// An entry of the outbox.
package enum Event: Identified { package static let idPrefix = "evt" }
/// A piece of work that is done under a lease.
package enum Job: Identified {
    package static let idPrefix = "job"

    /// The state of a job; only a waiting one is run when it is due, and one that has ended is deleted.
    package enum State: String, Sendable, CaseIterable {
        case waiting, quarantined
    }
}
/// A credential of a partner or an admin.
package enum APIKey: Identified { package static let idPrefix = "key" }
/// An HTTP request, for the log and for support.
package enum Request: Identified { package static let idPrefix = "req" }

/// The app's own name for a user: 1–128 Unicode scalars (so at most 512 bytes of UTF-8), no control characters.
package struct ExternalUserID: Hashable, Sendable {
    package let rawValue: String

    package init?(_ text: String) {
        guard text.hasScalars(1...128), text.isPlain else { return nil }
        rawValue = text
    }
}

/// The SKU's id that an admin chose, `vip_month`: `[a-z0-9][a-z0-9_.-]{0,63}`.
public struct SKUCode: Hashable, Sendable, Comparable {
    public let rawValue: String

    /// - Returns: nil unless the text has that form.
    public init?(_ text: String) {
        func plain(_ byte: UInt8) -> Bool { byte.isSmallLetter || byte.isDigit }
        guard let first = text.utf8.first, plain(first), text.utf8.count <= 64,
            text.utf8.allSatisfy({ plain($0) || $0 == 0x5F || $0 == 0x2E || $0 == 0x2D })
        else { return nil }
        rawValue = text
    }

    public static func < (left: SKUCode, right: SKUCode) -> Bool { left.rawValue < right.rawValue }
}

/// A configured provider's name, `stripe-main`: `[a-z0-9][a-z0-9_-]{0,63}`.
public struct AccountID: Hashable, Sendable, Comparable {
    public let rawValue: String

    /// - Returns: nil unless the text has that form.
    public init?(_ text: String) {
        func plain(_ byte: UInt8) -> Bool { byte.isSmallLetter || byte.isDigit }
        guard let first = text.utf8.first, plain(first), text.utf8.count <= 64,
            text.utf8.allSatisfy({ plain($0) || $0 == 0x5F || $0 == 0x2D })
        else { return nil }
        rawValue = text
    }

    public static func < (left: AccountID, right: AccountID) -> Bool { left.rawValue < right.rawValue }
}

extension SKUCode: TextCodable {}

extension AccountID: TextCodable {}

extension AccountID: CustomStringConvertible {
    public var description: String { rawValue }
}

/// The actor of a request, as the audit and idempotency keys record it.
package enum Actor: Hashable, Sendable {
    /// The user whose object the act is about; that object names the user by the internal id.
    case user
    /// A partner's or admin's name, and the key that was used.
    case partner(name: String, key: ID<APIKey>)
    /// A browser with a session's token.
    case session(ID<Session>)
    case provider(AccountID)
    /// Paydesk itself: a command or a job, by name.
    case system(String)

    /// The text for the audit, `partner:acme`.
    package var label: String {
        switch self {
        case .user: "user"
        case .partner(let name, let key): "partner:\(name)/\(key)"
        case .session(let id): "session:\(id)"
        case .provider(let account): "provider:\(account.rawValue)"
        case .system(let name): "system:\(name)"
        }
    }
}
