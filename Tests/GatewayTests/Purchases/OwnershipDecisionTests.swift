import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("PurchaseOwnership")
struct OwnershipDecisionTests {
    enum Person: String, Sendable, CaseIterable {
        case owner, claimant, stranger
    }

    /// The owner of the original transaction before the claim.
    enum Before: Sendable {
        case nobody, owner, claimant
        /// The owner, who shares it with the claimant.
        case shared
    }

    /// A claim by the claimant, and the decision about it.
    struct Claim: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let before: Before
        var rules = OwnershipRules()
        /// The user whom the claimed transaction names.
        var token: Person?
        /// The user whom the stored transaction names.
        var storedToken: Person?
        /// Days after the stored transaction at which the claimed one was bought.
        var bought: Int64 = 1
        var erased: Person?
        var isRevoked = false
        /// True for a stored purchase that has not ended.
        var isRunning = false
        var mayChangeHands = true
        var environment = Environment.production
        let owner: Person
        let right: OwnershipDecision.Right
        var isNew = false

        init(
            _ name: String, _ before: Before, _ owner: Person, _ right: OwnershipDecision.Right, isNew: Bool = false,
            _ edit: (inout Claim) -> Void = { _ in }
        ) {
            (testDescription, self.before, self.owner, self.right, self.isNew) = (name, before, owner, right, isNew)
            edit(&self)
        }
    }

    private static func rules(_ policy: OwnershipPolicy, limit: Int64 = 5, cooldown: Int64 = 0) -> OwnershipRules {
        OwnershipRules(policy: policy, shareLimit: limit, cooldownDays: cooldown)
    }

    static let claims: [Claim] = [
        Claim("the first claim", .nobody, .claimant, .owner),
        Claim("the claimant's token", .nobody, .claimant, .owner) { $0.token = .claimant },
        Claim("another user's token", .nobody, .stranger, .none) { $0.token = .stranger },
        Claim("an erased user's token", .nobody, .claimant, .owner) { ($0.token, $0.erased) = (.stranger, .stranger) },
        Claim("the claimant's own purchase", .claimant, .claimant, .owner),
        Claim("another's purchase, kept", .owner, .owner, .none),
        Claim("the claimant's token on another's purchase", .owner, .claimant, .owner, isNew: true) {
            $0.token = .claimant
        },
        Claim("the claimant's token on an erased user's purchase", .owner, .owner, .none) {
            ($0.token, $0.erased) = (.claimant, .owner)
        },
        Claim("the owner's token", .owner, .owner, .none) { ($0.token, $0.rules) = (.owner, rules(.transfer)) },
        Claim("a third user's token", .owner, .stranger, .none) { $0.token = .stranger },
        Claim("a later token than the stored one", .owner, .claimant, .owner, isNew: true) {
            ($0.token, $0.storedToken) = (.claimant, .owner)
        },
        Claim("an earlier token than the stored one", .owner, .owner, .none) {
            ($0.token, $0.storedToken, $0.bought) = (.claimant, .owner, -1)
        },
        Claim("transfer", .owner, .claimant, .owner, isNew: true) { $0.rules = rules(.transfer) },
        Claim("transfer in the cooldown", .owner, .owner, .none) { $0.rules = rules(.transfer, cooldown: 1) },
        Claim("transfer, named by a stored token", .owner, .owner, .none) {
            ($0.storedToken, $0.rules) = (.owner, rules(.transfer))
        },
        Claim("transfer, revoked", .owner, .owner, .none) { ($0.isRevoked, $0.rules) = (true, rules(.transfer)) },
        Claim("transfer from an erased user", .owner, .owner, .none) {
            ($0.erased, $0.rules) = (.owner, rules(.transfer))
        },
        Claim("transfer without a claim", .owner, .owner, .none) {
            ($0.mayChangeHands, $0.rules) = (false, rules(.transfer))
        },
        Claim("transfer if inactive, ended", .owner, .claimant, .owner, isNew: true) {
            $0.rules = rules(.transferIfInactive)
        },
        Claim("transfer if inactive, running", .owner, .owner, .none) {
            ($0.isRunning, $0.rules) = (true, rules(.transferIfInactive))
        },
        Claim("share", .owner, .owner, .sharer, isNew: true) { $0.rules = rules(.share) },
        Claim("share, at its limit", .owner, .owner, .none) { $0.rules = rules(.share, limit: 1) },
        Claim("share, revoked", .owner, .owner, .none) { ($0.isRevoked, $0.rules) = (true, rules(.share)) },
        Claim("shared before", .shared, .owner, .sharer) { $0.rules = rules(.share) },
        Claim("shared before another policy", .shared, .owner, .sharer) { $0.rules = rules(.transfer) },
        Claim("the sharer's token", .shared, .claimant, .owner, isNew: true) { $0.token = .claimant },
        Claim("Xcode, where nothing is bound", .owner, .claimant, .owner) { $0.environment = .xcode },
    ]

    /// A decision alone gives no grants, so the invariants do not hold after it.
    private static let setup = AppStoreGatewayFixtureSetup { $0.desk.checksInvariants = false }

    @Test(arguments: TestEngine.allCases)
    func `each claim is decided by tokens first, then by the policy`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, Self.setup) { apple in
            for (number, claim) in Self.claims.enumerated() {
                let uuids = Person.allCases.map { _ in apple.gateway.random.uuid4() }
                let (decision, people, moves) = try await apple.settle { settlement in
                    try Self.decide(claim, "original-\(number)", uuids, settlement)
                }
                #expect(decision.owner == people[claim.owner], "\(claim.testDescription)")
                #expect(decision.right == claim.right, "\(claim.testDescription)")
                #expect(decision.isNew == claim.isNew, "\(claim.testDescription)")
                let isMoved = claim.before != .nobody && claim.owner != .owner && claim.before != .claimant
                #expect(moves == (isMoved && claim.environment != .xcode), "\(claim.testDescription)")
            }
        }
    }

    /// - Returns: the decision, the users, and true where the binding moved.
    private static func decide(
        _ claim: Claim, _ original: String, _ uuids: [String], _ settlement: Settlement
    ) throws -> (OwnershipDecision, [Person: ID<User>], Bool) {
        let (tx, now) = (settlement.tx, settlement.now)
        var people: [Person: ID<User>] = [:]
        var tokens: [Person: String] = [:]
        for (person, uuid) in zip(Person.allCases, uuids) {
            let user = try settlement.user("\(original)-\(person.rawValue)")
            people[person] = user
            tokens[person] = try tx.users.appAccountToken(of: user, candidate: uuid)
        }
        let today = (now.rawValue - LedgerSamples.start) / LedgerSamples.day
        // A pass of 30 days.
        let bought = claim.isRunning ? today - 1 : today - 40
        let stored = LedgerSamples.purchase(
            original, at: bought, token: claim.storedToken.flatMap { tokens[$0] }, environment: claim.environment)
        let owner: Person? =
            switch claim.before {
            case .nobody: nil
            case .owner, .shared: .owner
            case .claimant: .claimant
            }
        if let user = owner.flatMap({ people[$0] }) {
            _ = try settlement.purchases.attach(try LedgerSamples.claim(stored), claimant: user, name: "")
        }
        guard let claimant = people[.claimant] else { throw StoreError.corrupt("a user is missing") }
        let subject = StoreSubject(stored)
        if claim.before == .shared { try tx.purchaseOwners.insertShare(of: subject, with: claimant, at: now) }
        if let erased = claim.erased.flatMap({ people[$0] }) { try tx.users.erase(erased) }
        let before = try tx.purchaseOwners.find(of: subject).value()
        let ownership = PurchaseOwnership(
            log: settlement.log, rules: claim.rules, entitlements: settlement.entitlements)
        let claimed = LedgerSamples.purchase(
            original, "\(original)-2", at: bought + claim.bought, token: claim.token.flatMap { tokens[$0] },
            revoked: claim.isRevoked ? bought + claim.bought : nil, environment: claim.environment)
        let decision = try ownership.decide(
            try LedgerSamples.claim(claimed), claimant: claimant, token: claim.token.flatMap { people[$0] },
            mayChangeHands: claim.mayChangeHands)
        let after = try tx.purchaseOwners.find(of: subject).value()
        return (decision, people, before != nil && before != after)
    }

    @Test func `originals are locked before users, both in one order`() async throws {
        try await withAppleDesk(on: .postgres, Self.setup) { apple in
            var claims: [PurchaseClaim] = []
            for (original, user) in [("c", "alice"), ("a", "bob"), ("b", "carol")] {
                let token = try await apple.token(user)
                claims.append(try LedgerSamples.claim(LedgerSamples.purchase(original, token: token)))
            }
            _ = apple.desk.watch.taken()
            try await apple.settle { [claims] settlement in
                _ = try settlement.ownership.lockHolders(of: claims, claimant: GatewayFixture.user("dave"))
            }
            let sent = apple.desk.watch.taken()
            let originals = sent.filter { $0.sql.contains("pg_advisory_xact_lock") }
            #expect(originals.map(\.arguments) == ["a", "b", "c"].map { [.text("Production/\($0)")] })
            let users = sent.filter { $0.sql.hasPrefix("SELECT user_id FROM user_states WHERE user_id = ?") }
            let ids = users.compactMap { if case .text(let id)? = $0.arguments.first { id } else { nil } }
            #expect(ids.count == 4 && ids == ids.sorted())
            let last = try #require(sent.lastIndex { $0.sql.contains("pg_advisory_xact_lock") })
            let first = try #require(sent.firstIndex { $0.sql == users[0].sql })
            #expect(last < first)
        }
    }
}
