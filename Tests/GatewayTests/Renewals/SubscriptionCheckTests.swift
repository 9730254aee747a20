import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Managed subscriptions rebuilt from their histories")
struct SubscriptionCheckTests {
    @Test(arguments: TestEngine.allCases, ClubLife.all)
    func `what every life leaves is what its history makes`(_ engine: TestEngine, _ life: ClubLife) async throws {
        try await withClub(on: engine, trial: life.trial) { club in
            try await life.play(club)
            #expect(try await InvariantCheck(store: club.desk.store).run() == [])
            let report = try await Self.replay(club).report
            #expect(report.differences == [] && report.subscriptions > 0 && report.skipped == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `check reports exactly the fact of a running one that was altered`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, checksInvariants: false) { club in
            try await club.desk.buy(user: "bob")
            let held = try await club.begin()
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            let renewal = try await club.desk.count("subscription_timeline")
            try await Self.tamper(SubscriptionAlteration.running, club)
            try await Self.tamper(SubscriptionAlteration.grants, club, only: InvariantCheck.rebuilding)
            try await Self.tamper(SubscriptionAlteration.histories(renewal: renewal), club)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `check reports exactly the fact that was altered in every other state`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, checksInvariants: false) { club in
            let held = try await club.begin()
            _ = try await club.acts.change(held.id.rawValue, to: "club_year", by: club.alice, context: .test)
            try await Self.tamper(SubscriptionAlteration.changing, club)
            _ = try await club.acts.change(held.id.rawValue, to: "club", by: club.alice, context: .test)
            try await club.announce(2_990)
            try await Self.tamper(SubscriptionAlteration.priced, club)
            try await club.play(held.id, "soft")
            _ = try await club.pass(held)
            try await Self.tamper(SubscriptionAlteration.refused, club)
            _ = try await club.acts.cancel(held.id.rawValue, by: club.alice, context: .test)
            try await club.advance(120)
            try await Self.tamper(SubscriptionAlteration.ended, club)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `two payments of a period and a set-up without an end are found`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, checksInvariants: false) { club in
            let held = try await club.pass(try await club.begin())
            let waiting = try #require(try await club.otherMethod(held.id).renewal?.setup)
            let job = club.gateway.ids.make(Job.self)
            try await club.desk.store.write { tx in
                try tx.execute(
                    """
                    UPDATE payments SET order_id = (SELECT id FROM orders WHERE period_index = 0), attempt = 9
                    WHERE mandate_id IS NOT NULL
                    """)
                try tx.jobs.ensure(
                    job, kind: JobKind.reconcileSetup.rawValue, subject: waiting.rawValue, at: club.gateway.time.now)
                try tx.execute(
                    "UPDATE jobs SET state = 'quarantined' WHERE kind = 'reconcile_setup' AND subject = ?", waiting)
            }
            let found = try await InvariantCheck(store: club.desk.store).run()
            #expect(
                found.contains {
                    $0.subject == held.id.rawValue
                        && $0.detail == "a period of a subscription has several payments that were not returned"
                })
            #expect(found.contains { $0.subject == waiting.rawValue && $0.invariant == InvariantCheck.charging })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `one that renews beside a store's, and a set-up long after its end, are found`(
        _ engine: TestEngine
    ) async throws {
        try await withClub(on: engine, checksInvariants: false) { club in
            let held = try await club.begin()
            let waiting = try #require(try await club.otherMethod(held.id).renewal?.setup)
            try await club.grantByStore(beside: held.id)
            func found() async throws -> [String] {
                try await InvariantCheck(
                    store: club.desk.store, overlap: .stopManaged, time: club.desk.clock.time
                ).run().filter { $0.invariant == InvariantCheck.charging }.map { "\($0.subject) \($0.detail)" }
            }
            let both = "\(held.id) it renews beside a running subscription of a store"
            #expect(try await found() == [both])
            // A set-up ends a day after its making.
            try await club.desk.pass(seconds: 2 * Club.day + 1)
            #expect(try await found() == ["\(waiting) a set-up is in flight a day after its end", both])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a rebuild restores what was altered`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, checksInvariants: false) { club in
            let held = try await club.pass(try await club.begin())
            _ = try await club.acts.extend(held.id.rawValue, days: 3, context: .test)
            let before = try await Self.facts(of: club.desk.store)
            try await club.desk.store.write { tx in
                try tx.execute(
                    """
                    UPDATE managed_subscriptions SET period_end = period_end + 5, price = 1, tries = 4, locale = 'zh',
                        cancellation = 'canceled', stack_group = 'other', retried_at = 1
                    """)
                try tx.execute(
                    "UPDATE grants SET ends_at = 1, tier = 'Gold' WHERE source_kind = 'managed_subscription'")
            }
            #expect(try await Self.facts(of: club.desk.store) != before)
            let (report, rebuilt) = try await Self.replay(club)
            #expect(rebuilt == before)
            #expect(report.differences.count == 9 && report.differences.allSatisfy { $0.subject == held.id.rawValue })
        }
    }

