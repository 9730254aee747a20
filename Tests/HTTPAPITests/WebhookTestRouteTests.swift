import Crypto
import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Test messages to webhooks")
struct WebhookTestRouteTests {
    private static let (path, url) = ("/v1/partner/webhooks", "https://hooks.example/a")

    private static func make(_ counter: Counter, _ key: String) async throws -> (id: String, secret: String) {
        let made = try await counter.post(path, key, #"{"url":"\#(url)","types":["order.paid"]}"#)
        return (try made.data.text("id"), try made.data.text("secret"))
    }

    /// The signature of a message, computed independently of the sender's code.
    private static func signature(_ message: ScriptedEndpoints.Received, _ secret: String) throws -> String {
        let key = try #require(Data(base64Encoded: String(secret.dropFirst("whsec_".count))))
        let stamp = message.headers["webhook-timestamp"] ?? ""
        let signed = Data("\(message.id).\(stamp).".utf8) + message.body
        let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: key))
        return "v1," + Data(code).base64EncodedString()
    }

    @Test(arguments: TestEngine.allCases)
    func `a test message is signed, is no event and leaves no delivery`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let key = try await counter.key("webhooks:write", "orders:read", partner: "acme").key
            let (id, secret) = try await Self.make(counter, key)
            let reply = try await counter.post("\(Self.path)/\(id)/test", key)
            #expect(try reply.status == 200 && reply.data.int("status") == 204 && reply.data["error"] == .null)
            let message = try #require(counter.desk.endpoints.received(Self.url).first)
            #expect(try message.id == reply.data.text("id") && message.id.hasPrefix("evt_"))
            #expect(try Self.signature(message, secret) == message.headers["webhook-signature"])
            let body = try JSONDecoder().decode(JSONValue.self, from: message.body)
            #expect(body.text("type") == "webhook.test" && body.text("subject") == id)
            #expect(body.int("seq") == 0 && body.int("sequence") == 0 && body["data"].text("webhook_id") == id)
            #expect(EventType(rawValue: body.text("type")) == nil)
            #expect(try await counter.desk.count("events") == 0)
            #expect(try await counter.desk.count("deliveries") == 0)
        }
    }

    @Test
    func `the endpoint's own answer is told, whatever it is, also while it is disabled`() async throws {
        try await withCounter { counter in
            let key = try await counter.key("webhooks:write", "orders:read", partner: "acme").key
            let (id, _) = try await Self.make(counter, key)
            counter.desk.endpoints.answer(Self.url) { _ in .replied(status: 500, body: "broken") }
            let failed = try await counter.post("\(Self.path)/\(id)/test", key).data
            #expect(failed.int("status") == 500 && failed.text("error") == "status" && failed.text("body") == "broken")
            counter.desk.endpoints.refuse(Self.url, .tls)
            let refused = try await counter.post("\(Self.path)/\(id)/test", key).data
            #expect(refused["status"] == .null && refused.text("error") == "tls")
            counter.desk.endpoints.refuse(Self.url, nil)
            _ = try await counter.send(.patch, "\(Self.path)/\(id)", key, body: #"{"status":"disabled"}"#)
            #expect(try await counter.post("\(Self.path)/\(id)/test", key).data.int("status") == 500)
            // A failed test is no failure of the endpoint.
            let read = try await counter.get("\(Self.path)/\(id)", key)
            #expect(try read.data.text("disabled_reason") == "partner" && !read.text.contains("failing_since"))
        }
    }

    @Test
    func `only the partner's keys that may read its types send one, and only so many`() async throws {
        try await withCounter { counter in
            let key = try await counter.key("webhooks:write", "orders:read", partner: "acme").key
            let narrow = try await counter.key("webhooks:write", partner: "acme").key
            let other = try await counter.key("webhooks:write", "orders:read", partner: "other").key
            let (id, _) = try await Self.make(counter, key)
            for (bearer, status) in [(narrow, 403), (other, 404)] {
                #expect(try await counter.post("\(Self.path)/\(id)/test", bearer).status == status)
            }
            let nowhere = "\(Self.path)/whk_00000000000000000000000000/test"
            #expect(try await counter.post(nowhere, key).status == 404)
            #expect(try await counter.post("\(Self.path)/\(id)/test", key, #"{"type":"order.paid"}"#).field == "type")
            #expect(counter.desk.endpoints.received(Self.url).isEmpty)
            for _ in 0..<30 { #expect(try await counter.post("\(Self.path)/\(id)/test", key).status == 200) }
            let one = try await counter.post("\(Self.path)/\(id)/test", key)
            #expect(one.status == 429 && one.header("Retry-After") == "2", "\(one)")
        }
    }
}
