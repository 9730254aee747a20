import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Subscriptions: a period that Apple bills ahead")
struct BilledAheadTests {
    private static let pro = "com.example.pro.auto"
    private static let vip = "com.example.apple.auto"

    /// A month from now on, and the next one, billed twelve hours before it begins.
    private static func months(
        _ apple: AppleDesk, _ first: String = vip, _ second: String = vip, token: String?
    ) -> (AppleSale, AppleSale) {
        let one = apple.period("ahead", from: 0, first) {
            $0.token = token
            ($0.price, $0.currency) = (29_900, "CNY")
        }
        let two = apple.period("ahead", from: 30, second) {
            $0.signed = $0.purchased - 43_200_000
            ($0.token, $0.isRenewal) = (token, true)
            ($0.price, $0.currency) = (29_900, "CNY")
        }
        return (one, two)
    }

    private static func notify(_ apple: AppleDesk, _ type: String, _ sale: AppleSale) async throws {
        try await apple.notify(AppleNotice(type, nil, sale, AppleRenewal(sale), at: apple.now))
    }

    /// What the outbox told about the only subscription.
    private static func told(_ apple: AppleDesk) async throws -> [String] {
        let id = try #require(try await apple.subscriptions().first).id
        return try await apple.desk.eventData(id.rawValue).compactMap { data in
            guard case .object(let fields) = data, case .string(let status)? = fields["status"],
                case .string(let product)? = fields["product_id"]
            else { return nil }
            return "\(status) \(product == pro ? "pro" : "vip")"
        }
    }

    /// Goes to a number of seconds after a moment, and lets the worker cross what lies between.
    private static func go(
        _ apple: AppleDesk, to moment: Timestamp, _ seconds: Int64 = 0, works: Bool = true
    ) async throws {
        apple.desk.clock.set(moment.rawValue + seconds)
        if works { _ = try await apple.gateway.crossBoundaries() }
    }

