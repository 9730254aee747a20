import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Erasure")
struct ErasureTests {
    private static let name = "zoe-e7f1@people.example"
    private static let admin = CallContext(
        actor: .partner(name: "ops", key: ID("key_00000000000000000000000000")!), requestID: "req_erase")

    private static func erase(_ desk: GatewayFixture, _ gateway: Gateway? = nil) async throws {
        desk.clock.tick()
        let answer = try await (gateway ?? desk.gateway).users.erase(GatewayFixture.user(name), context: admin)
        #expect(answer == Erasure(erased: true))
    }

    private static func internalID(_ desk: GatewayFixture) async throws -> ID<User> {
        try #require(try await desk.store.read { db in try db.users.findID(GatewayFixture.user(name)) })
    }

    /// Everything that a user can leave behind, their own name in every place where an app or a client may write it.
    private static func live(at apple: AppStoreGatewayFixture) async throws {
        let desk = apple.desk
        let user = GatewayFixture.user(name)
        let run = try await desk.run("key of \(name)", user: name)
        let request = CheckoutRequest(
            sku: "vip_month", quantity: 1, days: nil, platform: .web, currency: GatewayFixture.money(0).currency,
            provider: "scripted", accept: ContractType.base, returnURL: "https://app.example/done?who=\(name)",
            metadata: ["customer": name, "mail to \(name)": "x"])
        let contract = try await desk.gateway.cashier.open(request, user: user, context: run)
        let finished = try #require(run.idempotency)
        try await desk.gateway.idempotency.finish(finished, status: 200, answer: Data(name.utf8))
        try await desk.state(
            "paid", .payment(PaymentReport(payment: try desk.payment(contract), outcome: .succeeded(contract.amount))))
        _ = try await desk.gateway.refunds.request(
            contract.order.rawValue, amount: GatewayFixture.money(1_000), reason: "asked for by \(name)", context: admin
        )
        try await desk.buyForReal("coins", user: name)
        for number in 0..<2 {
            let start = try await desk.gateway.idempotency.begin(
                key: "\(number)-\(name)", caller: .partner("acme"), request: [Data(name.utf8)])
            guard case .run(let run) = start else { throw GatewayError.internalError }
            let context = CallContext(actor: admin.actor, requestID: "req_debit", idempotency: run)
            _ = try await desk.gateway.wallets.debit(
                1, of: "coins", from: user, reason: "played by \(name)", context: context)
            if number == 0 { try await desk.gateway.idempotency.finish(run, status: 200, answer: Data(name.utf8)) }
        }
        try await desk.buy("walkie", user: name)
        let disputed = try await desk.buy("vip_year", user: name)
        try await desk.notify("dispute.opened", disputed)
        _ = try await desk.checkout("basic_days", user: name, days: 7)
        _ = try await desk.checkout("trial", user: name)
        let closed = try await desk.checkout(user: name)
        _ = try await desk.gateway.orderClosing.cancel(closed.order.rawValue, user: user, context: .test)
        let grant = GrantRequest(sku: "vip_year", durationDays: 3, expiresAt: nil, reason: "a gift to \(name)")
        _ = try await desk.gateway.grants.create(grant, to: user, by: .admin, context: .test)
        _ = try await desk.gateway.wallets.credit(
            5, of: "coins", to: user, reason: "for \(name)", by: .admin, context: .test)
        _ = try await desk.gateway.meters.consume("messages", amount: 3, user: user, context: .test)
        let token = try await apple.token(name)
        try await apple.attach(apple.sale { $0.token = token }, user: name)
        try await apple.attach(apple.period("sub", from: 0), user: name)
        _ = try await apple.refusal(apple.sale("com.example.unknown"), user: name)
        _ = try await apple.restore([apple.sale("com.example.gems", AppleSale.consumable).jws], user: name)
        try await desk.work()
    }

