import ProviderKit
import Store
import Synchronization
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Jobs: expiry, reconciliation and abandoned requests")
struct JobReconcileTests {
    private static func quiet(_ desk: GatewayFixture, _ isQuiet: Bool) {
        for operation in [SandboxFaults.Operation.query, .cancel] {
            desk.line.set(operation, isQuiet ? .unavailable : nil)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `expiry closes what nobody paid and keeps what was paid`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let (unpaid, paid) = (try await desk.checkout(), try await desk.checkout(provider: "scripted"))
            let abandoned = try await desk.checkout(provider: "box-qr")
            _ = try await desk.retry(abandoned.order, provider: "box-url")
            desk.scripted.say(try desk.payment(paid), .succeeded(paid.amount))
            try await desk.pass(seconds: 30)
            try await desk.work()
            #expect(try await desk.order(unpaid.order).status == .open)
            try await desk.pass(seconds: 1_770)
            try await desk.work()
            #expect(try await desk.order(unpaid.order).status == .closed)
            #expect(try await desk.order(abandoned.order).status == .closed)
            #expect(try await desk.order(paid.order).status == .paid)
            #expect(try await desk.payments(abandoned.order).map(\.payment.state) == [.cancelled, .cancelled])
            #expect(try await desk.events(unpaid.order.rawValue) == ["order.opened", "order.closed"])
            #expect(try await desk.count("jobs WHERE subject <> ''") == 0)
            let closed = try await desk.gateway.auditLog.list(
                subject: unpaid.order.rawValue, user: nil, cursor: nil, limit: 1
            ).items.first
            #expect(closed?.action == "order.closed" && closed?.actor == "system:expire_order")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order whose provider does not answer is asked about again`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            Self.quiet(desk, true)
            try await desk.pass(seconds: 1_800)
            try await desk.work()
            #expect(try await desk.order(contract.order).status == .open)
            let jobs = try await desk.gateway.jobs.list(.waiting, cursor: nil, limit: 50).items
            let job = try #require(jobs.first { $0.subject == contract.order.rawValue })
            #expect(job.kind == "expire_order" && job.attempts == 1 && job.error == "not final yet")
            Self.quiet(desk, false)
            try await desk.work()
            #expect(try await desk.order(contract.order).status == .open)
            try await desk.pass(seconds: 60)
            try await desk.work()
            #expect(try await desk.order(contract.order).status == .closed)
            #expect(try await desk.count("jobs WHERE subject <> ''") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a payment that is not final is asked about until it is`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let pending = try await desk.checkout(provider: "scripted")
            desk.line.set(.open, .lostReply)
            _ = try? await desk.checkout(user: "bob")
            desk.line.set(.open, .unavailable)
            _ = try? await desk.checkout(user: "carol")
            desk.line.set(.open, nil)
            func states() async throws -> [Payment.State] {
                var states: [Payment.State] = []
                for user in ["alice", "bob", "carol"] {
                    let orders = try await desk.gateway.orders.list(
                        user: GatewayFixture.user(user), cursor: nil, limit: 5
                    ).items
                    states += try await desk.payments(try #require(orders.first).order.id).map(\.payment.state)
                }
                return states
            }
            #expect(try await states() == [.pending, .unknown, .created])
            try await desk.work()
            #expect(desk.line.count(.query) == 0)
            try await desk.pass(seconds: 60)
            try await desk.work()
            // What never reached the provider is its request's to open; asking would close it there.
            #expect(try await states() == [.pending, .pending, .created])
            desk.scripted.say(try desk.payment(pending), .succeeded(pending.amount))
            try await desk.work()
            #expect(try await states() == [.pending, .pending, .created])
            try await desk.pass(seconds: 60)
            try await desk.work()
            #expect(try await states() == [.succeeded, .pending, .created])
            #expect(try await desk.order(pending.order).status == .paid)
            try await desk.pass(seconds: 1_800)
            try await desk.work()
            #expect(try await states() == [.succeeded, .cancelled, .cancelled])
            #expect(try await desk.count("orders WHERE state = 'closed'") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a provider that is away is asked again by the schedule`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            _ = try await desk.checkout()
            Self.quiet(desk, true)
            try await desk.pass(seconds: 60)
            try await desk.work()
            let asked = desk.line.count(.query)
            #expect(asked == 1)
            try await desk.work()
            #expect(desk.line.count(.query) == asked)
            try await desk.pass(seconds: 61)
            try await desk.work()
            #expect(desk.line.count(.query) == asked + 1)
            let jobs = try await desk.gateway.jobs.list(.waiting, cursor: nil, limit: 50).items
            #expect(jobs.first { $0.kind == "reconcile_payment" }?.error == "providerUnavailable")
            Self.quiet(desk, false)
        }
    }

    @Test(arguments: TestEngine.allCases, [FaultInjection.lostReply, .unavailable])
    func `a refund whose call was lost is sent or found again`(
        _ engine: TestEngine, _ trouble: FaultInjection
    ) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            desk.line.set(.refund, trouble)
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.refund(contract.order) }
            #expect(
                try await desk.refunds(contract.order).map(\.state) == [trouble == .lostReply ? .unknown : .created])
            desk.line.set(.refund, nil)
            try await desk.pass(seconds: 60)
            try await desk.work()
            #expect(try await desk.refunds(contract.order).map(\.state) == [.succeeded])
            #expect(try await desk.order(contract.order).status == .refunded)
            #expect(try await desk.snapshot().active == false)
            #expect(try await desk.count("jobs WHERE subject <> ''") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund that its provider refuses fails and is not asked about again`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            desk.line.set(.refund, .unavailable)
            _ = try? await desk.refund(contract.order)
            desk.line.set(.refund, .refused)
            try await desk.pass(seconds: 60)
            try await desk.work()
            #expect(try await desk.refunds(contract.order).map(\.state) == [.failed])
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.count("jobs WHERE subject <> ''") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what an abandoned request made comes to a definite end`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .lostReply)
            _ = try? await desk.checkout(context: try await desk.run("checkout"))
            desk.line.set(.open, nil)
            let contract = try await desk.buy(user: "bob")
            desk.line.set(.refund, .lostReply)
            _ = try? await desk.refund(contract.order, context: try await desk.run("refund"))
            desk.line.set(.refund, nil)
            _ = try await desk.run("nothing")
            try await desk.work()
            #expect(try await desk.count("idempotency_keys WHERE completed_at IS NOT NULL") == 0)
            try await desk.crash()
            // The work is found at the finder's next look.
            try await desk.pass(seconds: 10)
            try await desk.work()
            #expect(try await desk.count("idempotency_keys WHERE completed_at IS NOT NULL") == 2)
            #expect(try await desk.count("idempotency_keys WHERE resource IS NULL AND completed_at IS NULL") == 1)
            #expect(try await desk.count("payments WHERE state = 'unknown'") == 0)
            #expect(try await desk.refunds(contract.order).map(\.state) == [.succeeded])
            #expect(try await desk.count("jobs WHERE subject <> ''") == 0)
            // Whoever comes back with the key goes on with the same order.
            let again = try await desk.checkout(context: try await desk.run("checkout"))
            #expect(again.status == .pending)
            #expect(try await desk.count("orders") == 2)
        }
    }

    /// How a refund's provider answers a request that nobody waits for.
    enum Answer: String, CaseIterable, CustomTestStringConvertible {
        case pending, lost, away

        var testDescription: String { rawValue }
    }

    @Test(arguments: TestEngine.allCases, Answer.allCases)
    func `an abandoned refund is gone on with until its provider has it`(
        _ engine: TestEngine, _ answer: Answer
    ) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy(provider: "box-url")
            let scripted = try await desk.checkout(user: "bob", provider: "scripted")
            try await desk.state(
                "paid", .payment(.init(payment: try desk.payment(scripted), outcome: .succeeded(scripted.amount))))
            desk.scripted.refunds(.pending)
            desk.line.set(.refund, answer == .lost ? .lostReply : .unavailable)
            desk.line.set(.queryRefund, .unavailable)
            let order = answer == .pending ? scripted.order : contract.order
            _ = try? await desk.refund(order, context: try await desk.run("refund"))
            try await desk.crash()
            // Longer than the schedule of failures: it ends, or is still tried.
            for _ in 0..<3 {
                try await desk.pass(seconds: 86_400)
                try await desk.work()
            }
            let isAway = answer == .away
            #expect(try await desk.count("idempotency_keys WHERE completed_at IS NOT NULL") == (isAway ? 0 : 1))
            #expect(try await desk.count("jobs WHERE kind = 'complete_request'") == (isAway ? 1 : 0))
            #expect(try await desk.count("jobs WHERE kind = 'reconcile_refund' AND state = 'waiting'") == 1)
            let state: Refund.State = isAway ? .created : answer == .lost ? .unknown : .pending
            #expect(try await desk.refunds(order).map(\.state) == [state])
        }
    }

    /// What a cut request asked for.
    enum Request: String, CaseIterable, CustomTestStringConvertible {
        case checkout, retry

        var testDescription: String { rawValue }
    }

    @Test(arguments: TestEngine.allCases, Request.allCases)
    func `what an abandoned request made is opened as its client takes it`(
        _ engine: TestEngine, _ request: Request
    ) async throws {
        try await withDesk(on: engine) { desk in
            let accept: Set<ContractType> = [.url, .applePay]
            let order = request == .retry ? try await desk.checkout().order : nil
            func ask() async throws -> PaymentContract {
                let context = try await desk.run("key")
                guard let order else {
                    return try await desk.checkout(provider: "scripted", accept: accept, context: context)
                }
                let retry = RetryRequest(
                    platform: .web, currency: nil, provider: "scripted", accept: accept, returnURL: nil)
                return try await desk.gateway.cashier.retry(
                    order.rawValue, retry, user: GatewayFixture.user("alice"), context: context)
            }
            desk.scripted.openings(.unavailable)
            await #expect(throws: GatewayError.providerUnavailable) { _ = try await ask() }
            desk.scripted.openings(nil)
            try await desk.crash()
            try await desk.pass(seconds: 10)
            try await desk.work()
            #expect(desk.scripted.attempts.map(\.accepts) == [accept, accept])
            #expect(try await ask().provider?.rawValue == "scripted")
            #expect(desk.scripted.attempts.count == 2)
        }
    }

    // MARK: An account's reconciliation, as an admin asks for it

    @Test(arguments: TestEngine.allCases)
    func `a sync counts what it asked about and what moved`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let paid = try await desk.checkout(provider: "scripted")
            _ = try await desk.checkout(provider: "scripted")
            _ = try await desk.checkout(provider: "box-url")
            desk.scripted.say(try desk.payment(paid), .succeeded(paid.amount))
            let gateway = desk.gateway
            #expect(
                try await gateway.accountReconciliation.sync("scripted", context: .test)
                    == .done(checked: 2, changed: 1))
            #expect(
                try await gateway.accountReconciliation.sync("scripted", context: .test)
                    == .done(checked: 1, changed: 0))
            #expect(
                try await gateway.accountReconciliation.sync("box-none", context: .test)
                    == .done(checked: 0, changed: 0))
            #expect(try await desk.order(paid.order).status == .paid)
            #expect(try await desk.count("jobs") == 0)
            for unknown in ["nobody", "", "NO!"] {
                await expectNotFound {
                    try await gateway.accountReconciliation.sync(unknown, context: .test)
                }
            }
        }
    }

    /// Both entries are of one chain.
    ///
    /// A database with one writer needs no lock for that.
    @Test(.timeLimit(.minutes(5)))
    func `a sync waits for who else writes of its account`() async throws {
        try await withDesk(on: .postgres) { desk in
            let account = try AccountID.test("scripted")
            try await desk.holding({ tx in try tx.accounts.lock(account) }) { group in
                group.addTask { _ = try await desk.gateway.accountReconciliation.sync("scripted", context: .test) }
                try await desk.untilWaiting(1)
                #expect(try await desk.count("audit WHERE action = 'account.synced'") == 0)
            }
            #expect(try await desk.count("audit WHERE action = 'account.synced'") == 1)
        }
    }

    /// What is in flight for long will mostly never end, and what was made just now is what somebody waits for.
    @Test(arguments: TestEngine.allCases, ["payments", "refunds"])
    func `a sync asks about everything, the newest first`(_ engine: TestEngine, _ what: String) async throws {
        var setup = GatewayFixtureSetup()
        // The old ones are copies without a history.
        setup.checksInvariants = false
        try await withDesk(on: engine, setup) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            let payment = try desk.payment(contract)
            if what == "payments" {
                desk.scripted.say(payment, .succeeded(contract.amount))
            } else {
                try await desk.state("paid", .payment(.init(payment: payment, outcome: .succeeded(contract.amount))))
                desk.scripted.refunds(.pending)
                try await desk.refund(contract.order, 90)
                desk.scripted.refunds(.succeeded)
            }
            let dead = 120
            try await desk.store.write { tx in
                for number in 0..<dead {
                    let tail = "0000000000000000000000\(1000 + number)"
                    let copy =
                        what == "payments"
                        ? """
                        INSERT INTO payments (id, order_id, attempt, account, amount, currency, state, recurring,
                            platform, created_at)
                        SELECT 'pay_\(tail)', order_id, attempt + ?, account, amount, currency, state, recurring,
                            platform, 0 FROM payments WHERE id = ?
                        """
                        : """
                        INSERT INTO refunds (id, order_id, payment_id, amount, currency, reason, state, counted, created_at)
                        SELECT 'ref_\(tail)', order_id, payment_id, 1, currency, reason, state, 1, ?
                        FROM refunds WHERE payment_id = ? AND amount = 90
                        """
                    try tx.execute(copy, number + 1, payment)
                }
                if what == "refunds" {
                    try tx.execute("UPDATE payments SET refunding = refunding + ? WHERE id = ?", dead, payment)
                }
            }
            let gate = Gate()
            let isFirst = Mutex(true)
            desk.scripted.hold {
                // Only the first question is answered at once.
                let passes = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if !passes { await gate.pass() }
            }
            async let answer = desk.gateway.accountReconciliation.sync("scripted", context: .test)
            await gate.arrivals()
            let newest = try await desk.refunds(contract.order).last { $0.amount.value == 90 }
            #expect(try await desk.order(contract.order).status == (what == "payments" ? .paid : .partiallyRefunded))
            #expect(what == "payments" || newest?.state == .succeeded)
            gate.open()
            let changed: Int64 = what == "payments" ? 1 : Int64(dead + 1)
            #expect(try await answer == .done(checked: Int64(dead + 1), changed: changed))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a sync that hangs answers its job after ten seconds and goes on`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let paid = try await desk.checkout(provider: "scripted")
            desk.scripted.say(try desk.payment(paid), .succeeded(paid.amount))
            let gate = Gate()
            desk.scripted.hold { await gate.pass() }
            // Ten seconds are over when the provider has been asked.
            let node = desk.node { duration in
                if duration == .seconds(10) { await gate.arrivals() } else { await Pauses.forever(duration) }
            }
            let answer = try await node.accountReconciliation.sync("scripted", context: .test)
            let jobs = try await desk.gateway.jobs.list(.waiting, cursor: nil, limit: 10).items
            let job = try #require(jobs.first { $0.kind == "sync_account" })
            #expect(answer == .running(job.id))
            #expect(job.status == "running" && job.subject == "scripted")
            // Asked again meanwhile, it is the same job.
            #expect(try await node.accountReconciliation.sync("scripted", context: .test) == .running(job.id))
            #expect(try await desk.order(paid.order).status == .open)
            gate.open()
            await desk.gateway.calls.untilIdle()
            #expect(try await desk.order(paid.order).status == .paid)
            // What was asked for meanwhile is run again.
            try await desk.work()
            #expect(try await desk.count("jobs WHERE subject <> ''") == 0)
        }
    }
}
