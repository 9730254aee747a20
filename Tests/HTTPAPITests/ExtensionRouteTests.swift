import Domain
import Gateway
import ProviderKit
import TestSupport
import Testing

@Suite("Consent and extension over HTTP")
struct ExtensionRouteTests {
    @Test(arguments: TestEngine.allCases)
    func `an extension has the fields of its contract, and its key gives the same answer again`(
        _ engine: TestEngine
    ) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let id = try await apple.desk.scriptedSubscription().rawValue
            let path = "/v1/admin/subscriptions/\(id)/extend"
            let body = #"{"days":30,"reason_code":1}"#
            let headers = ["Idempotency-Key": "extend-1"]
            let first = try await counter.post(path, counter.adminKey, body, headers: headers)
            #expect(first.status == 200, "\(first.text)")
            let data = try first.data
            #expect(data.names == ["id", "days", "expires_at"] && data.text("id") == id && data.int("days") == 30)
            #expect(data.int("expires_at") == 1_900_000_000)
            let again = try await counter.post(path, counter.adminKey, body, headers: headers)
            #expect(try again.data == data && again.header("Idempotency-Replayed") == "true")
            #expect(try await apple.desk.count("audit WHERE action = 'subscription.extended'") == 1)
            for (body, field) in [
                ("{}", "days"), (#"{"days":30}"#, "reason_code"), (#"{"days":91,"reason_code":1}"#, "days"),
                (#"{"days":30,"reason_code":4}"#, "reason_code"), (#"{"days":"30","reason_code":1}"#, "days"),
            ] {
                let reply = try await counter.post(path, counter.adminKey, body)
                #expect(reply.status == 400 && reply.error == "invalid_request", "\(body): \(reply)")
                #expect(try reply.json["details"].text("field") == field, "\(body): \(reply)")
            }
            let nobody = try await counter.post("/v1/admin/subscriptions/x/extend", counter.adminKey, body)
            #expect(nobody.status == 404 && nobody.error == "not_found")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an outcome that is not known is told in words, and not kept for the key`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, desk in
            let appStore = ScriptedAppStore(.failure(.outcomeUnknown))
            let apple = try desk.asking(appStore)
            try await apple.attach(apple.period("lost", from: 0))
            let id = try #require(try await apple.subscriptions().first).id.rawValue
            try await withCounter(of: apple) { counter in
                let path = "/v1/admin/subscriptions/\(id)/extend"
                for _ in 0..<2 {
                    let reply = try await counter.post(
                        path, counter.adminKey, #"{"days":30,"reason_code":1}"#, headers: ["Idempotency-Key": "lost"])
                    #expect(reply.status == 503 && reply.error == "temporarily_unavailable", "\(reply)")
                    #expect(reply.text.contains("This may have happened") && reply.header("Retry-After") == "60")
                }
                #expect(appStore.sent.count == 1)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `consent is a boolean, and leaving it out leaves what was said`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let token = try await counter.token()
            let sale = apple.sale()
            let steps: [(String, Int64)] = [
                ("", 0), (#","consumption_consent":true"#, 1), ("", 1), (#","consumption_consent":null"#, 1),
                (#","consumption_consent":false"#, 0),
            ]
            for (more, count) in steps {
                #expect(try await counter.post(PurchasePath.attach, token, sale.body(more)).status == 200)
                #expect(try await apple.desk.count("purchases WHERE consumption_consent = 1") == count, "\(more)")
            }
            let reply = try await counter.post(PurchasePath.attach, token, sale.body(#","consumption_consent":"yes""#))
            #expect(reply.status == 400 && reply.error == "invalid_request")
        }
    }
}
