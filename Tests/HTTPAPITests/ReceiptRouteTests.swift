import Domain
import Foundation
import Gateway
import HTTPTypes
import Hummingbird
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Receipts in verifyReceipt's shape")
struct ReceiptRouteTests {
    private static let path = "/validate-receipt"
    private static let secret = "5d41402abc4b2a76b9719d911017c592"

    private static func withCounter(
        on engine: TestEngine, _ edit: (inout AppStoreGatewayFixtureSetup) -> Void = { _ in },
        _ body: @Sendable (Counter, AppStoreGatewayFixture) async throws -> Void
    ) async throws {
        let setup = AppStoreGatewayFixtureSetup {
            $0.trustsReceipts = true
            $0.sharedSecret = secret
            edit(&$0)
        }
        try await withPurchaseCounter(on: engine, setup, body)
    }

    private static func body(_ receipt: String, _ password: String? = secret, _ more: String = "") -> String {
        let password = password.map { #","password":"\#($0)""# } ?? ""
        return #"{"receipt-data":"\#(receipt)"\#(password)\#(more)}"#
    }

    /// A StoreKit 1 client that posts receipt-data, with the types that it decodes.
    private enum SeedClient {
        struct ServerResponse: Codable {
            let latestReceiptInfo: [ReceiptInfo]
            let pendingRenewalInfo: [RenewalInfo]
        }

        struct ReceiptInfo: Codable {
            let productId: String
            let expiresDate: String
            let isTrialPeriod: String
        }

        struct RenewalInfo: Codable {
            let autoRenewProductId: String
            let autoRenewStatus: String
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a StoreKit 1 client that posts receipt-data reads every answer`(_ engine: TestEngine) async throws {
        try await Self.withCounter(on: engine) { (counter, apple) async throws in
            let period = apple.period("first", from: 0)
            let ring = apple.sale("com.example.ring", AppleSale.nonConsumable)
            let receipt = AppleReceipt([ring, period], at: apple.now) { $0.trials = [period.id] }
            // As URLSession sends a body that nobody named a type for.
            let reply = try await counter.post(
                Self.path, nil, Self.body(receipt.base64, Self.secret, #","exclude-old-transactions":true"#),
                headers: ["Content-Type": "application/x-www-form-urlencoded"])
            #expect(reply.status == 200)
            let read = try JSONDecoder().decode(SeedClient.ServerResponse.self, from: Data(reply.text.utf8))
            let info = try #require(read.latestReceiptInfo.first { $0.productId == period.product })
            let end = Date(timeIntervalSince1970: Double(period.expires ?? 0) / 1_000).formatted(.iso8601)
            #expect(info.expiresDate == end.replacing("T", with: " ").replacing("Z", with: "") + " Etc/GMT")
            #expect(info.isTrialPeriod == "true")
            #expect(read.latestReceiptInfo.first { $0.productId == ring.product }?.expiresDate == "")
            #expect(read.pendingRenewalInfo.map(\.autoRenewProductId) == [period.product])
            #expect(read.pendingRenewalInfo.map(\.autoRenewStatus) == ["1"])
            // A refusal has no purchases for it.
            for body in [Self.body("bm90IGEgcmVjZWlwdA=="), Self.body(receipt.base64, "wrong"), "no json"] {
                let refused = try await counter.post(Self.path, nil, body)
                let read = try JSONDecoder().decode(SeedClient.ServerResponse.self, from: Data(refused.text.utf8))
                #expect(refused.status == 200 && read.latestReceiptInfo.isEmpty && read.pendingRenewalInfo.isEmpty)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an answer says what Apple's said`(_ engine: TestEngine) async throws {
        try await Self.withCounter(on: engine) { (counter, apple) async throws in
            let period = apple.period("first", from: 0) { $0.line = "7" }
            let receipt = AppleReceipt([period], at: apple.now)
            let json = try await counter.post(Self.path, nil, Self.body(receipt.base64)).json
            #expect(json.int("status") == 0 && json.text("environment") == "Production")
            #expect(json.text("latest_receipt") == receipt.base64)
            #expect(json.text("source") == "receipt" && json["stale"] == .bool(false))
            #expect(json["receipt"].text("bundle_id") == "com.example.app")
            #expect(json["receipt"].text("receipt_type") == "Production")
            #expect(json["receipt"].text("receipt_creation_date_ms") == "\(receipt.created)")
            let row = try #require(json["latest_receipt_info"].elements.first)
            #expect(json["receipt"]["in_app"].elements.first == row)
            let expected = [
                "quantity": "1", "product_id": period.product, "transaction_id": period.id,
                "original_transaction_id": "first", "is_trial_period": "false", "is_in_intro_offer_period": "false",
                "purchase_date_ms": "\(period.purchased)", "expires_date_ms": "\(period.expires ?? 0)",
                "original_purchase_date_ms": "\(period.purchased)", "web_order_line_item_id": "7",
                "in_app_ownership_type": "PURCHASED",
            ]
            for (name, value) in expected { #expect(row.text(name) == value, "\(name)") }
            for name in ["purchase_date", "expires_date", "original_purchase_date"] {
                #expect(row.text(name).hasSuffix(" Etc/GMT"), "\(name)")
                #expect(row.text("\(name)_pst").hasSuffix(" America/Los_Angeles"), "\(name)")
            }
            let renewal = try #require(json["pending_renewal_info"].elements.first)
            #expect(
                renewal.names == [
                    "auto_renew_product_id", "auto_renew_status", "original_transaction_id", "product_id",
                ])
            // Nobody asked as a user, so that nobody has it.
            #expect(try await apple.desk.count("orders") == 0)
            let attached = try await counter.post(
                Self.path, try await counter.token(), Self.body(receipt.base64, nil))
            #expect(try attached.json.int("status") == 0)
            #expect(try await apple.status().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `every refusal is a status of Apple's`(_ engine: TestEngine) async throws {
        try await Self.withCounter(on: engine, { $0.environments = ["Production"] }) { (counter, apple) async throws in
            let sale = apple.sale()
            let good = AppleReceipt([sale], at: apple.now).base64
            func receipt(_ edit: (inout AppleReceipt) -> Void) -> String {
                AppleReceipt([sale], at: apple.now, edit).base64
            }
            let cases: [(String, Int64)] = [
                ("", 21_002), ("{}", 21_002), ("[]", 21_002), (#"{"receipt-data":7}"#, 21_002),
                (#"{"receipt-data":"","password":"\#(Self.secret)"}"#, 21_002), (Self.body("bm90"), 21_002),
                (Self.body(good, Self.secret, #","exclude-old-transactions":"yes""#), 21_002),
                (String(repeating: "[", count: 5_000), 21_002), (String(repeating: " ", count: (2 << 20) + 9), 21_002),
                (Self.body(receipt { $0.isUnsigned = true }), 21_002),
                (Self.body(receipt { $0.forged = sale }), 21_003),
                (Self.body(receipt { $0.bundle = "com.example.other" }), 21_003),
                (Self.body(receipt { $0.created = 1_000 }), 21_003),
                (Self.body(good, nil), 21_004), (Self.body(good, ""), 21_004), (Self.body(good, "wrong"), 21_004),
                (Self.body(receipt { $0.type = "ProductionSandbox" }), 21_007), (Self.body(good), 0),
            ]
            for (body, status) in cases {
                let reply = try await counter.post(Self.path, nil, body)
                #expect(try reply.status == 200 && reply.json.int("status") == status, "\(body.prefix(60))")
            }
            let badToken = try await counter.post(Self.path, "a.b.c", Self.body(good))
            #expect(try badToken.status == 200 && badToken.json.int("status") == 21_004)
            let read = try await counter.get(Self.path)
            #expect(try read.status == 200 && read.json.int("status") == 21_000)
        }
        try await Self.withCounter(on: engine, { $0.environments = ["Sandbox"] }) { (counter, apple) async throws in
            let reply = try await counter.post(
                Self.path, nil, Self.body(AppleReceipt([apple.sale()], at: apple.now).base64))
            #expect(try reply.json.int("status") == 21_008)
        }
    }

    @Test
    func `what may be tried again says so`() throws {
        let cases: [(GatewayError, Int64, Bool)] = [
            (.rateLimited(retryAfter: 3), 21_005, true), (.temporarilyUnavailable(retryAfter: 1), 21_005, true),
            (.providerUnavailable, 21_005, true), (.internalError, 21_009, true), (.noProviderAvailable, 21_100, false),
            (.notFound, 21_199, false), (.payloadTooLarge, 21_002, false),
            (.invalidReceipt("transaction_not_in_receipt"), 21_003, false),
        ]
        for (error, status, isRetryable) in cases {
            #expect(VerifyReceiptStatus(error) == VerifyReceiptStatus(rawValue: status, isRetryable: isRetryable))
        }
        let busy = Envelope.verifyReceipt(.rateLimited(retryAfter: 3), requestID: "r")
        #expect(busy.status == .tooManyRequests && busy.headers[.retryAfter] == "3")
    }

    @Test(arguments: TestEngine.allCases)
    func `a verified receipt says who vouches for it`(_ engine: TestEngine) async throws {
        let store = FakeAppStore()
        store.knowsNothing = true
        try await Self.withCounter(on: engine, { $0.appStore = store }) { (counter, apple) async throws in
            let sale = apple.sale()
            let receipt = AppleReceipt([sale], at: apple.now)
            let body = #"{"receiptData":"\#(receipt.base64)","transactionId":"\#(sale.id)"}"#
            let json = try await counter.post("/apple-iap/verify", try await counter.token(), body).json
            #expect(json["success"] == .bool(true) && json["membership"].text("status") == "active")
            #expect(json.text("source") == "receipt" && json["stale"] == .bool(true))
            for text in [
                "", "/9j/4AAQSkZJRg==", "bm90IGEgcmVjZWlwdA==",
                AppleReceipt([sale], at: apple.now) { $0.forged = sale }.base64,
            ] {
                let reply = try await counter.post(
                    "/apple-iap/verify", try await counter.token(),
                    #"{"receiptData":"\#(text)","transactionId":"\#(sale.id)"}"#)
                #expect(reply.status == 400 && reply.error == "invalid_receipt", "\(text.prefix(20))")
            }
        }
    }
}
