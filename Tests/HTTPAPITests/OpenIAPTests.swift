import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("OpenIAP's purchase verification")
struct OpenIAPTests {
    private static let path = "/v1/purchase/verify"

    private static func body(_ jws: String) -> String { #"{"store":"apple","jws":"\#(jws)"}"# }

    /// A purchase, and the state that it has.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let state: String
        var isKnown = true
        let jws: @Sendable (AppStoreGatewayFixture) -> String
    }

    static let cases = [
        Case(testDescription: "a pass", state: "ENTITLED") { $0.sale().jws },
        Case(testDescription: "a device", state: "ENTITLED") {
            $0.sale("com.example.ring", AppleSale.nonConsumable).jws
        },
        Case(testDescription: "a consumable", state: "READY_TO_CONSUME") {
            $0.sale("com.example.gems", AppleSale.consumable).jws
        },
        Case(testDescription: "a pass that has ended", state: "EXPIRED") {
            $0.sale { $0.purchased -= 31 * 86_400_000 }.jws
        },
        Case(testDescription: "a pass that was given back", state: "CANCELED") {
            $0.sale { $0.revoked = $0.purchased }.jws
        },
        Case(testDescription: "a forged signature", state: "INAUTHENTIC", isKnown: false) {
            AppleTestCertificates.sign($0.sale().payload, by: .forger)
        },
        Case(testDescription: "no JWS", state: "INAUTHENTIC", isKnown: false) { _ in "not a jws" },
        Case(testDescription: "another app's", state: "UNKNOWN", isKnown: false) {
            $0.sale { $0.bundle = "com.other" }.jws
        },
        Case(testDescription: "a pass that begins later", state: "UNKNOWN") {
            $0.sale { $0.purchased += 86_400_000 }.jws
        },
    ]

    @Test(arguments: TestEngine.allCases, cases)
    func `a purchase has its state, the same the second time`(_ engine: TestEngine, _ example: Case) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let token = try await counter.token()
            let body = Self.body(example.jws(apple))
            for _ in 0..<2 {
                apple.desk.clock.tick()
                let reply = try await counter.post(Self.path, token, body, headers: ["X-OpenIAP-Spec": "9.9"])
                #expect(reply.status == 200 && reply.header("Cache-Control") == "no-store", "\(reply)")
                let answer = try reply.json
                let isValid = ["ENTITLED", "READY_TO_CONSUME"].contains(example.state)
                #expect(answer.text("state") == example.state && answer["isValid"] == .bool(isValid), "\(reply)")
                #expect(
                    answer.names
                        == Set(["store", "isValid", "state"] + (example.isKnown ? ["productId", "environment"] : [])))
            }
        }
    }

    /// A request, with the expected status, error and path.
    static let refusals: [(body: String, status: Int, error: String, path: String?)] = [
        ("{", 400, "invalid_request", nil), ("{}", 400, "invalid_request", "store"),
        (#"{"store":"google","jws":"x"}"#, 400, "invalid_request", "store"),
        (#"{"store":"apple"}"#, 400, "invalid_request", "jws"),
        (#"{"store":"apple","jws":7}"#, 400, "invalid_request", "jws"),
        (body(String(repeating: "a", count: 300_000)), 413, "payload_too_large", nil),
    ]

    @Test(arguments: refusals)
    func `a bad request is refused in their form`(
        _ body: String, _ status: Int, _ error: String, _ path: String?
    ) async throws {
        try await withPurchaseCounter(on: .sqlite) { counter, _ in
            let reply = try await counter.post(Self.path, try await counter.token(), body)
            let json = try reply.json
            #expect(reply.status == status && reply.error == error && json.names == ["errors"], "\(reply)")
            let fault = json["errors"][0]
            #expect(fault.names == Set(["code", "message"] + (path == nil ? [] : ["path"])))
            #expect(fault.text("path") == path ?? "" && !fault.text("message").isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `purchases that are not the caller's are refused, and an unknown product is kept`(
        _ engine: TestEngine
    ) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let (alice, bob) = (try await counter.token(), try await counter.token("bob"))
            let sale = Self.body(apple.sale().jws)
            #expect(try await counter.post(Self.path, alice, sale).status == 200)
            let taken = try await counter.post(Self.path, bob, sale)
            #expect(taken.status == 409 && taken.error == "purchase_belongs_to_another_user")
            let unknown = try await counter.post(Self.path, bob, Self.body(apple.sale("com.example.unknown").jws))
            #expect(unknown.status == 404 && unknown.error == "unknown_product")
            let kept = try await counter.get("/v1/admin/purchases?state=unmapped", counter.adminKey).data["items"]
            #expect(kept.elements.map { $0.text("user_id") } == ["bob"])
            for (bearer, status) in [(nil, 401), (counter.adminKey, 401)] as [(String?, Int)] {
                let reply = try await counter.post(Self.path, bearer, sale)
                #expect(reply.status == status && reply.error == "unauthenticated", "\(reply)")
            }
            let session = try await counter.session(alice, purpose: "portal").text("token")
            let reply = try await counter.post(Self.path, session, sale)
            #expect(reply.status == 403 && reply.error == "forbidden")
        }
    }
}
