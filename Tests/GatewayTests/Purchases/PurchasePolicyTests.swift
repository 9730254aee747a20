import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: a second user claims")
struct PurchasePolicyTests {
    enum Outcome: Equatable, Sendable {
        case refused, moved, shared
    }

    /// What a purchase is when somebody else claims it, and what each policy makes of that.
    struct Situation: Sendable {
        let name: String
        let transfer: Outcome
        let ifInactive: Outcome
        let share: Outcome
        /// Makes the purchase the owner's, and says what the other one presents.
        let prepare: @Sendable (AppStoreGatewayFixture, _ owner: String, _ original: String) async throws -> AppleSale

        init(
            _ name: String, transfer: Outcome = .moved, ifInactive: Outcome = .refused, share: Outcome = .shared,
            _ prepare: @escaping @Sendable (AppStoreGatewayFixture, String, String) async throws -> AppleSale
        ) {
            (self.name, self.transfer, self.ifInactive, self.share) = (name, transfer, ifInactive, share)
            self.prepare = prepare
        }

        func outcome(_ policy: OwnershipPolicy) -> Outcome {
            switch policy {
            case .keep: .refused
            case .transfer: transfer
            case .transferIfInactive: ifInactive
            case .share: share
            }
        }
    }

    private static func pass(
        _ apple: AppStoreGatewayFixture, _ owner: String, _ original: String, days: Int64, token: String? = nil
    ) async throws -> AppleSale {
        let sale = apple.sale { ($0.id, $0.token) = (original, token) }
        try await apple.attach(sale, user: owner)
        apple.desk.clock.advance(days: days)
        return sale
    }

    /// A month of a subscription, so many days after it began.
    private static func month(
        _ apple: AppStoreGatewayFixture, _ owner: String, _ original: String, days: Int64, token: String? = nil
    ) async throws -> AppleSale {
        let sale = apple.period(original, from: 0) { ($0.id, $0.token) = ("\(original)-1", token) }
        try await apple.attach(sale, user: owner)
        apple.desk.clock.advance(days: days)
        return sale
    }

    private static func fail(_ apple: AppStoreGatewayFixture, _ sale: AppleSale, graceDays: Int64?) async throws {
        let renewal = AppleRenewal(sale, signed: apple.now.rawValue * 1_000) {
            $0.isInRetry = true
            $0.graceEnds = graceDays.map { sale.purchased + (30 + $0) * 86_400_000 }
        }
        try await apple.notify(AppleNotice("DID_FAIL_TO_RENEW", nil, sale, renewal, at: apple.now))
    }

