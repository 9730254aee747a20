import Domain
package import FoundationEssentials
import Store
import Synchronization

/// A value and its JSON, the same bytes for equal values.
package struct Answered<Value: Encodable & Sendable>: Sendable {
    package let value: Value
    package let json: Data

    init(_ value: Value) throws {
        self.value = value
        json = Data(try value.storedJSON().utf8)
    }
}

/// An answer about what a user owns, and how long it is good.
struct KeptAnswer<Value: Encodable & Sendable>: Sendable {
    let answer: Answered<Value>
    fileprivate let user: ID<User>
    fileprivate let version: Int64
    /// Before the user was last read; nil where other processes write as well.
    fileprivate var position: Int64?
    private let from: Timestamp
    private let until: Timestamp

    /// No answer counts for longer: a database that lost its last commits, and counts them anew, is soon believed.
    private static var seconds: Int64 { 60 }

    /// - Parameter change: when time alone changes it; nil where it never does.
    init(
        _ answer: Answered<Value>, for user: UserState, from now: Timestamp, until change: Timestamp?,
        position: Int64? = nil
    ) {
        let end = now.adding(seconds: Self.seconds)
        self.answer = answer
        self.user = user.id
        version = user.version
        self.position = position
        from = now
        until = change.map { min($0, end) } ?? end
    }

    fileprivate func holds(at now: Timestamp) -> Bool { from <= now && now < until }
}

/// The last answers about what users own, each good while nothing that it follows from has changed.
///
/// Every change of what a user owns counts the user's version up in its own transaction, and what time alone changes is
/// named by the fold (`domain.md` section 7); `paydesk check` compares both with the facts. So an answer made from one
/// version holds for whoever reads that version from the database, on any node, until the moment that its fold named. Where
/// this process alone writes, it holds without a look at the database until a commit has changed the user.
///
/// Bounded: two generations, of which the older is dropped when the younger is full.
final class AnswersByVersion<Value: Encodable & Sendable>: Sendable {
    private struct Generations {
        var young: [ExternalUserID: KeptAnswer<Value>] = [:]
        var old: [ExternalUserID: KeptAnswer<Value>] = [:]
    }

    /// Of each generation.
    private let capacity: Int
    private let entries = Mutex(Generations())

    init(capacity: Int = 4_096) { self.capacity = capacity }

    /// - Returns: nil where the database has to be asked.
    func answer(to name: ExternalUserID, at now: Timestamp, unless changes: UserChanges) -> Answered<Value>? {
        guard let kept = kept(name, at: now), let position = kept.position,
            changes.isUnchanged(kept.user, since: position)
        else { return nil }
        return kept.answer
    }

    /// - Returns: nil where nothing is kept that holds for this version now.
    func kept(for name: ExternalUserID, _ user: UserState, at now: Timestamp) -> KeptAnswer<Value>? {
        kept(name, at: now).flatMap { $0.user == user.id && $0.version == user.version ? $0 : nil }
    }

    func keep(_ answer: KeptAnswer<Value>, for name: ExternalUserID) {
        entries.withLock { entries in
            if entries.young.count >= capacity, entries.young[name] == nil {
                entries.old = entries.young
                entries.young = [:]
            }
            entries.young[name] = answer
        }
    }

    private func kept(_ name: ExternalUserID, at now: Timestamp) -> KeptAnswer<Value>? {
        guard let kept = entries.withLock({ $0.young[name] ?? $0.old[name] }), kept.holds(at: now) else { return nil }
        return kept
    }
}

extension Gateway {
    /// Answers with what was answered before where that still holds, or from the database.
    ///
    /// - Parameter make: the value of now and the moment at which time alone changes it, in the snapshot of the database in
    ///   which the user's state was read.
    /// - Returns: nil for who was never seen, and where `make` gives nothing.
    func answer<Value>(
        _ name: ExternalUserID, from answers: AnswersByVersion<Value>,
        _ make: @escaping @Sendable (any Database, UserState, Timestamp) throws -> (value: Value, until: Timestamp?)?
    ) async throws(GatewayError) -> Answered<Value>? {
        let now = time.now
        let changes = store.engine.userChanges
        if let changes, let answer = answers.answer(to: name, at: now, unless: changes) { return answer }
        // Before the snapshot is opened: a change that it does not show counts as later.
        let position = changes?.position
        let found = try await read { db -> KeptAnswer<Value>? in
            guard let user = try db.users.findState(name) else { return nil }
            if var kept = answers.kept(for: name, user, at: now) {
                kept.position = position
                return kept
            }
            guard let (value, until) = try make(db, user, now) else { return nil }
            return KeptAnswer(try Answered(value), for: user, from: now, until: until, position: position)
        }
        guard let found else { return nil }
        answers.keep(found, for: name)
        return found.answer
    }
}