    @Test(arguments: TestEngine.allCases)
    func `no column of any table holds an erased user's id`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let desk = apple.desk
            try await Self.live(at: apple)
            let id = try await Self.internalID(desk)
            let before = try await desk.places(of: Self.name)
            #expect(
                Set(before) == [
                    "users.external_id", "orders.metadata", "orders.return_url", "payments.return_url", "events.data",
                    "refunds.reason", "audit_reasons.reason", "ledger.reason",
                ], "\(before)")
            #expect(try await desk.places(of: id.rawValue).count > 10)
            try await Self.erase(desk)
            #expect(try await desk.places(of: Self.name) == [])
            #expect(try await desk.count("audit WHERE subject = ? AND action = 'user.erased'", id.rawValue) == 1)
            // What comes later does not bring it back.
            try await desk.pass(seconds: 3_600)
            desk.clock.advance(days: 500)
            try await desk.work()
            #expect(try await desk.places(of: Self.name) == [])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the audit says who erased whom, under which request`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy(user: Self.name)
            let id = try await Self.internalID(desk)
            try await Self.erase(desk)
            let entry = try #require(
                try await desk.store.read { db in
                    try db.audit.list(subject: id.rawValue, before: nil, limit: 1).first?.entry
                }
            )
            #expect(entry.action == "user.erased" && entry.before == "named" && entry.after == "erased")
            #expect(entry.actor == Self.admin.actor.label && entry.requestID == "req_erase")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `nobody by that name is not found, before and after an erasure`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let gateway = desk.gateway
            await expectNotFound {
                try await gateway.users.erase(GatewayFixture.user(Self.name), context: Self.admin)
            }
            #expect(try await desk.count("users") == 0)
            try await desk.buy(user: Self.name)
            try await Self.erase(desk)
            await expectNotFound {
                try await gateway.users.erase(GatewayFixture.user(Self.name), context: Self.admin)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an erasure that was cut short after its commit is done`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy(user: Self.name)
            func run() async throws -> CallContext {
                let start = try await desk.gateway.idempotency.begin(
                    key: "erase", caller: .partner("ops"), request: [Data("erase".utf8)])
                guard case .run(let run) = start else { throw GatewayError.internalError }
                return CallContext(actor: Self.admin.actor, requestID: "req_erase", idempotency: run)
            }
            for _ in 0..<2 {
                let context = try await run()
                #expect(try await desk.gateway.users.erase(GatewayFixture.user(Self.name), context: context).erased)
                try await desk.crash()
            }
            #expect(try await desk.count("audit WHERE action = 'user.erased'") == 1)
            try await desk.work()
            #expect(try await desk.count("idempotency_keys WHERE completed_at IS NOT NULL") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a new user of the same name inherits nothing`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let desk = apple.desk
            let token = try await apple.token(Self.name)
            let (bare, named) = (apple.sale(), apple.sale("com.example.vip.year") { $0.token = token })
            try await apple.attach(bare, user: Self.name)
            try await apple.attach(named, user: Self.name)
            let order = try await desk.buy("coins", user: Self.name)
            let old = try await Self.internalID(desk)
            try await Self.erase(desk, apple.gateway)
            for stranger in [Self.name, "bob"] {
                for sale in [bare, named, bare.signedAgain(after: 60), named.signedAgain(after: 60)] {
                    #expect(try await apple.refusal(sale, user: stranger) == .purchaseBelongsToAnotherUser)
                }
                #expect(try await desk.snapshot(stranger).active == false)
                #expect(try await desk.snapshot(stranger).balances == [:])
                #expect(try await desk.snapshot(stranger).sandbox_balances == [:])
                #expect(try await apple.token(stranger) != token)
                await #expect(throws: GatewayError.orderNotFound(order.order.rawValue)) {
                    try await desk.gateway.orders.find(order.order.rawValue, user: GatewayFixture.user(stranger))
                }
            }
            #expect(try await Self.internalID(desk) != old)
            // Not even with Apple's word for a later transaction of the same original.
            let theirs = try await apple.token("bob")
            let later = apple.sale {
                $0.original = bare.id
                $0.purchased += 86_400_000
                $0.token = theirs
            }
            #expect(try await apple.refusal(later, user: "bob") == .purchaseBelongsToAnotherUser)
            #expect(try await desk.count("purchase_owners WHERE user_id = ?", old.rawValue) == 2)
            #expect(try await desk.count("audit WHERE action = 'purchase.transferred'") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `what is signed for an erased user later belongs to who brings it`(
        _ engine: TestEngine, _ isToldFirst: Bool
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let token = try await apple.token(Self.name)
            try await Self.erase(apple.desk, apple.gateway)
            let sale = apple.sale { $0.token = token }
            if isToldFirst {
                try await apple.notify(AppleNotice("ONE_TIME_CHARGE", nil, sale, at: apple.now))
                #expect(try await apple.desk.count("orders") == 0)
            }
            #expect(try await apple.attach(sale, user: Self.name).active)
            #expect(try await apple.desk.snapshot(Self.name).active)
            #expect(try await apple.attach(sale, user: Self.name).active)
            #expect(try await apple.refusal(sale, user: "bob") == .purchaseBelongsToAnotherUser)
            #expect(try await apple.desk.count("orders") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what was on its way settles, says erased, and no boundary is announced`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let (open, paid) = (try await desk.checkout(user: Self.name), try await desk.buy(user: Self.name))
            let id = try await Self.internalID(desk)
            try await Self.erase(desk)
            #expect(try await desk.count("user_states WHERE next_change_at IS NOT NULL") == 0)
            try await desk.notify("payment.succeeded", open)
            try await desk.refund(paid.order)
            let order = try await desk.order(open.order)
            #expect(order.status == .paid && order.userName == "erased")
            #expect(try await desk.order(paid.order).status == .refunded)
            #expect(try await desk.grants(open.order).count == 1)
            #expect(try await desk.count("user_states WHERE next_change_at IS NOT NULL") == 0)
            let told = try await desk.events(id.rawValue).count
            desk.clock.advance(days: 400)
            try await desk.work()
            #expect(try await desk.events(id.rawValue).count == told)
            let shown = try await desk.gateway.userNames.fill(Data(#"{"user_id":"\#(id)"}"#.utf8))
            #expect(String(decoding: shown, as: UTF8.self) == #"{"user_id":"erased"}"#)
            let listed = try await desk.gateway.orders.list(OrderQuery(), cursor: nil, limit: 10).items
            #expect(listed.map(\.userName) == ["erased", "erased"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `erasing while the user buys leaves nothing under the name or a new user`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            for round in 0..<5 {
                let request = CheckoutRequest(
                    sku: "vip_month", quantity: 1, days: nil, platform: .web,
                    currency: GatewayFixture.money(0).currency,
                    provider: "scripted", accept: ContractType.base, returnURL: nil, metadata: ["who": Self.name])
                _ = try await desk.gateway.cashier.open(request, user: GatewayFixture.user(Self.name), context: .test)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            _ = try? await desk.gateway.cashier.open(
                                request, user: GatewayFixture.user(Self.name), context: .test)
                        }
                    }
                    group.addTask {
                        _ = try? await desk.gateway.users.erase(GatewayFixture.user(Self.name), context: Self.admin)
                    }
                }
                // Whatever still names the user belongs to the user of that name who is there now.
                #expect(
                    try await desk.count(
                        """
                        orders o WHERE o.metadata <> '{}'
                          AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = o.user_id)
                        """) == 0, "round \(round)")
            }
        }
    }
}
