import Domain
import Gateway
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The admin's transfer of a purchase")
struct PurchaseTransferTests {
    private static func path(_ original: String) -> String { "/v1/admin/purchases/\(original)/transfer" }

    @Test(arguments: TestEngine.allCases)
    func `a purchase is given to another user, and again is the same`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let sale = apple.sale { $0.id = "given" }
            try await apple.attach(sale)
            for transferred in [true, false] {
                let reply = try await counter.post(Self.path("given"), counter.adminKey, #"{"user_id":"bob"}"#)
                #expect(reply.status == 200, "\(reply)")
                let data = try reply.data
                #expect(data.text("user_id") == "bob" && data.text("environment") == "Production")
                #expect(data.text("original_transaction_id") == "given" && data["transferred"] == .bool(transferred))
            }
            let held = try await counter.get("/v1/admin/users/bob/entitlements", counter.adminKey)
            #expect(try held.data["entitlements"].elements.count == 1)
            let key = ["Idempotency-Key": "give-it-back"]
            for _ in 0..<2 {
                let reply = try await counter.post(
                    Self.path("given"), counter.adminKey, #"{"user_id":"alice"}"#, headers: key)
                #expect(try reply.data["transferred"] == .bool(true))
            }
            let events = try await counter.get("/v1/admin/audit?limit=200", counter.adminKey)
            let moves = try events.data["items"].elements.filter { $0.text("action") == "purchase.transferred" }
            #expect(moves.map { "\($0.text("before")) \($0.text("after"))" } == ["bob alice", "alice bob"])
        }
    }

    /// A refused call: the path's id, the body, the status, the error and the field.
    static let refusals: [(String, String, Int, String, String?)] = [
        ("nothing", #"{"user_id":"bob"}"#, 404, "not_found", nil),
        ("%00", #"{"user_id":"bob"}"#, 400, "invalid_request", "original_transaction_id"),
        ("twice", #"{"user_id":"bob"}"#, 400, "invalid_request", "environment"),
        ("twice", #"{"user_id":"bob","environment":"Xcode"}"#, 400, "invalid_request", "environment"),
        ("twice", #"{"user_id":"bob","environment":"Moon"}"#, 400, "invalid_request", "environment"),
        ("twice", #"{"user_id":"bob","environment":1}"#, 400, "invalid_request", "environment"),
        ("twice", #"{"user_id":""}"#, 400, "invalid_request", "user_id"),
        ("twice", "{}", 400, "invalid_request", "user_id"),
    ]

    @Test(arguments: TestEngine.allCases)
    func `what cannot be given is refused and leaves nothing`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            for environment in ["Production", "Sandbox"] {
                try await apple.attach(apple.sale { ($0.id, $0.environment) = ("twice", environment) })
            }
            let before = try await counter.traces()
            for (original, body, status, error, field) in Self.refusals {
                let reply = try await counter.post(Self.path(original), counter.adminKey, body)
                #expect(reply.status == status && reply.error == error && reply.field == field, "\(body): \(reply)")
            }
            #expect(try await counter.traces() == before)
        }
    }
}
