import Domain
import Foundation
import Gateway
import ProviderKit
import Store
import TestSupport
import Testing

@Suite("App Store notifications")
struct AppleNotificationTests {
    /// One step of a subscription's life as Apple tells it, and how the subscription and its user stand afterwards.
    struct Step: Sendable, CustomTestStringConvertible {
        let type: String
        var subtype: String?
        var period: Int64 = 0
        var product = "com.example.apple.auto"
        var upgraded = false
        var revoked = false
        var willRenew = true
        var next: String?
        var isInRetry = false
        /// Days after the start.
        var graceEnds: Int64?
        var says: Int64?
        /// The day on which it comes.
        var day: Int64
        var status: Subscription.Status
        /// The membership's end in days after the start; nil: there is none.
        var until: Int64?
        var tier = "VIP"
        var shown: Bool?

        var testDescription: String { "\(type) \(subtype ?? "") on day \(day)" }
    }

    static let pro = "com.example.pro.auto"
    static let lives: [[Step]] = [
        [
            Step(type: "SUBSCRIBED", subtype: "INITIAL_BUY", day: 0, status: .active, until: 30),
            Step(
                type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED", willRenew: false, day: 3,
                status: .active, until: 30),
            Step(
                type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_ENABLED", day: 4, status: .active, until: 30),
            Step(type: "DID_RENEW", period: 1, day: 29, status: .active, until: 60),
            Step(
                type: "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD", period: 1, isInRetry: true, graceEnds: 66, says: 4,
                day: 60, status: .inGracePeriod, until: 66),
            Step(
                type: "GRACE_PERIOD_EXPIRED", period: 1, isInRetry: true, says: 3, day: 66, status: .inBillingRetry),
            Step(type: "DID_RENEW", subtype: "BILLING_RECOVERY", period: 2, day: 70, status: .active, until: 90),
            Step(
                type: "EXPIRED", subtype: "VOLUNTARY", period: 2, willRenew: false, says: 2, day: 91, status: .expired),
            Step(type: "SUBSCRIBED", subtype: "RESUBSCRIBE", period: 4, day: 120, status: .active, until: 150),
            Step(type: "REFUND", period: 4, revoked: true, willRenew: false, says: 5, day: 125, status: .revoked),
            Step(type: "REFUND_REVERSED", period: 4, day: 126, status: .active, until: 150),
            Step(type: "REFUND_DECLINED", period: 4, day: 127, status: .active, until: 150),
        ],
        [
            Step(type: "OFFER_REDEEMED", day: 0, status: .active, until: 30),
            Step(
                type: "DID_CHANGE_RENEWAL_PREF", subtype: "DOWNGRADE", next: "com.example.other", day: 1,
                status: .active,
                until: 30),
            Step(type: "DID_CHANGE_RENEWAL_PREF", day: 2, status: .active, until: 30),
            Step(
                type: "DID_CHANGE_RENEWAL_PREF", subtype: "UPGRADE", period: 1, product: pro, day: 3, status: .active,
                until: 60, tier: "Pro"),
            Step(
                type: "PRICE_INCREASE", subtype: "PENDING", period: 1, product: pro, day: 4, status: .active,
                until: 60, tier: "Pro"),
            Step(type: "RENEWAL_EXTENDED", period: 2, product: pro, day: 50, status: .active, until: 90, tier: "Pro"),
            Step(
                type: "DID_FAIL_TO_RENEW", period: 2, product: pro, isInRetry: true, says: 3, day: 90,
                status: .inBillingRetry),
            Step(
                type: "EXPIRED", subtype: "BILLING_RETRY", period: 2, product: pro, willRenew: false, says: 2, day: 151,
                status: .expired),
            Step(type: "REVOKE", period: 2, product: pro, revoked: true, willRenew: false, day: 152, status: .revoked),
        ],
        // The end of a grace period was seen missing: Apple's shortest counts until more is known.
        [
            Step(type: "SUBSCRIBED", subtype: "INITIAL_BUY", day: 0, status: .active, until: 30),
            Step(
                type: "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD", isInRetry: true, says: 4, day: 31,
                status: .inGracePeriod, until: 33),
        ],
    ]

    private static func sale(_ step: Step, _ apple: AppleDesk, from start: Timestamp, token: String?) -> AppleSale {
        apple.period("life", from: 0, step.product) {
            $0.id = "life-\(step.period)"
            $0.purchased = (start.rawValue + step.period * 30 * 86_400) * 1_000
            $0.expires = $0.purchased + 30 * 86_400_000
            $0.signed = (start.rawValue + step.day * 86_400) * 1_000
            $0.isRenewal = step.period > 0
            $0.isUpgraded = step.upgraded
            $0.revoked = step.revoked ? $0.signed : nil
            $0.token = token
            ($0.price, $0.currency) = (29_900, "CNY")
        }
    }

    private static func notice(_ step: Step, _ sale: AppleSale, at now: Timestamp) -> AppleNotice {
        let renewal = AppleRenewal(sale) {
            $0.willRenew = step.willRenew
            $0.next = step.next ?? step.product
            $0.isInRetry = step.isInRetry
            $0.graceEnds = step.graceEnds.map { days in
                (sale.purchased / 1_000 + (days - step.period * 30) * 86_400) * 1_000
            }
        }
        return AppleNotice(step.type, step.subtype, sale, renewal, status: step.says, at: now)
    }

    @Test(arguments: TestEngine.allCases, lives)
    func `a subscription lives by notifications alone`(_ engine: TestEngine, _ life: [Step]) async throws {
        try await withAppleDesk(on: engine) { apple in
            let token = try await apple.token()
            let start = apple.now
            for step in life {
                let gap = start.rawValue + step.day * 86_400 - apple.now.rawValue
                if gap > 0 { apple.desk.clock.advance(seconds: gap) }
                let sale = Self.sale(step, apple, from: start, token: token)
                let notice = Self.notice(step, sale, at: apple.now)
                for _ in 0..<2 { #expect(try await apple.notify(notice).status == 200) }
                let shown = try await apple.subscriptions()
                #expect(shown.map(\.status) == [step.status], "\(step)")
                #expect(shown.first?.product_id == step.product && shown.first?.environment == .production)
                let status = try await apple.status()
                #expect(status.active == (step.until != nil), "\(step)")
                #expect(status.expires_at == (step.until.map { start.adding(days: $0).rawValue } ?? 0), "\(step)")
                #expect(status.status == step.status.rawValue && status.tier == (step.until == nil ? "" : step.tier))
                #expect(status.will_renew == (step.willRenew && step.status != .expired && step.status != .revoked))
            }
            let told = try await apple.desk.events(try #require(try await apple.subscriptions().first).id.rawValue)
            #expect(!told.isEmpty && Set(told) == ["subscription.changed"])
            #expect(try await apple.grants().count == 1)
            #expect(try await apple.desk.count("notifications WHERE status = 'processed'") == life.count)
        }
    }

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
            let waiting = try await apple.gateway.listWaitingPurchases(.unclaimed, cursor: nil, limit: 50)
            #expect(waiting.items.count == 4)
            #expect(try await apple.gateway.listWaitingPurchases(.unmapped, cursor: nil, limit: 50).items.isEmpty)
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
    func `an unknown type, a test and a summary are kept and change nothing`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale { $0.token = "00000000-0000-4000-8000-000000000000" }
            let summary: [String: JSONValue] = [
                "environment": .string("Production"), "appAppleId": .integer(AppleNotice.appNumber),
                "bundleId": .string("com.example.app"), "productId": .string("x"), "requestIdentifier": .string("r"),
                "succeededCount": .integer(5), "failedCount": .integer(1),
            ]
            let external: [String: JSONValue] = [
                "externalPurchaseId": .string("SANDBOX_1"), "bundleId": .string("com.example.app"),
                "appAppleId": .integer(AppleNotice.appNumber), "tokenCreationDate": .integer(1),
            ]
            let notices = [
                AppleNotice("A_TYPE_OF_2031", "NEW", sale, at: apple.now), AppleNotice("TEST", at: apple.now),
                AppleNotice("RENEWAL_EXTENSION", "SUMMARY", at: apple.now) { $0.top = ["summary": .object(summary)] },
                AppleNotice("EXTERNAL_PURCHASE_TOKEN", "CREATED", at: apple.now) {
                    $0.top = ["externalPurchaseToken": .object(external)]
                },
                AppleNotice("SUBSCRIBED", "INITIAL_BUY", at: apple.now),
            ]
            for notice in notices { #expect(try await apple.notify(notice).status == 200) }
            let kept = try await apple.gateway.listNotifications(nil, cursor: nil, limit: 50).items
            #expect(kept.count == notices.count && kept.allSatisfy { $0.status == "processed" })
            #expect(try await apple.desk.count("orders") == 0)
            #expect(try await apple.desk.count("purchases") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what does not verify is refused, inside too`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.period("bad", from: 0)
            let other = apple.period("other", from: 0)
            let forged = AppleMint.sign(sale.payload, by: .forger)
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

    private static func refusal(of raw: RawNotification, _ apple: AppleDesk) async -> GatewayError? {
        do throws(GatewayError) {
            _ = try await apple.gateway.receiveNotification(token: AppleDesk.notifyToken, raw)
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
                let year = apple.period("\(user)-year", from: 0, days: 365, Self.pro) { $0.token = token }
                let month = apple.period("\(user)-year", from: 10) { $0.token = token }
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
                        try await apple.gateway.receiveNotification(token: AppleDesk.notifyToken, raw).status
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
