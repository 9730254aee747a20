import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Refunds")
struct RefundTests {
    @Test(arguments: TestEngine.allCases)
    func `a part leaves the grant, the rest takes it back`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            let part = try await desk.refund(contract.order, 1000)
            #expect(part.refund.state == .succeeded)
            #expect(try await desk.order(contract.order).status == .partiallyRefunded)
            #expect(try await desk.snapshot().active)
            await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(contract.order, 2991) }
            let rest = try await desk.refund(contract.order)
            #expect(rest.refund.amount == GatewayFixture.money(2990))
            let order = try await desk.order(contract.order)
            #expect(order.status == .refunded)
            #expect(order.order.refunded == 3990)
            let snapshot = try await desk.snapshot()
            #expect(!snapshot.active)
            #expect(snapshot.entitlements.map(\.status) == [.revoked])
            await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(contract.order) }
            #expect(
                try await desk.events(contract.order.rawValue) == [
                    "order.opened", "order.paid", "refund.succeeded", "refund.succeeded",
                ])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `of eight refunds at once only what was captured goes back`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            let results = await withTaskGroup(of: Result<RefundView, any Error>.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do { return .success(try await desk.refund(contract.order, 1995)) } catch {
                            return .failure(error)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let refused = results.compactMap { result -> GatewayError? in
                if case .failure(let error) = result { return error as? GatewayError }
                return nil
            }
            #expect(results.count { if case .success = $0 { true } else { false } } == 2)
            #expect(refused == Array(repeating: .refundExceedsCaptured, count: 6))
            #expect(try await desk.order(contract.order).status == .refunded)
            #expect(desk.line.count(.refund) == 2)
        }
    }

    struct BadAmount: Sendable, CustomTestStringConvertible {
        let value: Int64
        var currency = "CNY"
        let error: GatewayError
        var testDescription: String { "\(value) \(currency)" }
    }

    @Test(
        arguments: TestEngine.allCases,
        [
            BadAmount(value: 0, error: .invalidRequest(field: "amount", reason: "")),
            BadAmount(value: -1, error: .invalidRequest(field: "amount", reason: "")),
            BadAmount(value: 3991, error: .refundExceedsCaptured),
            BadAmount(value: .max, error: .refundExceedsCaptured),
            BadAmount(value: 100, currency: "USD", error: .invalidRequest(field: "amount", reason: "")),
        ])
    func `a wrong amount changes nothing`(_ engine: TestEngine, _ amount: BadAmount) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            let before = try await desk.outcome(contract.order)
            let error = await #expect(throws: GatewayError.self) {
                try await desk.refund(contract.order, amount.value, currency: amount.currency)
            }
            #expect(error?.withoutReason == amount.error)
            #expect(try await desk.outcome(contract.order) == before)
            #expect(desk.line.count(.refund) == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that is not paid has nothing to refund`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(contract.order) }
            let nobody = desk.gateway.ids.make(Order.self)
            await #expect(throws: GatewayError.orderNotFound(nobody.rawValue)) { try await desk.refund(nobody) }
            #expect(try await desk.count("refunds") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund that bounces gives the grant back`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            let before = try await desk.snapshot()
            let refund = try await desk.refund(contract.order).refund
            #expect(try await !desk.snapshot().active)
            try await desk.notify("refund.failed", contract, refund: refund.id)
            #expect(try await desk.order(contract.order).status == .paid)
            let after = try await desk.snapshot()
            #expect(after.entitlements == before.entitlements)
            #expect(after.version == before.version + 2)
            let again = try await desk.refund(contract.order).refund
            #expect(again.id != refund.id && again.state == .succeeded)
            try await desk.notify("refund.failed", contract, refund: again.id, eventID: "again")
            try await desk.notify("refund.succeeded", contract, refund: refund.id)
            #expect(try await desk.order(contract.order).status == .paid)
            // The amount was free again in between.
            #expect(try await desk.order(contract.order).order.anomalies == [.contradictingFact])
            #expect(
                try await desk.events(contract.order.rawValue).suffix(3)
                    == ["refund.succeeded", "refund.failed", "order.anomaly"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund that a restored database does not know counts once`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            let lost = desk.gateway.ids.make(Refund.self)
            for event in ["first", "again"] {
                try await desk.notify(
                    "refund.succeeded", contract, amount: GatewayFixture.money(1000), refund: lost, eventID: event)
            }
            #expect(try await desk.refunds(contract.order).map(\.id) == [lost])
            #expect(try await desk.order(contract.order).status == .partiallyRefunded)
            #expect(try await desk.order(contract.order).order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another payment's refund changes nothing and is told`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let (mine, other) = (try await desk.buy(), try await desk.buy("coins"))
            let refund = try await desk.refund(other.order, 100).refund
            try await desk.notify("refund.failed", mine, refund: refund.id)
            #expect(try await desk.refunds(other.order).map(\.state) == [.succeeded])
            #expect(try await desk.refunds(mine.order).isEmpty)
            #expect(try await desk.order(mine.order).order.anomalies == [.contradictingFact])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund made at the provider counts once`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            let payment = try desk.payment(contract)
            try await desk.state("paid", .payment(.init(payment: payment, outcome: .succeeded(contract.amount))))
            let report = RefundReport(
                payment: payment, refund: nil, outcome: .succeeded, amount: GatewayFixture.money(1000),
                reference: "theirs")
            try await desk.state("refund", .refund(report))
            try await desk.state("refund again", .refund(report))
            #expect(try await desk.refunds(contract.order).map(\.reason) == ["made at the provider"])
            #expect(try await desk.order(contract.order).status == .partiallyRefunded)
            await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(contract.order, 2991) }
            // Of a refund without an amount nothing is booked before its provider says how much it was.
            desk.scripted.refunds(.succeeded, amount: nil)
            let rest = RefundReport(payment: payment, refund: nil, outcome: .succeeded, amount: nil, reference: "rest")
            try await desk.state("all", .refund(rest))
            #expect(try await desk.order(contract.order).status == .partiallyRefunded)
            desk.scripted.refunds(.succeeded, amount: GatewayFixture.money(2990))
            try await desk.pass(seconds: 60)
            try await desk.work()
            #expect(try await desk.order(contract.order).status == .refunded)
            try await desk.state(
                "beyond",
                .refund(
                    .init(
                        payment: payment, refund: nil, outcome: .succeeded, amount: GatewayFixture.money(1),
                        reference: "more")))
            let order = try await desk.order(contract.order)
            #expect(order.order.anomalies == [.contradictingFact])
            #expect(order.order.refunded == 3990)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a lost reply is found by a refresh`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            desk.line.set(.refund, .lostReply)
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.refund(contract.order, 1000) }
            #expect(try await desk.refunds(contract.order).map(\.state) == [.unknown])
            #expect(try await desk.order(contract.order).status == .paid)
            await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(contract.order, 3000) }
            desk.line.set(.refund, nil)
            _ = try await desk.gateway.reconciliation.refresh(
                contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(try await desk.refunds(contract.order).map(\.state) == [.succeeded])
            #expect(try await desk.order(contract.order).order.refunded == 1000)
        }
    }

    @Test(arguments: TestEngine.allCases, [FaultInjection.refused, .unsupported])
    func `a question that is refused ends no refund`(_ engine: TestEngine, _ refusal: FaultInjection) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            desk.line.set(.refund, .lostReply)
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.refund(contract.order, 1000) }
            // The money has gone back by now, whatever the service says of the question.
            desk.line.set(.queryRefund, refusal)
            try await desk.pass(seconds: 120)
            try await desk.work()
            #expect(try await desk.refunds(contract.order).map(\.state) == [.unknown])
            desk.line.set(.queryRefund, nil)
            try await desk.pass(seconds: 600)
            try await desk.work()
            #expect(try await desk.refunds(contract.order).map(\.state) == [.succeeded])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refusal leaves the money and frees the amount`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            desk.line.set(.refund, .refused)
            await #expect(throws: GatewayError.providerRejected(reason: "refused_by_test")) {
                try await desk.refund(contract.order)
            }
            desk.line.set(.refund, nil)
            #expect(try await desk.refunds(contract.order).map(\.state) == [.failed])
            #expect(try await desk.snapshot().active)
            try await desk.refund(contract.order)
            #expect(try await desk.order(contract.order).status == .refunded)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a pending refund ends by its notification`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            let payment = try desk.payment(contract)
            try await desk.state("paid", .payment(.init(payment: payment, outcome: .succeeded(contract.amount))))
            desk.scripted.refunds(.pending)
            let refund = try await desk.refund(contract.order).refund
            #expect(refund.state == .pending)
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.snapshot().active)
            await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(contract.order, 1) }
            try await desk.state(
                "back", .refund(.init(payment: payment, refund: refund.id, outcome: .succeeded, amount: refund.amount)))
            #expect(try await desk.order(contract.order).status == .refunded)
            try await desk.state(
                "reversed", .refund(.init(payment: payment, refund: refund.id, outcome: .reversed, amount: nil)))
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.snapshot().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund reported with another amount is an anomaly`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            let refund = try await desk.refund(contract.order, 1000).refund
            try await desk.notify("refund.failed", contract, amount: GatewayFixture.money(999), refund: refund.id)
            #expect(try await desk.order(contract.order).order.anomalies == [.amountMismatch])
            #expect(try await desk.refunds(contract.order).map(\.state) == [.succeeded])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a SKU that keeps its grant keeps it`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy("vip_kept")
            try await desk.refund(contract.order)
            #expect(try await desk.order(contract.order).status == .refunded)
            #expect(try await desk.snapshot().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `units go back, below zero if they are spent`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buyForReal("coins", quantity: 3)
            #expect(try await desk.snapshot().balances == ["coins": 300, "stars": 3])
            let user = try await desk.order(contract.order).user
            _ = try await desk.gateway.wallets.debit(
                250, of: "coins", from: GatewayFixture.user("alice"), reason: "", context: .test)
            try await desk.refund(contract.order, 600)
            #expect(try await desk.snapshot().balances == ["coins": 50, "stars": 3])
            try await desk.refund(contract.order)
            #expect(try await desk.snapshot().balances == ["coins": -250, "stars": 0])
            let events = try await desk.events(user.rawValue)
            let changed = "entitlements.changed"
            #expect(events == [changed, changed, "balance.overdrawn", changed])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `Apple gives its own money back`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(platform: .ios)
            await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(contract.order) }
            #expect(contract.provider?.rawValue == "apple-iap")
            #expect(try await desk.count("refunds") == 0)
        }
    }
}
