import Domain
import Testing

@testable import AppStoreBox

struct BoxLifeTests {
    @Test(
        "periods end on the anchor's day, or on the last day of a shorter month",
        arguments: [
            ("P1M", 1, "2026-02-28"), ("P1M", 2, "2026-03-31"), ("P1M", 3, "2026-04-30"), ("P1M", 12, "2027-01-31"),
            ("P1M", 25, "2028-02-29"), ("P3M", 1, "2026-04-30"), ("P1Y", 2, "2028-01-31"), ("P1W", 1, "2026-02-07"),
        ])
    func calendar(period: String, count: Int64, date: String) throws {
        let end = BoxCalendar.end(of: count, try #require(StoreKitPeriod(period)), after: Shop.january31)
        #expect(Timestamp(end.flooredSeconds).iso8601 == "\(date)T10:00:00Z")
        #expect(end % 1_000 == 123)
    }

    @Test func aYearWithAFailureAndARecoveryInGrace() throws {
        var shop = Shop()
        let bought = try shop.buy()
        let id = bought.transaction.transactionID
        #expect(id.count == 18 && id.first == "9")
        try shop.advance(days: 100)
        try shop.act(id, .failRenewal(grace: 16))
        let end = try #require(shop.subscriptions[id]?.expiresAt)
        try shop.advance(to: end + 2 * Shop.day)
        #expect(shop.subscriptions[id]?.state == .grace)
        let back = try shop.act(id, .recover)
        #expect(back.transaction?.purchasedAt == end)
        #expect(back.notification?.subtype == .billingRecovery)
        try shop.advance(to: Shop.january31 + 365 * Shop.day - 1)
        let renewals = Array(repeating: "DID_RENEW", count: 3)
        #expect(
            shop.told == ["SUBSCRIBED INITIAL_BUY"] + renewals + ["DID_FAIL_TO_RENEW GRACE_PERIOD"]
                + ["DID_RENEW BILLING_RECOVERY"] + Array(repeating: "DID_RENEW", count: 7))
        let periods = shop.transactions.values.sorted { $0.purchasedAt < $1.purchasedAt }
        #expect(periods.count == 12)
        #expect(zip(periods, periods.dropFirst()).allSatisfy { $0.expiresAt == $1.purchasedAt })
        #expect(Timestamp((periods.last?.expiresAt ?? 0).flooredSeconds).utcDate == "2027-01-31")
        let dates = shop.notifications.sorted { $0.number < $1.number }.map(\.signedAt)
        #expect(dates == Array(Set(dates)).sorted())
    }

    @Test(
        "a failed renewal goes through grace and billing retry",
        arguments: [
            (Int64(0), ["DID_FAIL_TO_RENEW"]), (Int64(3), ["DID_FAIL_TO_RENEW GRACE_PERIOD", "GRACE_PERIOD_EXPIRED"]),
        ]
    )
    func bitterEnd(grace: Int64, failed: [String]) throws {
        var shop = Shop()
        let id = try shop.buy().transaction.transactionID
        try shop.act(id, .failRenewal(grace: grace))
        let end = try #require(shop.subscriptions[id]?.expiresAt)
        try shop.advance(to: end + 60 * Shop.day - 1)
        #expect(shop.told == ["SUBSCRIBED INITIAL_BUY"] + failed)
        #expect(shop.subscriptions[id]?.state == .billingRetry)
        try shop.advance(days: 1)
        #expect(shop.told.last == "EXPIRED BILLING_RETRY")
        #expect(shop.notifications.last?.signedAt == end + 60 * Shop.day)
        #expect(shop.nextDue == nil)
        let again = try shop.buy(Shop.year)
        #expect(again.transaction.originalTransactionID == id && again.transaction.transactionID != id)
        #expect(shop.told.last == "SUBSCRIBED RESUBSCRIBE")
    }

    @Test func recoveryInBillingRetryCountsFromNow() throws {
        var shop = Shop()
        let id = try shop.buy().transaction.transactionID
        try shop.act(id, .failRenewal(grace: 3))
        try shop.advance(days: 40)
        let back = try shop.act(id, .recover)
        #expect(back.transaction?.purchasedAt == shop.now && back.subscription?.anchor == shop.now)
    }

    @Test(
        "the end of a period without a renewal",
        arguments: [
            (BoxSubscriptionAct.turnOff, "EXPIRED VOLUNTARY"),
            (.priceIncrease(price: 20_000), "EXPIRED PRICE_INCREASE"),
        ])
    func ends(act: BoxSubscriptionAct, told: String) throws {
        var shop = Shop()
        let id = try shop.buy().transaction.transactionID
        try shop.act(id, act)
        try shop.advance(days: 29)
        #expect(shop.told.last == told && shop.subscriptions[id]?.state == .expired)
    }

    @Test func aProductThatIsNotSoldAnyMoreEnds() throws {
        var shop = Shop()
        _ = try shop.buy()
        shop.products = []
        try shop.advance(days: 29)
        #expect(shop.told.last == "EXPIRED PRODUCT_NOT_FOR_SALE")
    }

