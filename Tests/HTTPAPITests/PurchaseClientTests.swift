import Domain
import Store
import TestSupport
import Testing

/// What a StoreKit 2 client that posts the JWS alone sends, byte for byte.
@Suite("A StoreKit 2 client over HTTP")
struct PurchaseClientTests {
    /// What follows the transaction in the client's body, and the days that it is believed; nil where it is refused.
    static let fallbacks: [(more: String, days: Int64?)] = [
        (#","duration_days":30,"subscribe_id":1001,"tier":"Basic""#, 30),
        (#","duration_days":7,"subscribe_id":1001,"tier":null"#, 7),
        // A tier is the SKU's, whatever the client says.
        (#","duration_days":90,"subscribe_id":1001,"tier":"VIP""#, nil),
        (#","duration_days":30,"subscribe_id":1001,"tier":"VIP""#, 30),
        (#","duration_days":null,"subscribe_id":1001,"tier":null"#, 30),
        (#","duration_days":30,"subscribe_id":1002,"tier":"Basic""#, nil),
        (#","duration_days":30,"subscribe_id":null,"tier":"Basic""#, nil),
        (#","duration_days":null,"subscribe_id":null,"tier":null"#, nil),
        ("", nil),
    ]

    @Test(arguments: TestEngine.allCases)
    func `the fallback of a product that no SKU knows counts within a SKU that allows it`(
        _ engine: TestEngine
    ) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            for (number, (more, days)) in Self.fallbacks.enumerated() {
                let token = try await counter.token("user\(number)")
                let reply = try await counter.post(
                    PurchasePath.attach, token, apple.sale("com.example.unknown").body(more))
                let status = try await counter.get(PurchasePath.status, token).data
                guard let days else {
                    #expect(reply.status == 404 && reply.error == "unknown_product", "\(more) \(reply)")
                    #expect(status["active"] == .bool(false) && status.text("tier").isEmpty, "\(more)")
                    continue
                }
                let ends = apple.now.adding(days: days).rawValue
                #expect(try reply.data.int("expires_at") == ends, "\(more) \(reply)")
                #expect(try reply.data.text("tier") == "Basic" && status.text("tier") == "Basic", "\(more)")
                #expect(status.int("expires_at") == ends, "\(more)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a product that a SKU knows has that SKU's days and tier, with and without nulls`(
        _ engine: TestEngine
    ) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            for (number, more) in [
                "", #","duration_days":null,"subscribe_id":null,"tier":null"#,
                #","duration_days":3650,"subscribe_id":1001,"tier":"Emperor""#,
            ].enumerated() {
                let token = try await counter.token("user\(number)")
                let data = try await counter.post(PurchasePath.attach, token, apple.sale().body(more)).data
                #expect(data.text("tier") == "VIP" && data.text("sku") == "vip_month", "\(more) \(data)")
                #expect(data.int("expires_at") == apple.now.adding(days: 30).rawValue, "\(more)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `200 transactions are restored by one request, and three bad ones stop no good one`(
        _ engine: TestEngine
    ) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            try await apple.attach(apple.sale { $0.id = "taken" }, user: "bob")
            var texts = (0..<197).map { _ in apple.sale("merchant.example.day1").jws }
            texts.insert(AppleTestCertificates.sign(apple.sale().payload, by: .forger), at: 0)
            texts.insert("x", at: 100)
            texts.append(apple.sale { $0.id = "taken" }.jws)
            let list = texts.map { "\"\($0)\"" }.joined(separator: ",")
            let token = try await counter.token()
            let before = apple.store.engine.commits
            let data = try await counter.post(PurchasePath.restore, token, #"{"transactions":[\#(list)]}"#).data
            #expect((1...4).contains(apple.store.engine.commits - before))
            #expect(data["success"] == .bool(false) && data.int("restored") == 197)
            let results = data["results"].elements
            #expect(results.map { $0.int("index") } == Array(0..<200))
            let bad = results.filter { $0.text("status") == "rejected" }
            #expect(bad.map { $0.int("index") } == [0, 100, 199])
            #expect(
                bad.map { $0.text("error") } == [
                    "invalid_transaction", "invalid_transaction", "purchase_belongs_to_another_user",
                ])
            #expect(results.count { $0.text("status") == "attached" } == 197)
            #expect(try await apple.grants().count == 197)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `64 clients that attach one transaction for two users at once make one owner`(
        _ engine: TestEngine
    ) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let body = apple.sale().body()
            let tokens = [try await counter.token("alice"), try await counter.token("bob")]
            let replies = try await withThrowingTaskGroup(of: (Int, Reply).self) { group in
                for number in 0..<64 {
                    group.addTask {
                        (number % 2, try await counter.post(PurchasePath.attach, tokens[number % 2], body))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let owners = replies.filter { $0.1.status == 200 }
            let others = replies.filter { $0.1.status == 409 }
            #expect(owners.count == 32 && others.count == 32)
            #expect(Set(owners.map(\.0)).count == 1)
            #expect(Set(try owners.map { try $0.1.data }).count == 1)
            #expect(others.allSatisfy { $0.1.error == "purchase_belongs_to_another_user" })
            #expect(try await apple.desk.count("orders") == 1)
            #expect(try await apple.desk.count("grants") == 1)
        }
    }
}
