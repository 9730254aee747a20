import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("App Store notifications: every type and subtype")
struct AppleLifeTests {
    @Test func `every pair of the table has a row that tells its effect`() {
        let told = Set(AppleLife.all.flatMap(\.steps).map(\.pair) + AppleOccurrence.all.map(\.pair))
        for pair in AppleNotificationPair.all { #expect(told.contains(pair), "\(pair)") }
        // What is told beyond is what no release of Apple's knows.
        let unknown = told.subtracting(AppleNotificationPair.all)
        #expect(unknown == AppleOccurrence.unknown)
        #expect(Set(AppleNotificationPair.all).count == 39)
    }

    private static func sale(
        _ step: AppleLife.Step, _ apple: AppStoreGatewayFixture, from start: Timestamp, token: String?
    ) -> AppleSale {
        let bought = step.bought ?? step.period * 30
        return apple.period("life", from: 0, step.product) {
            $0.id = "life-\(step.period)"
            $0.purchased = start.adding(days: bought).rawValue * 1_000
            $0.expires = start.adding(days: step.ends ?? bought + 30).rawValue * 1_000
            $0.signed = start.adding(days: step.day).rawValue * 1_000
            $0.isRenewal = step.period > 0
            $0.revoked = step.revoked ? $0.signed : nil
            $0.token = token
            ($0.price, $0.currency) = (29_900, "CNY")
            if let offer = step.offer {
                $0.more = ["offerType": .integer(offer), "offerIdentifier": .string("the offer")]
            }
        }
    }

    private static func notice(
        _ step: AppleLife.Step, _ sale: AppleSale, from start: Timestamp, at now: Timestamp
    ) -> AppleNotice {
        let renewal = AppleRenewal(sale) {
            $0.willRenew = step.willRenew
            $0.next = step.next ?? step.product
            $0.isInRetry = step.isInRetry
            $0.graceEnds = step.graceEnds.map { start.adding(days: $0).rawValue * 1_000 }
            if let consent = step.consent { $0.more = ["priceIncreaseStatus": .integer(consent)] }
        }
        return AppleNotice(step.type, step.subtype, sale, renewal, status: step.says, at: now)
    }

    @Test(arguments: TestEngine.allCases, AppleLife.all)
    func `a subscription lives by notifications alone`(_ engine: TestEngine, _ life: AppleLife) async throws {
        try await withAppleDesk(on: engine) { apple in
            let token = try await apple.token()
            let start = apple.now
            for (number, step) in life.steps.enumerated() {
                let gap = start.adding(days: step.day).rawValue - apple.now.rawValue
                if gap > 0 { apple.desk.clock.advance(seconds: gap) }
                let sale = Self.sale(step, apple, from: start, token: token)
                let notice = Self.notice(step, sale, from: start, at: apple.now)
                for _ in 0..<2 { #expect(try await apple.notify(notice).status == 200) }
                try await Self.expectSubscription(step, apple, periods: life.steps.prefix(number + 1))
                try await Self.expectEntitlement(step, apple, from: start)
                let order = try #require(try await apple.record(sale)?.order)
                #expect(try await apple.gateway.orders.find(order.rawValue).status == step.order, "\(step)")
                let periods = Set(life.steps.prefix(number + 1).map(\.period)).count
                #expect(try await apple.desk.count("orders") == periods, "\(step)")
            }
            let told = try await apple.desk.events(try #require(try await apple.subscriptions().first).id.rawValue)
            #expect(!told.isEmpty && Set(told) == ["subscription.changed"])
            #expect(try await apple.grants().count == 1)
            #expect(try await apple.desk.count("notifications WHERE status = 'processed'") == life.steps.count)
        }
    }

    private static func expectSubscription(
        _ step: AppleLife.Step, _ apple: AppStoreGatewayFixture, periods: ArraySlice<AppleLife.Step>
    ) async throws {
        let all = try await apple.subscriptions()
        let shown = try #require(all.first)
        // What is told of an older period changes nothing of the current one.
        let current = periods.last { $0.period == periods.map(\.period).max() } ?? step
        #expect(all.count == 1 && shown.status == step.status, "\(step)")
        #expect(shown.product_id == current.product && shown.environment == .production, "\(step)")
        #expect(shown.auto_renew_product_id == step.next ?? step.product, "\(step)")
        #expect(shown.price_increase == step.priceIncrease && shown.offer?.type == step.shownOffer, "\(step)")
    }

    private static func expectEntitlement(
        _ step: AppleLife.Step, _ apple: AppStoreGatewayFixture, from start: Timestamp
    ) async throws {
        let status = try await apple.status()
        #expect(status.active == (step.until != nil), "\(step)")
        #expect(status.expires_at == (step.until.map { start.adding(days: $0).rawValue } ?? 0), "\(step)")
        #expect(status.status == step.status.rawValue && status.tier == (step.until == nil ? "" : step.tier), "\(step)")
        #expect(
            status.will_renew == (step.willRenew && step.status != .expired && step.status != .revoked), "\(step)")
    }

    @Test(arguments: TestEngine.allCases, AppleOccurrence.all)
    func `what is about no subscription`(_ engine: TestEngine, _ occurrence: AppleOccurrence) async throws {
        try await withAppleDesk(on: engine) { apple in
            let token = try await apple.token()
            let notice = occurrence.notice(apple, token: token)
            for _ in 0..<2 { #expect(try await apple.notify(notice).status == 200) }
            let kept = try await apple.gateway.notifications.list(nil, cursor: nil, limit: 50).items
            #expect(kept.map(\.status) == ["processed"] && kept.map(\.type) == ["\(occurrence.pair)"])
            let orders = try await apple.gateway.orders.list(OrderQuery(), cursor: nil, limit: 50).items
            #expect(orders.map(\.status) == (occurrence.gives == nil ? [] : [.paid]))
            #expect(try await apple.desk.count("purchases") == (occurrence.sale == nil ? 0 : 1))
            #expect(try await apple.subscriptions().isEmpty)
            let status = try await apple.status()
            let tier = occurrence.gives?.tier ?? ""
            #expect(status.tier == tier && status.active == !tier.isEmpty)
            #expect(status.perpetual == (occurrence.gives?.isPerpetual ?? false))
            if let days = occurrence.gives?.days {
                #expect(status.expires_at == orders.first?.order.paidAt?.adding(days: days).rawValue)
            }
            #expect(try await apple.desk.snapshot().balances["gems"] ?? 0 == occurrence.gives?.gems ?? 0)
        }
    }
}

/// A notification that is about no subscription, and what it gives.
struct AppleOccurrence: Sendable, CustomTestStringConvertible {
    struct Gift: Sendable {
        var tier = ""
        var days: Int64?
        var isPerpetual = false
        var gems: Int64 = 0
    }

    let pair: AppleNotificationPair
    var name = ""
    /// Product and kind.
    var sale: (product: String, kind: String)?
    var isClaimed = true
    /// What stands for `data`, by its name.
    var top: (name: String, members: [String: JSONValue])?
    /// nil: nothing.
    var gives: Gift?

    var testDescription: String { "\(pair) \(name)" }

    static let unknown: Set = [
        AppleNotificationPair("A_TYPE_OF_2031", "NEW"), AppleNotificationPair("ONE_TIME_CHARGE", "A_SUBTYPE_OF_2031"),
    ]

    static let all = charges + externals + others

    private static let charges = [
        AppleOccurrence(
            pair: .init("ONE_TIME_CHARGE"), name: "of a consumable",
            sale: ("com.example.gems", AppleSale.consumable), gives: Gift(gems: 10)),
        AppleOccurrence(
            pair: .init("ONE_TIME_CHARGE"), name: "of a non-consumable",
            sale: ("com.example.life", AppleSale.nonConsumable), gives: Gift(tier: "VIP", isPerpetual: true)),
        AppleOccurrence(
            pair: .init("ONE_TIME_CHARGE"), name: "of a non-renewing",
            sale: ("com.example.vip.month", AppleSale.pass), gives: Gift(tier: "VIP", days: 30)),
        AppleOccurrence(
            pair: .init("ONE_TIME_CHARGE", "A_SUBTYPE_OF_2031"), sale: ("com.example.gems", AppleSale.consumable),
            gives: Gift(gems: 10)),
        AppleOccurrence(
            pair: .init("A_TYPE_OF_2031", "NEW"), sale: ("com.example.vip.month", AppleSale.pass), isClaimed: false),
    ]

    private static let externals = ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"].flatMap { subtype in
        ["SANDBOX_1", "b2158121-7af9-49d4-9561-1f588205523e"].map { id in
            AppleOccurrence(
                pair: .init("EXTERNAL_PURCHASE_TOKEN", subtype), name: id,
                top: (
                    "externalPurchaseToken",
                    [
                        "externalPurchaseId": .string(id), "bundleId": .string("com.example.app"),
                        "appAppleId": .integer(AppleNotice.appNumber), "tokenCreationDate": .integer(1),
                    ]
                ))
        }
    }

    private static let about: [String: JSONValue] = [
        "environment": .string("Production"), "appAppleId": .integer(AppleNotice.appNumber),
        "bundleId": .string("com.example.app"),
    ]

    private static let others = [
        AppleOccurrence(
            pair: .init("RENEWAL_EXTENSION", "SUMMARY"),
            top: (
                "summary",
                about.merging([
                    "productId": .string(AppleLife.vip), "requestIdentifier": .string("request"),
                    "succeededCount": .integer(5), "failedCount": .integer(1),
                ]) { $1 }
            )),
        AppleOccurrence(pair: .init("RESCIND_CONSENT"), top: ("appData", about)),
        AppleOccurrence(
            pair: .init("RESCIND_CONSENT"), name: "with the app's transaction",
            top: (
                "appData",
                about.merging(["signedAppTransactionInfo": .string(AppleTestCertificates.sign(appTransaction))]) { $1 }
            )),
        AppleOccurrence(pair: .init("TEST")),
        AppleOccurrence(pair: .init("SUBSCRIBED", "INITIAL_BUY"), name: "without anything inside"),
    ]

    private static let appTransaction = Data(
        """
        {"bundleId":"com.example.app","receiptType":"Production","appAppleId":\(AppleNotice.appNumber),
         "receiptCreationDate":1790000000000}
        """.utf8)

    func notice(_ apple: AppStoreGatewayFixture, token: String) -> AppleNotice {
        let sold = sale.map { sale in apple.sale(sale.product, sale.kind) { $0.token = isClaimed ? token : nil } }
        return AppleNotice(pair.type, pair.subtype, sold, at: apple.now) { notice in
            notice.top = top.map { [$0.name: .object($0.members)] }
        }
    }
}
