import Domain
import Foundation
import TestSupport
import Testing

@Suite("What is done in an App Store in a box, over HTTP")
struct AppStoreBoxActTests {
    private static let month = "com.example.pro.month"
    private static let year = "com.example.pro.year"
    private static let json = ["Content-Type": "application/json"]

    /// A server that sells two plans of one group in the box.
    static func installation() throws -> Installation {
        let made = try Installation(more: "development: {appstore: true}")
        try made.folder.write(
            "Config/providers/apple-iap.yaml",
            """
            account: apple-iap
            kind: apple_iap
            enabled: true
            notify_token: notify-token-of-the-box
            routing: {platforms: [ios], priority: 1}
            settings: {apps: [{bundle_id: com.example.app}]}
            """)
        try made.folder.write(
            "Config/catalog.yaml",
            """
            skus:
              - {id: pro_month, name: Pro, kind: subscription, tier: Pro, rank: 10, stack_group: pro, duration_days: 30,
                 prices: [{currency: CNY, value: 2990}], apple_product_ids: [\(month)]}
              - {id: pro_year, name: Max, kind: subscription, tier: Max, rank: 20, stack_group: pro, duration_days: 365,
                 prices: [{currency: CNY, value: 29900}], apple_product_ids: [\(year)]}
            """)
        return made
    }

    private struct Shop {
        let installation: Installation

        func send(
            _ method: String, _ path: String, _ body: String = "", headers: [String: String] = AppStoreBoxActTests.json
        ) async throws -> (status: Int, json: JSONValue) {
            let reply = try #require(
                await LoopbackHTTP.send(
                    method, "/dev/appstore" + path, port: installation.port, headers: headers, body: body))
            return (reply.status, try JSONDecoder().decode(JSONValue.self, from: Data(reply.body.utf8)))
        }