    /// Reads everything that a history determines about all subscriptions and their grants.
    private static func facts(of store: Store) async throws -> [[SQLValue]] {
        try await store.read { db in
            let rows =
                try db.rows(
                    """
                    SELECT id, user_id, environment, sku, stack_group, account, currency, price, unit, unit_count,
                        trial_days, grace_days, anchor_at, anchor_index, period_index, period_start, period_end,
                        extended_days, cancellation, state, ended_at, end_reason, failed_at, refusal, tries, next_try_at,
                        charging_stopped_by, held_seconds, retried_at, noticed, external_id, locale, partner, created_at
                    FROM managed_subscriptions ORDER BY id
                    """, [])
                + db.rows(
                    """
                    SELECT user_id, sku, kind, tier, rank, source_id, order_id, environment, purchased_at, ends_at,
                        revoked_at, revoked_by, suspended, paid_until, billing_retry, will_renew
                    FROM grants WHERE source_kind = 'managed_subscription' ORDER BY source_id
                    """, [])
            return rows.map(\.values)
        }
    }

    /// Rebuilds everything in a second database.
    ///
    /// - Returns: the report, and what the second database has.
    private static func replay(_ club: Club) async throws -> (report: ReplayReport, rebuilt: [[SQLValue]]) {
        try await withDatabase(on: .sqlite) { scratch in
            let report = try await ReplayInbox(
                source: club.desk.store, scratch: scratch.store, gateway: club.gateway
            ).run()
            return (report, try await facts(of: scratch.store))
        }
    }

    // MARK: Tampering

    /// Makes each alteration in turn, compares what the check finds, and takes it back.
    ///
    /// - Parameter invariant: the only invariant whose violations are compared; nil for all.
    private static func tamper(
        _ alterations: [SubscriptionAlteration], _ club: Club, only invariant: Int? = nil
    ) async throws {
        let store = club.desk.store
        #expect(try await InvariantCheck(store: store).run() == [])
        for alteration in alterations {
            let kept = try await Kept(store)
            let sql = alteration.sql.hasPrefix("DELETE") ? alteration.sql : "UPDATE " + alteration.sql
            let touched = try await store.write { tx in try tx.execute(sql) }
            #expect(touched > 0, "\(sql)")
            let found = try await InvariantCheck(store: store).run()
                .filter { invariant == nil || $0.invariant == invariant }.map(\.detail).sorted()
            let isExact =
                found.count == alteration.found.count
                && zip(found, alteration.found.sorted()).allSatisfy { $0.hasPrefix($1) }
            #expect(isExact, "\(sql): \(found)")
            try await kept.restore(store)
        }
        #expect(try await InvariantCheck(store: store).run() == [])
    }

    /// The rows that an alteration may touch.
    private struct Kept: Sendable {
        private static let keys = [
            ("managed_subscriptions", "id"), ("orders", "id"), ("grants", "id"), ("mandates", "id"), ("payments", "id"),
        ]

        private let rows: [(table: String, key: String, rows: [Row])]
        private let timeline: [Row]

        init(_ store: Store) async throws {
            (rows, timeline) = try await store.read { db in
                (
                    try Self.keys.map { ($0.0, $0.1, try db.rows("SELECT * FROM \($0.0)", [])) },
                    try db.rows("SELECT * FROM subscription_timeline", [])
                )
            }
        }

        func restore(_ store: Store) async throws {
            try await store.write { tx in
                for (table, key, rows) in rows {
                    for row in rows {
                        let sets = row.columns.map { "\($0) = ?" }.joined(separator: ", ")
                        let values = row.values.map { $0 as any SQLBindable }
                        try tx.execute("UPDATE \(table) SET \(sets) WHERE \(key) = ?", values + [row[key]])
                    }
                }
                try tx.execute("DELETE FROM subscription_timeline")
                for row in timeline {
                    let marks = row.columns.map { _ in "?" }.joined(separator: ", ")
                    try tx.execute(
                        "INSERT INTO subscription_timeline (\(row.columns.joined(separator: ", "))) VALUES (\(marks))",
                        row.values.map { $0 as any SQLBindable })
                }
            }
        }
    }
}