    static let situations = [
        Situation("a pass that was just bound", transfer: .refused) { try await pass($0, $1, $2, days: 4) },
        Situation("a pass bound long ago") { try await pass($0, $1, $2, days: 5) },
        Situation("a pass that has ended", ifInactive: .moved) { try await pass($0, $1, $2, days: 40) },
        Situation("a pass that has yet to begin") { apple, owner, original in
            try await apple.attach(apple.sale(), user: owner)
            return try await pass(apple, owner, original, days: 6)
        },
        Situation("a token that was never issued") {
            try await pass($0, $1, $2, days: 6, token: "6d7a1a51-0f0a-4f6e-9c1b-4a0a9c3f1e2d")
        },
        Situation("another known user's token", transfer: .refused, share: .refused) {
            try await pass($0, $1, $2, days: 40, token: $0.token($1))
        },
        Situation("a token on an earlier period", transfer: .refused, share: .refused) { apple, owner, original in
            _ = try await month(apple, owner, original, days: 40, token: apple.token(owner))
            return apple.period(original, from: 0)
        },
        Situation("an erased owner", transfer: .refused, share: .refused) { apple, owner, original in
            let sale = try await pass(apple, owner, original, days: 40)
            _ = try await apple.gateway.users.erase(GatewayFixture.user(owner), context: .test)
            return sale
        },
        Situation("gems", ifInactive: .moved) { apple, owner, original in
            let sale = apple.sale("com.example.gems", AppleSale.consumable) { $0.id = original }
            try await apple.attach(sale, user: owner)
            apple.desk.clock.advance(days: 6)
            return sale
        },
        Situation("what is owned for good") { apple, owner, original in
            let sale = apple.sale("com.example.ring", AppleSale.nonConsumable) { $0.id = original }
            try await apple.attach(sale, user: owner)
            apple.desk.clock.advance(days: 600)
            return sale
        },
        Situation("a subscription that runs") { try await month($0, $1, $2, days: 6) },
        Situation("a subscription in its grace period") { apple, owner, original in
            let sale = try await month(apple, owner, original, days: 31)
            try await fail(apple, sale, graceDays: 6)
            return sale
        },
        Situation("a subscription in billing retry") { apple, owner, original in
            let sale = try await month(apple, owner, original, days: 40)
            try await fail(apple, sale, graceDays: nil)
            return sale
        },
        Situation("a subscription that has ended", ifInactive: .moved) { try await month($0, $1, $2, days: 40) },
        Situation("a subscription whose renewal is due") { apple, owner, original in
            let sale = try await month(apple, owner, original, days: 29)
            let renewal = AppleRenewal(sale, signed: apple.now.rawValue * 1_000)
            try await apple.notify(
                AppleNotice("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", sale, renewal, at: apple.now))
            apple.desk.clock.advance(days: 3)
            return sale
        },
        Situation("a subscription that was never renewed", ifInactive: .moved) { apple, owner, original in
            let sale = try await month(apple, owner, original, days: 29)
            let renewal = AppleRenewal(sale, signed: apple.now.rawValue * 1_000) { $0.willRenew = false }
            try await apple.notify(
                AppleNotice("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", sale, renewal, at: apple.now))
            apple.desk.clock.advance(days: 3)
            return sale
        },
        Situation("a renewal that nobody has heard of") { apple, owner, original in
            _ = try await month(apple, owner, original, days: 31)
            return apple.period(original, from: -1) { $0.isRenewal = true }
        },
        Situation("a subscription that is bought again", ifInactive: .moved) { apple, owner, original in
            _ = try await month(apple, owner, original, days: 40)
            return apple.period(original, from: 0)
        },
        Situation("what the store took back", transfer: .refused, share: .refused) { apple, owner, original in
            let sale = try await month(apple, owner, original, days: 10)
            return sale.signedAgain(after: 86_400) { $0.revoked = $0.signed }
        },
    ]

    static func setup(_ policy: OwnershipPolicy, limit: Int64 = 5, cooldown: Int64 = 5) -> AppStoreGatewayFixtureSetup {
        AppStoreGatewayFixtureSetup {
            $0.desk.ownership = OwnershipRules(policy: policy, shareLimit: limit, cooldownDays: cooldown)
        }
    }

    private static func outcome(
        _ apple: AppStoreGatewayFixture, _ sale: AppleSale, from owner: ID<User>, to other: String
    ) async throws -> Outcome {
        if let refusal = try await apple.refusal(sale, user: other) {
            #expect(refusal == .purchaseBelongsToAnotherUser)
            return .refused
        }
        let subject = StoreSubject(.production, sale.original ?? sale.id)
        let bound = try await apple.store.read { db in
            try db.purchaseOwners.find(of: StoreSubject(subject.environment, subject.original)).value()
        }
        return bound == owner ? .shared : .moved
    }

