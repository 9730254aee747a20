import Domain
import Gateway
import HTTPTypes
import Synchronization

/// The facts about a call that only its processing knows.
struct CallNotes: Sendable {
    /// The caller; nil until the credentials are accepted.
    var caller: Caller?
    /// The id of the refusal; nil for a success.
    var error: String?
}

/// The newest calls of this node, for whoever looks for the reason of a refusal.
///
/// They are in memory alone, and have neither bodies nor queries nor paths, which may contain secrets.
final class RequestLog: Sendable {
    struct Entry: Sendable {
        let at: Timestamp
        let method: String
        /// The template of the path; nil for a path that no route has.
        let route: String?
        let status: Int
        let error: String?
        let milliseconds: Int64
        /// The owner of the credentials; nil without accepted ones.
        let actor: Actor?
        let user: ExternalUserID?
        let requestID: String
    }

    private struct Ring {
        var entries: [Entry] = []
        /// The place of the oldest entry, once all places are taken.
        var oldest = 0
    }

    static let capacity = 1_000

    private let ring = Mutex(Ring())

    func add(_ entry: Entry) {
        ring.withLock { ring in
            if ring.entries.count < Self.capacity { return ring.entries.append(entry) }
            ring.entries[ring.oldest] = entry
            ring.oldest = (ring.oldest + 1) % Self.capacity
        }
    }

    /// Returns the calls that fit, newest first.
    func list(where fits: (Entry) -> Bool) -> [Entry] {
        let (entries, oldest) = ring.withLock { ($0.entries, $0.oldest) }
        return (entries[oldest...] + entries[..<oldest]).reversed().filter(fits)
    }
}

extension RequestLog {
    /// Adds a call of a route that the API's document describes; probes of health and metrics are left out, which would
    /// push the others away.
    func add(
        _ route: Route, _ status: HTTPResponse.Status, _ notes: CallNotes, _ parameters: [String: String],
        took duration: Duration, at: Timestamp, requestID: String
    ) {
        guard route.description.tag != nil, !route.isAlwaysServed else { return }
        let (actor, user): (Actor?, ExternalUserID?) =
            switch notes.caller {
            case nil, .anyone: (nil, nil)
            case .user(let user): (.user, user)
            case .session(let session): (.session(session.id), session.user)
            case .key(let key): (key.actor, route.namesUser ? Self.user(parameters) : nil)
            }
        add(
            Entry(
                at: at, method: route.method.rawValue, route: route.path, status: status.code, error: notes.error,
                milliseconds: duration.milliseconds, actor: actor, user: user, requestID: requestID))
    }

    /// The user whom the path of a key's call names.
    private static func user(_ parameters: [String: String]) -> ExternalUserID? {
        (parameters["user_id"] ?? parameters["id"]).flatMap { ExternalUserID($0) }
    }
}

extension Route {
    /// True where the path names a user.
    fileprivate var namesUser: Bool { path.contains("/users/{") }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
