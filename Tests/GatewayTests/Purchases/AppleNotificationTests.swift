import Domain
import Foundation
import Gateway
import ProviderKit
import Store
import TestSupport
import Testing

@Suite("App Store notifications")
struct AppleNotificationTests {
    @Test(arguments: TestEngine.allCases)
    func `time alone is told as well`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.period("told", from: 0)
            try await apple.attach(sale)
            let late = AppleRenewal(sale, signed: (sale.expires ?? 0) - 3_600_000) {
                $0.graceEnds = (sale.expires ?? 0) + 6 * 86_400_000
                $0.isInRetry = true
            }
            try await apple.notify(
                AppleNotice("DID_FAIL_TO_RENEW", "GRACE_PERIOD", sale, late, status: 4, at: apple.now))
            let id = try #require(try await apple.subscriptions().first).id
            var told: [String] = []
            for days in [0, 31, 6] as [Int64] {
                try await apple.desk.pass(seconds: days * 86_400)
                try await apple.desk.work()
                told = try await apple.desk.eventData(id.rawValue).compactMap { data in
                    if case .object(let fields) = data, case .string(let status)? = fields["status"] {
                        status
                    } else {
                        nil
                    }
                }
            }
            #expect(told == ["active", "active", "in_grace_period", "in_billing_retry"])
            #expect(try await apple.subscriptions().first?.status == .inBillingRetry)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what nobody has claimed is kept and given to who claims it`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sales = (0..<3 as Range<Int64>).map { number in
                apple.period("later", from: number * 30) { $0.isRenewal = number > 0 }
            }
            for sale in sales {
                let renewal = AppleRenewal(sale) { $0.willRenew = false }
                try await apple.notify(AppleNotice("DID_RENEW", nil, sale, renewal, status: 1, at: apple.now))
            }
            let gems = apple.sale("com.example.gems", AppleSale.consumable)
            try await apple.notify(AppleNotice("ONE_TIME_CHARGE", nil, gems, at: apple.now))
            let waiting = try await apple.gateway.purchases.list(.unclaimed, cursor: nil, limit: 50)
            #expect(waiting.items.count == 4)
            #expect(try await apple.gateway.purchases.list(.unmapped, cursor: nil, limit: 50).items.isEmpty)
            #expect(try await apple.desk.count("orders") == 0)
            try await apple.attach(sales[0])
            try await apple.attach(gems)
            #expect(try await apple.desk.count("orders") == 4)
            #expect(try await apple.desk.snapshot().balances == ["gems": 10])
            let shown = try #require(try await apple.subscriptions().first)
            #expect(!shown.will_renew && shown.expires_at == sales[0].purchasedAt.adding(days: 90))
            #expect(shown.orders.count == 3)
            #expect(try await apple.status().expires_at == shown.expires_at.rawValue)
            #expect(try await apple.refusal(sales[2], user: "bob") == .purchaseBelongsToAnotherUser)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what does not verify is refused, inside too`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.period("bad", from: 0)
            let other = apple.period("other", from: 0)
            let forged = AppleTestCertificates.sign(sale.payload, by: .forger)
            let bad: [(String, AppleNotice)] = [
                ("forged", AppleNotice("SUBSCRIBED", nil, sale, at: apple.now) { $0.signer = .forger }),
                ("forged inside", AppleNotice("SUBSCRIBED", nil, sale, at: apple.now) { $0.transaction = forged }),
                ("another app", AppleNotice("SUBSCRIBED", nil, sale, at: apple.now) { $0.bundle = "com.other" }),
                ("another app's number", AppleNotice("SUBSCRIBED", nil, sale, at: apple.now) { $0.appNumber = 42 }),
                ("no number of the app", AppleNotice("SUBSCRIBED", nil, sale, at: apple.now) { $0.appNumber = nil }),
                (
                    "another app's transaction",
                    AppleNotice("SUBSCRIBED", nil, sale.with { $0.bundle = "com.other" }, at: apple.now)
                ),
                (
                    "another environment's transaction",
                    AppleNotice("SUBSCRIBED", nil, sale, at: apple.now) { $0.environment = "Sandbox" }
                ),
                (
                    "another subscription's renewal",
                    AppleNotice("SUBSCRIBED", nil, sale, AppleRenewal(other), at: apple.now)
                ),
                ("xcode's", AppleNotice("SUBSCRIBED", nil, at: apple.now) { $0.environment = "Xcode" }),
                ("no content", AppleNotice("SUBSCRIBED", nil, at: apple.now) { $0.top = [:] }),
                ("no id", AppleNotice("SUBSCRIBED", nil, sale, at: apple.now) { $0.id = "" }),
            ]
            for (name, notice) in bad {
                #expect(await Self.refusal(of: notice.raw, apple) == .invalidNotification, "\(name)")
            }
            for body in ["", "{}", #"{"signedPayload":"x"}"#, #"{"signedPayload":7}"#, "[]", "\u{0}"] {
                let raw = RawNotification(method: .post, headers: [], body: Data(body.utf8))
                #expect(await Self.refusal(of: raw, apple) == .invalidNotification, "\(body)")
            }
            let kept = try await apple.desk.count("purchases")
            #expect(kept == 0)
        }
    }

    private static func refusal(of raw: RawNotification, _ apple: AppStoreGatewayFixture) async -> GatewayError? {
        do throws(GatewayError) {
            _ = try await apple.gateway.notifications.receive(token: AppStoreGatewayFixture.notifyToken, raw)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what Apple signs anew of a refund is no second refund`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let token = try await apple.token()
            let sales = [
                apple.period("again", from: 0) { $0.token = token },
                apple.sale("com.example.gems", AppleSale.consumable) { $0.token = token },
            ]
            for sale in sales {
                try await apple.notify(AppleNotice("SUBSCRIBED", nil, sale, at: apple.now))
                for seconds in [50, 90, 130] as [Int64] {
                    let revoked = sale.signedAgain(after: seconds) { $0.revoked = sale.purchased + 50_000 }
                    try await apple.notify(AppleNotice("REFUND", nil, revoked, at: apple.now))
                }
                let order = try #require(try await apple.record(sale)?.order)
                let told = try await apple.desk.events(order.rawValue)
                #expect(told == ["order.paid", "refund.succeeded"])
            }
            #expect(try await apple.desk.count("order_timeline WHERE type = 'order.revoked'") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is bought last counts, also where something before would have ended later`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (user, isRefunded) in [("alice", true), ("bob", false)] {
                let token = try await apple.token(user)
                let year = apple.period("\(user)-year", from: -20, days: 365, "com.example.pro.auto") {
                    $0.token = token
                }
                let month = apple.period("\(user)-year", from: -10) { $0.token = token }
                let first = isRefunded ? year.signedAgain(after: 5) { $0.revoked = $0.signed } : year
                try await apple.notify(AppleNotice("SUBSCRIBED", "INITIAL_BUY", first, at: apple.now))
                try await apple.notify(AppleNotice("SUBSCRIBED", "RESUBSCRIBE", month, at: apple.now))
                let shown = try #require(try await apple.subscriptions(user).first)
                #expect(shown.status == .active && shown.product_id == "com.example.apple.auto", "\(user)")
                #expect(shown.expires_at == month.purchasedAt.adding(days: 30))
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a hundred times the same has one effect`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let gems = apple.sale("com.example.gems", AppleSale.consumable)
            let token = try await apple.token()
            let notice = AppleNotice("ONE_TIME_CHARGE", nil, gems.with { $0.token = token }, at: apple.now)
            let raw = notice.raw
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await apple.gateway.notifications.receive(token: AppStoreGatewayFixture.notifyToken, raw)
                            .status
                    }
                }
                for try await status in group { #expect(status == 200) }
            }
            #expect(try await apple.desk.snapshot().balances == ["gems": 10])
            #expect(try await apple.desk.count("notifications") == 1)
            #expect(try await apple.desk.count("orders") == 1)
        }
    }
}
