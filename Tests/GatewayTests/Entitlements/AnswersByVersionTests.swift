import Foundation
import ProviderKit
import Synchronization
import TestSupport
import Testing

@testable import Domain
@testable import Gateway
@testable import Store

/// Answers about what users own are given again only while nothing has changed.
@Suite("Answers by version")
struct AnswersByVersionTests {
    private static func answers(
        _ desk: GatewayFixture, _ user: String = "alice"
    ) async throws -> (EntitlementSnapshot, PurchaseStatus) {
        let name = GatewayFixture.user(user)
        return (
            try await desk.gateway.entitlements.find(user: name).value,
            try await desk.gateway.entitlements.purchaseStatus(user: name).value
        )
    }

    @Test(arguments: TestEngine.allCases)
    func `an answer stands while the version does, and check finds a change without one`(
        _ engine: TestEngine
    ) async throws {
        var setup = GatewayFixtureSetup()
        setup.checksInvariants = false
        try await withDesk(on: engine, setup) { desk in
            try await desk.buy()
            _ = try await Self.answers(desk)
            let first = try await Self.answers(desk)
            #expect(first.0.active && first.1.active)
            try await desk.store.write { tx in try tx.execute("UPDATE grants SET revoked_at = 1, revoked_by = 'admin'")
            }
            let kept = try await Self.answers(desk)
            #expect(kept.0 == first.0 && kept.1 == first.1)
            let violations = try await InvariantCheck(store: desk.store).run()
            #expect(violations.contains { $0.invariant == 13 || $0.invariant == 16 }, "\(violations)")
            try await desk.store.write { tx in
                let alice = try #require(try tx.users.findID(GatewayFixture.user("alice")))
                _ = try tx.users.incrementVersion(
                    of: alice, from: tx.users.version(of: alice).version, nextChangeAt: nil)
            }
            let fresh = try await Self.answers(desk)
            #expect(!fresh.0.active && !fresh.1.active && fresh.0.version == first.0.version + 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `time alone ends an answer, at its very second`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy()
            let (owned, status) = try await Self.answers(desk)
            let end = try #require(owned.next_change_at)
            #expect(owned.active && status.active)
            let left = end.rawValue - desk.clock.now.rawValue
            desk.clock.advance(seconds: left - 1)
            let before = try await Self.answers(desk)
            #expect(before.0.active && before.1.active)
            desk.clock.advance(seconds: 1)
            let after = try await Self.answers(desk)
            #expect(!after.0.active && !after.1.active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a change holds for the next question, also about units`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            _ = try await Self.answers(desk)
            try await desk.buyForReal("coins")
            #expect(try await Self.answers(desk).0.balances == ["coins": 100, "stars": 1])
            _ = try await desk.gateway.wallets.debit(
                30, of: "coins", from: GatewayFixture.user("alice"), reason: "", context: .test)
            #expect(try await Self.answers(desk).0.balances == ["coins": 70, "stars": 1])
            let contract = try await desk.buy()
            #expect(try await Self.answers(desk).1.active)
            _ = try await desk.gateway.refunds.request(
                contract.order.rawValue, amount: nil, reason: "", context: .test)
            let (owned, status) = try await Self.answers(desk)
            #expect(!owned.active && !status.active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a change on one node holds for the next question on another`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let other = desk.node()
            func owned() async throws -> Bool {
                try await other.entitlements.find(user: GatewayFixture.user("alice")).value.active
            }
            #expect(try await !owned())
            let contract = try await desk.buy()
            #expect(try await owned())
            _ = try await desk.gateway.refunds.request(
                contract.order.rawValue, amount: nil, reason: "", context: .test)
            #expect(try await !owned())
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `nobody inherits the answers of who was erased`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy()
            let (owned, status) = try await Self.answers(desk)
            #expect(owned.active)
            _ = try await desk.gateway.users.erase(GatewayFixture.user("alice"), context: .test)
            let (nothing, fresh) = try await Self.answers(desk)
            #expect(!nothing.active && nothing.entitlements.isEmpty && !fresh.active)
            #expect(fresh.app_account_token != status.app_account_token)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `where this process alone writes, an answer stands without a look at the database, for a minute`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy()
            let first = try await Self.answers(desk)
            // Behind the back of the process: nothing else shows whether the database was asked.
            func count(_ change: Int) async throws {
                try await desk.store.write { tx in
                    try tx.execute("UPDATE user_states SET version = version + ?", change)
                }
            }
            try await count(1)
            let asked: Int64 = engine == .postgres ? 1 : 0
            #expect(try await Self.answers(desk).0.version == first.0.version + asked)
            desk.clock.advance(seconds: 60)
            #expect(try await Self.answers(desk).0.version == first.0.version + 1)
            try await count(-1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `no question that follows a change is answered from before it`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let users = ["alice", "bob", "carol"].map(Purse.init)
            for user in users { try await desk.buyForReal("coins", user: user.name) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for user in users {
                    group.addTask {
                        for _ in 0..<30 {
                            _ = try await desk.gateway.wallets.debit(
                                1, of: "coins", from: GatewayFixture.user(user.name), reason: "", context: .test)
                            user.spend()
                        }
                    }
                    for _ in 0..<2 { group.addTask { try await Self.watch(user, at: desk) } }
                }
                try await group.waitForAll()
            }
        }
    }

    /// What somebody has left, as far as they were told.
    private final class Purse: Sendable {
        let name: String
        private let coins = Atomic<Int64>(100)

        init(_ name: String) { self.name = name }

        var left: Int64 { coins.load(ordering: .acquiring) }

        func spend() { coins.subtract(1, ordering: .releasing) }
    }

    /// Asks until all is spent.
    private static func watch(_ user: Purse, at desk: GatewayFixture) async throws {
        var coins: Int64 = 100
        while coins > 70 {
            let atMost = min(coins, user.left)
            let owned = try await desk.gateway.entitlements.find(user: GatewayFixture.user(user.name)).value
            coins = try #require(owned.balances["coins"])
            #expect(coins <= atMost)
            await Task.yield()
        }
    }

    @Test func `no more is kept than two generations`() throws {
        let answers = EntitlementCache<Int>(capacity: 4)
        let ids = IDSource(
            time: TimeSource { 1_000 }, random: RandomSource { (0..<$0).map { _ in UInt8.random(in: 0...255) } })
        let users = (0..<20).map { number in
            (
                name: GatewayFixture.user("u\(number)"),
                state: UserState(id: ids.make(), version: 1, appAccountToken: nil)
            )
        }
        for (number, user) in users.enumerated() {
            let answer = CachedAnswer(
                try Answered(number), for: user.state, from: Timestamp(10), until: Timestamp(20))
            answers.insert(answer, for: user.name)
        }
        func kept(_ name: ExternalUserID, _ state: UserState, at now: Int64) -> Int? {
            answers.find(name, state, at: Timestamp(now))?.answer.value
        }
        let standing = users.indices.filter { kept(users[$0].name, users[$0].state, at: 10) != nil }
        #expect(standing == Array(12..<20))
        let (name, last) = users[19]
        #expect(kept(name, last, at: 19) == 19)
        #expect(kept(name, last, at: 20) == nil)
        #expect(kept(name, last, at: 9) == nil)
        answers.insert(CachedAnswer(try Answered(1), for: last, from: Timestamp(10), until: nil), for: name)
        #expect(kept(name, last, at: 69) == 1)
        #expect(kept(name, last, at: 70) == nil)
        #expect(kept(name, UserState(id: last.id, version: 2, appAccountToken: nil), at: 10) == nil)
        #expect(kept(name, users[18].state, at: 10) == nil)
    }
}
