import Domain
import FoundationEssentials
import Store

extension InvariantCheck {
    private static let announcementPage: Int64 = 500

    /// Recomputes for every user which boundary is to be announced next.
    ///
    /// The last announcement was folded at the boundary that the one before it named, where that had come; else at its own
    /// time. What follows from the grants then must be what it named and what is waited for: a boundary that was left out
    /// lies between. How late the next one is depends on when somebody serves, so it is not asked. Of who was erased nothing
    /// is announced.
    func checkBoundaries() async throws -> [Violation] {
        var found: [Violation] = []
        var last = ""
        while true {
            let cursor = last
            let (end, wrong) = try await store.read { db in
                let page = try db.awaitedChanges(after: cursor, limit: Self.announcementPage)
                return (
                    page.last?.user,
                    try page.filter { try !Self.isAwaited($0.at, by: $0.user, in: db) }.map(\.user)
                )
            }
            guard let end else { return found }
            last = end.rawValue
            found += wrong.map {
                Violation(
                    invariant: 16, subject: $0.rawValue,
                    detail: "the boundary that is announced next is not the one that follows from the grants")
            }
            if found.count >= Int(Self.limit) { return found }
        }
    }

    private struct Announced: Decodable {
        let next_change_at: Timestamp?
    }

    private static func isAwaited(_ next: Timestamp?, by user: ID<User>, in db: any Database) throws -> Bool {
        let grants = try db.grants(of: user)
        let told = try db.announcements(to: user, limit: 2)
        guard let last = told.first else { return next == nil && grants.isEmpty }
        func named(_ announcement: EntitlementAnnouncement) throws -> Timestamp? {
            try JSONDecoder().decode(Announced.self, from: Data(announcement.data.utf8)).next_change_at
        }
        let due = try told.dropFirst().first.flatMap(named)
        let moment = due.map { $0 <= last.at ? $0 : last.at } ?? last.at
        let expected = EntitlementRules.fold(grants, now: moment).nextChangeAt
        return try next == expected && named(last) == expected
    }
}