        func refusal(_ path: String, _ body: String) async throws -> String {
            let (status, json) = try await send("POST", path, body)
            guard case .object(let members) = json, case .string(let word)? = members["error"],
                Set(members.keys) == ["error", "message"]
            else { return "\(status) \(json)" }
            return "\(status) \(word)"
        }
    }

    @Test func `acts answer, and what is refused says why`() async throws {
        let installation = try Self.installation()
        try await installation.whileServing { _ in
            let shop = Shop(installation: installation)
            let buy = #"{"product_id":"\#(Self.month)"}"#
            let (status, bought) = try await shop.send("POST", "/purchases", buy)
            #expect(status == 201)
            let original = bought.member("original_transaction_id")
            let acts = [
                ("/subscriptions/\(original)/renew", "{}", "DID_RENEW"),
                ("/subscriptions/\(original)/turn_off", "{}", "DID_CHANGE_RENEWAL_STATUS"),
                ("/transactions/\(original)/consumption_request", "", "CONSUMPTION_REQUEST"),
            ]
            for (path, body, type) in acts {
                let (status, done) = try await shop.send("POST", path, body)
                #expect(status == 200 && done.text.contains(#""type":"\#(type)""#), "\(path)")
                #expect(done.text.contains(#""delivery":{"status":200}"#), "\(path)")
            }
            let refused = [
                ("/purchases", "{}", "400 invalid_request"), ("/purchases", "[]", "400 invalid_request"),
                ("/purchases", #"{"product_id":"none"}"#, "404 not_found"), ("/purchases", buy, "409 conflict"),
                ("/purchases", #"{"product_id":"\#(Self.year)"}"#, "409 conflict"),
                ("/subscriptions/900000000000000000/renew", "{}", "404 not_found"),
                ("/subscriptions/\(original)/dance", "{}", "404 not_found"),
                ("/subscriptions/\(original)/turn_off", "{}", "409 conflict"),
                ("/subscriptions/\(original)/fail_renewal", #"{"grace":5}"#, "400 invalid_request"),
                ("/transactions/900000000000000000/refund", "{}", "404 not_found"),
                ("/transactions/\(original)/refund_reversed", "{}", "409 conflict"),
                ("/delivery", #"{"mode":"by pigeon"}"#, "400 invalid_request"),
                ("/limits", #"{"per_second":0}"#, "400 invalid_request"), ("/clock", "{}", "400 invalid_request"),
            ]
            for (path, body, answer) in refused {
                #expect(try await shop.refusal(path, body) == answer, "\(path) \(body)")
            }
            let (_, state) = try await shop.send("GET", "/state")
            #expect(
                state.names == [
                    "customers", "delivery", "notifications", "now", "products", "subscriptions", "transactions",
                ])
            let (moved, clock) = try await shop.send("POST", "/clock", #"{"advance_seconds":86400}"#)
            #expect(moved == 200 && clock.text.contains(#""offset_seconds":86400"#))
            let (reset, empty) = try await shop.send("POST", "/reset", "{}")
            #expect(reset == 200 && empty.text.contains(#""transactions":[]"#))
        }
    }

    @Test func `acts and Apple's calls are for this machine only`() async throws {
        let installation = try Self.installation()
        try await installation.whileServing { _ in
            let shop = Shop(installation: installation)
            let paths = [
                ("POST", "/purchases"), ("POST", "/subscriptions/9/renew"), ("POST", "/transactions/9/refund"),
                ("POST", "/delivery"), ("POST", "/limits"), ("POST", "/reset"), ("POST", "/clock"), ("GET", "/state"),
                ("GET", "/inApps/v1/transactions/9"), ("POST", "/verifyReceipt"), ("GET", ""),
            ]
            for (method, path) in paths {
                for headers in [
                    ["Host": "evil.example"], ["X-Forwarded-For": "127.0.0.1"], ["Origin": "https://evil.example"],
                ] {
                    let (status, _) = try await shop.send(
                        method, path, method == "POST" ? "{}" : "", headers: Self.json.merging(headers) { $1 })
                    #expect(status == 403, "\(method) \(path) \(headers)")
                }
            }
            let (_, state) = try await shop.send("GET", "/state")
            #expect(state.text.contains(#""transactions":[]"#))
        }
    }

    @Test func `Apple's own library verifies what it signs, and drives its server API`() async throws {
        let installation = try Self.installation()
        try await installation.whileServing { _ in
            let found = try await InteropPython(peer: "app-store-server-library").run(
                "appstore_box.py", ["http://127.0.0.1:\(installation.port)", "com.example.app", Self.month])
            let json = try JSONDecoder().decode(JSONValue.self, from: Data(found.utf8)).text
            let day = 86_400_000
            for expected in [
                #""transaction":true"#, #""renewal":"\#(Self.month)""#, #""receipt":true"#,
                #""notifications":["SUBSCRIBED","DID_RENEW"]"#, #""info":true"#, #""history":[2,false,true]"#,
                #""status":1"#, #""extended":[true,\#(5 * day)]"#, #""test":["SUCCESS"]"#,
                #""past":["SUBSCRIBED","DID_RENEW","RENEWAL_EXTENDED","TEST"]"#, #""refunds":0"#,
                #""unknown":[404,4040010]"#, #""stranger":[401,null]"#, #""limited":[429,4290000]"#,
            ] { #expect(json.contains(expected), "\(expected) in \(json)") }
        }
    }

    @Test func `a renewal that was stored and not sent is sent after a kill`() async throws {
        let installation = try Self.installation()
        var server = try await installation.serve()
        let shop = Shop(installation: installation)
        _ = try await shop.send("POST", "/purchases", #"{"product_id":"\#(Self.month)"}"#)
        // The move is under way when the process ends.
        async let moving = LoopbackHTTP.send(
            "POST", "/dev/appstore/clock", port: installation.port, headers: Self.json,
            body: #"{"advance_seconds":5270400}"#)
        server.send(SIGKILL)
        _ = try await server.wait()
        _ = await moving
        server = try await installation.serve()
        let (status, clock) = try await shop.send("POST", "/clock", #"{"advance_seconds":5270400}"#)
        #expect(status == 200 && clock.text.contains(#""pending":0"#))
        let (_, state) = try await shop.send("GET", "/state")
        guard case .object(let members) = state, case .array(let told)? = members["notifications"] else {
            Issue.record("\(state)")
            return
        }
        #expect(told.count >= 3 && told.allSatisfy { $0.text.contains(#""status":200"#) })
        server.send(SIGTERM)
        #expect(try await server.wait() == 0)
    }
}

extension JSONValue {
    /// The value as one line of JSON.
    fileprivate var text: String { (try? JSONText.line(self)) ?? "" }

    fileprivate var names: [String] {
        guard case .object(let members) = self else { return [] }
        return members.keys.sorted()
    }

    fileprivate func member(_ name: String) -> String {
        guard case .object(let members) = self, case .string(let text)? = members[name] else { return "" }
        return text
    }
}