    @Test func anAcceptedPriceIsChargedAtTheRenewal() throws {
        var shop = Shop()
        let id = try shop.buy().transaction.transactionID
        try shop.act(id, .priceIncrease(price: 20_000))
        #expect(shop.subscriptions[id]?.priceIncreaseStatus == 0)
        try shop.act(id, .acceptPrice)
        try shop.advance(days: 29)
        #expect(shop.told.suffix(3) == ["PRICE_INCREASE PENDING", "PRICE_INCREASE ACCEPTED", "DID_RENEW"])
        let current = shop.subscriptions[id].flatMap { shop.transactions[$0.currentTransactionID] }
        #expect(current?.price == 20_000 && shop.subscriptions[id]?.priceIncreaseStatus == nil)
    }

    @Test func upgradeNowDowngradeAtTheRenewal() throws {
        var shop = Shop()
        let id = try shop.buy().transaction.transactionID
        let up = try shop.act(id, .upgrade(productID: Shop.year))
        #expect(shop.transactions[id]?.isUpgraded == true && up.transaction?.productID == Shop.year)
        #expect(up.subscription?.expiresAt == shop.now + 365 * Shop.day)
        let down = try shop.act(id, .downgrade(productID: Shop.month))
        #expect(down.transaction == up.transaction && down.notification?.subtype == .downgrade)
        try shop.act(id, .downgrade(productID: Shop.year))
        #expect(shop.told.last == "DID_CHANGE_RENEWAL_PREF")
        try shop.act(id, .downgrade(productID: Shop.month))
        try shop.advance(days: 366)
        #expect(shop.subscriptions[id]?.productID == Shop.month)
        let current = shop.subscriptions[id].flatMap { shop.transactions[$0.currentTransactionID] }
        #expect(current?.price == 10_000 && current?.purchasedAt == up.subscription?.expiresAt)
    }

    @Test func sharingFollowsThePayer() throws {
        var shop = Shop()
        let payer = try shop.buy().transaction.transactionID
        let shared = try shop.act(payer, .share(appAccountToken: nil, customer: "child"))
        let child = try #require(shared.subscription?.originalTransactionID)
        #expect(child != payer && shared.transaction?.isFamilyShared == true)
        #expect(throws: BoxError.self) { try shop.act(payer, .share(appAccountToken: nil, customer: "child")) }
        #expect(throws: BoxError.self) { try shop.act(child, .turnOff) }
        try shop.act(payer, .renew)
        #expect(shop.subscriptions[child]?.expiresAt == shop.subscriptions[payer]?.expiresAt)
        try shop.advance(days: 60)
        #expect(shop.subscriptions[child]?.expiresAt == shop.subscriptions[payer]?.expiresAt)
        let current = try #require(shop.subscriptions[payer]?.currentTransactionID)
        try shop.act(transaction: current, .refund(percentage: 100))
        #expect(shop.told.suffix(2) == ["REFUND", "REVOKE"] && shop.subscriptions[child]?.state == .revoked)
        #expect(throws: BoxError.self) { try shop.act(child, .unshare) }
    }

    @Test(arguments: [Int64(100), 50])
    func refundAndReversal(percentage: Int64) throws {
        var shop = Shop()
        let id = try shop.buy().transaction.transactionID
        try shop.act(transaction: id, .consumptionRequest)
        try shop.act(transaction: id, .refundDeclined)
        try shop.act(transaction: id, .refund(percentage: percentage))
        #expect(shop.subscriptions[id]?.state == (percentage == 100 ? .revoked : .active))
        #expect(shop.transactions[id]?.revocation?.percentage == percentage * 1_000)
        for act in [BoxTransactionAct.refund(percentage: 1), .refundDeclined, .consumptionRequest] {
            #expect(throws: BoxError.conflict("it was refunded already")) { try shop.act(transaction: id, act) }
        }
        try shop.act(transaction: id, .refundReversed)
        #expect(throws: BoxError.conflict("it was not refunded")) { try shop.act(transaction: id, .refundReversed) }
        #expect(shop.subscriptions[id]?.state == .active)
        #expect(shop.subscriptions[id]?.willRenew == (percentage != 100))
        #expect(shop.transactions[id]?.revocation == nil)
    }

    @Test func anExtensionMovesTheEndAndTheRenewalsAfterIt() throws {
        var shop = Shop()
        let id = try shop.buy().transaction.transactionID
        let done = try shop.act(id, .extend(days: 10))
        #expect(done.transaction?.expiresAt == Shop.january31 + 38 * Shop.day)
        try shop.advance(days: 39)
        let end = try #require(shop.subscriptions[id]?.expiresAt)
        #expect(Timestamp(end.flooredSeconds).utcDate == "2026-04-10")
    }

    @Test func aResetRepeatsNoID() throws {
        var shop = Shop()
        let first = try shop.buy().transaction
        shop.meta = shop.meta.reset()
        (shop.transactions, shop.subscriptions) = ([:], [:])
        let second = try shop.buy().transaction
        #expect(second.transactionID > first.transactionID && second.signedAt > first.signedAt)
    }
}
