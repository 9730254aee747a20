import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: several ids and several users")
struct RestoredHolderTests {
    typealias Kind = RestoredPurchaseTests.Kind

    private static func refund(
        _ pair: RestoredPurchaseTests.Pair, _ sale: AppleSale, at apple: AppStoreGatewayFixture
    ) async throws {
        try await apple.notify(AppleNotice("REFUND", nil, pair.refund(sale), at: apple.now))
    }

    @Test(arguments: TestEngine.allCases, OwnershipPolicy.allCases)
    func `each policy decides about the purchase, not about its ids`(
        _ engine: TestEngine, _ policy: OwnershipPolicy
    ) async throws {
        try await withAppleDesk(on: engine, PurchasePolicyTests.setup(policy)) { apple in
            for kind in Kind.allCases {
                let (owner, other) = ("owner\(kind)", "other\(kind)")
                let pair = kind.pair("\(kind)", at: apple)
                let first = try await apple.attach(pair.first, user: owner)
                apple.desk.clock.advance(days: 6)
                let moves = policy == .transfer
                if moves || policy == .share {
                    let second = try await apple.attach(pair.second, user: other)
                    #expect(second.active && second.order_id == first.order_id, "\(kind)")
                } else {
                    #expect(try await apple.refusal(pair.second, user: other) == .purchaseBelongsToAnotherUser)
                }
                #expect(try await apple.grants(owner).count == (moves ? 0 : 1), "\(kind)")
                #expect(try await apple.grants(other).count == (moves || policy == .share ? 1 : 0), "\(kind)")
                try await Self.refund(pair, pair.second, at: apple)
                for user in [owner, other] {
                    #expect(try await apple.grants(user).allSatisfy { $0.revocation != nil }, "\(kind) \(user)")
                }
                // A revoked purchase no longer changes its owner.
                apple.desk.clock.advance(days: 6)
                #expect(try await apple.refusal(pair.first, user: "late") == .purchaseBelongsToAnotherUser)
                #expect(try await apple.order(first).status == .refunded)
            }
            #expect(try await apple.desk.count("orders") == 4)
        }
    }

