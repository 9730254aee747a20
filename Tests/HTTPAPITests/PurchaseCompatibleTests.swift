import Domain
import Foundation
import Gateway
import TestSupport
import Testing

@Suite("Purchases in the shapes of clients that post receiptData")
struct PurchaseCompatibleTests {
    private static let verify = "/apple-iap/verify"

    private static func body(_ receipt: String, _ id: String) -> String {
        #"{"receiptData":"\#(receipt)","transactionId":"\#(id)"}"#
    }

    @Test(arguments: TestEngine.allCases)
    func `the products are the literal ids, in major units`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let reply = try await counter.get("/apple-iap/products")
            let json = try reply.json
            #expect(reply.status == 200 && json.names == ["success", "data"] && json["success"] == .bool(true))
            let items = json["data"].elements
            #expect(items.allSatisfy { !$0.text("product_id").contains("$") })
            let month = try #require(items.first { $0.text("product_id") == "com.example.vip.month" })
            #expect(
                month.names == ["id", "product_id", "product_name", "price", "currency", "membership_plan"])
            let sku = try await apple.gateway.catalogue.find("vip_month")
            #expect(month.int("id") == sku.number && month.text("product_name") == "VIP monthly")
            #expect(month.text("currency") == "CNY" && month["membership_plan"].text("plan_code") == "monthly")
            #expect(reply.text.contains(#""price":39.9"#))
            #expect(Set(items.map { $0.text("product_id") }).count == items.count)
            _ = try await apple.gateway.catalogue.archive("vip_month", context: .test)
            let later = try await counter.get("/apple-iap/products")
            #expect(!later.text.contains("com.example.vip.month"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a verified purchase is shown as a membership`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine, AppStoreGatewayFixtureSetup { $0.environments.append("Xcode") }) {
            counter, apple in
            let token = try await counter.token()
            let start = Date(timeIntervalSince1970: Double(apple.now.rawValue))
            func shown(_ days: Double) -> String {
                start.addingTimeInterval(days * 86_400).formatted(
                    Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            }
            let sale = apple.sale()
            for _ in 0..<2 {
                let reply = try await counter.post(Self.verify, token, Self.body(sale.jws, sale.id))
                let json = try reply.json
                #expect(reply.status == 200 && json.names == ["success", "message", "membership"])
                #expect(json["success"] == .bool(true) && !json.text("message").isEmpty)
                #expect(
                    json["membership"]
                        == .object([
                            "status": .string("active"), "startDate": .string(shown(0)), "endDate": .string(shown(30)),
                        ]))
            }
            let ring = apple.sale("com.example.ring", AppleSale.nonConsumable)
            let forever = try await counter.post(Self.verify, token, Self.body(ring.jws, ring.id)).json["membership"]
            #expect(forever.names.contains("endDate") && forever["endDate"] == .null)
            let simulated = apple.sale("com.example.vip.year")
            let reply = try await counter.post(
                Self.verify, try await counter.token("sim"), Self.body(simulated.simulatorReceipt, simulated.id),
                headers: ["Content-Type": "text/plain"])
            #expect(try reply.json["membership"].text("endDate") == shown(365), "\(reply)")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refusal has the old shape and the matching status`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            try await apple.attach(apple.sale { $0.id = "taken" }, user: "bob")
            let token = try await counter.token()
            let sale = apple.sale()
            let gone = apple.sale { $0.revoked = $0.purchased }
            let cases: [(String, Int, String)] = [
                ("{}", 400, "invalid_request"), ("[]", 400, "invalid_request"), ("not json", 400, "invalid_request"),
                (Self.body("x.y.z", "1"), 400, "invalid_receipt"), (Self.body("x", "1"), 400, "invalid_receipt"),
                (Self.body("", ""), 400, "invalid_receipt"),
                (Self.body(sale.jws, sale.id + "0"), 400, "invalid_receipt"),
                (Self.body(sale.simulatorReceipt, sale.id), 400, "invalid_receipt"),
                (Self.body(apple.sale("com.example.unknown") { $0.id = "u" }.jws, "u"), 404, "unknown_product"),
                (Self.body(apple.sale { $0.id = "taken" }.jws, "taken"), 409, "purchase_belongs_to_another_user"),
                (Self.body(gone.jws, gone.id), 409, "purchase_revoked"),
            ]
            for (body, status, error) in cases {
                let reply = try await counter.post(Self.verify, token, body)
                let json = try reply.json
                #expect(reply.status == status && json.names == ["success", "error", "message"], "\(reply)")
                #expect(json["success"] == .bool(false) && json.text("error") == error && !json.text("message").isEmpty)
            }
            await #expect(throws: GatewayError.invalidReceipt("transaction_not_in_receipt")) {
                try await apple.gateway.receipts.verify(
                    sale.jws, transactionID: "another", user: GatewayFixture.user("alice"), context: .test)
            }
            // What another transaction's id was named for is not attached.
            #expect(try await apple.record(sale) == nil)
            let anonymous = try await counter.post(Self.verify, nil, Self.body(sale.jws, sale.id))
            #expect(anonymous.status == 401 && anonymous.error == "unauthenticated")
            #expect(try anonymous.json.names == ["success", "error", "message"])
        }
    }
}
