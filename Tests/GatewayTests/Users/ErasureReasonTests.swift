import Foundation
import ProviderKit
import TestSupport
import Testing

@testable import Domain
@testable import Gateway
@testable import Store

@Suite("Erasure of what others wrote")
struct ErasureReasonTests {
    private static let name = "zoe-e7f1@people.example"
    private static let user = GatewayFixture.user(name)
    private static let admin = CallContext(
        actor: .partner(name: "ops", key: ID("key_00000000000000000000000000")!), requestID: "req_erase")

    /// Thrown for a key that already has an answer.
    private struct HasAnswer: Error {}

    private static func run(_ desk: GatewayFixture, _ key: String) async throws -> CallContext {
        let start = try await desk.gateway.idempotency.begin(
            key: key, caller: .partner("acme"), request: [Data("the same".utf8)])
        guard case .run(let run) = start else { throw HasAnswer() }
        return CallContext(actor: admin.actor, requestID: "req_partner", idempotency: run)
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund on its way keeps its reason until its end, and the provider hears it`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(user: Self.name, provider: "scripted")
            let payment = try desk.payment(contract)
            try await desk.state(
                "paid", .payment(PaymentReport(payment: payment, outcome: .succeeded(contract.amount))))
            desk.scripted.refunds(.pending)
            let refund = try await desk.gateway.refunds.request(
                contract.order.rawValue, amount: nil, reason: "for \(Self.name)", context: Self.admin
            ).refund
            _ = try await desk.gateway.users.erase(Self.user, context: Self.admin)
            #expect(try await desk.places(of: Self.name) == ["refunds.reason"])
            let opened = RefundReport(payment: payment, refund: refund.id, outcome: .succeeded, amount: nil)
            try await desk.state("refunded", .refund(opened))
            #expect(try await desk.places(of: Self.name) == [])
            #expect(try await desk.order(contract.order).status == .refunded)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is done about somebody who was erased leaves no words`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let paid = try await desk.buy(user: Self.name)
            _ = try await desk.gateway.users.erase(Self.user, context: Self.admin)
            let refund = try await desk.gateway.refunds.request(
                paid.order.rawValue, amount: nil, reason: "for \(Self.name)", context: Self.admin)
            #expect(refund.refund.state == .succeeded)
            #expect(try await desk.places(of: Self.name) == [])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `reasons stand beside the audit and in the explanation until then`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let grant = GrantRequest(sku: "vip_year", durationDays: 3, expiresAt: nil, reason: "a gift: really")
            _ = try await desk.gateway.grants.create(grant, to: Self.user, by: .admin, context: Self.admin)
            let told = try await desk.gateway.reports.explain(
                user: Self.user, sku: nil, reader: .staff, languages: [])
            #expect(told.facts.contains { $0.text.contains("(reason: a gift: really)") }, "\(told.facts)")
            func reasons() async throws -> [String?] {
                try await desk.gateway.auditLog.list(subject: nil, user: nil, cursor: nil, limit: 200).items
                    .filter { $0.action == "grant.created" }.map(\.reason)
            }
            #expect(try await reasons() == ["a gift: really"])
            _ = try await desk.gateway.users.erase(Self.user, context: Self.admin)
            #expect(try await reasons() == [nil])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an answer about the user that a partner's key kept is gone, and its effect is not repeated`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buyForReal("coins", user: Self.name)
            let debit = try await Self.run(desk, "debit of \(Self.name)")
            _ = try await desk.gateway.wallets.debit(5, of: "coins", from: Self.user, reason: "", context: debit)
            let refund = try await Self.run(desk, "refund of \(Self.name)")
            _ = try await desk.gateway.refunds.request(
                contract.order.rawValue, amount: GatewayFixture.money(1), reason: "", context: refund)
            let other = try await Self.run(desk, "other")
            for run in [debit, refund, other].compactMap(\.idempotency) {
                try await desk.gateway.idempotency.finish(run, status: 200, answer: Data("{}".utf8))
            }
            _ = try await desk.gateway.users.erase(Self.user, context: Self.admin)
            for key in ["debit of \(Self.name)", "refund of \(Self.name)"] {
                await expectNotFound { try await Self.run(desk, key) }
            }
            await #expect(throws: HasAnswer.self) { try await Self.run(desk, "other") }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `keys that an earlier release stored as they came are found, and digested in time`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let runs = [
                try await Self.run(desk, "one of \(Self.name)"), try await Self.run(desk, "two of \(Self.name)"),
            ]
            let keys = runs.compactMap(\.idempotency)
            for run in keys { try await desk.gateway.idempotency.finish(run, status: 200, answer: Data("{}".utf8)) }
            try await desk.store.write { tx in
                for run in keys {
                    try tx.execute(
                        "UPDATE idempotency_keys SET key = ? WHERE key = ?", run.key,
                        StoredKey.of(run.key, caller: run.progress.holder ?? ""))
                }
            }
            #expect(try await desk.places(of: Self.name) == ["idempotency_keys.key"])
            // Its answer is repeated, and the database stores only the hash of the key from now on.
            await #expect(throws: HasAnswer.self) { try await Self.run(desk, "one of \(Self.name)") }
            #expect(try await desk.count("idempotency_keys WHERE key LIKE 'sha256 %'") == 1)
            _ = try await desk.gateway.retention.apply()
            #expect(try await desk.count("idempotency_keys WHERE key LIKE 'sha256 %'") == 2)
            #expect(try await desk.places(of: Self.name) == [])
            await #expect(throws: HasAnswer.self) { try await Self.run(desk, "two of \(Self.name)") }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `equal keys of two callers are two, and a stored form cannot be guessed into`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            _ = try await desk.run("same", user: "alice")
            _ = try await desk.run("same", user: "bob")
            #expect(try await desk.count("idempotency_keys") == 2)
            #expect(StoredKey.of("b", caller: "a") != StoredKey.of("", caller: "ab"))
            #expect(StoredKey.of("x", caller: "y").count == 71)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `events of an earlier release lose the reasons that they hold`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let paid = try await desk.buy(user: Self.name)
            try await desk.refund(paid.order)
            let old = #""reason":"for \#(Self.name)","status":"#
            let touched = try await desk.store.write { tx in
                try tx.execute(
                    "UPDATE events SET data = REPLACE(data, '\"status\":', ?) WHERE type = 'refund.succeeded'", old)
            }
            #expect(touched == 1)
            #expect(try await desk.places(of: Self.name).contains("events.data"))
            _ = try await desk.gateway.users.erase(Self.user, context: Self.admin)
            let left = try await desk.store.read { db in
                try db.row("SELECT data FROM events WHERE type = 'refund.succeeded'")?.text("data") ?? ""
            }
            let snapshot = try JSONDecoder().decode(JSONValue.self, from: Data(left.utf8))
            var found: [String: JSONValue]?
            if case .object(let members) = snapshot, case .array(let refunds)? = members["refunds"],
                case .object(let refund)? = refunds.first
            {
                found = refund
            }
            let refund = try #require(found, "\(left)")
            #expect(refund["reason"] == nil && refund["status"] == .string("succeeded"))
        }
    }
}
