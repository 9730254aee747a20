import AppStoreBox
import Domain
import Foundation
import Store
import TestSupport
import Testing

@testable import Gateway

@Suite("An App Store in a box and the clock")
struct BoxClockTests {
    private static let day: Int64 = 86_400

    @Test(arguments: TestEngine.allCases)
    func `a moved clock renews, each time at its own second`(_ engine: TestEngine) async throws {
        try await withBoxDesk(on: engine) { shop in
            let begun = try await shop.buy()
            let start = try #require(try await shop.box.state().transactions.first?.purchased_at)
            let moved = try await shop.advance(95 * Self.day)
            #expect(moved.pending == 0 && moved.warnings.isEmpty)
            #expect(
                try await shop.sent() == ["SUBSCRIBED INITIAL_BUY 200"]
                    + Array(repeating: "DID_RENEW 200", count: 3))
            let state = try await shop.box.state()
            #expect(state.transactions.map(\.purchased_at) == (0...3).map { start + $0 * 30 * Self.day })
            #expect(state.transactions.allSatisfy { $0.original_transaction_id == begun.original_transaction_id })
            let attempts = state.notifications.compactMap(\.attempts.first?.at)
            #expect(zip(attempts, state.transactions).allSatisfy { $0 - $1.purchased_at <= 1 })
            #expect(try await shop.status().expires_at == start + 120 * Self.day)
            #expect(try await shop.desk.count("orders") == 4)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `renewals that fail pass grace and billing retry, and end after sixty days`(
        _ engine: TestEngine
    ) async throws {
        try await withBoxDesk(on: engine) { shop in
            let original = try await shop.buy().original_transaction_id
            try await shop.act("fail_renewal", on: original, #"{"grace":3}"#)
            try await shop.advance(31 * Self.day)
            #expect(try await shop.status().status == "in_grace_period")
            try await shop.advance(3 * Self.day)
            #expect(try await shop.status().status == "in_billing_retry")
            try await shop.act("recover", on: original)
            #expect(try await shop.status().status == "active")
            try await shop.act("fail_renewal", on: original, #"{"grace":0}"#)
            try await shop.advance(100 * Self.day)
            #expect(try await shop.status().status == "expired")
            #expect(
                try await shop.sent().map { $0.replacing(" 200", with: "") } == [
                    "SUBSCRIBED INITIAL_BUY", "DID_FAIL_TO_RENEW GRACE_PERIOD", "GRACE_PERIOD_EXPIRED",
                    "DID_RENEW BILLING_RECOVERY", "DID_FAIL_TO_RENEW", "EXPIRED BILLING_RETRY",
                ])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a subscription renews while real time passes`(_ engine: TestEngine) async throws {
        try await withBoxDesk(on: engine) { shop in
            try await shop.buy()
            #expect(try await shop.box.runDue() == 0)
            shop.desk.clock.advance(seconds: 30 * Self.day + 1)
            #expect(try await shop.box.runDue() > 0)
            #expect(try await shop.sent() == ["SUBSCRIBED INITIAL_BUY 200", "DID_RENEW 200"])
        }
    }

    /// The lives of two customers in ninety days.
    private static func life(on engine: TestEngine, steps: Int64) async throws -> [String] {
        var found: [String] = []
        try await withBoxDesk(on: engine) { shop in
            let failing = try await shop.buy().original_transaction_id
            let other = try await shop.buy(user: "bob", customer: "bob").original_transaction_id
            try await shop.act("fail_renewal", on: failing, #"{"grace":16}"#)
            try await shop.act("turn_off", on: other)
            let bought = try await shop.box.state().transactions
            let start = try #require(bought.first?.purchased_at)
            for _ in 0..<steps { try await shop.advance(90 * day / steps) }
            let state = try await shop.box.state()
            found = state.notifications.map { one in
                "\(one.type) \(one.subtype ?? "") \(one.attempts.map { "\($0.at - start)" })"
            }
            found += state.subscriptions.map { "\($0.status) \($0.expires_at - start)" }
            found += try await shop.store.read { db in
                try db.rows("SELECT type, at FROM events ORDER BY at, type, subject").map {
                    "\(try $0.text("type")) \(try $0.int("at") - start)"
                }
                    + db.rows("SELECT state, paid_at, created_at FROM orders ORDER BY id").map {
                        "\(try $0.text("state")) \((try $0.optionalInt("paid_at") ?? start) - start)"
                    }
            }
        }
        return found
    }

    @Test(arguments: TestEngine.allCases)
    func `ninety days at once are ninety advances of a day`(_ engine: TestEngine) async throws {
        let once = try await Self.life(on: engine, steps: 1)
        let daily = try await Self.life(on: engine, steps: 90)
        #expect(once == daily && once.count > 12, "\(once)\n\(daily)")
    }

    @Test func `two nodes renew once`() async throws {
        try await withBoxDesk(on: .postgres) { shop in
            for number in 0..<20 { try await shop.buy(user: "user\(number)", customer: "customer\(number)") }
            let store = try shop.desk.database.openAnother()
            let other = try shop.node(store: store)
            shop.desk.clock.advance(seconds: 30 * Self.day + 30)
            async let here = shop.box.runDue()
            async let there = other.appStore?.runDue()
            _ = try await (here, there)
            let state = try await shop.box.state()
            #expect(state.transactions.count == 40)
            #expect(state.notifications.count == 40 && state.notifications.allSatisfy { !$0.attempts.isEmpty })
            await store.engine.close()
        }
    }
}
