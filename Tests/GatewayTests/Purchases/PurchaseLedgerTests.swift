import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("PurchaseLedger")
struct PurchaseLedgerTests {
    enum Outcome: Sendable, Equatable {
        case new, known, unknownProduct, anotherUser, revoked

        init(_ outcome: ClaimOutcome) {
            switch outcome {
            case .attached(_, let isNew): self = isNew ? .new : .known
            case .unknownProduct: self = .unknownProduct
            case .anotherUser: self = .anotherUser
            case .revoked: self = .revoked
            }
        }
    }

    /// Claims of one original transaction, each by a user and with its outcome, and the stored transactions after them.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let claims: [(user: String, purchase: StorePurchase, outcome: Outcome)]
        var fallback: PurchaseFallback?
        /// Each stored transaction as its user, its SKU and the number of its order among the original's.
        let stored: [String]
    }

    private static func story(
        _ name: String, _ claims: [(String, StorePurchase, Outcome)], fallback: PurchaseFallback? = nil,
        stored: [String]
    ) -> Story {
        Story(
            testDescription: name, claims: claims.map { (user: $0.0, purchase: $0.1, outcome: $0.2) },
            fallback: fallback, stored: stored)
    }

    private static func ring(
        _ original: String, _ id: String? = nil, at bought: Int64 = 0, revoked: Int64? = nil
    )
        -> StorePurchase
    {
        LedgerSamples.purchase(
            original, id, "com.example.ring", .nonConsumable, at: bought, signed: revoked, revoked: revoked)
    }

    static let stories: [Story] = {
        func pass(
            _ original: String, _ product: String = "com.example.vip.month", revoked: Int64? = nil
        ) -> StorePurchase {
            LedgerSamples.purchase(original, nil, product, signed: revoked, revoked: revoked)
        }
        let unmapped = "com.example.unheard"
        return [
            story("claimed", [("alice", pass("a"), .new)], stored: ["alice vip_month 1"]),
            story(
                "claimed twice", [("alice", pass("b"), .new), ("alice", pass("b"), .known)],
                stored: ["alice vip_month 1"]),
            story(
                "claimed by another user", [("alice", pass("c"), .new), ("bob", pass("c"), .anotherUser)],
                stored: ["alice vip_month 1"]),
            story(
                "a product of no SKU",
                [("alice", pass("d", unmapped), .unknownProduct), ("bob", pass("d", unmapped), .anotherUser)],
                stored: ["alice none none"]),
            story(
                "a product that the client describes", [("alice", pass("e", unmapped), .new)],
                fallback: PurchaseFallback(durationDays: 7, subscribeID: 1_001), stored: ["alice believed 1"]),
            story(
                "a description that the SKU does not allow", [("alice", pass("f", unmapped), .unknownProduct)],
                fallback: PurchaseFallback(durationDays: 31, subscribeID: 1_001), stored: ["alice none none"]),
            story("revoked", [("alice", pass("g", revoked: 1), .revoked)], stored: ["alice vip_month 1"]),
            story(
                "revoked later", [("alice", pass("h"), .new), ("alice", pass("h", revoked: 1), .revoked)],
                stored: ["alice vip_month 1"]),
            story(
                "a restore under another id",
                [("alice", ring("i"), .new), ("alice", ring("i", "i-2", at: 1), .known)],
                stored: ["alice ring 1", "alice ring none"]),
            story(
                "bought again after a refund",
                [("alice", ring("j", revoked: 1), .revoked), ("alice", ring("j", "j-2", at: 2), .new)],
                stored: ["alice ring 1", "alice ring 2"]),
            story(
                "two periods",
                [
                    ("alice", LedgerSamples.period("k", 0), .new), ("alice", LedgerSamples.period("k", 1), .new),
                    ("bob", LedgerSamples.period("k", 2), .anotherUser),
                ], stored: ["alice apple_auto 1", "alice apple_auto 2", "alice apple_auto 3"]),
        ]
    }()

    @Test(arguments: TestEngine.allCases)
    func `claims are answered, and stored also where they are refused`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (number, story) in Self.stories.enumerated() {
                let (outcomes, stored) = try await apple.settle { settlement in
                    try Self.run(story, number, settlement)
                }
                #expect(outcomes == story.claims.map(\.outcome), "\(story.testDescription)")
                #expect(stored == story.stored, "\(story.testDescription)")
            }
        }
    }

    private static func run(
        _ story: Story, _ number: Int, _ settlement: Settlement
    ) throws -> (outcomes: [Outcome], stored: [String]) {
        var names: [ID<User>: String] = [:]
        var outcomes: [Outcome] = []
        for claim in story.claims {
            let name = "\(claim.user)\(number)"
            let user = try settlement.user(name)
            names[user] = claim.user
            let verified = try LedgerSamples.claim(claim.purchase, fallback: story.fallback)
            outcomes.append(Outcome(try settlement.purchases.attach(verified, claimant: user, name: name)))
        }
        return (outcomes, try stored(story.claims[0].purchase, names, settlement))
    }

    private static func stored(
        _ purchase: StorePurchase, _ names: [ID<User>: String], _ settlement: Settlement
    ) throws -> [String] {
        var orders: [ID<Order>] = []
        return try settlement.tx.purchases.list(purchase.environment, original: purchase.originalTransactionID).map {
            record in
            if let order = record.order, !orders.contains(order) { orders.append(order) }
            let order = record.order.flatMap { orders.firstIndex(of: $0) }.map { "\($0 + 1)" }
            return [record.user.flatMap { names[$0] }, record.sku?.rawValue, order].map { $0 ?? "none" }
                .joined(separator: " ")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a store's statement waits unclaimed for the first claim, or goes to the user that it names`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let token = try await apple.token("alice")
            let source = try apple.gateway.registry.source(of: .test("apple-iap"))
            let lines = try await apple.settle { settlement in
                let user = try settlement.user("alice")
                let names = [user: "alice"]
                let named = LedgerSamples.purchase("named", token: token)
                let (first, second) = (LedgerSamples.period("waiting", 0), LedgerSamples.period("waiting", 1))
                for purchase in [named, first, second] {
                    let statement = StoreStatement(purchase: purchase, renewal: nil)
                    try settlement.purchases.apply(statement, from: source)
                }
                var lines = try Self.stored(named, names, settlement) + Self.stored(first, names, settlement)
                let claim = try LedgerSamples.claim(second)
                let outcome = Outcome(try settlement.purchases.attach(claim, claimant: user, name: "alice"))
                lines.append("\(outcome)")
                return try lines + Self.stored(first, names, settlement)
            }
            #expect(
                lines == [
                    "alice vip_month 1", "none apple_auto none", "none apple_auto none", "new", "alice apple_auto 1",
                    "alice apple_auto 2",
                ])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an admin's transfer fulfils unclaimed transactions for the new owner`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let source = try apple.gateway.registry.source(of: .test("apple-iap"))
            let lines = try await apple.settle { settlement in
                let period = LedgerSamples.period("moved", 0)
                let statement = StoreStatement(
                    purchase: period, renewal: LedgerSamples.renewal("moved", signed: 1))
                try settlement.purchases.apply(statement, from: source)
                let user = try settlement.user("alice")
                _ = try settlement.tx.purchaseOwners.bind(StoreSubject(period), to: user, at: settlement.now)
                try settlement.purchases.fulfilStored(of: StoreSubject(period), for: user, name: "alice")
                return try Self.stored(period, [user: "alice"], settlement)
            }
            #expect(lines == ["alice apple_auto 1"])
            #expect(try await apple.grants().map(\.source.id) == ["moved"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a purchase that is applied again as it is stored changes nothing`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for purchase in [LedgerSamples.period("again", 0), Self.ring("forever")] {
                let versions = try await apple.settle { settlement in
                    let (tx, user) = (settlement.tx, try settlement.user("alice"))
                    let claim = try LedgerSamples.claim(purchase)
                    _ = try settlement.purchases.attach(claim, claimant: user, name: "alice")
                    let before = try tx.users.version(of: user).version
                    for record in try tx.purchases.list(.production, original: purchase.originalTransactionID) {
                        try settlement.purchases.reapply(record)
                    }
                    return [before, try tx.users.version(of: user).version]
                }
                #expect(versions[0] == versions[1], "\(purchase.originalTransactionID)")
            }
        }
    }
}
