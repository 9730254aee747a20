import Domain
import FoundationEssentials
import Store

extension InvariantCheck {
    private static let userPage: Int64 = 500

    /// Recomputes every user's last announcement and next boundary.
    ///
    /// Readers of a user's version rely on this: a user's entitlements never change without an announcement.
    ///
    /// The last announcement was computed at the boundary that the one before it named, or at its own time where that
    /// boundary was still ahead. The grants at that time must give the data of the announcement, and the next boundary
    /// that it names and that is stored; otherwise a boundary in between was left out. The delay of the next
    /// announcement depends on the running nodes and is not checked. Nothing is announced of erased users.
    func checkBoundaries() async throws -> [Violation] {
        var found: [Violation] = []
        var users = progress.begin("users")
        var last = ""
        while true {
            let cursor = last
            let page = try await store.report { db in try db.consistency.listUsers(after: cursor, limit: Self.userPage)
            }
            guard let end = page.last else { return found }
            last = end.id.rawValue
            users.add(page.count)
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

    /// - Returns: the violated invariant with a description; nil where there is none.
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
        guard try next == fold.nextAnnouncementAt && named(last) == fold.nextChangeAt else {
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
    /// Returns true where the other value has every member of this one with the same value; announcements of earlier
    /// releases have fewer members.
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
