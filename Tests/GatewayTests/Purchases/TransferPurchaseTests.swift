import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: moved by an admin")
struct TransferPurchaseTests {
    private static let admin = CallContext(actor: .system("admin"), requestID: "req_admin")

    private static func transfer(
        _ original: String, to user: String, _ environment: Environment? = nil, at apple: AppStoreGatewayFixture
    ) async throws -> TransferredPurchase {
        apple.desk.clock.tick()
        return try await apple.gateway.purchases.transfer(
            original, to: GatewayFixture.user(user), environment: environment, context: admin)
    }

    /// Nothing here runs a lost race again, so that a deadlock fails whom it hits.
    @Test(.timeLimit(.minutes(5)))
    func `a transfer to somebody new who claims the purchase meanwhile waits for the claim, or goes before it`()
        async throws
    {
        try await withAppleDesk(on: .postgres) { apple in
            let store = try apple.desk.database.openAnother(retries: 0)
            let node = apple.node(store: store)
            for number in 0..<25 {
                let (original, name) = ("wanted \(number)", "new \(number)")
                let month = apple.period(original, from: 0)
                try await apple.attach(month)
                async let moved = node.purchases.transfer(
                    original, to: GatewayFixture.user(name), environment: nil, context: Self.admin)
                async let claimed = node.purchases.attach(
                    .signedTransaction(month.jws), fallback: nil, user: GatewayFixture.user(name), context: .test)
                #expect(try await moved.transferred)
                do {
                    #expect(try await claimed.original_transaction_id == original)
                } catch let error as GatewayError {
                    #expect(error == .purchaseBelongsToAnotherUser)
                }
                #expect(try await apple.status(name).active)
            }
            await store.engine.close()
        }
    }

    private static func refusal(
        _ original: String, _ environment: Environment? = nil, at apple: AppStoreGatewayFixture
    ) async throws -> GatewayError? {
        do {
            _ = try await transfer(original, to: "bob", environment, at: apple)
            return nil
        } catch let error as GatewayError {
            return error
        }
    }

    @Test(arguments: TestEngine.allCases, OwnershipPolicy.allCases)
    func `an admin moves a purchase under every policy, once`(
        _ engine: TestEngine, _ policy: OwnershipPolicy
    ) async throws {
        try await withAppleDesk(on: engine, PurchasePolicyTests.setup(policy)) { apple in
            let token = try await apple.token("alice")
            let month = apple.period("moved", from: 0) { $0.token = token }
            try await apple.attach(month)
            #expect(try await Self.transfer("moved", to: "bob", at: apple).transferred)
            #expect(try await !Self.transfer("moved", to: "bob", at: apple).transferred)
            #expect(try await apple.traces("purchase.transferred", "moved") == 1)
            #expect(try await apple.desk.count("audit WHERE action = 'purchase.transferred'") == 1)
            #expect(try await !apple.status("alice").active)
            #expect(try await apple.status("bob").active)
            #expect(try await apple.subscriptions("bob").count == 1)
            // The same signed word as before does not undo it, whoever brings it.
            #expect(try await apple.refusal(month, user: "alice") == .purchaseBelongsToAnotherUser)
            let renewed = apple.period("moved", from: 30) { ($0.token, $0.isRenewal) = (token, true) }
            try await apple.notify(AppleNotice("DID_RENEW", nil, renewed, at: apple.now))
            #expect(try await apple.status("bob").expires_at == apple.now.adding(days: 60).rawValue)
            #expect(try await !apple.status("alice").active)
            // A new word does.
            let his = try await apple.token("carol")
            let later = apple.period("moved", from: 60) { $0.token = his }
            try await apple.notify(AppleNotice("DID_RENEW", nil, later, at: apple.now))
            #expect(try await apple.status("carol").active)
            #expect(try await apple.traces("purchase.transferred", "moved") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is nobody's, or was an erased person's, is given`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let kept = [
                apple.period("kept", from: 0), apple.sale { $0.id = "kept-pass" },
                apple.sale("com.example.unheard") { $0.id = "kept-unmapped" },
            ]
            for sale in kept { try await apple.notify(AppleNotice("SUBSCRIBED", nil, sale, at: apple.now)) }
            #expect(try await apple.desk.count("orders") == 0)
            for sale in kept {
                #expect(try await Self.transfer(sale.original ?? sale.id, to: "bob", at: apple).transferred)
            }
            #expect(try await apple.grants("bob").count == 2)
            #expect(try await apple.desk.count("purchases WHERE user_id IS NULL") == 0)
            #expect(try await apple.refusal(kept[1], user: "alice") == .purchaseBelongsToAnotherUser)
            _ = try await apple.gateway.users.erase(GatewayFixture.user("bob"), context: .test)
            #expect(try await Self.transfer("kept-pass", to: "carol", at: apple).transferred)
            #expect(try await apple.status("carol").active)
            #expect(try await apple.attach(kept[1], user: "carol").active)
            // Only a renewal was ever heard of: its subscription is given, and what comes is that user's.
            let unseen = apple.period("unseen", from: 0)
            try await apple.notify(
                AppleNotice("DID_CHANGE_RENEWAL_STATUS", nil, nil, AppleRenewal(unseen), at: apple.now))
            #expect(try await Self.transfer("unseen", to: "carol", at: apple).transferred)
            try await apple.notify(AppleNotice("DID_RENEW", nil, unseen, at: apple.now))
            #expect(try await apple.subscriptions("carol").map(\.original_transaction_id) == ["unseen"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an id must be known, and its environment named where there are several`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            #expect(try await Self.refusal("nothing", at: apple) == .unknown(.purchase, "nothing"))
            #expect(try await apple.desk.count("users") == 0)
            for environment in ["Production", "Sandbox"] {
                try await apple.attach(apple.sale { ($0.id, $0.environment) = ("twice", environment) })
            }
            let refusal = try await Self.refusal("twice", at: apple)
            guard case .invalidRequest(field: "environment", _)? = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            let moved = try await Self.transfer("twice", to: "bob", .sandbox, at: apple)
            #expect(moved.environment == .sandbox && moved.transferred)
            #expect(try await apple.grants("alice").map(\.environment) == [.production])
            #expect(try await apple.grants("bob").map(\.environment) == [.sandbox])
            try await apple.attach(apple.sale { $0.id = "once" })
            #expect(try await Self.refusal("once", .sandbox, at: apple) == .unknown(.purchase, "once"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `sharers go on sharing, and one who becomes the owner shares no longer`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, PurchasePolicyTests.setup(.share, limit: 3)) { apple in
            let ring = apple.sale("com.example.ring", AppleSale.nonConsumable)
            for user in ["alice", "bob", "carol"] { try await apple.attach(ring, user: user) }
            #expect(try await Self.transfer(ring.id, to: "dave", at: apple).transferred)
            #expect(try await apple.grants("alice").isEmpty)
            for user in ["bob", "carol", "dave"] { #expect(try await apple.grants(user).count == 1, "\(user)") }
            #expect(try await Self.transfer(ring.id, to: "bob", at: apple).transferred)
            #expect(try await apple.grants("dave").isEmpty)
            #expect(try await apple.desk.count("purchase_shares") == 1)
            // There is room again.
            try await apple.attach(ring, user: "alice")
            #expect(try await apple.refusal(ring, user: "dave") == .purchaseBelongsToAnotherUser)
        }
    }
}
