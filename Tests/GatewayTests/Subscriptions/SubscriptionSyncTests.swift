import Domain
import Foundation
import Gateway
import ProviderKit
import Store
import TestSupport
import Testing

@Suite("Subscriptions: asking the App Store")
struct SubscriptionSyncTests {
    private static func withStore(
        on engine: TestEngine, _ body: (AppStoreGatewayFixture, FakeAppStore) async throws -> Void
    ) async throws {
        let store = FakeAppStore()
        try await withAppleDesk(on: engine, AppStoreGatewayFixtureSetup { $0.appStore = store }) { apple in
            try await body(apple, store)
        }
    }

    private static func sync(_ apple: AppStoreGatewayFixture) async throws -> (checked: Int64, changed: Int64) {
        switch try await apple.gateway.accountReconciliation.sync("apple-iap", context: .test) {
        case .done(let checked, let changed, _): return (checked, changed)
        case .running: return (-1, -1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a sync finds the renewals and refunds that nobody told`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { apple, store in
            let periods = (0..<30 as Range<Int64>).map { number in
                apple.period("long", from: number * 30) {
                    $0.isRenewal = number > 0
                    ($0.price, $0.currency) = (29_900, "CNY")
                }
            }
            try await apple.attach(periods[0])
            let gems = apple.sale("com.example.gems", AppleSale.consumable)
            try await apple.attach(gems)
            // Two pages of history; the second period was refunded, and so were the gems.
            for (index, period) in periods.enumerated() {
                let last = index == periods.count - 1
                store.add(
                    index == 1 ? period.signedAgain(after: 9) { $0.revoked = $0.signed } : period,
                    last ? AppleRenewal(period) { $0.willRenew = false } : nil)
            }
            store.add(gems.signedAgain(after: 5) { $0.revoked = $0.signed })
            store.script("{}", status: 500)
            store.script(#"{"errorCode":4290000}"#, status: 429)
            let counts = try await Self.sync(apple)
            #expect(counts.checked == 1 && counts.changed == 1)
            let status = try await apple.status()
            #expect(status.expires_at == periods[29].purchasedAt.adding(days: 30).rawValue && !status.will_renew)
            #expect(try await apple.desk.snapshot().balances == ["gems": 0])
            let orders = try await apple.gateway.orders.list(OrderQuery(status: .refunded), cursor: nil, limit: 50)
            #expect(orders.items.count == 2)
            #expect(try await apple.desk.count("orders") == 31)
            #expect(try await apple.subscriptions().first?.orders.count == 30)
            // The history goes on where it ended.
            let asked = store.requests.count
            #expect(try await Self.sync(apple) == (1, 0))
            #expect(store.requests.dropFirst(asked).contains { $0.url.hasSuffix("revision=31") })
            #expect(try await apple.desk.count("orders") == 31)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a purchase that Apple does not know yet is asked about again`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { apple, store in
            let first = apple.period("new", from: 0)
            try await apple.attach(first)
            store.knowsNothing = true
            for _ in 0..<8 {
                try await apple.work()
                try await apple.desk.pass(seconds: 7_200)
            }
            #expect(try await apple.status().active)
            #expect(try await apple.desk.count("jobs WHERE state = 'quarantined'") == 0)
            store.knowsNothing = false
            store.add(first, AppleRenewal(first) { $0.willRenew = false })
            try await apple.desk.pass(seconds: 43_200)
            try await apple.work()
            #expect(try await !apple.status().will_renew)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a subscription is asked about soon after it should have been renewed`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { apple, store in
            let first = apple.period("soon", from: 0)
            try await apple.attach(first)
            store.add(first, AppleRenewal(first))
            try await apple.work()
            // 12 hours, but not beyond the end of the period.
            try await apple.desk.pass(seconds: 29 * 86_400 + 80_000)
            try await apple.work()
            let next = try await apple.store.read { db in
                try db.rows("SELECT next_check_at FROM subscriptions", []).first?.optionalTime("next_check_at")
            }
            #expect(next == first.purchasedAt.adding(days: 30).adding(seconds: 600))
            let second = apple.period("soon", from: 1) { sale in
                sale.purchased = first.expires ?? 0
                sale.expires = sale.purchased + 30 * 86_400_000
                sale.isRenewal = true
            }
            store.add(second, AppleRenewal(second))
            try await apple.desk.pass(seconds: 7_100)
            try await apple.work()
            #expect(try await apple.status().active)
            #expect(try await apple.subscriptions().first?.orders.count == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `whatever Apple sent while nobody listened is taken in once`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { apple, store in
            let token = try await apple.token()
            let gems = (0..<45).map { _ in
                apple.sale("com.example.gems", AppleSale.consumable) { $0.token = token }
            }
            for (index, sale) in gems.enumerated() {
                let notice = AppleNotice(
                    "ONE_TIME_CHARGE", nil, sale, at: apple.now.adding(seconds: -Int64(index) * 250_000))
                store.add(notice)
                // Every third one did arrive.
                if index.isMultiple(of: 3) { try await apple.notify(notice) }
            }
            let counts = try await Self.sync(apple)
            #expect(counts.checked == 45)
            #expect(counts.changed == 30)
            #expect(try await apple.desk.snapshot().balances == ["gems": 450])
            #expect(try await apple.desk.count("notifications WHERE status = 'processed'") == 45)
            let asked = store.requests.count
            apple.desk.clock.advance(seconds: 7_200)
            store.add(
                AppleNotice(
                    "ONE_TIME_CHARGE", nil,
                    apple.sale("com.example.gems", AppleSale.consumable) {
                        $0.token = token
                    }, at: apple.now.adding(seconds: -10_000)))
            #expect(try await Self.sync(apple).changed == 1)
            // With an hour's overlap, in one question.
            #expect(store.requests.count == asked + 2)
            #expect(try await apple.desk.snapshot().balances == ["gems": 460])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a subscription of which only the renewal is known is not asked about in vain`(
        _ engine: TestEngine
    ) async throws {
        try await Self.withStore(on: engine) { apple, store in
            let renewal = AppleRenewal(apple.period("alone", from: 0))
            try await apple.notify(AppleNotice("PRICE_INCREASE", "PENDING", nil, renewal, at: apple.now))
            for _ in 0..<3 {
                try await apple.work()
                try await apple.desk.pass(seconds: 60)
            }
            let next = try await apple.store.read { db in
                try db.rows("SELECT next_check_at FROM subscriptions", []).first?.optionalTime("next_check_at")
            }
            #expect(next.map { $0 > apple.now.adding(seconds: 80_000) } ?? false)
            #expect(!store.requests.contains { $0.url.contains("/subscriptions/") })
            #expect(try await apple.desk.count("jobs WHERE kind = 'check_subscription'") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what did not verify is read again, and what was over is asked about again`(
        _ engine: TestEngine
    ) async throws {
        try await Self.withStore(on: engine) { apple, store in
            let first = apple.period("over", from: 0)
            try await apple.attach(first)
            store.add(first)
            store.script(#"{"hasMore":false,"notificationHistory":[]}"#)
            store.script(#"{"hasMore":false,"notificationHistory":[]}"#)
            store.script(#"{"data":[]}"#)
            let forged = AppleTestCertificates.sign(first.payload, by: .forger)
            store.script(#"{"revision":"lost","hasMore":false,"signedTransactions":["\#(forged)"]}"#)
            _ = try await Self.sync(apple)
            _ = try await Self.sync(apple)
            #expect(!store.requests.contains { $0.url.contains("revision=lost") })
            apple.desk.clock.advance(days: 120)
            _ = try await Self.sync(apple)
            let open = "subscriptions WHERE next_check_at IS NOT NULL"
            #expect(try await apple.desk.count(open) == 0)
            let again = apple.period("over", from: 0) { $0.isRenewal = true }
            try await apple.attach(again)
            #expect(try await apple.desk.count(open) == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an old transaction that names no app is the asked one's, and is read once`(_ engine: TestEngine) async throws
    {
        try await Self.withStore(on: engine) { apple, store in
            let first = apple.period("old", from: 0)
            try await apple.attach(first)
            let token = try await apple.token()
            let ring = apple.sale("com.example.ring", AppleSale.nonConsumable) { ($0.bundle, $0.token) = (nil, token) }
            for sale in [first, ring] { store.add(sale) }
            // A client's word alone does not say whose it is, and neither does a notification.
            #expect(try await apple.refusal(ring) == .invalidTransaction(.malformed))
            await #expect(throws: GatewayError.invalidNotification) {
                try await apple.notify(AppleNotice("ONE_TIME_CHARGE", nil, ring, at: apple.now))
            }
            _ = try await Self.sync(apple)
            #expect(try await apple.record(ring)?.purchase.bundleID == "com.example.app")
            #expect(try await apple.grants().contains { $0.source.id == ring.id })
            let asked = store.requests.count
            _ = try await Self.sync(apple)
            #expect(store.requests.dropFirst(asked).contains { $0.url.hasSuffix("revision=2") })
            // It stays another app's where it says so.
            store.add(apple.sale { $0.bundle = "com.example.other" })
            _ = try await Self.sync(apple)
            #expect(try await apple.desk.count("purchases") == 2)
        }
    }

    /// What Apple may answer instead of an answer.
    static let troubles: [[Result<IncomingReply, HTTPTransportError>]] = [
        [.success(IncomingReply(status: 401))],
        Array(repeating: .success(IncomingReply(status: 500)), count: 4),
        Array(repeating: .success(IncomingReply(status: 200, body: Data("garbage".utf8))), count: 4),
        Array(repeating: .success(IncomingReply(status: 200, body: Data(#"{"data":[{"lastTr"#.utf8))), count: 4),
        Array(repeating: .failure(.outcomeUnknown), count: 4),
        Array(repeating: .success(IncomingReply(status: 429, body: Data(#"{"errorCode":4290000}"#.utf8))), count: 4),
        [.success(IncomingReply(status: 302))],
    ]

    @Test(arguments: TestEngine.allCases)
    func `an API in trouble changes nothing and is asked again`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { apple, store in
            let first = apple.period("trouble", from: 0)
            try await apple.attach(first)
            let before = try await apple.status()
            for trouble in Self.troubles {
                // The notifications first, then the subscription.
                for answer in trouble + trouble { store.script(answer) }
                _ = try await Self.sync(apple)
                #expect(try await apple.status() == before)
                #expect(try await apple.desk.count("jobs WHERE state = 'quarantined'") == 0)
            }
            let second = apple.period("trouble", from: 30) { $0.isRenewal = true }
            store.add(first)
            store.add(second, AppleRenewal(second) { $0.willRenew = false })
            try await apple.desk.pass(seconds: 86_400)
            try await apple.work()
            let status = try await apple.status()
            #expect(!status.will_renew && status.expires_at == second.purchasedAt.adding(days: 30).rawValue)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what Apple answers unverified counts for nothing`(_ engine: TestEngine) async throws {
        try await Self.withStore(on: engine) { apple, store in
            let first = apple.period("forged", from: 0)
            try await apple.attach(first)
            let forged = AppleTestCertificates.sign(
                apple.period("forged", from: 30) { $0.isRenewal = true }.payload, by: .forger)
            store.add(first)
            _ = try await Self.sync(apple)
            store.script(#"{"hasMore":false,"notificationHistory":[]}"#)
            store.script(
                #"{"data":[{"subscriptionGroupIdentifier":"1","lastTransactions":["#
                    + #"{"originalTransactionId":"forged","status":1,"signedTransactionInfo":"\#(forged)"}]}]}"#)
            store.script(#"{"revision":"x","hasMore":false,"signedTransactions":["\#(forged)"]}"#)
            #expect(try await Self.sync(apple).changed == 0)
            #expect(try await apple.status().expires_at == first.purchasedAt.adding(days: 30).rawValue)
            #expect(try await apple.desk.count("purchases") == 1)
        }
    }
}
