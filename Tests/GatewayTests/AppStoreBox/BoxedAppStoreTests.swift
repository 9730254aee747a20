import AppStoreBox
import Domain
import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Gateway

@Suite("An App Store in a box")
struct BoxedAppStoreTests {
    private static let day: Int64 = 86_400

    @Test(arguments: TestEngine.allCases)
    func `what it sells is what its user owns, once the purchase is answered`(_ engine: TestEngine) async throws {
        try await withBoxDesk(on: engine) { shop in
            let bought = try await shop.buy()
            #expect(bought.transaction_id.count == 18 && bought.transaction_id.hasPrefix("9"))
            #expect(try await shop.sent() == ["SUBSCRIBED INITIAL_BUY 200"])
            let status = try await shop.status()
            #expect(status.active && status.tier == "VIP" && status.will_renew)
            let coins = try await shop.buy(BoxGatewayFixture.coins)
            #expect(coins.signed_renewal_info == nil && coins.transaction_id > bought.transaction_id)
            let listed = try await shop.gateway.purchases.list(nil, cursor: nil, limit: 10)
            #expect(try listed.items.map { try $0.storedJSON().contains(#""box":true"#) } == [true, true])
            let state = try await shop.box.state()
            #expect(
                Set(state.products.map(\.product_id)).isSuperset(of: [
                    BoxGatewayFixture.month, BoxGatewayFixture.year, BoxGatewayFixture.coins,
                ]))
            #expect(state.customers == ["default"] && state.transactions.count == 2 && state.subscriptions.count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `acts change what Paydesk says, and what the state does not allow changes nothing`(
        _ engine: TestEngine
    ) async throws {
        try await withBoxDesk(on: engine) { shop in
            let original = try await shop.buy().original_transaction_id
            try await shop.act("turn_off", on: original)
            #expect(try await shop.status().will_renew == false)
            await #expect(throws: BoxError.self) { try await shop.act("turn_off", on: original) }
            await #expect(throws: BoxError.self) { try await shop.buy() }
            try await shop.act("turn_on", on: original)
            let done = try await shop.act("upgrade", on: original, #"{"product_id":"\#(BoxGatewayFixture.year)"}"#)
            #expect(done.notification?.delivery == BoxActAnswer.Delivery(status: 200))
            #expect(try await shop.status().tier == "Max")
            try await shop.act("expire", on: original)
            #expect(try await shop.status().active == false)
            #expect(
                try await shop.sent() == [
                    "SUBSCRIBED INITIAL_BUY 200", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED 200",
                    "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED 200", "DID_CHANGE_RENEWAL_PREF UPGRADE 200",
                    "EXPIRED VOLUNTARY 200",
                ])
        }
    }

    /// A way of travelling, and the statuses of each notification at once and a minute later.
    struct Travel: Sendable {
        let mode: String
        let atOnce: String
        let later: String

        static let all = [
            Travel(mode: "normal", atOnce: "200", later: "200"),
            Travel(mode: "twice", atOnce: "200,200", later: "200,200"), Travel(mode: "off", atOnce: "", later: ""),
            Travel(mode: "late", atOnce: "", later: "200"), Travel(mode: "shuffled", atOnce: "", later: "200"),
        ]
    }

