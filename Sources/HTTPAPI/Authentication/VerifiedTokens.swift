import Crypto
import Domain
import Synchronization

/// The tokens that verified in the last minute, by their hash.
///
/// Two generations bound the memory: the older is dropped when the younger is full. An entry is used for a minute only,
/// so that tokens of a withdrawn key are soon refused.
final class VerifiedTokens: Sendable {
    static let seconds: Int64 = 60
    static let capacity = 4_096

    private struct Entry {
        let user: ExternalUserID
        let from: Int64
        let until: Int64
    }

    private struct Generations {
        var young: [SHA256Digest: Entry] = [:]
        var old: [SHA256Digest: Entry] = [:]
        /// The number of replacements of the rules of verification.
        var number = 0
    }

    private let entries = Mutex(Generations())

    func user(_ digest: SHA256Digest, at now: Timestamp) -> ExternalUserID? {
        entries.withLock { entries in
            guard let entry = entries.young[digest] ?? entries.old[digest], entry.from <= now.rawValue,
                now.rawValue < entry.until
            else { return nil }
            return entry.user
        }
    }

    /// The number of the rules of now, for ``keep(_:_:at:of:)``.
    var generation: Int { entries.withLock(\.number) }

    /// Forgets every token, and those that are being verified by the rules of before.
    func forget() {
        entries.withLock { entries in
            entries = Generations(number: entries.number + 1)
        }
    }

    /// - Parameter generation: the rules by which the token was verified; a result of older ones is not kept.
    func keep(_ token: VerifiedToken, _ digest: SHA256Digest, at now: Timestamp, of generation: Int = 0) {
        let entry = Entry(
            user: token.user, from: now.rawValue, until: min(token.expiry, now.rawValue + Self.seconds))
        entries.withLock { entries in
            guard entries.number == generation else { return }
            if entries.young.count >= Self.capacity {
                entries.old = entries.young
                entries.young = [:]
            }
            entries.young[digest] = entry
        }
    }
}
