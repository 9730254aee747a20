import Domain
import FoundationEssentials
import Store

extension InvariantCheck {
    private static let userPage: Int64 = 500

    /// Recomputes for every user what was announced last, and which boundary is to be announced next.
    ///
    /// Whoever reads a user's version may rely on it: nothing that a user owns changes without an announcement.
    /// The last announcement was folded at the boundary that the one before it named, where that had come; else at its own
    /// time. What follows from the grants then must be what it named and what is waited for: a boundary that was left out
    /// lies between. How late the next one is depends on when somebody serves, so it is not asked. Of who was erased nothing
    /// is announced.
    func checkBoundaries() async throws -> [Violation] {
        var found: [Violation] = []
        var last = ""
        while true {
            let cursor = last
            let page = try await store.report { db in try db.consistency.listUsers(after: cursor, limit: Self.userPage)
            }
            guard let end = page.last else { return found }
            last = end.id.rawValue
            found += try page.compactMap { user in
                try Self.fault(of: user).map {
                    Violation(invariant: $0.invariant, subject: user.id.rawValue, detail: $0.detail)
                }
            }
            if found.count >= Int(Self.limit) { return found }
        }
    }

    private struct Announced: Decodable {
        let next_change_at: Timestamp?
    }

    /// - Returns: what is wrong; nil where nothing is.
    private static func fault(of user: CheckedUser) throws -> (invariant: Int, detail: String)? {
        let (next, told) = (user.nextChangeAt, user.announcements)
        func snapshot(_ fold: EntitlementFold) -> EntitlementSnapshot {
            EntitlementSnapshot(
                name: user.id.rawValue, version: user.version, fold: fold, balances: user.balances)
        }
        guard let last = told.first else {
            let ownsNothing = next == nil && user.grants.isEmpty && user.balances.isEmpty
            return ownsNothing ? nil : (13, "what is owned was never announced")
        }
        func named(_ announcement: EntitlementAnnouncement) throws -> Timestamp? {
            try JSONDecoder().decode(Announced.self, from: Data(announcement.data.utf8)).next_change_at
        }
        let due = try told.dropFirst().first.flatMap(named)
        let moment = due.map { $0 <= last.at ? $0 : last.at } ?? last.at
        let fold = EntitlementRules.fold(user.grants, now: moment)
        guard try next == fold.nextChangeAt && named(last) == fold.nextChangeAt else {
            return (16, "the boundary that is announced next is not the one that follows from the grants")
        }
        func value(_ json: String) throws -> JSONValue {
            try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        }
        guard try value(last.data).agrees(with: value(snapshot(fold).storedJSON())) else {
            return (13, "what was announced last is not what follows from the grants and the ledger")
        }
        return nil
    }
}

extension JSONValue {
    /// True where every member of this value is in the other with the same value; an announcement of an earlier release has
    /// fewer members.
    fileprivate func agrees(with other: JSONValue) -> Bool {
        switch (self, other) {
        case (.object(let mine), .object(let theirs)):
            mine.allSatisfy { name, value in theirs[name].map(value.agrees) ?? false }
        case (.array(let mine), .array(let theirs)):
            mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.agrees(with: $1) }
        default: self == other
        }
    }
}
