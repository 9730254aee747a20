import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Jobs: boundaries of entitlements")
struct JobBoundaryTests {
    /// An announced snapshot, as far as these tests read it.
    private struct Told: Decodable {
        let version: Int64
        let tier: String
        let active: Bool
        let next_change_at: Int64?
    }

    private static func told(_ desk: GatewayFixture, _ user: String = "alice") async throws -> [Told] {
        try await desk.store.read { db in
            guard let id = try db.users.findID(GatewayFixture.user(user)) else { return [] }
            return try db.rows(
                "SELECT data FROM events WHERE subject = ? AND type = 'entitlements.changed' ORDER BY sequence", [id]
            ).map { try JSONDecoder().decode(Told.self, from: Data(try $0.text("data").utf8)) }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a boundary is announced once, when it has passed`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy()
            let end = try #require(try await desk.snapshot().next_change_at)
            try await desk.work()
            desk.clock.set(end.rawValue - 1)
            try await desk.work()
            #expect(try await Self.told(desk).count == 1)
            desk.clock.set(end.rawValue)
            for _ in 0..<3 {
                _ = try await desk.gateway.entitlements.announceBoundaries()
                #expect(try await Self.told(desk).map(\.active) == [true, false])
            }
            #expect(try await Self.told(desk).last?.next_change_at == nil)
            #expect(try await desk.snapshot().version == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `after a long downtime every boundary is announced, in order`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let start = desk.clock.now
            try await desk.buy("basic_days", days: 7)
            try await desk.buy("vip_month")
            try await desk.buy("vip_month")
            try await desk.buy("vip_kept")
            let before = try await Self.told(desk)
            desk.clock.advance(days: 1_000)
            _ = try await desk.gateway.entitlements.announceBoundaries()
            let crossed = Array(try await Self.told(desk).dropFirst(before.count))
            // Basic ends on day 7; the second month begins on day 30, the ten days on day 60, and end on day 70.
            let days = crossed.map { $0.next_change_at.map { ($0 - start.rawValue) / 86_400 } }
            #expect(days == [30, 60, 70, nil])
            #expect(crossed.map(\.tier) == ["VIP", "VIP", "VIP", ""])
            #expect(crossed.map(\.version) == (1...4).map { Int64(before.count + $0) })
            #expect(crossed.map(\.active) == [true, true, true, false])
            _ = try await desk.gateway.entitlements.announceBoundaries()
            #expect(try await Self.told(desk).count == before.count + 4)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `two workers at once announce each boundary once`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let users = (0..<10).map { "user-\($0)" }
            for user in users {
                try await desk.buy("vip_month", user: user)
                try await desk.buy("vip_month", user: user)
            }
            desk.clock.advance(days: 365)
            let other = engine == .postgres ? try desk.database.openAnother() : nil
            let nodes = [desk.gateway, desk.node(store: other ?? desk.store)]
            await withTaskGroup(of: Void.self) { group in
                for node in nodes + nodes { group.addTask { _ = try? await node.entitlements.announceBoundaries() } }
            }
            await other?.engine.close()
            _ = try await desk.gateway.entitlements.announceBoundaries()
            for user in users {
                #expect(try await Self.told(desk, user).map(\.version) == [1, 2, 3, 4])
                #expect(try await Self.told(desk, user).map(\.active) == [true, true, true, false])
            }
            #expect(try await desk.count("user_states WHERE next_change_at IS NOT NULL") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `more users than one look takes are looked at again at once`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy()
            let end = try #require(try await desk.snapshot().next_change_at).rawValue
            try await desk.store.write { tx in
                for number in 0..<200 {
                    try tx.execute(
                        "INSERT INTO user_states (user_id, next_change_at, created_at) VALUES (?, ?, 0)",
                        ID<User>.sample(number), end - 1)
                }
            }
            desk.clock.set(end)
            #expect(try await desk.gateway.entitlements.announceBoundaries() == .again(after: 0))
            #expect(try await desk.gateway.entitlements.announceBoundaries() == .again(after: 5))
            #expect(try await desk.snapshot().version == 2)
        }
    }
}

extension ID where Subject == User {
    /// A user id of its own for each small number.
    fileprivate static func sample(_ number: Int) -> ID<User> {
        let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
        return ID("usr_00000000000000000000000\(digits[number / 32])\(digits[number % 32])0")!
    }
}
