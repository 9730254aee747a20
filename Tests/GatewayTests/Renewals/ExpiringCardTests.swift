import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Cards that end before the next charge")
struct ExpiringCardTests {
    /// The months from that of the next charge to the last of the card, and whether the card has ended by then.
    static let cards: [(months: Int64, hasEnded: Bool)] = [
        (-13, true), (-1, true), (0, false), (1, false), (20, false),
    ]

    @Test(arguments: TestEngine.allCases)
    func `a card counts where its last month is over at the next charge`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            let date = held.expires_at.utcDate.split(separator: "-").compactMap { Int64($0) }
            try #require(date.count == 3)
            let month = date[0] * 12 + date[1] - 1
            func count() async throws -> Int64 {
                let months = CardMonths.around(club.gateway.time.now)
                return try await club.desk.store.report { db in try db.mandates.countExpiring(before: months) }
            }
            #expect(try await count() == 0)
            for card in Self.cards {
                let last = month + card.months
                try await club.desk.store.write { tx in
                    try tx.execute("UPDATE mandates SET exp_year = ?, exp_month = ?", last / 12, last % 12 + 1)
                }
                #expect(try await count() == (card.hasEnded ? 1 : 0), "\(card)")
            }
            try await club.desk.store.write { tx in
                try tx.execute("UPDATE mandates SET exp_year = 2020, exp_month = 1, state = 'revoked'")
            }
            #expect(try await count() == 0)
            try await club.desk.store.write { tx in
                try tx.execute("UPDATE mandates SET exp_year = NULL, exp_month = NULL, state = 'active'")
            }
        }
    }
}
