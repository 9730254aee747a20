import Domain
import Foundation
import Gateway
import ProviderKit
import TestSupport
import Testing

@Suite("Receipts: asking Apple's verifyReceipt")
struct VerifyReceiptProxyTests {
    private static let apple = [
        "https://buy.itunes.apple.com/verifyReceipt", "https://sandbox.itunes.apple.com/verifyReceipt",
    ]

    private static func withProxy(
        on engine: TestEngine, _ address: String = "apple",
        _ body: (AppStoreGatewayFixture, FakeAppStore) async throws -> Void
    ) async throws {
        let store = FakeAppStore()
        try await withReceiptDesk(
            on: engine,
            {
                $0.appStore = store
                $0.verifyReceiptURL = address
            }
        ) { try await body($0, store) }
    }

    /// Apple's answer about a subscription that was renewed since: its numbers are texts.
    private static func answer(_ renewed: AppleSale, status: String = "0", bundle: String = "com.example.app") -> String
    {
        """
        {"status":\(status),"environment":"Production","is-retryable":"0",
         "receipt":{"bundle_id":"\(bundle)","request_date_ms":"\(renewed.purchased + 5_000)","in_app":[],"adam_id":1},
         "latest_receipt_info":[{"quantity":"1","product_id":"\(renewed.product)","transaction_id":"\(renewed.id)",
           "original_transaction_id":"\(renewed.original ?? "")","purchase_date_ms":"\(renewed.purchased)",
           "expires_date_ms":"\(renewed.expires ?? 0)","is_trial_period":"false"},
          {"product_id":"without an id"}],
         "pending_renewal_info":[{"original_transaction_id":"\(renewed.original ?? "")","auto_renew_status":"0",
           "auto_renew_product_id":"\(renewed.product)","product_id":"\(renewed.product)"}]}
        """
    }

    @Test(arguments: TestEngine.allCases)
    func `what Apple answers counts with the receipt`(_ engine: TestEngine) async throws {
        try await Self.withProxy(on: engine) { (apple, store) async throws in
            let old = apple.period("first", from: -40) { $0.id = "first" }
            let new = apple.period("first", from: -10)
            store.script(Self.answer(new))
            let receipt = apple.receipt(old)
            let report = try #require(try await apple.report(receipt))
            #expect(report.source == .appStore && report.rows.map(\.purchase.transactionID) == [new.id, "first"])
            #expect(report.renewals.map(\.willRenew) == [false])
            let status = try await apple.status()
            #expect(status.active && status.expires_at == new.purchasedAt.adding(days: 30).rawValue)
            let request = try #require(store.requests.first)
            #expect(request.method == "POST" && request.url == Self.apple[0])
            let asked = try #require(try JSONSerialization.jsonObject(with: request.body) as? [String: Any])
            #expect(asked["receipt-data"] as? String == receipt.base64)
            #expect(asked["password"] as? String == ReceiptFixture.secret)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a receipt of the other environment is sent there, once`(_ engine: TestEngine) async throws {
        try await Self.withProxy(on: engine) { (apple, store) async throws in
            let sale = apple.period("first", from: 0) { $0.id = "first" }
            store.script(#"{"status":21007}"#)
            store.script(Self.answer(sale, status: #""0""#))
            #expect(try await apple.report(apple.receipt(sale))?.source == .appStore)
            #expect(store.requests.map(\.url) == Self.apple)
            store.script(#"{"status":21007}"#)
            store.script(#"{"status":21008}"#)
            store.script(#"{"status":21007}"#)
            #expect(try await apple.report(apple.receipt(sale))?.isStale == true)
            #expect(store.requests.map(\.url) == Self.apple + Self.apple + [Self.apple[0]])
        }
        try await Self.withProxy(on: engine, "https://receipts.example/verify") { (apple, store) async throws in
            store.script(#"{"status":21007}"#)
            #expect(try await apple.report(apple.receipt(apple.sale()))?.isStale == true)
            #expect(store.requests.map(\.url) == ["https://receipts.example/verify"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `every status of Apple's has its meaning`(_ engine: TestEngine) async throws {
        try await Self.withProxy(on: engine) { (apple, store) async throws in
            let sale = apple.period("first", from: 0) { $0.id = "first" }
            let receipt = apple.receipt(sale)
            func ask(_ body: String, status: Int = 200) async throws -> (stale: Bool?, status: Int64?, again: Int64) {
                store.script(body, status: status)
                let answer = try await apple.gateway.receipts.validate(
                    receipt.base64, password: nil, newestOnly: false, user: GatewayFixture.user("alice"), context: .test
                )
                let jobs = try await apple.desk.count("jobs WHERE kind = 'check_receipt'")
                switch answer {
                case .report(let report): return (report.isStale, nil, jobs)
                case .status(let status): return (nil, status, jobs)
                }
            }
            for status in [0, 21_006] {
                let answered = try await ask(Self.answer(sale, status: "\(status)"))
                #expect(answered == (false, nil, 0), "\(status)")
            }
            for status: Int64 in [21_003, 21_010] {
                let answered = try await ask(#"{"status":\#(status)}"#)
                #expect(answered == (nil, status, 0), "\(status)")
            }
            let stale: [(String, Int)] =
                [21_000, 21_002, 21_004, 21_005, 21_009, 21_100, 21_199, 99_999].map { (#"{"status":\#($0)}"#, 200) }
                + [
                    (#"{"status":21105,"is-retryable":true}"#, 200), (#"{"status":21105,"is-retryable":1}"#, 200),
                    ("", 200), ("[]", 200), ("<html>", 200), ("{}", 503), ("{}", 404), ("{}", 302),
                    (Self.answer(sale, bundle: "com.example.other"), 200),
                ]
            for (body, status) in stale {
                let answered = try await ask(body, status: status)
                #expect(answered == (true, nil, 1), "\(body.prefix(40)) \(status)")
            }
            let last = try await ask(Self.answer(sale))
            #expect(last == (false, nil, 0))
            // What Apple calls worthless gives nobody anything.
            let other = apple.receipt(apple.sale())
            store.script(#"{"status":21010}"#)
            #expect(try await apple.status(of: other, user: "bob") == 21_010)
            #expect(try await !apple.status("bob").active)
        }
    }
}
