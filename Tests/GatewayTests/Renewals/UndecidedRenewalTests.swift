import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Renewals whose charge is late or never sent")
struct UndecidedRenewalTests {
    private static let day = Club.day

    @Test(arguments: TestEngine.allCases)
    func `the last try is asked about after the end that its order names`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            try await club.play(held.id, "soft")
            try await club.advance(to: held.expires_at.adding(days: 6))
            try await club.play(held.id, "lost")
            try await club.advance(2 * Self.day)
            let paid = try await club.find(held.id)
            #expect(paid.status == .active && paid.renewal.period_index == 1)
            #expect(try await club.charges(held.id) == Array(repeating: "1 soft", count: 4) + ["1 succeeded"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refresh does not close the order of a renewal`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin("alice", ["renewals": "pending"])
            try await club.advance(to: held.expires_at.adding(days: 8))
            let order = try await club.openOrder(of: held.id)
            club.desk.clock.tick()
            let shown = try await club.gateway.reconciliation.refresh(
                order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(shown.status == .open)
            #expect(try await club.desk.payments(order).map(\.payment.state) == [.pending])
            #expect(try await club.find(held.id).status == .inBillingRetry)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the payer pays for as long as the order is open`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin("alice", ["renewals": "pending"])
            try await club.advance(to: held.expires_at.adding(days: 3))
            let order = try await club.openOrder(of: held.id)
            try await club.report(.failed(reason: "declined"), of: order, refusal: .actionRequired)
            try await club.advance(to: held.expires_at.adding(days: 8))
            let wish = RetryRequest(
                platform: .web, currency: nil, provider: nil, accept: ContractType.base, returnURL: nil)
            let contract = try await club.acts.pay(held.id.rawValue, wish, by: club.alice, context: .test)
            #expect(contract.expiresAt > club.gateway.time.now)
            try await club.play(contract)
            let paid = try await club.find(held.id)
            #expect(paid.status == .active && paid.renewal.period_index == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a renewal takes no room of the orders that a user may have open`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            try await club.play(held.id, "hard")
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            for _ in 0..<OrderWriter.openOrders { _ = try await club.desk.checkout() }
            await #expect(throws: GatewayError.self) { try await club.desk.checkout() }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an admin's try is the fifteenth at most`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            try await club.play(held.id, "hard")
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            for _ in 2...BillingSettings.mostTries {
                _ = try await club.acts.retry(held.id.rawValue, context: .test)
                try await club.advance(61)
            }
            #expect(try await club.find(held.id).renewal.tries == BillingSettings.mostTries)
            await #expect(throws: GatewayError.self) {
                try await club.acts.retry(held.id.rawValue, context: .test)
            }
            try await club.advance(61)
            #expect(try await club.charges(held.id).count == BillingSettings.mostTries)
        }
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `a provider that is away for thirty days is charged nothing afterwards`(
        _ engine: TestEngine, _ cancels: Bool
    ) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            for operation in [SandboxFaults.Operation.chargeMandate, .cancel, .query] {
                club.desk.line.set(operation, .unavailable)
            }
            try await club.advance(to: held.expires_at.adding(days: 1))
            #expect(try await club.find(held.id).status == .inGracePeriod)
            try await club.desk.pass(seconds: 28 * Self.day)
            if cancels { _ = try await club.acts.cancel(held.id.rawValue, by: club.alice, context: .test) }
            let late = club.gateway.time.now.adding(seconds: -RenewalMeter.overdueSeconds)
            let (overdue, unsent) = try await club.desk.store.read { db in
                (
                    try db.managedSubscriptions.countOverdue(before: late),
                    try db.managedSubscriptions.countUnsent(before: late)
                )
            }
            #expect(overdue == 1 && unsent.values.map { $0 } == [1])
            try await club.advance(2 * Self.day)
            let over = try await club.find(held.id)
            #expect(over.status == .expired && over.renewal.end_reason == (cancels ? "canceled" : "lapsed"))
            for operation in [SandboxFaults.Operation.chargeMandate, .cancel, .query] {
                club.desk.line.set(operation, nil)
            }
            try await club.advance(Self.day)
            #expect(try await club.charges(held.id) == [])
            #expect(try await club.desk.count("payments WHERE state IN ('created', 'unknown', 'pending')") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a charge that a dispute stopped before it was sent goes on when that is won`(
        _ engine: TestEngine
    ) async throws {
        try await withClub(on: engine) { club in
            let (contract, held) = try await Self.stopped(club)
            club.desk.line.set(.chargeMandate, nil)
            try await club.advance(Self.day)
            #expect(try await club.charges(held.id) == ["1 succeeded"])
            try await club.desk.notify("dispute.won", contract)
            try await club.advance(60)
            #expect(try await club.charges(held.id) == ["1 succeeded", "2 succeeded"])
            #expect(try await club.find(held.id).renewal.period_index == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `cancelled in a dispute that stopped its charge, it ends`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let (_, held) = try await Self.stopped(club)
            try await club.advance(Self.day)
            _ = try await club.acts.cancel(held.id.rawValue, by: club.alice, context: .test)
            try await club.advance(60)
            let over = try await club.find(held.id)
            #expect(over.status == .expired && over.renewal.end_reason == "canceled")
            #expect(try await club.charges(held.id) == ["1 succeeded"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a dispute that is opened again suspends what was given back`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let contract = try await club.desk.checkout("club")
            try await club.play(contract)
            try await club.advance(120)
            let held = try #require(try await club.list().first)
            for (number, (event, status, isActive)) in [
                ("opened", Subscription.Status.suspended, false), ("lost", .revoked, false),
                ("opened", .suspended, false), ("won", .active, true),
            ].enumerated() {
                try await club.desk.notify("dispute.\(event)", contract, eventID: "event \(number)")
                try await club.advance(60)
                #expect(try await club.find(held.id).status == status, "\(event)")
                #expect(try await club.desk.snapshot().active == isActive, "\(event)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a renewal on hold is overdue, and its cancellation ends it now`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            _ = try await club.gateway.billingHold.begin(reason: "restored", context: .test)
            try await club.advance(to: held.expires_at.adding(seconds: 3_600))
            #expect(club.gateway.renewalMeter.overdue == 1)
            let over = try await club.acts.cancel(held.id.rawValue, by: club.alice, context: .test)
            #expect(over.renewal.ended_at == club.gateway.time.now && over.status == .expired)
            try await club.advance(60)
            #expect(club.gateway.renewalMeter.overdue == 0)
        }
    }

    /// Has the second renewal's charge stopped, before it was sent, by a dispute of the first order.
    private static func stopped(_ club: Club) async throws -> (contract: PaymentContract, held: SubscriptionSnapshot) {
        let contract = try await club.desk.checkout("club")
        try await club.play(contract)
        try await club.advance(120)
        let renewed = try await club.pass(try #require(try await club.list().first))
        club.desk.line.set(.chargeMandate, .unavailable)
        let held = try await club.pass(renewed)
        try await club.desk.notify("dispute.opened", contract)
        return (contract, held)
    }
}
