package import Domain
package import FoundationEssentials

/// A payment with its sums: what was captured, what is bound or back by refunds, what disputes took.
package struct PaymentRecord: Sendable {
    package var payment: Payment
    /// The sealed ``PaymentInstruction``; nil until the provider answered.
    package let instruction: Data?
    /// Sealed; nil as soon as no provider has to be told any more.
    package let payerAddress: Data?
    /// The contract types that its client takes; nil where an earlier release made it.
    package let accepts: Set<ContractType>?
    package let recurring: Bool
    package let captured: Int64
    package let refunding: Int64
    package let refunded: Int64
    package let lost: Int64
    /// Minor units that open disputes hold: the provider has withdrawn them until a dispute is won.
    package let disputed: Int64

    /// Minor units that a refund may still take.
    package var refundable: Int64 { max(0, captured - refunding - lost - disputed) }
}

extension Database {
    package func payment(_ id: ID<Payment>) throws(StoreError) -> PaymentRecord? { try askPayment(id).value() }

    package func askPayment(_ id: ID<Payment>) throws(StoreError) -> Pending<PaymentRecord?> {
        try ask("SELECT * FROM payments WHERE id = ?", id).first(Self.payment)
    }

    /// The attempts of an order, oldest first.
    package func payments(of order: ID<Order>) throws(StoreError) -> [PaymentRecord] {
        try askPayments(of: order).value()
    }

    package func askPayments(of order: ID<Order>) throws(StoreError) -> Pending<[PaymentRecord]> {
        try ask("SELECT * FROM payments WHERE order_id = ? ORDER BY attempt", order).each(Self.payment)
    }

    static func payment(_ row: Row) throws(StoreError) -> PaymentRecord {
        PaymentRecord(
            payment: Payment(
                id: try row.id("id"), order: try row.id("order_id"), account: try row.account("account"),
                processor: try row.optionalText("processor").flatMap(AccountID.init),
                amount: try row.money("amount", "currency"),
                platform: try row.choice("platform"), returnURL: try row.optionalText("return_url"),
                environment: try row.choice("environment"), state: try row.choice("state"),
                reference: try row.optionalText("reference"),
                unfenced: try row.bool("unfenced"),
                original: try row.optionalText("original").flatMap { ID<Payment>($0) },
                createdAt: try row.time("created_at")),
            instruction: try row.optionalBlob("instruction"), payerAddress: try row.optionalBlob("payer_address"),
            accepts: try row.optionalText("accepts").map {
                Set($0.split(separator: " ").compactMap { .init(rawValue: "\($0)") })
            },
            recurring: try row.bool("recurring"),
            captured: try row.int("captured"), refunding: try row.int("refunding"), refunded: try row.int("refunded"),
            lost: try row.int("lost"), disputed: try row.int("disputed"))
    }
}

