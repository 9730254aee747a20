import Domain
import Foundation
import Gateway
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Inbox, jobs and erasure over HTTP")
struct InboxRouteTests {
    @Test(arguments: TestEngine.allCases)
    func `notifications are listed by status, newest first, and replayed`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            for _ in 0..<3 {
                #expect(try await counter.notify("payment.succeeded", counter.checkout(token)).status == 200)
            }
            let forged = try await counter.notify("payment.succeeded", counter.checkout(token), secret: "guessed")
            #expect(forged.status == 400 && forged.error == "invalid_notification")
            func list(_ query: String) async throws -> Reply {
                try await counter.get("/v1/admin/notifications\(query)", counter.adminKey)
            }
            #expect(try await list("").data["items"].elements.count == 4)
            #expect(try await list("?status=stored").data["items"].elements.isEmpty)
            #expect(try await list("?status=quarantined").data["items"].elements.isEmpty)
            let rejected = try #require(try await list("?status=rejected").data["items"].elements.first)
            #expect(rejected.text("status") == "rejected" && rejected.text("type") == "")
            let first = try await list("?status=processed&limit=2")
            let cursor = try first.data.text("next_cursor")
            let second = try await list("?status=processed&limit=2&cursor=\(cursor)")
            let items = try first.data["items"].elements + second.data["items"].elements
            #expect(items.count == 3)
            #expect(Set(items.map { $0.text("id") }).count == 3)
            let item = items[0]
            #expect(item.text("account") == "box-url" && item.text("type") == "payment.succeeded")
            #expect(item.int("received_at") > 0 && item.int("processed_at") > 0)
            #expect(item.text("provider_event_id").hasSuffix("payment.succeeded"))

            for (query, field) in [("?status=lost", "status"), ("?cursor=x", "cursor"), ("?limit=0", "limit")] {
                let reply = try await list(query)
                #expect(reply.status == 400 && reply.field == field, "\(reply)")
            }
            let replay = "/v1/admin/notifications/\(item.text("id"))/replay"
            #expect(try await counter.post(replay, counter.adminKey).data.text("status") == "processed")
            let refused = try await counter.post(
                "/v1/admin/notifications/\(rejected.text("id"))/replay", counter.adminKey)
            #expect(refused.status == 400 && refused.error == "invalid_notification")
            let unknown = counter.desk.gateway.ids.make(Domain.Notification.self).rawValue
            for (id, error) in [(unknown, "not_found"), ("x", "not_found"), ("%00", "invalid_request")] {
                let reply = try await counter.post("/v1/admin/notifications/\(id)/replay", counter.adminKey)
                #expect(reply.error == error, "\(reply)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `jobs in quarantine are listed and retried`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let contract = try await counter.checkout(try await counter.token())
            let payment = contract.text("payment_id")
            func set(_ currency: String) async throws {
                try await counter.desk.store.write { tx in
                    try tx.execute("UPDATE payments SET currency = ? WHERE id = ?", currency, payment)
                }
            }
            try await set("none")
            #expect(try await counter.notify("payment.succeeded", contract).status == 200)
            func list(_ query: String) async throws -> Reply {
                try await counter.get("/v1/admin/jobs\(query)", counter.adminKey)
            }
            let job = try #require(try await list("?status=quarantined").data["items"].elements.first)
            #expect(job.text("status") == "quarantined" && job.text("kind") == "process_notification")
            #expect(job.int("attempts") == 1 && job.int("run_at") > 0 && job.int("created_at") > 0)
            #expect(try await list("?status=waiting").data["items"].elements.isEmpty)
            #expect(try await list("").data["items"].elements.count == 1)
            for (query, field) in [("?status=lost", "status"), ("?cursor=x", "cursor"), ("?limit=201", "limit")] {
                let reply = try await list(query)
                #expect(reply.status == 400 && reply.field == field, "\(reply)")
            }
            try await set("CNY")
            let retry = try await counter.post("/v1/admin/jobs/\(job.text("id"))/retry", counter.adminKey)
            #expect(try retry.status == 200 && retry.data.text("status") == "waiting")
            try await counter.desk.work()
            #expect(try await list("?status=quarantined").data["items"].elements.isEmpty)
            let order = try await counter.get(
                "/v1/admin/orders/\(contract.text("order_id"))", counter.adminKey)
            #expect(try order.data.text("status") == "paid")
            for id in [job.text("id"), "x"] {
                let reply = try await counter.post("/v1/admin/jobs/\(id)/retry", counter.adminKey)
                #expect(reply.status == 404 && reply.error == "not_found", "\(reply)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an erased user is shown as erased, and the call is idempotent by its key`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let name = "zoe/e7f1 é"
            let path = "/v1/admin/users/zoe%2Fe7f1%20%C3%A9/erase"
            let contract = try await counter.checkout(try await counter.token(name), #","metadata":{"k":"\#(name)"}"#)
            #expect(try await counter.notify("payment.succeeded", contract).status == 200)
            let bad = try await counter.post(
                "/v1/admin/users/\(String(repeating: "x", count: 129))/erase", counter.adminKey)
            #expect(bad.status == 400 && bad.field == "user_id")
            let unknown = try await counter.post("/v1/admin/users/nobody/erase", counter.adminKey)
            #expect(unknown.status == 404 && unknown.error == "not_found")
            for replayed in [nil, "true"] as [String?] {
                let reply = try await counter.post(
                    path, counter.adminKey, "{}", headers: ["Idempotency-Key": "erasure-1"])
                #expect(try reply.status == 200 && reply.data == .object(["erased": .bool(true)]), "\(reply)")
                #expect(reply.header("Idempotency-Replayed") == replayed)
            }
            #expect(try await counter.post(path, counter.adminKey).status == 404)
            let order = try await counter.get("/v1/admin/orders/\(contract.text("order_id"))", counter.adminKey)
            #expect(try order.data.text("user_id") == "erased" && order.data["metadata"] == .object([:]))
            let listed = try await counter.get("/v1/admin/orders?user_id=zoe%2Fe7f1%20%C3%A9", counter.adminKey)
            #expect(try listed.data["items"].elements.isEmpty)
            let audit = try await counter.get("/v1/admin/audit", counter.adminKey)
            let entry = try #require(try audit.data["items"].elements.first { $0.text("action") == "user.erased" })
            #expect(entry.text("subject") == "erased" && entry.text("before") == "named")
            let owned = try await counter.get("/v1/public/entitlements", try await counter.token(name))
            #expect(try owned.data["active"] == .bool(false))
            #expect(try await counter.desk.places(of: "zoe/e7f1") == [])
        }
    }
}
