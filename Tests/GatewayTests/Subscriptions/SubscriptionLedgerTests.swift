import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("SubscriptionLedger")
struct SubscriptionLedgerTests {
    /// The signed transactions of a subscription, and the grant that follows from them; times are days after
    /// ``LedgerSamples/start``.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let periods: [StorePurchase]
        var renewal: StoreRenewal?
        var rules = LedgerSamples.anybody
        /// The end, then the revocation, then each later part with its start and the gap before it.
        let grant: String
    }

    private static let pro = "com.example.pro.auto"

    static let stories: [Story] = {
        func story(
            _ name: String, _ periods: [StorePurchase], renewal: StoreRenewal? = nil,
            rules: TestPurchaseRules = LedgerSamples.anybody, gives grant: String
        ) -> Story {
            Story(testDescription: name, periods: periods, renewal: renewal, rules: rules, grant: grant)
        }
        func period(
            _ original: String, _ number: Int64, _ product: String = "com.example.apple.auto", shift: Int64 = 0,
            signed: Int64? = nil, revoked: Int64? = nil
        ) -> StorePurchase {
            LedgerSamples.period(original, number, product, shift: shift, signed: signed, revoked: revoked)
        }
        let sandbox = LedgerSamples.purchase(
            "f", "f-0", "com.example.apple.auto", .autoRenewable, ends: 30, environment: .sandbox)
        return [
            story("one period", [period("a", 0)], gives: "apple_auto until 30"),
            story(
                "a period whose renewal is on", [period("b", 0)], renewal: LedgerSamples.renewal("b", signed: 1),
                gives: "apple_auto until 30, renews"),
            story(
                "a renewal that is paid ahead", [period("c", 0), period("c", 1, signed: 1)],
                gives: "apple_auto until 60"),
            story(
                "another product ahead", [period("d", 0), period("d", 1, pro, signed: 1)],
                gives: "apple_auto until 60, pro_auto from 30"),
            story(
                "the same product after a gap", [period("e", 0), period("e", 1, shift: 5, signed: 1)],
                gives: "apple_auto until 65, apple_auto from 35 after 30"),
            story(
                "a test purchase of a user who is not entitled", [sandbox],
                rules: TestPurchaseRules(entitled: .none, maxHours: 0), gives: "apple_auto until 0"),
            story(
                "a revoked period", [period("g", 0, signed: 9, revoked: 9)], gives: "apple_auto until 30, revoked at 9"),
        ]
    }()

    @Test(arguments: TestEngine.allCases)
    func `a subscription has one grant for all its periods`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (number, story) in Self.stories.enumerated() {
                let grants = try await apple.settle { settlement in
                    let user = try settlement.user("user\(number)")
                    for period in story.periods {
                        let claim = try LedgerSamples.claim(period, rules: story.rules)
                        _ = try settlement.purchases.attach(claim, claimant: user, name: "user\(number)")
                    }
                    try Self.restate(story, user, settlement)
                    return try settlement.tx.grants.list(of: user).value()
                }
                #expect(grants.map(Self.describe) == [story.grant], "\(story.testDescription)")
            }
        }
    }

    private static func restate(_ story: Story, _ user: ID<User>, _ settlement: Settlement) throws {
        let statement = StoreStatement(purchase: nil, renewal: story.renewal)
        let source = StatementSource(account: try .test("apple-iap"), rules: story.rules)
        _ = try settlement.subscriptions.upsert(statement, from: source, owner: user)
        let first = story.periods[0]
        let isEntitled = story.rules.entitles("")
        if try settlement.subscriptions.recompute(first, owner: user, entitled: isEntitled, rules: story.rules) {
            try settlement.entitlements.publish(user)
        }
        // The second time nothing is new.
        let isChanged = try settlement.subscriptions.recompute(
            first, owner: user, entitled: isEntitled, rules: story.rules)
        #expect(!isChanged, "\(story.testDescription)")
    }

    private static func describe(_ grant: Grant) -> String {
        func days(_ time: Timestamp) -> Int64 { (time.rawValue - LedgerSamples.start) / LedgerSamples.day }
        var parts: [String] = []
        if case .until(let end) = grant.term { parts.append("\(grant.sku.rawValue) until \(days(end))") }
        if let revocation = grant.revocation { parts.append("revoked at \(days(revocation.at))") }
        if grant.renewal?.willRenew == true { parts.append("renews") }
        for part in grant.ahead {
            parts.append(
                "\(part.sku.rawValue) from \(days(part.startsAt))" + (part.gapFrom.map { " after \(days($0))" } ?? ""))
        }
        return parts.joined(separator: ", ")
    }

    /// Statements in the order of their arrival, each with true where it is news.
    static let statements: [(statement: StoreStatement, isNews: Bool)] = {
        func statement(_ signed: Int64?, _ willRenew: Bool = true, status: StoreStanding? = nil) -> StoreStatement {
            StoreStatement(
                purchase: signed == nil ? LedgerSamples.period("stated", 0) : nil,
                renewal: signed.map { LedgerSamples.renewal("stated", signed: $0, willRenew: willRenew) },
                standing: status)
        }
        return [
            (statement(nil), false),
            (statement(5), true),
            (statement(5, false), false),
            (statement(4), false),
            (statement(6, false), true),
            (statement(nil, status: StoreStanding(isRevoked: false, at: 10)), false),
            (statement(nil, status: StoreStanding(isRevoked: true, at: 20)), true),
            (statement(nil, status: StoreStanding(isRevoked: false, at: 15)), false),
            (statement(nil, status: StoreStanding(isRevoked: false, at: 30)), true),
        ]
    }()

    @Test(arguments: TestEngine.allCases)
    func `only newer renewal information and another status are news`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let found = try await apple.settle { settlement in
                let source = StatementSource(account: try .test("apple-iap"), rules: LedgerSamples.anybody)
                let user = try settlement.user("alice")
                return try Self.statements.map {
                    try settlement.subscriptions.upsert($0.statement, from: source, owner: user)
                }
            }
            #expect(found == Self.statements.map(\.isNews))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `each holder has a grant of its own, and one event tells each new state`(_ engine: TestEngine) async throws {
        let setup = AppStoreGatewayFixtureSetup { $0.desk.ownership = OwnershipRules(policy: .share) }
        try await withAppleDesk(on: engine, setup) { apple in
            for number in 0..<2 as Range<Int64> {
                try await apple.settle { settlement in
                    let claim = try LedgerSamples.claim(LedgerSamples.period("held", number))
                    for name in ["alice", "bob"] {
                        let user = try settlement.user(name)
                        _ = try settlement.purchases.attach(claim, claimant: user, name: name)
                    }
                }
                for name in ["alice", "bob"] {
                    let grants = try await apple.grants(name)
                    #expect(grants.map(Self.describe) == ["apple_auto until \((number + 1) * 30)"], "\(name)")
                }
                #expect(try await apple.desk.count("events WHERE type = 'subscription.changed'") == Int(number) + 1)
            }
        }
    }
}
