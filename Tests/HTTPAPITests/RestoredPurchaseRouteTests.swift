import Domain
import Foundation
import Gateway
import HTTPTypes
import ProviderKit
import TestSupport
import Testing

@Suite("Purchases of several ids over HTTP")
struct RestoredPurchaseRouteTests {
    private static func notify(
        _ type: String, _ sale: AppleSale, _ counter: Counter, _ apple: AppStoreGatewayFixture
    ) async throws -> Reply {
        let notice = AppleNotice(type, nil, sale, at: apple.now)
        return try await counter.send(
            .post, "/v1/notify/\(AppStoreGatewayFixture.notifyToken)",
            body: String(decoding: notice.raw.body, as: UTF8.self))
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `a restored purchase is the one that was bought, and goes back with it`(
        _ engine: TestEngine, _ isPeriod: Bool
    ) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let token = try await counter.token()
            let ring = apple.sale("com.example.life", AppleSale.nonConsumable) { $0.id = "1000" }
            let first = isPeriod ? apple.period("1000", from: 0) { $0.id = "1000" } : ring
            let again = first.with { ($0.id, $0.original) = ("1001", "1000") }
            let attached = try await counter.post(PurchasePath.attach, token, again.body()).data
            #expect(attached["active"] == .bool(true) && attached.text("transaction_id") == "1001")
            let bought = try await counter.post(PurchasePath.attach, token, first.body()).data
            #expect(bought["active"] == .bool(true) && bought.text("transaction_id") == "1000")
            #expect(bought.text("order_id") == attached.text("order_id"))
            let refund = first.signedAgain(after: 600) { $0.revoked = $0.signed }
            #expect(try await Self.notify("REFUND", refund, counter, apple).status == 200)
            #expect(try await counter.get(PurchasePath.status, token).data["active"] == .bool(false))
            for sale in [first, again] {
                let reply = try await counter.post(PurchasePath.attach, token, sale.body())
                #expect(reply.status == 409 && reply.error == "purchase_revoked", "\(reply)")
            }
            let orders = try await counter.get("/v1/public/orders", token).data["items"].elements
            #expect(orders.map { $0.text("status") } == ["refunded"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what was bought again is owned once the first one is refunded`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let token = try await counter.token()
            let lives = (0..<2).map { _ in apple.sale("com.example.life", AppleSale.nonConsumable) }
            let answers = try await lives.asyncMap {
                try await counter.post(PurchasePath.attach, token, $0.body()).data
            }
            #expect(answers.allSatisfy { $0["active"] == .bool(true) && $0["perpetual"] == .bool(true) })
            let refund = lives[0].signedAgain(after: 600) { $0.revoked = $0.signed }
            #expect(try await Self.notify("REFUND", refund, counter, apple).status == 200)
            let status = try await counter.get(PurchasePath.status, token).data
            #expect(status["active"] == .bool(true) && status["perpetual"] == .bool(true))
            let order = try await counter.get("/v1/public/orders/\(answers[1].text("order_id"))", token).data
            #expect(order.text("status") == "paid" && order["timeline"].elements.last?.text("type") == "order.granted")
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ make: (Element) async throws -> Value) async rethrows -> [Value] {
        var made: [Value] = []
        for element in self { made.append(try await make(element)) }
        return made
    }
}
