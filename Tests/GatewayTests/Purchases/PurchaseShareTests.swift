import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: shared")
struct PurchaseShareTests {
    private static let users = ["alice", "bob", "carol"]

    private static let later = """
        {"id": "later", "name": "Later", "kind": "non_renewing", "tier": "VIP", "duration_days": 30,
         "prices": [{"currency": "CNY", "value": 100}], "apple_product_ids": ["com.example.later"]}
        """

    private static func changes(_ apple: AppStoreGatewayFixture) async throws -> [String: Int64] {
        var versions: [String: Int64] = [:]
        for user in users { versions[user] = try await apple.desk.snapshot(user).version }
        return versions
    }

    @Test(arguments: TestEngine.allCases)
    func `renewals, refunds and reversals of a subscription reach everybody who holds it`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine, PurchasePolicyTests.setup(.share, limit: 3)) { apple in
            let start = apple.now
            let month = apple.period("shared", from: 0)
            let answers = try await Self.users.asyncMap { try await apple.attach(month, user: $0) }
            #expect(Set(answers.map(\.order_id)).count == 1 && answers.allSatisfy { $0.active })
            #expect(try await apple.refusal(month, user: "dave") == .purchaseBelongsToAnotherUser)
            #expect(try await apple.restore([month.jws], user: "bob").map(\.status) == [.alreadyAttached])
            #expect(try await apple.traces("purchase.attached", "shared") == 3)
            let renewed = apple.period("shared", from: 30) { $0.isRenewal = true }
            let refunded = renewed.signedAgain(after: 86_400) { $0.revoked = $0.signed }
            let steps: [(type: String, sale: AppleSale, active: Bool)] = [
                ("DID_RENEW", renewed, true), ("REFUND", refunded, false),
                ("REFUND_REVERSED", renewed.signedAgain(after: 2 * 86_400), true),
            ]
            for step in steps {
                let before = try await Self.changes(apple)
                try await apple.notify(AppleNotice(step.type, nil, step.sale, at: apple.now))
                for user in Self.users {
                    let status = try await apple.status(user)
                    #expect(status.active == step.active, "\(step.type) \(user)")
                    if step.active { #expect(status.expires_at == start.adding(days: 60).rawValue) }
                    #expect(try await apple.desk.snapshot(user).version == (before[user] ?? 0) + 1, "\(step.type)")
                    #expect(try await apple.subscriptions(user).count == 1)
                    let grants = try await apple.grants(user)
                    #expect(grants.map(\.source.id) == ["shared"])
                }
            }
            #expect(try await apple.desk.count("orders") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is owned for good is taken from all, and given again to all`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, PurchasePolicyTests.setup(.share)) { apple in
            let ring = apple.sale("com.example.ring", AppleSale.nonConsumable)
            for user in Self.users { #expect(try await apple.attach(ring, user: user).perpetual) }
            let refund = ring.signedAgain(after: 60) { $0.revoked = $0.signed }
            for (type, sale, holds) in [
                ("REFUND", refund, false), ("REFUND_REVERSED", ring.signedAgain(after: 120), true),
            ] {
                let before = try await Self.changes(apple)
                try await apple.notify(AppleNotice(type, nil, sale, at: apple.now))
                for user in Self.users {
                    #expect(try await apple.grants(user).map { $0.revocation == nil } == [holds], "\(type) \(user)")
                    #expect(try await apple.desk.snapshot(user).version == (before[user] ?? 0) + 1)
                }
            }
            #expect(try await apple.desk.count("orders") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a sharer has what is mapped later, units excepted`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, PurchasePolicyTests.setup(.share)) { apple in
            let gems = apple.sale("com.example.gems", AppleSale.consumable)
            #expect(try await apple.attach(gems).credited == ["gems": 10])
            let shown = try await apple.attach(gems, user: "bob")
            #expect(shown.credited.isEmpty && !shown.active)
            // Another transaction of the same original, of a product that no SKU knows yet.
            let later = apple.sale("com.example.later") { $0.original = gems.id }
            #expect(try await apple.refusal(later, user: "bob") == .unknownProduct("com.example.later"))
            _ = try await apple.gateway.catalogue.create(
                try JSONDecoder().decode(SKU.self, from: Data(Self.later.utf8)), context: .test)
            for user in ["alice", "bob"] { #expect(try await apple.status(user).active, "\(user)") }
            #expect(try await apple.desk.snapshot("alice").balances == ["gems": 10])
            #expect(try await apple.desk.snapshot("bob").balances.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a sharer whom a token names becomes the owner`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, PurchasePolicyTests.setup(.share)) { apple in
            let token = try await apple.token("bob")
            let month = apple.period("named", from: 0)
            for user in Self.users { try await apple.attach(month, user: user) }
            let renewed = apple.period("named", from: 30) { ($0.token, $0.isRenewal) = (token, true) }
            try await apple.notify(AppleNotice("DID_RENEW", nil, renewed, at: apple.now))
            #expect(try await !apple.status("alice").active)
            for user in ["bob", "carol"] {
                #expect(try await apple.status(user).expires_at == apple.now.adding(days: 60).rawValue, "\(user)")
                #expect(try await apple.grants(user).count == 1)
            }
            #expect(try await apple.desk.count("purchase_shares") == 1)
            // A version that was signed before does not bring anything back.
            #expect(try await apple.refusal(month, user: "alice") == .purchaseBelongsToAnotherUser)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a rebuild gives every sharer the same`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, PurchasePolicyTests.setup(.share)) { apple in
            let month = apple.period("rebuilt", from: 0)
            let ring = apple.sale("com.example.ring", AppleSale.nonConsumable)
            for user in Self.users {
                for sale in [month, ring] { try await apple.attach(sale, user: user) }
            }
            let refund = ring.signedAgain(after: 60) { $0.revoked = $0.signed }
            try await apple.notify(AppleNotice("REFUND", nil, refund, at: apple.now))
            try await withDatabase(on: .sqlite) { scratch in
                let report = try await ReplayInbox(
                    source: apple.store, scratch: scratch.store, gateway: apple.gateway
                ).run()
                #expect(report.differences.isEmpty, "\(report.differences)")
                #expect(report.grants == 6)
            }
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ make: (Element) async throws -> Value) async rethrows -> [Value] {
        var made: [Value] = []
        for element in self { made.append(try await make(element)) }
        return made
    }
}