    @Test(arguments: TestEngine.allCases, OwnershipPolicy.allCases)
    func `each policy decides each situation`(_ engine: TestEngine, _ policy: OwnershipPolicy) async throws {
        try await withAppleDesk(on: engine, Self.setup(policy)) { apple in
            for (number, situation) in Self.situations.enumerated() {
                let (owner, other, original) = ("owner\(number)", "other\(number)", "original-\(number)")
                _ = try await apple.token(owner)
                let id = try #require(
                    try await apple.store.read { db in try db.users.findID(GatewayFixture.user(owner)) })
                let sale = try await situation.prepare(apple, owner, original)
                let expected = situation.outcome(policy)
                #expect(try await Self.outcome(apple, sale, from: id, to: other) == expected, "\(situation.name)")
                let moves = try await apple.traces("purchase.transferred", original)
                #expect(moves == (expected == .moved ? 1 : 0), "\(situation.name)")
                let shares = try await apple.desk.count(
                    "audit WHERE action = 'purchase.shared' AND subject = '\(original)'")
                #expect(shares == (expected == .shared ? 1 : 0), "\(situation.name)")
                #expect(try await apple.desk.snapshot(other).balances.isEmpty)
                let given = try await apple.grants(other).count
                #expect(given == (expected == .refused || situation.name == "gems" ? 0 : 1), "\(situation.name)")
                guard expected != .refused else { continue }
                // Again is the same, and a restore follows the same rules.
                #expect(try await apple.restore([sale.jws], user: other).map(\.status) == [.alreadyAttached])
                #expect(try await apple.traces("purchase.transferred", original) == moves)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what no SKU knows yet runs all the same`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, Self.setup(.transferIfInactive)) { (apple) async throws in
            func sale(_ id: String, days: Int64) -> AppleSale {
                apple.sale("com.example.unheard", AppleSale.subscription) {
                    $0.id = id
                    $0.expires = $0.purchased + days * 86_400_000
                }
            }
            let (running, ended) = (sale("running", days: 40), sale("ended", days: 2))
            for sale in [running, ended] {
                #expect(try await apple.refusal(sale) == .unknownProduct("com.example.unheard"))
            }
            apple.desk.clock.advance(days: 6)
            #expect(try await apple.refusal(running, user: "bob") == .purchaseBelongsToAnotherUser)
            #expect(try await apple.refusal(ended, user: "bob") == .unknownProduct("com.example.unheard"))
            #expect(try await apple.traces("purchase.transferred", "running") == 0)
            #expect(try await apple.traces("purchase.transferred", "ended") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `who lost a purchase waits for the cool-down as anybody does`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, Self.setup(.transfer)) { apple in
            let sale = apple.period("back", from: 0)
            try await apple.attach(sale, user: "alice")
            apple.desk.clock.advance(days: 5)
            #expect(try await apple.restore([sale.jws], user: "bob").map(\.status) == [.attached])
            #expect(try await !apple.status("alice").active)
            #expect(try await apple.status("bob").active)
            #expect(try await apple.refusal(sale, user: "alice") == .purchaseBelongsToAnotherUser)
            apple.desk.clock.advance(days: 5)
            try await apple.attach(sale, user: "alice")
            #expect(try await apple.status("alice").active)
            #expect(try await apple.subscriptions("bob").isEmpty)
            #expect(try await apple.desk.count("orders") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `in xcode nothing is anybody's, whatever the policy`(_ engine: TestEngine) async throws {
        try await withAppleDesk(
            on: engine,
            AppStoreGatewayFixtureSetup {
                $0.environments = ["Xcode"]
                $0.desk.ownership = OwnershipRules(policy: .share, shareLimit: 1)
            }
        ) { apple in
            let sale = apple.sale { $0.environment = "Xcode" }
            for user in ["alice", "bob", "carol"] { try await apple.attach(sale, user: user) }
            #expect(try await apple.desk.count("orders") == 3)
            #expect(try await apple.desk.count("purchase_shares") == 0)
        }
    }

    /// The policy, its cool-down, and how many of eight users hold the purchase in the end.
    static let rushes: [(policy: OwnershipPolicy, cooldown: Int64, holders: Int64)] = [
        (.share, 5, 3), (.transfer, 0, 1), (.transfer, 5, 1), (.keep, 0, 1),
    ]

    @Test(arguments: TestEngine.allCases, rushes.indices)
    func `64 claims by eight users end within the limits`(_ engine: TestEngine, _ number: Int) async throws {
        let rush = Self.rushes[number]
        try await withAppleDesk(on: engine, Self.setup(rush.policy, limit: 3, cooldown: rush.cooldown)) { apple in
            let sale = number % 2 == 0 ? apple.period("rush", from: 0) : apple.sale { $0.id = "rush" }
            let refusals = try await withThrowingTaskGroup(of: GatewayError?.self) { group in
                for claim in 0..<64 { group.addTask { try await apple.refusal(sale, user: "user\(claim % 8)") } }
                return try await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
            }
            #expect(refusals.allSatisfy { $0 == .purchaseBelongsToAnotherUser }, "\(refusals)")
            if rush.cooldown == 0 && rush.policy == .transfer { #expect(refusals.isEmpty) }
            #expect(try await apple.desk.count("grants") == rush.holders)
            #expect(try await apple.desk.count("purchase_shares") == rush.holders - 1)
            #expect(try await apple.desk.count("purchase_owners") == 1)
            #expect(try await apple.desk.count("orders") == 1)
            let moves = try await apple.traces("purchase.transferred", "rush")
            #expect(try await apple.desk.count("audit WHERE action = 'purchase.transferred'") == moves)
        }
    }
}

extension AppStoreGatewayFixture {
    /// How often an event about an original transaction was told.
    func traces(_ type: String, _ original: String) async throws -> Int64 {
        try await desk.count("events WHERE type = '\(type)' AND subject = '\(original)'")
    }
}
