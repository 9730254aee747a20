import Crypto
package import Domain
package import Foundation
package import Gateway
package import ProviderKit
package import Store

// The acts of a buyer, a provider and an admin at a desk.
extension GatewayFixture {
    package static func user(_ name: String) -> ExternalUserID { ExternalUserID(name)! }

    package static func money(_ value: Int64, _ currency: String = "CNY") -> Money {
        Money(value: value, currency: Currency(currency)!)
    }

    /// Opens a checkout on the web, in the currency of the SKU's first price.
    ///
    /// - Parameter node: another gateway than the desk's own.
    package func checkout(
        _ sku: String = "vip_month", user: String = "alice", provider: String? = "box-url", currency: String? = nil,
        quantity: Int64 = 1, days: Int64? = nil, platform: Platform = .web, accept: Set<ContractType>? = nil,
        returnURL: String? = nil, context: CallContext = .test, at node: Gateway? = nil
    ) async throws -> PaymentContract {
        clock.tick()
        let code = currency ?? (sku == "walkie" ? "USD" : "CNY")
        let request = CheckoutRequest(
            sku: sku, quantity: quantity, days: days, platform: platform, currency: Self.money(0, code).currency,
            provider: platform == .ios ? nil : provider, accept: accept ?? ContractType.base, returnURL: returnURL)
        return try await (node ?? gateway).cashier.open(request, user: Self.user(user), context: context)
    }

    /// Opens another attempt to pay an open order.
    package func retry(
        _ order: ID<Order>, user: String = "alice", provider: String? = "box-qr", context: CallContext = .test,
        at node: Gateway? = nil
    ) async throws -> PaymentContract {
        clock.tick()
        let request = RetryRequest(
            platform: .web, currency: nil, provider: provider, accept: ContractType.base, returnURL: nil)
        return try await (node ?? gateway).cashier.retry(
            order.rawValue, request, user: Self.user(user), context: context)
    }

    /// The payment of a contract.
    ///
    /// - Throws: ``Contradiction`` where there is nothing to pay.
    package func payment(_ contract: PaymentContract) throws -> ID<Payment> {
        guard let payment = contract.payment else { throw Contradiction(description: "nothing to pay") }
        return payment
    }

    /// Opens a checkout and pays it by its provider's notification.
    @discardableResult
    package func buy(
        _ sku: String = "vip_month", user: String = "alice", provider: String = "box-url", quantity: Int64 = 1,
        days: Int64? = nil
    ) async throws -> PaymentContract {
        let contract = try await checkout(sku, user: user, provider: provider, quantity: quantity, days: days)
        try await notify("payment.succeeded", contract)
        return contract
    }

    /// Delivers a notification about a contract's payment in the same way as its sandbox account.
    @discardableResult
    package func notify(
        _ type: String, _ contract: PaymentContract, amount: Money? = nil, refund: ID<Refund>? = nil,
        eventID: String? = nil, account: String? = nil, at node: Gateway? = nil
    ) async throws -> Acknowledgement {
        clock.tick()
        let payment = try payment(contract)
        let account = account ?? contract.provider?.rawValue ?? ""
        let event = SandboxNotice(
            event_id: eventID ?? "\(payment) \(type) \(refund?.rawValue ?? "")", payment_id: payment.rawValue,
            type: type, amount: amount ?? contract.amount, refund_id: refund?.rawValue,
            occurred_at: clock.now.rawValue)
        return try await (node ?? gateway).notifications.receive(
            token: Self.notifyToken(account), try event.signed(at: clock.now))
    }

    /// Delivers a scripted provider's notification of facts about its payments.
    package func state(_ eventID: String, _ facts: ProviderFact...) async throws {
        clock.tick()
        _ = try await gateway.notifications.receive(
            token: Self.notifyToken("scripted"), scripted.notification(eventID, facts))
    }

    /// States as the scripted provider, which plays a live account, that a contract of its own was paid.
    package func succeed(_ contract: PaymentContract) async throws {
        let payment = try payment(contract)
        try await state("\(payment) paid", .payment(.init(payment: payment, outcome: .succeeded(contract.amount))))
    }

    /// Makes a checkout and pays it with real money.
    @discardableResult
    package func buyForReal(
        _ sku: String = "vip_month", user: String = "alice", quantity: Int64 = 1
    ) async throws -> PaymentContract {
        let contract = try await checkout(sku, user: user, provider: "scripted", quantity: quantity)
        try await succeed(contract)
        return contract
    }

    /// States as the scripted provider the outcome of a dispute about a contract of its own.
    package func dispute(_ contract: PaymentContract, _ outcome: DisputeOutcome) async throws {
        let payment = try payment(contract)
        let report = DisputeReport(payment: payment, reference: "d", outcome: outcome, amount: contract.amount)
        try await state("\(payment) \(outcome)", .dispute(report))
    }

