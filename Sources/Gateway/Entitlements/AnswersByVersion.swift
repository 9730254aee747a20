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

/// The last answers about what users own, each good while nothing that it follows from has changed.
///
/// Every change of what a user owns counts the user's version up in its own transaction, and what time alone changes is
/// named by the fold (`domain.md` section 7); `paydesk check` compares both with the facts. So an answer made from one
/// version holds for whoever reads that version from the database, on any node, until the moment that its fold named.
///
/// Bounded: two generations, of which the older is dropped when the younger is full.
final class AnswersByVersion<Value: Encodable & Sendable>: Sendable {
    /// No answer counts for longer: a database that lost its last commits, and counts them anew, is soon believed.
    static var seconds: Int64 { 60 }

    private struct Entry {
        let version: Int64
        let from: Timestamp
        let until: Timestamp
        let answer: Answered<Value>
    }

    private struct Generations {
        var young: [ID<User>: Entry] = [:]
        var old: [ID<User>: Entry] = [:]
    }

    /// Of each generation.
    private let capacity: Int
    private let entries = Mutex(Generations())

    init(capacity: Int = 4_096) { self.capacity = capacity }

    /// - Returns: nil where nothing is kept that holds for this version now.
    func answer(to user: UserState, at now: Timestamp) -> Answered<Value>? {
        entries.withLock { entries in
            guard let kept = entries.young[user.id] ?? entries.old[user.id], kept.version == user.version,
                kept.from <= now, now < kept.until
            else { return nil }
            return kept.answer
        }
    }

    /// - Parameter change: when time alone changes it; nil where it never does.
    func keep(_ answer: Answered<Value>, for user: UserState, from now: Timestamp, until change: Timestamp?) {
        let end = now.adding(seconds: Self.seconds)
        let entry = Entry(version: user.version, from: now, until: change.map { min($0, end) } ?? end, answer: answer)
        entries.withLock { entries in
            if entries.young.count >= capacity, entries.young[user.id] == nil {
                entries.old = entries.young
                entries.young = [:]
            }
            entries.young[user.id] = entry
        }
    }
}

extension Gateway {
    private enum Reading<Value: Encodable & Sendable>: Sendable {
        case kept(Answered<Value>)
        case made(Answered<Value>, UserState, until: Timestamp?)
        case nothing
    }

    /// Answers from the database, or with what was answered before where the database says that it still holds.
    ///
    /// - Parameter make: the value of now and the moment at which time alone changes it, in the snapshot of the database in
    ///   which the user's state was read.
    /// - Returns: nil for who was never seen, and where `make` gives nothing.
    func answer<Value>(
        _ name: ExternalUserID, from answers: AnswersByVersion<Value>,
        _ make: @escaping @Sendable (any Database, UserState, Timestamp) throws -> (value: Value, until: Timestamp?)?
    ) async throws(GatewayError) -> Answered<Value>? {
        let now = time.now
        let reading = try await read { db -> Reading<Value> in
            guard let user = try db.userState(name) else { return .nothing }
            if let kept = answers.answer(to: user, at: now) { return .kept(kept) }
            guard let (value, until) = try make(db, user, now) else { return .nothing }
            return .made(try Answered(value), user, until: until)
        }
        switch reading {
        case .kept(let answer): return answer
        case .made(let answer, let user, let until):
            answers.keep(answer, for: user, from: now, until: until)
            return answer
        case .nothing: return nil
        }
    }
}
