import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: whose they are")
struct PurchaseOwnershipTests {
    @Test(arguments: TestEngine.allCases)
    func `the first verified claim binds, and a token that was never issued is none`(_ engine: TestEngine) async throws
    {
        try await withAppleDesk(on: engine) { apple in
            let unknown = "6d7a1a51-0f0a-4f6e-9c1b-4a0a9c3f1e2d"
            for token in [nil, unknown] {
                let sale = apple.sale { $0.token = token }
                let mine = try await apple.attach(sale, user: "alice")
                #expect(try await apple.refusal(sale, user: "bob") == .purchaseBelongsToAnotherUser)
                #expect(
                    try await apple.refusal(sale.signedAgain(after: 5), user: "bob") == .purchaseBelongsToAnotherUser)
                let renewal = apple.sale { $0.original = sale.id }
                #expect(try await apple.refusal(renewal, user: "bob") == .purchaseBelongsToAnotherUser)
                #expect(try await apple.record(renewal)?.order != nil)
                #expect(try await apple.record(sale)?.purchase.appAccountToken == token)
                #expect(try await apple.attach(sale, user: "alice").order_id == mine.order_id)
            }
            #expect(try await apple.grants("bob").isEmpty)
            #expect(try await apple.grants("alice").count == 4)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a known user's token is theirs, whoever comes first`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let token = try await apple.token("alice")
            let sale = apple.sale { $0.token = token }
            #expect(try await apple.refusal(sale, user: "bob") == .purchaseBelongsToAnotherUser)
            // The purchase was not dropped: its owner has it already.
            #expect(try await apple.status("alice").tier == "VIP")
            let attached = try await apple.attach(sale, user: "alice")
            #expect(attached.active)
            #expect(try await apple.desk.count("orders") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a token wins over an earlier binding without one, and takes everything along`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let token = try await apple.token("bob")
            let month = apple.period("moving", from: 0)
            try await apple.attach(month, user: "alice")
            let gems = apple.sale("com.example.gems", AppleSale.consumable) { $0.original = "moving" }
            try await apple.attach(gems, user: "alice")
            #expect(try await apple.status("alice").active)
            let renewed = apple.period("moving", from: 30) { $0.token = token }
            // Whoever presents it, it is bob's.
            #expect(try await apple.refusal(renewed, user: "alice") == .purchaseBelongsToAnotherUser)
            #expect(try await !apple.status("alice").active)
            #expect(try await apple.status("bob").expires_at == apple.now.adding(days: 60).rawValue)
            #expect(try await apple.refusal(month, user: "alice") == .purchaseBelongsToAnotherUser)
            // Units stay with who had them first, and are taken back there.
            #expect(try await apple.desk.snapshot("alice").balances == ["gems": 10])
            _ = try await apple.refusal(gems.signedAgain(after: 5) { $0.revoked = $0.signed }, user: "bob")
            #expect(try await apple.desk.snapshot("alice").balances == ["gems": 0])
            #expect(try await apple.desk.snapshot("bob").balances.isEmpty)
            let told = try await apple.store.read { db in
                try db.rows("SELECT type FROM events WHERE subject = 'moving' ORDER BY sequence").map {
                    try $0.text("type")
                }
            }
            #expect(told.filter { $0 == "purchase.transferred" }.count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an older transaction's token does not take back what a later one's moved`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let hers = try await apple.token("alice")
            let his = try await apple.token("bob")
            let first = apple.period("twice", from: 0) { $0.token = hers }
            try await apple.attach(first, user: "alice")
            try await apple.attach(apple.period("twice", from: 30) { $0.token = his }, user: "bob")
            #expect(try await apple.refusal(first, user: "alice") == .purchaseBelongsToAnotherUser)
            #expect(try await !apple.status("alice").active)
            #expect(try await apple.status("bob").active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `64 attaches of one transaction by two users have one owner`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale()
            let answers = try await withThrowingTaskGroup(of: (String, AttachedPurchase?, GatewayError?).self) {
                group in
                for number in 0..<64 {
                    let user = number % 2 == 0 ? "alice" : "bob"
                    group.addTask {
                        do throws(GatewayError) {
                            let attached = try await apple.gateway.purchases.attach(
                                .signedTransaction(sale.jws), fallback: nil, user: GatewayFixture.user(user),
                                context: .test)
                            return (user, attached, nil)
                        } catch {
                            return (user, nil, error)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let winners = answers.compactMap { $0.1 }
            #expect(winners.count == 32 && winners.allSatisfy { $0 == winners.first })
            #expect(Set(answers.filter { $0.1 != nil }.map(\.0)).count == 1)
            #expect(answers.compactMap(\.2).allSatisfy { $0 == .purchaseBelongsToAnotherUser })
            #expect(try await apple.desk.count("orders") == 1)
            #expect(try await apple.desk.count("grants") == 1)
            #expect(try await apple.desk.count("purchase_owners") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `two batches that name each other's users end`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let tokens = [try await apple.token("alice"), try await apple.token("bob")]
            let sales = (0..<20).map { number in apple.sale { $0.token = tokens[number % 2] }.jws }
            async let hers = apple.restore(sales, user: "alice")
            async let his = apple.restore(sales.reversed(), user: "bob")
            for items in try await [hers, his] {
                #expect(items.filter { $0.status == .rejected }.count == 10)
                #expect(items.compactMap(\.refusal).allSatisfy { $0 == .purchaseBelongsToAnotherUser })
            }
            #expect(try await apple.grants("alice").count == 10)
            #expect(try await apple.grants("bob").count == 10)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `24 attaches of a consumable credit its units once, times the quantity`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale("com.example.gems", AppleSale.consumable) { $0.quantity = 3 }
            let answers = try await withThrowingTaskGroup(of: AttachedPurchase.self) { group in
                for _ in 0..<24 { group.addTask { try await apple.attach(sale) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let first = try #require(answers.first)
            #expect(answers.allSatisfy { $0 == first })
            #expect(first.credited == ["gems": 30] && !first.active && first.expires_at == 0 && first.tier.isEmpty)
            #expect(!first.perpetual)
            #expect(try await apple.desk.snapshot().balances == ["gems": 30])
            #expect(try await apple.order(first).order.quantity == 3)
            #expect(try await apple.refusal(sale, user: "bob") == .purchaseBelongsToAnotherUser)
            #expect(try await apple.desk.snapshot("bob").balances.isEmpty)
            try await apple.attach(apple.sale("com.example.gems", AppleSale.consumable))
            #expect(try await apple.desk.snapshot().balances == ["gems": 40])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `several passes of one purchase last so many times as long`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale { $0.quantity = 3 }
            let attached = try await apple.attach(sale)
            #expect(attached.expires_at == sale.purchasedAt.adding(days: 90).rawValue)
            let order = try await apple.order(attached).order
            #expect(order.quantity == 3 && order.terms.days == 90)
            #expect(try await apple.attach(sale.signedAgain(after: 60)) == attached)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a non-consumable lasts for ever, and a second one is held`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale("com.example.life", AppleSale.nonConsumable)
            let first = try await apple.attach(sale)
            #expect(first.perpetual && first.active && first.expires_at == 253_402_300_799 && first.tier == "VIP")
            let twin = apple.sale("com.example.life", AppleSale.nonConsumable)
            let second = try await apple.attach(twin)
            // It gives nothing itself, and its owner has it all the same.
            #expect(second.active && second.perpetual && second.order_id != first.order_id)
            #expect(try await apple.attach(twin) == second)
            let order = try await apple.order(second)
            #expect(order.order.anomalies == [.duplicateOwnership] && order.status == .paid)
            #expect(try await apple.grants().count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what a test purchase owns does not hold a real one`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let test = apple.sale("com.example.ring", AppleSale.nonConsumable) { $0.environment = "Sandbox" }
            #expect(try await apple.attach(test).perpetual)
            let real = try await apple.attach(apple.sale("com.example.ring", AppleSale.nonConsumable))
            #expect(real.perpetual && real.active)
            #expect(try await apple.order(real).order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `passes lie end to end from apple's times of purchase`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let start = apple.now
            let month = AppleSale(at: start)
            let year = AppleSale("com.example.vip.year", at: start.adding(days: 10))
            apple.desk.clock.advance(days: 20)
            // The later one comes first.
            for (sale, days) in [(year, 375), (month, 30), (year, 395)] as [(AppleSale, Int64)] {
                let attached = try await apple.attach(sale)
                #expect(attached.expires_at == start.adding(days: days).rawValue)
            }
            #expect(try await apple.status().expires_at == start.adding(days: 395).rawValue)
            let refund = month.signedAgain(after: 86_400) { $0.revoked = $0.signed }
            #expect(try await apple.refusal(refund) == .purchaseRevoked)
            let moved = try await apple.attach(year)
            #expect(moved.expires_at == start.adding(days: 375).rawValue)
        }
    }

    /// What Apple sold, and what it gives although the SKU is another kind.
    static let mismatches: [(product: String, type: String, anomaly: Bool, perpetual: Bool, active: Bool)] = [
        ("com.example.vip.month", AppleSale.pass, false, false, true),
        ("com.example.vip.month", AppleSale.nonConsumable, true, true, true),
        ("com.example.vip.month", AppleSale.consumable, true, false, false),
        ("com.example.vip.month", "Something New", false, false, true),
        ("com.example.life", AppleSale.pass, true, false, false),
        ("com.example.gems", AppleSale.nonConsumable, true, true, true),
    ]

    @Test(arguments: TestEngine.allCases)
    func `apple's type decides, and another kind of SKU is an anomaly`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (number, mismatch) in Self.mismatches.enumerated() {
                let attached = try await apple.attach(
                    apple.sale(mismatch.product, mismatch.type), user: "user\(number)")
                let order = try await apple.order(attached)
                #expect(order.order.anomalies == (mismatch.anomaly ? [.kindMismatch] : []), "\(mismatch)")
                #expect(order.status == .paid)
                #expect(attached.perpetual == mismatch.perpetual && attached.active == mismatch.active, "\(mismatch)")
            }
        }
    }
}