    @Test(arguments: TestEngine.allCases)
    func `one product goes on, and its end is the later one at once`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let (one, two) = Self.months(apple, token: try await apple.token())
            try await Self.notify(apple, "SUBSCRIBED", one)
            for (sale, seconds) in [(one, 0), (two, -3_600), (two, 0), (two, 3_600)] as [(AppleSale, Int64)] {
                if sale.id == two.id { try await Self.go(apple, to: two.purchasedAt, seconds) }
                if seconds == -3_600 { try await Self.notify(apple, "DID_RENEW", two) }
                let status = try await apple.status()
                #expect(status.active && status.status == "active" && status.tier == "VIP")
                #expect(status.expires_at == sale.purchasedAt.adding(days: 30).rawValue)
            }
            #expect(try await Self.told(apple) == ["active vip", "active vip"])
        }
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `another product begins when its time comes, without a gap`(_ engine: TestEngine, _ isUp: Bool) async throws {
        try await withAppleDesk(on: engine) { apple in
            let (first, second) = isUp ? (Self.vip, Self.pro) : (Self.pro, Self.vip)
            let (one, two) = Self.months(apple, first, second, token: try await apple.token())
            let (before, after) = isUp ? ("VIP", "Pro") : ("Pro", "VIP")
            let end = two.purchasedAt.adding(days: 30)
            try await Self.notify(apple, "SUBSCRIBED", one)
            try await Self.go(apple, to: two.purchasedAt, -40_000)
            try await Self.notify(apple, "DID_RENEW", two)
            for (seconds, tier, works) in [
                (-30_000, before, true), (-1, before, true), (0, "", false), (0, after, true),
            ]
                as [(Int64, String, Bool)]
            {
                try await Self.go(apple, to: two.purchasedAt, seconds, works: works)
                let status = try await apple.status()
                #expect(status.active && status.expires_at == end.rawValue, "\(seconds)")
                let shown = try #require(try await apple.subscriptions().first)
                #expect(shown.status == .active && shown.expires_at == end && shown.will_renew)
                #expect(shown.product_id == (seconds < 0 ? first : second))
                guard works else { continue }
                #expect(status.tier == tier && status.status == "active", "\(seconds)")
                let snapshot = try await apple.desk.snapshot()
                #expect(snapshot.next_change_at == (seconds < 0 ? two.purchasedAt : end))
                let orders = try await apple.grants().map(\.order)
                #expect(orders == [try await apple.record(seconds < 0 ? one : two)?.order])
            }
            let words = isUp ? ("vip", "pro") : ("pro", "vip")
            #expect(
                try await Self.told(apple) == ["active \(words.0)", "active \(words.0)", "active \(words.1)"])
            // Whoever rebuilds it goes by the facts, whenever it began.
            try await withDatabase(on: .sqlite) { scratch in
                let replay = ReplayInbox(source: apple.store, scratch: scratch.store, gateway: apple.gateway)
                let report = try await replay.run()
                #expect(report.differences == [])
            }
            // What Apple signs of it later changes nothing.
            let version = try await apple.desk.snapshot().version
            try await Self.notify(apple, "DID_CHANGE_RENEWAL_PREF", two.signedAgain(after: 600))
            #expect(try await apple.desk.snapshot().version == version)
        }
    }

    @Test(arguments: TestEngine.allCases, [vip, pro])
    func `its refund before it begins leaves what runs`(_ engine: TestEngine, _ product: String) async throws {
        try await withAppleDesk(on: engine) { apple in
            let (one, two) = Self.months(apple, Self.vip, product, token: try await apple.token())
            try await Self.notify(apple, "SUBSCRIBED", one)
            try await Self.go(apple, to: two.purchasedAt, -40_000)
            try await Self.notify(apple, "DID_RENEW", two)
            try await Self.go(apple, to: two.purchasedAt, -30_000)
            try await Self.notify(apple, "REFUND", two.signedAgain(after: -30_000) { $0.revoked = $0.signed })
            let order = try #require(try await apple.record(two)?.order)
            #expect(try await apple.gateway.readOrder(order.rawValue).status == .refunded)
            for (seconds, status) in [(-30_000, "active"), (-1, "active"), (0, "expired"), (3_600, "expired")]
                as [(Int64, String)]
            {
                try await Self.go(apple, to: two.purchasedAt, seconds)
                let shown = try #require(try await apple.subscriptions().first)
                #expect(shown.status.rawValue == status && shown.product_id == Self.vip, "\(seconds)")
                #expect(shown.expires_at == two.purchasedAt)
                #expect(try await apple.status().active == (status == "active"), "\(seconds)")
                #expect(try await apple.status().status == status)
            }
            // Signed anew after that moment it still never was; reversed, it runs.
            try await Self.notify(
                apple, "REFUND", two.signedAgain(after: 4_000) { $0.revoked = two.purchased - 30_000_000 })
            #expect(try await apple.subscriptions().map(\.status) == [.expired])
            try await Self.notify(apple, "REFUND_REVERSED", two.signedAgain(after: 5_000))
            let shown = try await apple.subscriptions()
            #expect(shown.map(\.status) == [.active] && shown.map(\.product_id) == [product])
        }
    }

    @Test(arguments: TestEngine.allCases, [vip, pro])
    func `a refund of what runs leaves nothing until the next one begins`(
        _ engine: TestEngine, _ product: String
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let (one, two) = Self.months(apple, Self.vip, product, token: try await apple.token())
            try await Self.notify(apple, "SUBSCRIBED", one)
            try await Self.go(apple, to: two.purchasedAt, -40_000)
            try await Self.notify(apple, "DID_RENEW", two)
            try await Self.go(apple, to: two.purchasedAt, -30_000)
            let refunded = one.with {
                $0.signed = two.purchased - 30_000_000
                $0.revoked = $0.signed
            }
            try await Self.notify(apple, "REFUND", refunded)
            for (seconds, isOpen) in [(-30_000, false), (-1, false), (0, true), (3_600, true)] as [(Int64, Bool)] {
                try await Self.go(apple, to: two.purchasedAt, seconds)
                let shown = try #require(try await apple.subscriptions().first)
                #expect(shown.status == (isOpen ? .active : .revoked) && shown.will_renew == isOpen, "\(seconds)")
                let status = try await apple.status()
                #expect(status.active == isOpen, "\(seconds)")
                #expect(status.expires_at == (isOpen ? two.purchasedAt.adding(days: 30).rawValue : 0))
                #expect(status.status == (isOpen ? "active" : "scheduled"))
            }
            #expect(try await Self.told(apple).map { $0.prefix(6) } == ["active", "active", "revoke", "active"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `sharers cross the same boundary`(_ engine: TestEngine) async throws {
        var setup = AppleDeskSetup()
        setup.desk.ownership = OwnershipRules(policy: .share, shareLimit: 3)
        try await withAppleDesk(on: engine, setup) { apple in
            let (one, two) = Self.months(apple, Self.pro, Self.vip, token: nil)
            for user in ["alice", "bob"] { try await apple.attach(one, user: user) }
            try await Self.go(apple, to: two.purchasedAt, -40_000)
            try await Self.notify(apple, "DID_RENEW", two)
            for (seconds, tier) in [(-1, "Pro"), (0, "VIP")] as [(Int64, String)] {
                try await Self.go(apple, to: two.purchasedAt, seconds)
                for user in ["alice", "bob"] { #expect(try await apple.status(user).tier == tier, "\(user)") }
            }
        }
    }
}
