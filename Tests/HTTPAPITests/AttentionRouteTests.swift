import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("What waits for a person")
struct AttentionRouteTests {
    private static func kinds(_ counter: Counter) async throws -> [String: JSONValue] {
        let reply = try await counter.get("/v1/admin/attention", try await counter.key("admin:read").key)
        try #require(reply.status == 200, "\(reply)")
        return Dictionary(uniqueKeysWithValues: try reply.data["items"].elements.map { ($0.text("kind"), $0) })
    }

    @Test(arguments: TestEngine.allCases)
    func `what waits is counted with its oldest and a link, and what is done is not`(_ engine: TestEngine) async throws
    {
        try await withPurchaseCounter(on: engine) { counter, apple in
            #expect(try await Self.kinds(counter).isEmpty)
            let token = try await counter.token()
            let disputed = try await counter.checkout(token)
            _ = try await counter.notify("payment.succeeded", disputed)
            let since = counter.desk.clock.now.rawValue
            _ = try await counter.notify("dispute.opened", disputed)
            _ = try await counter.notify("payment.succeeded", try await counter.checkout(token), value: 1)
            _ = try await counter.notify("payment.succeeded", try await counter.checkout(token), secret: "guessed")
            _ = try await apple.refusal(apple.sale("com.example.nobody"))
            let found = try await Self.kinds(counter)
            let wanted = [
                "dispute_open": "#/orders?dispute=open", "anomaly": "#/orders?anomaly=amount_mismatch",
                "notification_refused": "#/notifications?status=rejected", "purchase_unmapped": "#/catalogue",
            ]
            #expect(found.mapValues { $0.text("link") } == wanted)
            #expect(found.values.allSatisfy { $0.int("count") == 1 })
            #expect(found["dispute_open"]?.int("oldest_at") == since)
            counter.desk.clock.advance(seconds: 1)
            _ = try await counter.notify("dispute.won", disputed)
            #expect(try await Self.kinds(counter)["dispute_open"] == nil)
        }
    }

    @Test
    func `the doctor's findings are shown, and services are tried once a minute`() async throws {
        var setup = CounterSetup()
        setup.doctor = { reaches in
            [
                DoctorItem(check: "clock", good: true, warning: false, detail: reaches ? "asked" : "not asked"),
                DoctorItem(check: "tls", good: true, warning: true, detail: "the certificate ends on 2026-01-01"),
                DoctorItem(check: "keys", good: false, warning: false, detail: "lacks a key"),
                DoctorItem(check: "product x", good: true, warning: true, detail: "no SKU knows it"),
            ]
        }
        try await withCounter(on: .sqlite, setup) { counter in
            let found = try await counter.get("/v1/admin/doctor", try await counter.key("admin:read").key).data
            #expect(found["items"][0].text("detail") == "not asked" && found["items"].elements.count == 4)
            let asked = try await counter.get("/v1/admin/doctor?reach=true", counter.adminKey).data
            #expect(asked["items"][0].text("detail") == "asked")
            let again = try await counter.get("/v1/admin/doctor?reach=true", counter.adminKey)
            #expect(again.status == 429 && again.header("Retry-After") == "60")
            #expect(try await counter.get("/v1/admin/doctor?reach=maybe", counter.adminKey).field == "reach")
            let kinds = try await Self.kinds(counter)
            #expect(Set(kinds.keys) == ["certificate_ends", "doctor"])
            #expect(kinds["certificate_ends"]?.text("severity") == "warn")
            #expect(kinds["doctor"]?.text("severity") == "bad" && kinds["doctor"]?.int("count") == 1)
        }
    }
}