    @Test(arguments: TestEngine.allCases, [1, 2])
    func `two users with two ids at once end with one owner and one order`(
        _ engine: TestEngine, _ round: Int
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            for kind in Kind.allCases {
                let pair = kind.pair("\(kind)", at: apple)
                let refusals = try await withThrowingTaskGroup(of: GatewayError?.self) { group in
                    for claim in 0..<16 {
                        group.addTask {
                            try await apple.refusal(
                                claim % 2 == 0 ? pair.first : pair.second, user: "user\(claim / 2 % 2)\(kind)")
                        }
                    }
                    group.addTask {
                        try await Self.refund(pair, pair.first, at: apple)
                        return nil
                    }
                    return try await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
                }
                #expect(refusals.allSatisfy { [.purchaseBelongsToAnotherUser, .purchaseRevoked].contains($0) })
            }
            #expect(try await apple.desk.count("orders") == 4)
            #expect(try await apple.desk.count("orders WHERE returned > 0") == 4)
            #expect(try await apple.desk.count("grants WHERE revoked_at IS NULL") == 0)
            #expect(try await apple.desk.count("purchase_owners") == 4)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what nobody has claimed goes with the id that is claimed`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for kind in Kind.allCases {
                let pair = kind.pair("\(kind)", at: apple)
                try await apple.notify(AppleNotice("ONE_TIME_CHARGE", nil, pair.first, at: apple.now))
                #expect(try await apple.attach(pair.second, user: "\(kind)").active)
            }
            for wait in PurchaseWait.allCases {
                #expect(try await apple.gateway.purchases.list(wait, cursor: nil, limit: 5).items.isEmpty)
            }
            #expect(try await apple.desk.count("orders") == 4)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a product that is mapped later is one order`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let late = #"""
                {"id": "late", "name": "Late", "kind": "non_consumable", "prices": [{"currency": "CNY", "value": 100}],
                 "apple_product_ids": ["com.example.late"]}
                """#
            let sales = ["1", "2"].map { id in
                apple.sale("com.example.late", AppleSale.nonConsumable) { ($0.id, $0.original) = (id, "1") }
            }
            for sale in sales { #expect(try await apple.refusal(sale) == .unknownProduct(sale.product)) }
            _ = try await apple.gateway.catalogue.create(
                try JSONDecoder().decode(SKU.self, from: Data(late.utf8)), context: .test)
            for sale in sales { #expect(try await apple.attach(sale).active) }
            #expect(try await apple.desk.count("orders") == 1)
        }
    }

    /// Simulates the state of an earlier release: an order for each id, of which the second one granted nothing.
    @Test(arguments: TestEngine.allCases, [0, 300])
    func `ids that got an order each go back together`(_ engine: TestEngine, _ seconds: Int64) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (number, refunded) in [0, 1].enumerated() {
                let (user, original) = ("user\(number)", "100\(number)")
                let sale = apple.sale("com.example.ring", AppleSale.nonConsumable) {
                    $0.id = original
                    $0.purchased -= 3_600_000
                }
                let restored = sale.with {
                    ($0.id, $0.original) = ("\(original)-again", original)
                    $0.purchased += seconds * 1_000
                }
                for sale in [sale, restored.with { $0.original = nil }] { try await apple.attach(sale, user: user) }
                try await apple.store.write { tx in
                    try tx.execute(
                        "UPDATE purchases SET original_transaction_id = ? WHERE key = ?", original, restored.id)
                    try tx.execute("DELETE FROM purchase_owners WHERE original_transaction_id = ?", restored.id)
                }
                #expect(try await apple.attach(restored, user: user).active)
                #expect(try await apple.grants(user).count == 1)
                let taken = [sale, restored][refunded].signedAgain(after: 900) { $0.revoked = $0.signed }
                try await apple.notify(AppleNotice("REFUND", nil, taken, at: apple.now))
                #expect(try await apple.grants(user).allSatisfy { $0.revocation != nil }, "\(number)")
                for sale in [sale, restored] {
                    #expect(try await apple.refusal(sale, user: user) == .purchaseRevoked, "\(number)")
                }
            }
            let orders = try await apple.gateway.orders.list(OrderQuery(), cursor: nil, limit: 5).items
            #expect(orders.count == 4 && orders.allSatisfy { $0.status == .refunded })
        }
    }

    /// Simulates a refund under another id, which an earlier release did not recognize.
    @Test(arguments: TestEngine.allCases)
    func `a refund that was kept beside it is followed at the next claim`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let pair = Kind.ring.pair("1000", at: apple)
            for sale in [pair.first, pair.second] { try await apple.attach(sale) }
            try await apple.store.write { tx in
                try tx.execute("UPDATE purchases SET revoked_at = signed_at WHERE key = '1000-again'")
            }
            #expect(try await apple.refusal(pair.first) == .purchaseRevoked)
            #expect(try await apple.grants().allSatisfy { $0.revocation != nil })
        }
    }

    /// Simulates the row of a purchase that an earlier release knew only under a further id.
    @Test(arguments: TestEngine.allCases, [Kind.ring, .period])
    func `a row of an earlier release is found by the other id`(_ engine: TestEngine, _ kind: Kind) async throws {
        try await withAppleDesk(on: engine) { apple in
            let pair = kind.pair("1000", at: apple)
            let kept = try await apple.attach(pair.second.with { $0.line = nil })
            let replayed = try await apple.attach(pair.second.with { $0.line = "7" })
            #expect(replayed == kept)
            #expect(try await apple.attach(pair.first.with { $0.line = "7" }).order_id == kept.order_id)
            try await Self.refund(pair, pair.first, at: apple)
            #expect(try await apple.refusal(pair.second) == .purchaseRevoked)
            #expect(try await apple.desk.count("orders") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases, [Kind.ring, .period, .namedPeriod])
    func `a further id that was taken back, and gives all the same, is found`(
        _ engine: TestEngine, _ kind: Kind
    ) async throws {
        var setup = AppStoreGatewayFixtureSetup()
        setup.desk.checksInvariants = false
        try await withAppleDesk(on: engine, setup) { apple in
            let pair = kind.pair("1000", at: apple)
            for sale in [pair.first, pair.second] { try await apple.attach(sale) }
            #expect(try await InvariantCheck(store: apple.store).run().isEmpty)
            for id in ["1000", "1000-again"] {
                let taken = "UPDATE purchases SET revoked_at = purchased_at + 9000 WHERE key = ?"
                try await apple.store.write { tx in try tx.execute(taken, id) }
                let found = try await InvariantCheck(store: apple.store).run().map(\.detail)
                #expect(found.contains { $0.contains("revoked") }, "\(id): \(found)")
                try await apple.store.write { tx in try tx.execute("UPDATE purchases SET revoked_at = NULL") }
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a rebuild, the reports and the explanation know one purchase`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for kind in Kind.allCases {
                let pair = kind.pair("\(kind)", at: apple)
                for sale in [pair.second, pair.first] { try await apple.attach(sale, user: "\(kind)") }
                try await Self.refund(pair, pair.first, at: apple)
                let told = try await apple.gateway.reports.explain(
                    user: GatewayFixture.user("\(kind)"), sku: nil, reader: .user, languages: ["en"])
                #expect(told.facts.count { $0.type == "purchase.made" } == 1, "\(told.facts)")
            }
            try await withDatabase(on: .sqlite) { scratch in
                let report = try await ReplayInbox(
                    source: apple.store, scratch: scratch.store, gateway: apple.gateway
                ).run()
                #expect(report.differences.isEmpty && report.grants == 4, "\(report)")
            }
            let days = try await apple.store.read { db in
                try db.reports.listDays(from: apple.now.adding(days: -2), to: apple.now.adding(days: 2))
            }
            #expect(days.reduce(0) { $0 + $1.paid } == 4)
            #expect(days.reduce(0) { $0 + $1.refunded } == 4 * 2_990 && days.reduce(0) { $0 + $1.charged } == 4 * 2_990)
        }
    }
}