    /// Requests a refund as an admin.
    ///
    /// - Parameter amount: in minor units; nil for all that is left.
    @discardableResult
    package func refund(
        _ order: ID<Order>, _ amount: Int64? = nil, currency: String = "CNY", context: CallContext = .test
    ) async throws -> RefundView {
        clock.tick()
        return try await gateway.refunds.request(
            order.rawValue, amount: amount.map { Self.money($0, currency) }, reason: "a test",
            context: context)
    }

    package func order(_ id: ID<Order>) async throws -> OrderSnapshot { try await gateway.orders.find(id.rawValue) }

    package func snapshot(_ user: String = "alice") async throws -> EntitlementSnapshot {
        try await gateway.entitlements.find(user: Self.user(user)).value
    }

    package func payments(_ order: ID<Order>) async throws -> [PaymentRecord] {
        try await store.read { db in try db.payments.list(of: order).value() }
    }

    package func refunds(_ order: ID<Order>) async throws -> [Refund] {
        try await store.read { db in try db.refunds.list(of: order).value() }
    }

    package func grants(_ order: ID<Order>) async throws -> [Grant] {
        try await store.read { db in try db.grants.list(of: order).value() }
    }

    /// The types of a subject's events, in their order.
    package func events(_ subject: String) async throws -> [String] {
        try await store.read { db in try db.events.listTypes(of: subject) }
    }

    /// Returns the data of a subject's events, in their order.
    package func eventData(_ subject: String) async throws -> [JSONValue] {
        try await store.read { db in
            try db.rows("SELECT data FROM events WHERE subject = ? ORDER BY sequence", [subject])
                .map { try $0.json("data") }
        }
    }

    /// The number of rows in the database.
    ///
    /// - Parameter sql: a table, with a condition where needed.
    package func count(_ sql: String, _ arguments: String...) async throws -> Int64 {
        try await store.read { db in
            try db.rows("SELECT COUNT(*) AS n FROM \(sql)", arguments.map { $0 as any SQLBindable }).first?.int("n")
                ?? -1
        }
    }

    /// The run of a new request under an idempotency key, begun in the same way as by the HTTP layer.
    ///
    /// - Parameter isCheckout: true for a run that claims its key with its order and is answered with its contract.
    package func run(_ key: String, user: String = "alice", isCheckout: Bool = false) async throws -> CallContext {
        let start = try await gateway.idempotency.begin(
            key: key, caller: .user(Self.user(user)), request: [Data("the same".utf8)],
            claim: isCheckout ? .withObject : .first, storesContract: isCheckout)
        guard case .run(let run) = start else { throw Contradiction(description: "the key has an answer") }
        return CallContext(actor: .user, requestID: "req_test", idempotency: run)
    }

    /// Moves the clocks of the node and of its database forward.
    package func pass(seconds: Int64) async throws {
        clock.advance(seconds: seconds)
        try await database.advanceClock(seconds: seconds)
    }

    /// Simulates a process that ended in the middle of every run: the leases are over, the answers were never stored.
    package func crash() async throws {
        try await store.write { tx in
            try tx.execute("UPDATE idempotency_keys SET lease_until = 0")
            try tx.execute("UPDATE jobs SET lease_until = 0")
        }
    }

    /// Runs every due job, the periodic ones included, until none is due; new events are dispatched at once.
    package func work() async throws {
        try await gateway.workFinder.prepare()
        try await store.write { tx in try tx.execute("UPDATE jobs SET run_at = 0 WHERE kind = 'dispatch_events'") }
        try await gateway.work()
    }
}

extension Gateway {
    /// Runs every due job until none is due.
    package func work() async throws {
        try await workFinder.prepare()
        while case let jobs = try await jobQueue.claim(JobKind.allCases, limit: 50), !jobs.isEmpty {
            for job in jobs { await worker.perform(job) }
        }
    }
}

/// The body of a sandbox notification, written independently of the provider's code.
package struct SandboxNotice: Codable, Sendable {
    package var event_id: String
    package var payment_id: String
    package var type: String
    package var amount: Money?
    package var refund_id: String?
    package var occurred_at: Int64

    package init(
        event_id: String, payment_id: String, type: String, amount: Money?, refund_id: String? = nil,
        occurred_at: Int64
    ) {
        self.event_id = event_id
        self.payment_id = payment_id
        self.type = type
        self.amount = amount
        self.refund_id = refund_id
        self.occurred_at = occurred_at
    }

    package func signed(at time: Timestamp, secret: String = GatewayFixture.sandboxSecret) throws -> RawNotification {
        let body = try JSONEncoder().encode(self)
        return RawNotification(
            method: .post, headers: [(name: "x-sandbox-signature", value: Self.signature(body, at: time, secret))],
            body: body)
    }

    /// The value of `X-Sandbox-Signature`.
    package static func signature(
        _ body: Data, at time: Timestamp, _ secret: String = GatewayFixture.sandboxSecret
    ) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(time.rawValue).".utf8) + body, using: SymmetricKey(data: Data(secret.utf8)))
        return "t=\(time.rawValue),v1=" + Hex.encoded(code)
    }
}
