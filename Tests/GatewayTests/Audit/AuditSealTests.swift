import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Audit seals")
struct AuditSealTests {
    @Test(arguments: TestEngine.allCases)
    func `everything audited is sealed once, and later entries by a later seal`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await MainScenario.play(at: desk)
            try await desk.work()
            #expect(try await desk.count("audit WHERE seal IS NULL") == 0)
            #expect(try await desk.count("audit WHERE seal = 1") > 0)
            #expect(try await desk.count("audit_seals") == 1)
            try await desk.pass(seconds: 60)
            try await desk.work()
            #expect(try await desk.count("audit_seals") == 1)
            try await desk.buy("vip_month", user: "carol")
            try await desk.pass(seconds: 60)
            try await desk.work()
            #expect(try await desk.count("audit_seals") == 2)
            #expect(try await desk.count("audit WHERE seal IS NULL") == 0)
            #expect(try await InvariantCheck(store: desk.store).run().isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `sealers at once and small seals make one chain that covers each entry once`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            try await MainScenario.play(at: desk)
            let all = try await desk.count("audit")
            let now = desk.clock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        while true {
                            do {
                                let seal = try await desk.store.write { tx in try tx.audit.seal(limit: 3, at: now) }
                                if seal == nil { return }
                            } catch StoreError.unavailable {
                                continue
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await desk.count("audit WHERE seal IS NOT NULL") == all)
            #expect(try await desk.count("audit_seals") >= (all + 2) / 3)
            #expect(try await InvariantCheck(store: desk.store).run().isEmpty)
        }
    }

    @Test(
        arguments: TestEngine.allCases,
        [
            "UPDATE audit SET after = 'x' WHERE position = 1", "UPDATE audit SET seal = NULL WHERE seal = 1",
            "UPDATE audit SET seal = 2 WHERE seal = 1", "UPDATE audit SET digest = before_digest(digest)",
            "DELETE FROM audit", "DELETE FROM audit_seals", "UPDATE audit_seals SET at = 0",
            "UPDATE audit SET seal = 7, actor = 'nobody' WHERE seal IS NULL",
        ])
    func `the database refuses every change of the audit but its sealing`(
        _ engine: TestEngine, _ sql: String
    ) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy()
            try await desk.work()
            try await desk.buy(user: "bob")
            let sql = sql.replacing("before_digest(digest)", with: engine == .sqlite ? "x'00'" : "'\\x00'::bytea")
            let before = try await desk.count("audit")
            let error = await #expect(throws: StoreError.self) {
                try await desk.store.write { tx in _ = try tx.execute(sql) }
            }
            guard case .statement = error else {
                Issue.record("refused as \(String(describing: error))")
                return
            }
            #expect(try await desk.count("audit") == before)
        }
    }

    /// What somebody who owns the database does to it, and what gives it away.
    struct Tampering: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let detail: String
        let act: @Sendable (any Transaction) throws -> Void

        init(_ name: String, _ detail: String, _ act: @escaping @Sendable (any Transaction) throws -> Void) {
            testDescription = name
            self.detail = detail
            self.act = act
        }

        init(_ name: String, _ detail: String, sql: String...) {
            self.init(name, detail) { tx in
                for sql in sql {
                    let touched = try tx.execute(sql)
                    #expect(touched > 0)
                }
            }
        }
    }

    private static let seal = "a seal is not the hash of the one before it and of the audit that it covers"
    private static let chain = "the audit chain is broken"
    private static let lost = "an audit entry's seal is not there"
    private static let paid = "(SELECT MIN(subject) FROM audit WHERE action = 'order.paid')"

    static let tamperings = [
        Tampering("an edited entry", chain, sql: "UPDATE audit SET actor = 'nobody' WHERE action = 'order.paid'"),
        Tampering("an edited entry whose chain was computed anew", seal) { try rechain($0, editing: "order.paid") },
        Tampering("a removed subject", seal, sql: "DELETE FROM audit WHERE subject = \(paid)"),
        Tampering(
            "a removed end of a chain", seal,
            sql: """
                DELETE FROM audit WHERE subject = \(paid) AND position = (
                    SELECT MAX(position) FROM audit a WHERE a.subject = audit.subject)
                """),
        Tampering("entries taken out of their seal", seal, sql: "UPDATE audit SET seal = NULL WHERE seal = 1"),
        Tampering("entries of another seal", seal, sql: "UPDATE audit SET seal = 2 WHERE subject = \(paid)"),
        Tampering("a seal's time", seal, sql: "UPDATE audit_seals SET at = at - 1 WHERE position = 1"),
        Tampering("a seal's count", seal, sql: "UPDATE audit_seals SET entries = entries + 1 WHERE position = 1"),
        Tampering(
            "seals in another order", seal, sql: "UPDATE audit_seals SET position = 9 WHERE position = 1",
            "UPDATE audit_seals SET position = 1 WHERE position = 2",
            "UPDATE audit_seals SET position = 2 WHERE position = 9",
            "UPDATE audit SET seal = 3 - seal WHERE seal IN (1, 2)"),
        Tampering("a removed seal", seal, sql: "DELETE FROM audit_seals WHERE position = 1"),
        Tampering("the last seal removed", lost, sql: "DELETE FROM audit_seals WHERE position = 2"),
    ]

    /// Changes the actor of entries and makes each chain fit again.
    private static func rechain(_ tx: any Transaction, editing action: String) throws {
        try tx.execute("UPDATE audit SET actor = 'nobody' WHERE action = ?", action)
        var previous = Data()
        for (position, entry, _) in try tx.audit.listChains(after: "", 0, limit: 1_000) {
            previous = entry.digest(after: position == 1 ? Data() : previous, position: position)
            try tx.execute(
                "UPDATE audit SET digest = ? WHERE subject = ? AND position = ?", previous, entry.subject, position)
        }
    }

    @Test(arguments: TestEngine.allCases, tamperings)
    func `the check finds every tampering`(_ engine: TestEngine, _ tampering: Tampering) async throws {
        var setup = GatewayFixtureSetup()
        setup.checksInvariants = false
        try await withDesk(on: engine, setup) { desk in
            try await desk.buy()
            try await desk.work()
            try await desk.buy(user: "bob")
            try await desk.pass(seconds: 60)
            try await desk.work()
            #expect(try await desk.count("audit_seals") == 2)
            let before = try await InvariantCheck(store: desk.store).run()
            #expect(before.isEmpty, "\(before)")
            try await desk.unlockAudit()
            try await desk.store.write { tx in try tampering.act(tx) }
            let found = try await InvariantCheck(store: desk.store).run()
            #expect(found.contains { $0.detail == tampering.detail }, "\(found)")
        }
    }
}
