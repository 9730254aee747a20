import Domain
import Testing

@testable import AppStoreBox

struct BoxRuleTests {
    enum Situation: CaseIterable {
        case active, off, failing, grace, retry, asked, expired, revoked
    }

    private func subscription(_ situation: Situation) throws -> (Shop, String) {
        var shop = Shop()
        let id = try shop.buy().transaction.transactionID
        switch situation {
        case .active: break
        case .off: try shop.act(id, .turnOff)
        case .failing: try shop.act(id, .failRenewal(grace: 3))
        case .grace, .retry:
            try shop.act(id, .failRenewal(grace: 3))
            try shop.advance(days: situation == .grace ? 29 : 40)
        case .asked: try shop.act(id, .priceIncrease(price: 20_000))
        case .expired: try shop.act(id, .expire)
        case .revoked: try shop.act(transaction: id, .refund(percentage: 100))
        }
        return (shop, id)
    }

    static let allowed: [(BoxSubscriptionAct, Set<Situation>)] = [
        (.renew, [.active]),
        (.failRenewal(grace: 0), [.active, .failing, .asked]),
        (.recover, [.failing, .grace, .retry]),
        (.turnOff, [.active, .failing, .grace, .retry, .asked]),
        (.turnOn, [.off]),
        (.upgrade(productID: Shop.year), [.active, .off, .failing, .asked]),
        (.downgrade(productID: Shop.year), [.active, .off, .failing, .grace, .retry, .asked]),
        (.priceIncrease(price: 30_000), [.active, .failing]),
        (.acceptPrice, [.asked]),
        (.expire, [.active, .off, .failing, .grace, .retry, .asked]),
        (.extend(days: 5), [.active, .off, .failing, .asked]),
        (.share(appAccountToken: nil, customer: "child"), [.active, .off, .failing, .asked]),
        (.unshare, []),
    ]

    @Test("each act in each situation is done or is a conflict that changes nothing", arguments: allowed)
    func acts(act: BoxSubscriptionAct, allowed: Set<Situation>) throws {
        for situation in Situation.allCases {
            var (shop, id) = try subscription(situation)
            let before = (shop.meta, shop.subscriptions, shop.transactions, shop.told)
            do {
                try shop.act(id, act)
                #expect(allowed.contains(situation), "\(situation)")
                #expect(shop.subscriptions != before.1 || act == .failRenewal(grace: 0), "\(situation)")
            } catch BoxError.conflict(let words) {
                #expect(!allowed.contains(situation), "\(situation): \(words)")
                #expect((shop.meta, shop.subscriptions, shop.transactions, shop.told) == before)
            }
        }
    }

    @Test func whatIsNotKnown() throws {
        var shop = Shop()
        let id = try shop.buy().transaction.transactionID
        let refused: [(BoxSubscriptionAct, String, BoxError)] = [
            (.renew, "900000000000000000", .notFound("no subscription 900000000000000000")),
            (.upgrade(productID: "x"), id, .notFound("no product x is for sale")),
            (
                .upgrade(productID: Shop.other), id,
                .invalidRequest(field: "product_id", "must be a subscription of the group Pro")
            ),
            (
                .priceIncrease(price: 10_000), id,
                .invalidRequest(field: "price", "must be above 10000, the present price")
            ),
        ]
        for (act, original, error) in refused {
            #expect(throws: error) { try shop.act(original, act) }
        }
        #expect(throws: BoxError.self) { try shop.act(transaction: "900000000000000000", .refundDeclined) }
    }

    @Test func onePerGroupAndCustomer() throws {
        var shop = Shop()
        let id = try shop.buy().transaction.transactionID
        #expect(throws: BoxError.self) { try shop.buy() }
        do {
            _ = try shop.buy(Shop.year)
            Issue.record("another product of the group was sold")
        } catch BoxError.conflict(let words) {
            #expect(words.contains("upgrade") && words.contains("downgrade"))
        }
        _ = try shop.buy(customer: "somebody")
        _ = try shop.buy(Shop.other)
        let offer = BoxPurchaseRequest.Offer(type: .promotional, identifier: "back", discount: .payUpFront)
        let redeemed = try shop.buy(offer: offer)
        #expect(shop.told.last == "OFFER_REDEEMED" && redeemed.transaction.offer?.identifier == "back")
        #expect(redeemed.transaction.originalTransactionID == id)
    }

    @Test func otherKinds() throws {
        var shop = Shop()
        #expect(try shop.buy(Shop.coins, quantity: 3).transaction.price == 3_000)
        let device = try shop.buy(Shop.device).transaction
        #expect(throws: BoxError.self) { try shop.buy(Shop.device) }
        #expect(throws: BoxError.self) { try shop.buy(Shop.device, customer: "b", quantity: 2) }
        try shop.act(transaction: device.transactionID, .refund(percentage: 100))
        #expect(try shop.buy(Shop.device).transaction.transactionID > device.transactionID)
        let trial = BoxPurchaseRequest.Offer(type: .introductory, identifier: nil, discount: .freeTrial)
        #expect(throws: BoxError.self) { try shop.buy(Shop.coins, offer: trial) }
        let free = try shop.buy(offer: trial)
        #expect(free.transaction.price == 0 && free.subscription?.renewalPrice == 10_000)
    }

    @Test(
        "notifications travel as the mode says",
        arguments: [
            (BoxMeta.Delivery.Mode.normal, [1, 1, 1], [1, 1, 1]), (.off, [0, 0, 0], [0, 0, 0]),
            (.twice, [2, 2, 2], [2, 2, 2]), (.late, [0, 0, 0], [1, 1, 1]), (.shuffled, [0, 0, 0], [1, 1, 1]),
        ])
    func delivery(mode: BoxMeta.Delivery.Mode, atOnce: [Int], later: [Int]) throws {
        var shop = Shop()
        shop.deliver(mode)
        let id = try shop.buy().transaction.transactionID
        try shop.act(id, .renew)
        try shop.act(id, .turnOff)
        #expect(shop.notifications.map(\.attempts.count) == atOnce)
        try shop.advance(to: shop.now + 61_000)
        #expect(shop.notifications.map(\.attempts.count) == later)
    }

    @Test func fiveShuffledGoTogether() throws {
        var shop = Shop()
        shop.deliver(.shuffled, seconds: 3_600)
        let id = try shop.buy().transaction.transactionID
        for _ in 0..<3 { try shop.act(id, .renew) }
        #expect(shop.sent.isEmpty)
        try shop.act(id, .renew)
        let numbers = shop.sent.compactMap { uuid in shop.notifications.first { $0.uuid == uuid }?.number }
        #expect(numbers.count == 5 && numbers != numbers.sorted())
    }

    @Test func aNotificationThatWasNotSentIsDueStill() throws {
        var shop = Shop()
        _ = try shop.buy()
        shop.notifications[0].attempts = []
        shop.notifications[0].copiesLeft = 1
        shop.notifications[0].dueAt = shop.now
        try shop.advance(to: shop.now + 1)
        #expect(shop.notifications[0].attempts.count == 1)
    }
}
