import Domain
import Foundation
import Gateway
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Partners: events")
struct PartnerEventTests {
    /// Numbers what has no number yet, as the dispatcher does.
    private static func number(_ desk: GatewayFixture) async throws {
        try await desk.store.write { tx in
            let last = try tx.row("SELECT COALESCE(MAX(seq), 0) AS seq FROM events")?.int("seq") ?? 0
            let waiting = try tx.rows("SELECT id FROM events WHERE seq IS NULL ORDER BY id")
            for (index, row) in waiting.enumerated() {
                try tx.execute("UPDATE events SET seq = ? WHERE id = ?", last + Int64(index) + 1, try row.text("id"))
            }
        }
    }

    private static func read(
        _ counter: Counter, _ key: String, limit: Int = 200
    ) async throws -> (events: [JSONValue], pages: Int) {
        var (events, pages) = ([JSONValue](), 0)
        var cursor: Int64? = 0
        while let after = cursor {
            let reply = try await counter.get("/v1/partner/events?after=\(after)&limit=\(limit)", key)
            try #require(reply.status == 200, "\(reply)")
            let data = try reply.data
            events += data["items"].elements
            pages += 1
            try #require(pages < 100)
            if case .integer(let next) = data["next_cursor"] {
                #expect(next > after)
                cursor = next
            } else {
                #expect(data["next_cursor"] == .null)
                cursor = nil
            }
        }
        return (events, pages)
    }

    @Test(arguments: TestEngine.allCases)
    func `a key reads what its scopes and its partner may, oldest first`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let desk = counter.desk
            let all = try await counter.key("events:read", "orders:read", "entitlements:read", partner: "acme").key
            let orders = try await counter.key("events:read", "orders:read", partner: "acme").key
            let owned = try await counter.key("events:read", "entitlements:read", partner: "acme").key
            let none = try await counter.key("events:read", "webhooks:write", partner: "acme").key
            let other = try await counter.key("events:read", "orders:read", partner: "other").key
            let seller = try await counter.key("checkout:write", partner: "acme").key
            let contract = try await desk.buy()
            desk.clock.tick()
            let reply = try await counter.post(
                "/v1/partner/checkout", seller, Counter.ask(#","user_id":"usr_bob\"\\""#, sku: "coins"))
            let own = try reply.data.text("order_id")
            desk.clock.tick()
            #expect(try await Self.read(counter, all).events.isEmpty)
            try await Self.number(desk)
            let (events, _) = try await Self.read(counter, all)
            #expect(events.map { $0.int("seq") } == events.map { $0.int("seq") }.sorted())
            #expect(
                events.map { $0.text("type") }.sorted() == [
                    "entitlements.changed", "order.opened", "order.opened", "order.paid",
                ])
            let names: Set = ["id", "seq", "sequence", "type", "subject", "at", "data"]
            #expect(events.allSatisfy { $0.names == names && $0.int("at") == desk.clock.now.rawValue })
            let paid = try #require(events.first { $0.text("type") == "order.paid" })
            #expect(paid.text("subject") == contract.order.rawValue && paid.int("sequence") == 2)
            #expect(paid["data"].text("status") == "paid" && paid["data"].text("user_id") == "alice")
            let changed = try #require(events.first { $0.text("type") == "entitlements.changed" })
            #expect(changed.text("subject") == "alice" && changed["data"].text("user_id") == "alice")
            let bobs = try #require(events.first { $0.text("subject") == own })
            #expect(bobs["data"].text("user_id") == #"usr_bob"\"#)
            func read(_ key: String) async throws -> [JSONValue] { try await Self.read(counter, key).events }
            #expect(try await read(orders) == events.filter { $0.text("type").hasPrefix("order.") })
            #expect(try await read(owned) == [changed])
            #expect(try await read(none).isEmpty)
            #expect(try await read(other) == read(orders).filter { $0.text("subject") != own })
            let admin = try await counter.key("admin", partner: "acme").key
            #expect(try await read(admin) == events)
            // Whatever the limit is, the pages add up.
            for limit in 1...5 { #expect(try await Self.read(counter, all, limit: limit).events == events) }
            #expect(try await Self.read(counter, all, limit: 3).pages == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a page of which nothing may be read goes on, and ends`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy()
            try await Self.number(desk)
            func page(after: Int64, types: [String], window: Int64) async throws -> EventPage {
                try await desk.store.read { db in
                    try db.events.list(after: after, types: types, visibleTo: "acme", limit: 2, window: window)
                }
            }
            let types = ["order.paid"]
            let count = try await desk.count("events")
            try #require(count == 3)
            var (after, found) = (0 as Int64, [Int64]())
            for step in 1...3 {
                let one = try await page(after: after, types: types, window: 1)
                found += one.events.map(\.seq)
                #expect(one.next == Int64(step))
                after = one.next ?? after
            }
            #expect(found.count == 1)
            #expect(try await page(after: after, types: types, window: 1).next == nil)
            let whole = try await page(after: 0, types: types, window: 4)
            #expect(whole.events.map(\.seq) == found && whole.next == nil)
            #expect(try await page(after: 0, types: [], window: 1).next == nil)
        }
    }

    @Test
    func `a cursor that was not ours is refused`() async throws {
        try await withCounter { counter in
            let key = try await counter.key("events:read", "orders:read").key
            for after in ["-1", "x", "1.5", "", "9223372036854775808", "evt_1", "1e3", "%00"] {
                let reply = try await counter.get("/v1/partner/events?after=\(after)", key)
                #expect(reply.status == 400 && reply.error == "invalid_request", "\(after): \(reply)")
                if after != "%00" { #expect(reply.field == "after", "\(after): \(reply)") }
            }
            for limit in ["0", "201", "x"] {
                let reply = try await counter.get("/v1/partner/events?limit=\(limit)", key)
                #expect(reply.status == 400 && reply.field == "limit", "\(limit): \(reply)")
            }
            let end = try await counter.get("/v1/partner/events?after=9223372036854775807", key)
            #expect(try end.status == 200 && end.data["items"].elements.isEmpty)
        }
    }
}
