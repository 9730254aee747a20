import Domain
package import FoundationEssentials
import Store
import Synchronization

/// A value with its JSON; equal values have the same bytes.
package struct Answered<Value: Encodable & Sendable>: Sendable {
    package let value: Value
    package let json: Data

    init(_ value: Value) throws {
        self.value = value
        json = Data(try value.storedJSON().utf8)
    }
}

/// An answer about a user's entitlements, with the conditions under which it is valid.
struct CachedAnswer<Value: Encodable & Sendable>: Sendable {
    let answer: Answered<Value>
    fileprivate let user: ID<User>
    fileprivate let version: Int64
    /// The position in this process's changes before the user was last read; nil where other processes write as well.
    fileprivate var position: Int64?
    private let from: Timestamp
    private let until: Timestamp

    /// The longest validity in seconds: a database that lost its last commits would assign the same versions again.
    private static var longest: Int64 { 60 }

    /// - Parameter change: the time at which time alone changes the answer; nil where it never does.
    init(
        _ answer: Answered<Value>, for user: UserState, from now: Timestamp, until change: Timestamp?,
        position: Int64? = nil
    ) {
        let end = now.adding(seconds: Self.longest)
        self.answer = answer
        self.user = user.id
        version = user.version
        self.position = position
        from = now
        until = change.map { min($0, end) } ?? end
    }

    fileprivate func isValid(at now: Timestamp) -> Bool { from <= now && now < until }
}

/// The last answers about users' entitlements, each valid until the facts that it was made from change.
///
/// Every change of facts increments the user's version in its own transaction, and the fold returns the next time at
/// which time alone changes the answer (`docs/domain.md`, section 7); `paydesk check` compares both with the facts. So
/// an answer that was made from a version is valid for every reader of that version, on any node, until that time.
/// Where only this process writes to the database, it is valid without a query until a commit has changed the user.
///
/// Two generations bound the size; the older is dropped when the younger is full.
final class EntitlementCache<Value: Encodable & Sendable>: Sendable {
    private struct Generations {
        var young: [ExternalUserID: CachedAnswer<Value>] = [:]
        var old: [ExternalUserID: CachedAnswer<Value>] = [:]
    }

    /// The most entries of each generation.
    private let capacity: Int
    private let meter: CacheMeter?
    private let entries = Mutex(Generations())

    init(capacity: Int = 4_096, meter: CacheMeter? = nil) {
        self.capacity = capacity
        self.meter = meter
    }

    /// Answers from the cache where that is still valid, otherwise from the database.
    ///
    /// - Parameter make: makes the value of now, and the next time at which time alone changes it, from the snapshot in
    ///   which the user's state was read.
    /// - Returns: nil for an unknown user, and where `make` returns nil.
    func answer(
        to name: ExternalUserID, from store: StoreAccess, at now: Timestamp,
        _ make: @escaping @Sendable (any Database, UserState, Timestamp) throws -> (value: Value, until: Timestamp?)?
    ) async throws(GatewayError) -> Answered<Value>? {
        let changes = store.database.engine.userChanges
        if let changes, let answer = find(name, at: now, unless: changes) {
            meter?.count(isHit: true)
            return answer
        }
        // Read before the snapshot begins, so that a change that the snapshot does not contain counts as later.
        let position = changes?.position
        let found = try await store.read { db -> (answer: CachedAnswer<Value>, isHit: Bool)? in
            guard let user = try db.users.findState(name) else { return nil }
            if var cached = self.find(name, user, at: now) {
                cached.position = position
                return (cached, true)
            }
            guard let (value, until) = try make(db, user, now) else { return nil }
            return (
                CachedAnswer(try Answered(value), for: user, from: now, until: until, position: position), false
            )
        }
        meter?.count(isHit: found?.isHit ?? false)
        guard let found else { return nil }
        insert(found.answer, for: name)
        return found.answer.answer
    }

    /// Finds an answer that is valid without a query; nil where the database has to be read.
    private func find(_ name: ExternalUserID, at now: Timestamp, unless changes: UserChanges) -> Answered<Value>? {
        guard let cached = find(name, at: now), let position = cached.position,
            changes.isUnchanged(cached.user, since: position)
        else { return nil }
        return cached.answer
    }

    /// Finds the answer that is valid for a version of a user.
    func find(_ name: ExternalUserID, _ user: UserState, at now: Timestamp) -> CachedAnswer<Value>? {
        find(name, at: now).flatMap { $0.user == user.id && $0.version == user.version ? $0 : nil }
    }

    func insert(_ answer: CachedAnswer<Value>, for name: ExternalUserID) {
        entries.withLock { entries in
            if entries.young.count >= capacity, entries.young[name] == nil {
                entries.old = entries.young
                entries.young = [:]
            }
            entries.young[name] = answer
        }
    }

    private func find(_ name: ExternalUserID, at now: Timestamp) -> CachedAnswer<Value>? {
        let cached = entries.withLock { $0.young[name] ?? $0.old[name] }
        return cached.flatMap { $0.isValid(at: now) ? $0 : nil }
    }
}
