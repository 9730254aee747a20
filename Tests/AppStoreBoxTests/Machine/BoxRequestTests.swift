import Domain
import Testing

@testable import AppStoreBox

struct BoxRequestTests {
    @Test func aPurchaseAndItsDefaults() throws {
        let short = try BoxPurchaseRequest(body: Array(#"{"product_id":"p","offer":null}"#.utf8))
        #expect(short.quantity == 1 && short.customer == "default" && short.storefront.code == "USA")
        let long = try BoxPurchaseRequest(
            body: Array(
                #"""
                {"product_id":"p","app_account_token":"A0000000-0000-4000-8000-00000000000B","quantity":10,
                "offer":{"type":"win_back","identifier":"i","discount_type":"PAY_UP_FRONT"},"storefront":"CHN",
                "customer":"c","price":990}
                """#.utf8))
        #expect(long.appAccountToken == "a0000000-0000-4000-8000-00000000000b" && long.price == 990)
        #expect(long.offer?.type == .winBack && long.offer?.discount == .payUpFront)
    }

    @Test(
        "a faulty purchase names its member",
        arguments: [
            ("[]", "body"), ("{", "body"), ("", "product_id"), ("{}", "product_id"),
            (#"{"product_id":1}"#, "product_id"),
            (#"{"product_id":"p","product_id":"q"}"#, "body"), (#"{"product_id":"p","extra":1}"#, "extra"),
            (#"{"product_id":"p","quantity":11}"#, "quantity"), (#"{"product_id":"p","quantity":1.5}"#, "quantity"),
            (#"{"product_id":"p","price":-1}"#, "price"), (#"{"product_id":"p","storefront":"XXX"}"#, "storefront"),
            (#"{"product_id":"p","app_account_token":"x"}"#, "app_account_token"),
            (#"{"product_id":"p","offer":{"type":"gift"}}"#, "offer.type"),
            (#"{"product_id":"p","offer":{"type":"promotional"}}"#, "offer.identifier"),
            (#"{"product_id":"p","offer":{"kind":"promotional"}}"#, "offer.kind"),
            (#"{"product_id":"p","customer":""}"#, "customer"),
        ])
    func faultyPurchase(body: String, field: String) {
        do {
            _ = try BoxPurchaseRequest(body: Array(body.utf8))
            Issue.record("was accepted")
        } catch {
            guard case .invalidRequest(let named, _) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(named == field)
        }
    }

    static let acts: [(String, String, BoxSubscriptionAct)] = [
        ("renew", "", .renew), ("fail_renewal", "{}", .failRenewal(grace: 16)),
        ("fail_renewal", #"{"grace":0}"#, .failRenewal(grace: 0)), ("turn_on", "{}", .turnOn),
        ("upgrade", #"{"product_id":"p"}"#, .upgrade(productID: "p")), ("extend", #"{"days":90}"#, .extend(days: 90)),
        ("share", #"{"customer":"c"}"#, .share(appAccountToken: nil, customer: "c")),
    ]

    @Test(arguments: acts)
    func act(name: String, body: String, wanted: BoxSubscriptionAct) throws {
        #expect(try BoxSubscriptionAct(name: name, body: Array(body.utf8)) == wanted)
    }

    @Test(arguments: [
        ("fail_renewal", #"{"grace":5}"#, "grace"), ("upgrade", "{}", "product_id"),
        ("extend", #"{"days":91}"#, "days"),
        ("price_increase", #"{"price":"1"}"#, "price"), ("renew", #"{"now":true}"#, "now"), ("share", "{}", "customer"),
    ])
    func faultyAct(name: String, body: String, field: String) {
        do {
            _ = try BoxSubscriptionAct(name: name, body: Array(body.utf8))
            Issue.record("was accepted")
        } catch {
            guard case .invalidRequest(let named, _) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(named == field)
        }
    }

    @Test func unknownActsAndSettings() throws {
        #expect(throws: BoxError.notFound("no act of this name on a subscription")) {
            try BoxSubscriptionAct(name: "dance", body: [])
        }
        #expect(throws: BoxError.notFound("no act of this name on a transaction")) {
            try BoxTransactionAct(name: "dance", body: [])
        }
        #expect(try BoxTransactionAct(name: "refund", body: []) == .refund(percentage: 100))
        #expect(throws: BoxError.self) { try BoxTransactionAct(name: "refund", body: Array(#"{"percentage":0}"#.utf8)) }
        #expect(throws: BoxError.self) { try BoxMeta.Delivery(body: Array(#"{"mode":"by pigeon"}"#.utf8)) }
        let late = try BoxMeta.Delivery(body: Array(#"{"mode":"late","seconds":5}"#.utf8))
        #expect(late == BoxMeta.Delivery(mode: .late, seconds: 5))
        #expect(try BoxLimitRequest(body: Array(#"{"per_second":null}"#.utf8)).perSecond == nil)
        #expect(throws: BoxError.self) { try BoxLimitRequest(body: Array(#"{"per_second":0}"#.utf8)) }
    }

    @Test func anAnswerShowsNullWhereThereIsNothing() throws {
        var shop = Shop()
        let bought = try shop.buy(Shop.coins)
        let answer = BoxPurchaseAnswer(bought, signedTransaction: "t", signedRenewalInfo: nil, receipt: "r")
        let id = bought.transaction.transactionID
        #expect(
            try JSONText.line(answer) == """
                {"original_transaction_id":"\(id)","receipt":"r","signed_renewal_info":null,"signed_transaction":"t",\
                "transaction_id":"\(id)"}
                """)
        let done = BoxActAnswer(BoxDone(transaction: nil, subscription: nil, notification: nil), delivery: nil)
        #expect(try JSONText.line(done) == #"{"notification":null,"subscription":null,"transaction":null}"#)
        let state = BoxStateAnswer(
            meta: shop.meta, products: shop.products, transactions: Array(shop.transactions.values), subscriptions: [],
            notifications: shop.notifications.map { ($0, signedPayload: "s") }, now: shop.now)
        #expect(state.customers == ["default"] && state.delivery.mode == "normal" && state.now == shop.now / 1_000)
        #expect(state.notifications.map(\.type) == ["ONE_TIME_CHARGE"])
    }
}