    @Test(arguments: Travel.all, TestEngine.allCases)
    func `notifications travel as the mode says`(
        _ row: Travel, _ engine: TestEngine
    ) async throws {
        try await withBoxDesk(on: engine) { shop in
            try await shop.box.deliver(BoxMeta.Delivery(body: Array(#"{"mode":"\#(row.mode)"}"#.utf8)))
            let original = try await shop.buy().original_transaction_id
            let done = try await shop.act("renew", on: original)
            #expect((done.notification?.delivery == nil) == row.atOnce.isEmpty)
            let told = ["SUBSCRIBED INITIAL_BUY ", "DID_RENEW "]
            #expect(try await shop.sent() == told.map { $0 + row.atOnce })
            #expect(try await shop.status().active != row.atOnce.isEmpty)
            try await shop.advance(61)
            #expect(try await shop.sent() == told.map { $0 + row.later })
            if row.mode == "off" {
                _ = try await shop.gateway.notificationSync.syncAll(try .test("apple-iap"))
            }
            #expect(try await shop.status().active)
            #expect(try await shop.desk.count("orders") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `five that wait for others go together`(_ engine: TestEngine) async throws {
        try await withBoxDesk(on: engine) { shop in
            try await shop.box.deliver(BoxMeta.Delivery(mode: .shuffled, seconds: 3_600))
            let original = try await shop.buy().original_transaction_id
            for _ in 0..<3 { try await shop.act("renew", on: original) }
            #expect(try await shop.sent().allSatisfy { $0.hasSuffix(" ") })
            let done = try await shop.act("renew", on: original)
            #expect(done.notification?.delivery == nil)
            #expect(try await shop.sent().allSatisfy { $0.hasSuffix(" 200") })
            #expect(try await shop.desk.count("orders") == 5)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what a process stored and did not send is sent by the next one, once`(_ engine: TestEngine) async throws {
        try await withBoxDesk(on: engine) { shop in
            let token = try await shop.token()
            let body = #"{"product_id":"\#(BoxGatewayFixture.month)","app_account_token":"\#(token)"}"#
            let request = try BoxPurchaseRequest(body: Array(body.utf8))
            // The process ends after the commit.
            _ = try await shop.box.update { (products) throws(BoxError) in
                try request.need(products)
            } _: { (machine) throws(BoxError) in
                try machine.purchase(request)
            }.get()
            #expect(try await shop.sent() == ["SUBSCRIBED INITIAL_BUY "])
            #expect(try await shop.status().active == false)
            let successor = try shop.node()
            let box = try #require(successor.appStore)
            #expect(try await box.runDue() > 0)
            #expect(try await box.runDue() == 0)
            #expect(try await shop.sent() == ["SUBSCRIBED INITIAL_BUY 200"])
            #expect(try await shop.status().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a reset empties it, and its ids go on`(_ engine: TestEngine) async throws {
        try await withBoxDesk(on: engine) { shop in
            let first = try await shop.buy()
            try await shop.box.reset()
            let state = try await shop.box.state()
            #expect(state.transactions.isEmpty && state.subscriptions.isEmpty && state.notifications.isEmpty)
            #expect(try await shop.status().active)
            let second = try await shop.buy(BoxGatewayFixture.coins)
            #expect(second.transaction_id > first.transaction_id)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `its rows are found by Apple's server API`(_ engine: TestEngine) async throws {
        try await withBoxDesk(on: engine) { shop in
            let original = try await shop.buy().original_transaction_id
            try await shop.act("renew", on: original)
            try await shop.buy(BoxGatewayFixture.coins, customer: "somebody")
            let box = shop.box
            #expect(try await box.transaction(original)?.transactionID == original)
            let all = try await box.transactions(of: "default", after: nil, limit: 10)
            #expect(all.count == 2 && all.map(\.signedAt) == all.map(\.signedAt).sorted())
            let place = HistoryPlace(signedAt: all[0].signedAt, transactionID: all[0].transactionID)
            #expect(try await box.transactions(of: "default", after: place, limit: 10) == Array(all.dropFirst()))
            #expect(try await box.subscriptions(of: "default").map(\.originalTransactionID) == [original])
            #expect(try await box.subscriptions(of: "somebody").isEmpty)
            let sent = try await box.notifications(signed: 0...(.max), after: 0, limit: 10)
            #expect(sent.count == 3 && sent.allSatisfy { !$0.signedPayload.isEmpty })
            #expect(try await box.notifications(signed: 0...(.max), after: sent[0].row.number, limit: 1).count == 1)
            #expect(try await box.notification(sent[1].row.uuid)?.row == sent[1].row)
            let before = try await box.subscriptions(of: "default")[0].expiresAt
            #expect(try await box.extend(original, days: 5).expiresAt == before + 5 * Self.day * 1_000)
            #expect(try await box.requestTest().type == .test)
            try await box.limit(perSecond: 3)
            #expect(try await box.callsPerSecond() == 3)
        }
    }
}
