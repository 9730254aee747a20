import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Notifications")
struct NotificationTests {
    @Test(arguments: TestEngine.allCases)
    func `one notification 100 times in parallel has one effect`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout("coins")
            let event = SandboxNotice(
                event_id: "evt", payment_id: try desk.payment(contract).rawValue, type: "payment.succeeded",
                amount: contract.amount, occurred_at: desk.clock.now.rawValue)
            let notification = try event.signed(at: desk.clock.now)
            try await withThrowingTaskGroup(of: Acknowledgement.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await desk.gateway.notifications.receive(
                            token: GatewayFixture.notifyToken("box-url"), notification)
                    }
                }
                for try await answer in group { #expect(answer == Acknowledgement(body: "ok")) }
            }
            #expect(try await desk.count("notifications") == 1)
            #expect(try await desk.count("notifications WHERE status = 'processed'") == 1)
            #expect(try await desk.snapshot().sandbox_balances == ["coins": 100, "stars": 1])
            #expect(try await desk.count("ledger") == 2)
            #expect(try await desk.events(contract.order.rawValue) == ["order.opened", "order.paid"])
        }
    }

    /// Stores a notification that the contract was paid, as an earlier release did before it made the job.
    private static func storeWithoutJob(
        _ desk: GatewayFixture, _ contract: PaymentContract, eventID: String
    ) async throws {
        let fact = ProviderFact.payment(
            PaymentReport(payment: try desk.payment(contract), outcome: .succeeded(contract.amount)))
        let record = NotificationRecord(
            id: desk.gateway.ids.make(), account: try .test("box-url"), eventID: eventID, type: "payment.succeeded",
            facts: try [fact].storedJSON(), body: Data(), headers: Data(), digest: Data(), receivedAt: desk.clock.now)
        _ = try await desk.store.write { tx in try tx.notifications.insert(record) }
    }

    @Test(arguments: TestEngine.allCases)
    func `what was stored and not processed is settled after the restart`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            try await Self.storeWithoutJob(desk, contract, eventID: "cut")
            #expect(try await desk.order(contract.order).status == .open)
            try await desk.work()
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.count("notifications WHERE status = 'stored'") == 0)
            try await desk.work()
            #expect(try await desk.grants(contract.order).count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a repetition settles what was stored without a job, by the facts that were stored`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            try await Self.storeWithoutJob(desk, contract, eventID: "twice")
            try await desk.notify("payment.failed", contract, eventID: "twice")
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.count("notifications WHERE status = 'processed'") == 1)
            #expect(try await desk.count("jobs WHERE kind = 'process_notification'") == 0)
        }
    }

    struct Mismatch: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var value: Int64 = 3990
        var currency = "CNY"
        var account = "box-url"
    }

    @Test(
        arguments: TestEngine.allCases,
        [
            Mismatch(testDescription: "too little", value: 3989), Mismatch(testDescription: "too much", value: 3991),
            Mismatch(testDescription: "another currency", currency: "USD"),
            Mismatch(testDescription: "another account", account: "box-qr"),
        ])
    func `a success that does not fit is an anomaly and nothing else`(
        _ engine: TestEngine, _ mismatch: Mismatch
    ) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            try await desk.notify(
                "payment.succeeded", contract, amount: GatewayFixture.money(mismatch.value, mismatch.currency),
                account: mismatch.account)
            let order = try await desk.order(contract.order)
            #expect(order.status == .open)
            #expect(order.order.anomalies == [.amountMismatch])
            #expect(order.order.charged == nil)
            #expect(try await desk.payments(contract.order).map(\.payment.state) == [.pending])
            #expect(try await desk.count("grants") == 0)
            #expect(try await desk.snapshot().version == 0)
            #expect(try await desk.events(contract.order.rawValue) == ["order.opened", "order.anomaly"])
            try await desk.notify("payment.succeeded", contract, eventID: "the right one")
            #expect(try await desk.order(contract.order).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases, ["payment.failed", "payment.cancelled", "refund.failed", "dispute.lost"])
    func `facts of another account about a payment change nothing`(_ engine: TestEngine, _ type: String) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            let refund = try await desk.refund(contract.order, 1000).refund
            let before = try await desk.outcome(contract.order)
            try await desk.notify(type, contract, refund: refund.id, account: "box-qr")
            #expect(try await desk.outcome(contract.order) == before)
            #expect(try await desk.order(contract.order).order.anomalies.isEmpty)
        }
    }

    struct Forgery: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: GatewayError
        let token: String
        /// The reason that is stored with the notification.
        let reason: String
        let make: @Sendable (SandboxNotice, Timestamp) throws -> RawNotification

        init(
            _ name: String, _ error: GatewayError = .invalidNotification,
            token: String = GatewayFixture.notifyToken("box-url"),
            because reason: String = "signature",
            _ make: @escaping @Sendable (SandboxNotice, Timestamp) throws -> RawNotification
        ) {
            testDescription = name
            self.error = error
            self.token = token
            self.reason = reason
            self.make = make
        }
    }

    static let forgeries = [
        Forgery("another secret") { try $0.signed(at: $1, secret: "guessed") },
        Forgery("an old one", because: "time") { try $0.signed(at: $1.adding(seconds: -301)) },
        Forgery("one from the future", because: "time") { try $0.signed(at: $1.adding(seconds: 301)) },
        Forgery("no signature") { event, _ in
            RawNotification(method: .post, headers: [], body: try JSONEncoder().encode(event))
        },
        Forgery("two signatures") { event, now in
            let good = try event.signed(at: now)
            return RawNotification(method: .post, headers: good.headers + good.headers, body: good.body)
        },
        Forgery("a changed body") { event, now in
            let good = try event.signed(at: now)
            return RawNotification(method: .post, headers: good.headers, body: good.body + Data(" ".utf8))
        },
        Forgery("an unknown token", .notFound, token: "unknown") { try $0.signed(at: $1) },
        Forgery("a method that this kind has not", .notFound) { event, now in
            let good = try event.signed(at: now)
            return RawNotification(method: .get, headers: good.headers, body: good.body)
        },
    ]

    @Test(arguments: TestEngine.allCases, forgeries)
    func `what does not verify is refused, and kept apart`(_ engine: TestEngine, _ forgery: Forgery) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            let event = SandboxNotice(
                event_id: "evt", payment_id: try desk.payment(contract).rawValue, type: "payment.succeeded",
                amount: contract.amount, occurred_at: desk.clock.now.rawValue)
            let notification = try forgery.make(event, desk.clock.now)
            await #expect(throws: forgery.error) {
                try await desk.gateway.notifications.receive(token: forgery.token, notification)
            }
            let kept: Int64 = forgery.error == .notFound ? 0 : 1
            #expect(try await desk.count("notifications") == kept)
            #expect(try await desk.count("notifications WHERE status = 'rejected' AND facts = '[]'") == kept)
            let listed = try await desk.gateway.notifications.list(nil, cursor: nil, limit: 9).items
            #expect(listed.map(\.reason) == (kept == 0 ? [] : [forgery.reason]))
            #expect(try await desk.count("jobs") == 0)
            try await desk.work()
            #expect(try await desk.order(contract.order).status == .open)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a notification about a payment of nobody is kept and acknowledged`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let event = SandboxNotice(
                event_id: "evt", payment_id: desk.gateway.ids.make(Payment.self).rawValue, type: "payment.succeeded",
                amount: GatewayFixture.money(1), occurred_at: desk.clock.now.rawValue)
            let answer = try await desk.gateway.notifications.receive(
                token: GatewayFixture.notifyToken("box-url"), try event.signed(at: desk.clock.now))
            #expect(answer.status == 200)
            #expect(try await desk.count("notifications WHERE status = 'processed'") == 1)
            #expect(try await desk.count("orders") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the same event id of two accounts is two notifications`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let (url, qr) = (try await desk.checkout(), try await desk.checkout(provider: "box-qr"))
            try await desk.notify("payment.succeeded", url, eventID: "1")
            try await desk.notify("payment.succeeded", qr, eventID: "1")
            #expect(try await desk.count("notifications") == 2)
            #expect(try await desk.order(url.order).status == .paid)
            #expect(try await desk.order(qr.order).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases, [FixtureTransport.Mode.delivers, .drops, .losesReplies])
    func `the pay page's act is found, whatever happens to its notification`(
        _ engine: TestEngine, _ mode: FixtureTransport.Mode
    ) async throws {
        try await withDesk(on: engine) { desk in
            desk.transport.mode = mode
            let contract = try await desk.checkout(returnURL: "myapp://done")
            let page = try await desk.gateway.payPages.act(
                kind: "sandbox", payment: try desk.payment(contract).rawValue, form: ["outcome": "succeed"])
            #expect(page == .redirect("myapp://done"))
            #expect(desk.transport.sent.count == 1)
            #expect(try await desk.order(contract.order).status == (mode == .drops ? .open : .paid))
            let refreshed = try await desk.gateway.reconciliation.refresh(
                contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(refreshed.status == .paid)
            #expect(try await desk.grants(contract.order).count == 1)
        }
    }
}
