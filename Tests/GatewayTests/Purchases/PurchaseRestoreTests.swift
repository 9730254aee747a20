import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: restore and status")
struct PurchaseRestoreTests {
    @Test(arguments: TestEngine.allCases)
    func `200 transactions are one batch, and three bad ones stop no good one`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            try await apple.attach(apple.sale { $0.id = "taken" }, user: "bob")
            var jws = (0..<197).map { apple.sale($0 % 2 == 0 ? "com.example.vip.month" : "merchant.example.day1").jws }
            let forged = AppleTestCertificates.sign(apple.sale().payload, by: .forger)
            for (index, bad) in [(0, forged), (100, "x"), (199, apple.sale { $0.id = "taken" }.jws)] {
                jws.insert(bad, at: index)
            }
            let before = apple.store.engine.commits
            let items = try await apple.restore(jws)
            let commits = apple.store.engine.commits - before
            if engine == .sqlite { #expect((1...3).contains(commits)) }
            #expect(items.map(\.index) == Array(0..<200))
            let bad = items.filter { $0.status == .rejected }
            #expect(bad.map(\.index) == [0, 100, 199])
            #expect(
                bad.map(\.refusal) == [
                    .invalidTransaction(.badSignature), .invalidTransaction(.malformed), .purchaseBelongsToAnotherUser,
                ])
            #expect(items.filter { $0.status == .attached }.count == 197)
            let again = try await apple.restore(jws)
            #expect(again.filter { $0.status == .alreadyAttached }.count == 197)
            #expect(try await apple.grants().count == 197)
            #expect(try await apple.status().tier == "VIP")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `each transaction is answered for itself`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            #expect(try await apple.restore([]).isEmpty)
            #expect(try await apple.desk.count("users") == 0)
            let sale = apple.sale()
            let items = try await apple.restore([
                sale.jws, sale.jws, apple.sale("com.example.unknown").jws, apple.sale { $0.revoked = $0.purchased }.jws,
                apple.sale { $0.bundle = "com.other" }.jws,
            ])
            #expect(items.map(\.status) == [.attached, .alreadyAttached, .rejected, .rejected, .rejected])
            #expect(
                items.map(\.refusal) == [
                    nil, nil, .unknownProduct("com.example.unknown"), .purchaseRevoked, .invalidTransaction(.wrongApp),
                ])
            #expect(try await apple.desk.count("purchases") == 3)
        }
    }

    /// What a user did, and what the seven fields say; `ends` counts days from the start, nil is 0.
    struct State: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let act: @Sendable (AppStoreGatewayFixture) async throws -> Void
        var active = true
        var ends: Int64?
        var tierEnds: Int64?
        var tier = "VIP"
        var perpetual = false
        var status = "active"
        var renews = false
    }

    static let states = [
        State(testDescription: "nothing", act: { _ in }, active: false, tier: "", status: "none"),
        State(testDescription: "a pass", act: { try await $0.attach($0.sale()) }, ends: 30),
        State(
            testDescription: "a pass that ended",
            act: {
                try await $0.attach($0.sale())
                $0.desk.clock.advance(days: 30)
            }, active: false, tier: "", status: "expired"),
        State(
            testDescription: "a pass taken back",
            act: { apple in
                let sale = apple.sale()
                try await apple.attach(sale)
                _ = try await apple.refusal(sale.signedAgain(after: 5) { $0.revoked = $0.signed })
            }, active: false, tier: "", status: "revoked"),
        State(
            testDescription: "a long pass taken back, then one that ended",
            act: { apple in
                let year = apple.sale("merchant.example.day90")
                try await apple.attach(year)
                _ = try await apple.refusal(year.signedAgain(after: 5) { $0.revoked = $0.signed })
                apple.desk.clock.advance(days: 1)
                try await apple.attach(apple.sale("merchant.example.day7"))
                apple.desk.clock.advance(days: 8)
            }, active: false, tier: "", status: "expired"),
        State(
            testDescription: "a subscription", act: { try await $0.attach($0.period("s", from: 0)) }, ends: 30,
            renews: true),
        State(
            testDescription: "a subscription that ended",
            act: {
                try await $0.attach($0.period("s", from: 0))
                $0.desk.clock.advance(days: 31)
            }, active: false, tier: "", status: "expired"),
        State(
            testDescription: "for ever",
            act: { try await $0.attach($0.sale("com.example.life", AppleSale.nonConsumable)) },
            perpetual: true),
        State(
            testDescription: "for ever without a tier",
            act: { try await $0.attach($0.sale("com.example.ring", AppleSale.nonConsumable)) }, active: false, tier: "",
            status: "none"),
        State(
            testDescription: "units", act: { try await $0.attach($0.sale("com.example.gems", AppleSale.consumable)) },
            active: false, tier: "", status: "none"),
        State(
            testDescription: "the highest tier, the latest end",
            act: {
                try await $0.attach($0.period("p", from: 0, days: 5, "com.example.pro.auto"))
                try await $0.attach($0.sale("merchant.example.day90"))
            }, ends: 90, tierEnds: 5, tier: "Pro", renews: true),
        State(testDescription: "bought on the web", act: { try await $0.desk.buy() }, ends: 30),
        State(
            testDescription: "a pass and what money bought",
            act: {
                try await $0.attach($0.sale())
                try await $0.desk.buyForReal()
            }, ends: 60),
        State(
            testDescription: "not known to the catalogue",
            act: { _ = try await $0.refusal($0.sale("com.example.unknown")) }, active: false, tier: "", status: "none"),
    ]

    @Test(arguments: TestEngine.allCases, states)
    func `the status says what is owned over all sources`(_ engine: TestEngine, _ state: State) async throws {
        try await withAppleDesk(on: engine) { apple in
            let start = apple.now
            let token = try await apple.token()
            try await state.act(apple)
            let expires = state.perpetual ? 253_402_300_799 : state.ends.map { start.adding(days: $0).rawValue } ?? 0
            // What holds the highest tier may end before the rest.
            let tierEnd = state.tierEnds.map { start.adding(days: $0).rawValue } ?? expires
            #expect(
                try await apple.status()
                    == PurchaseStatus(
                        active: state.active, expires_at: expires, tier: state.tier, tier_expires_at: tierEnd,
                        perpetual: state.perpetual,
                        status: state.status, will_renew: state.renews, app_account_token: token))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the token is made once, for each user another`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<16 { group.addTask { try await apple.token() } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            let token = try #require(tokens.first)
            #expect(tokens.count == 1 && token.count == 36 && token == token.lowercased())
            let contract = try await apple.ask()
            guard case .appleIAP(_, let offered, _) = contract.instruction else {
                Issue.record("\(contract)")
                return
            }
            #expect(offered == token)
            #expect(try await apple.token("bob") != token)
        }
    }
}