extension Transaction {
    /// - Parameter payerAddress: sealed.
    package func insertPayment(
        _ payment: Payment, recurring: Bool, accepts: Set<ContractType>, payerAddress: Data? = nil
    ) throws(StoreError) {
        try send(
            """
            INSERT INTO payments (id, order_id, attempt, account, processor, amount, currency, state, recurring, platform,
                return_url, environment, accepts, payer_address, created_at, look_at)
            VALUES (?, ?, (SELECT COUNT(*) + 1 FROM payments WHERE order_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            payment.id, payment.order, payment.order, payment.account, payment.processor, payment.amount.value,
            payment.amount.currency.code, payment.state.rawValue, recurring, payment.platform.rawValue,
            payment.returnURL, payment.environment.rawValue, accepts.map(\.rawValue).sorted().joined(separator: " "),
            payerAddress, payment.createdAt,
            payment.createdAt.adding(seconds: DueWork.settlingSeconds))
    }

    /// The payment of an account under the provider's own id, its own or one that was paid beside it.
    package func payment(of account: AccountID, reference: String) throws(StoreError) -> PaymentRecord? {
        try row("SELECT * FROM payments WHERE account = ? AND reference = ?", account, reference)
            .map { row throws(StoreError) in try Self.payment(row) }
    }

    /// The payment that was made of money that came beside another one's.
    package func payment(beside original: ID<Payment>, under name: String) throws(StoreError) -> PaymentRecord? {
        try row("SELECT * FROM payments WHERE original = ? AND original_reference = ?", original, name)
            .map { row throws(StoreError) in try Self.payment(row) }
    }

    /// Keeps money that came beside a payment as a payment of its own, which has no contract.
    ///
    /// - Parameter name: what tells it from other money beside the same payment, the provider's id of it where there is one.
    package func insertPayment(_ payment: Payment, beside original: Payment, under name: String) throws(StoreError) {
        try insertPayment(payment, recurring: false, accepts: [])
        try run(
            "UPDATE payments SET original = ?, original_reference = ? WHERE id = ?", original.id, name, payment.id)
    }

    /// Gives a payment the reference of the money that paid it, where it waited under another.
    ///
    /// - Returns: false when another payment of the account has it.
    package func replaceReference(_ reference: String, of payment: Payment) throws(StoreError) -> Bool {
        guard try self.payment(of: payment.account, reference: reference) == nil else { return false }
        try run("UPDATE payments SET reference = ? WHERE id = ?", reference, payment.id)
        return true
    }

    /// Locks a payment until the commit: after its user and its order.
    package func lockPayment(_ id: ID<Payment>) throws(StoreError) -> PaymentRecord? {
        try sendLock(of: id)
        return try payment(id)
    }

    /// Locks a payment's user, its order and the payment until the commit, in the order that all settlements keep.
    ///
    /// - Returns: false when there is no such payment; true where there is one writer, who needs no locks.
    package func lockRows(of payment: ID<Payment>) throws(StoreError) -> Bool {
        guard dialect.locksRows else { return true }
        let place = try row(
            "SELECT o.id, o.user_id FROM payments p JOIN orders o ON o.id = p.order_id WHERE p.id = ?", payment)
        guard let place else { return false }
        try lockUser(try place.id("user_id"))
        try sendLock(of: try place.id("id", Order.self))
        try sendLock(of: payment)
        return true
    }

    private func sendLock(of payment: ID<Payment>) throws(StoreError) {
        guard dialect.locksRows else { return }
        try send("SELECT id FROM payments WHERE id = ?" + dialect.forUpdate, payment)
    }

    /// Moves a payment that stands where it was read.
    package func movePayment(
        _ id: ID<Payment>, from old: Payment.State, to new: Payment.State
    ) throws(StoreError) {
        let touched = try run(
            """
            UPDATE payments
            SET state = ?, captured = CASE WHEN ? = 'succeeded' AND offers IS NULL THEN amount ELSE 0 END,
                look_at = created_at + ?, payer_address = CASE WHEN ? = 1 THEN NULL ELSE payer_address END
            WHERE id = ? AND state = ?
            """, new.rawValue, new.rawValue, DueWork.settlingSeconds, new.isFinal ? 1 : 0, id, old.rawValue)
        guard touched == 1 else { throw .corrupt("a payment moved under its lock") }
    }

    /// Keeps the provider's own id of a payment; the first one stays.
    ///
    /// - Returns: false when another payment of the account has it.
    package func setReference(_ reference: String, of payment: Payment) throws(StoreError) -> Bool {
        let taken = try row(
            "SELECT id FROM payments WHERE account = ? AND reference = ? AND id <> ?", payment.account, reference,
            payment.id)
        guard taken == nil else { return false }
        try send("UPDATE payments SET reference = ? WHERE id = ? AND reference IS NULL", reference, payment.id)
        return true
    }

    /// Keeps the contract, which is made once for each payment, and forgets where the payer was.
    ///
    /// - Parameter offers: the product ids of a store's contract; what the store charges is not captured by us.
    /// - Returns: false when the payment has one already, which stays.
    package func setInstruction(
        _ sealed: Data, offers: [String]?, of payment: ID<Payment>
    ) throws(StoreError) -> Pending<Bool> {
        try attempt(
            """
            UPDATE payments SET instruction = ?, offers = ?, payer_address = NULL WHERE id = ? AND instruction IS NULL
            """, sealed, offers?.joined(separator: " "), payment
        ).map { $0 == 1 }
    }

    package func markUnfenced(_ payment: ID<Payment>) throws(StoreError) {
        try send("UPDATE payments SET unfenced = 1 WHERE id = ?", payment)
    }

    /// Sets the sums that follow from the payment's refunds and disputes; the schema refuses more than was captured.
    package func setSums(
        _ payment: ID<Payment>, refunding: Int64, refunded: Int64, lost: Int64, disputed: Int64
    ) throws(StoreError) {
        try send(
            "UPDATE payments SET refunding = ?, refunded = ?, lost = ?, disputed = ? WHERE id = ?", refunding, refunded,
            lost, disputed, payment)
    }

    /// Binds an amount for a refund in one guarded statement.
    ///
    /// - Returns: false when that is more than what is left of the captured amount and really held.
    package func reserveRefund(_ amount: Int64, of payment: ID<Payment>) throws(StoreError) -> Bool {
        try run(
            "UPDATE payments SET refunding = refunding + ? WHERE id = ? AND captured - refunding - lost - disputed >= ?",
            amount, payment, amount) == 1
    }
}
