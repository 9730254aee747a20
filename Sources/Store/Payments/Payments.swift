package import Domain
package import FoundationEssentials

/// A stored payment with its sums in minor units: captured, refunding, refunded, lost and disputed.
package struct PaymentRecord: Sendable {
    package var payment: Payment
    /// The sealed ``PaymentInstruction``; nil until the provider has answered.
    package let instruction: Data?
    /// The sealed address of the payer; nil as soon as no provider needs it.
    package let payerAddress: Data?
    /// The merchant's app at the wallet; nil where the payment is of none.
    package let appID: String?
    /// The sealed openid of the payer; nil as soon as no provider needs it.
    package let openID: Data?
    /// The contract types that the client accepts; nil for a payment of an earlier release.
    package let accepts: Set<ContractType>?
    package let recurring: Bool
    /// The mandate that it charges; nil where the payer pays.
    package let mandate: ID<Mandate>?
    package let captured: Int64
    package let refunding: Int64
    package let refunded: Int64
    package let lost: Int64
    /// Minor units of open disputes: the provider has withdrawn them until a dispute is won.
    package let disputed: Int64

    /// Minor units that can still be refunded.
    package var refundable: Int64 { max(0, captured - refunding - lost - disputed) }
}

/// The parts of a payer that a payment's provider is told, sealed where they are about a person.
package struct SealedPayer: Sendable {
    package let address: Data?
    package let appID: String?
    package let openID: Data?

    package init(address: Data?, appID: String?, openID: Data?) {
        self.address = address
        self.appID = appID
        self.openID = openID
    }
}

/// Payments: the attempts to pay an order.
///
/// `db.payments` reads; `tx.payments` also writes.
package struct PaymentQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var payments: PaymentQueries<any Database> { PaymentQueries(db: self, tx: self) }
}

extension Transaction {
    package var payments: PaymentQueries<any Transaction> { PaymentQueries(db: self, tx: self) }
}

extension PaymentQueries {
    package func find(_ id: ID<Payment>) throws(StoreError) -> DeferredResult<PaymentRecord?> {
        try db.deferredRows("SELECT * FROM payments WHERE id = ?", id).first(PaymentRecord.init(row:))
    }

    /// Lists the attempts of an order, oldest first.
    package func list(of order: ID<Order>) throws(StoreError) -> DeferredResult<[PaymentRecord]> {
        try db.deferredRows("SELECT * FROM payments WHERE order_id = ? ORDER BY attempt", order).each(
            PaymentRecord.init(row:))
    }
}

extension PaymentQueries where Connection == any Transaction {
    /// Counts the charges of mandates that an account started in a second of business time.
    ///
    /// Locks the account's count until the commit, so that it can be limited over all nodes (an advisory lock on
    /// PostgreSQL; SQLite has one writer).
    package func countCharges(at account: AccountID, createdAt second: Timestamp) throws(StoreError) -> Int64 {
        if tx.dialect.locksRows {
            _ = try tx.row("SELECT 1 AS one FROM pg_advisory_xact_lock(hashtextextended(?, 1))", account)
        }
        return try tx.row(
            "SELECT COUNT(*) AS n FROM payments WHERE mandate_id IS NOT NULL AND account = ? AND created_at = ?",
            account, second
        )?.int("n") ?? 0
    }

    /// Inserts a fact from a provider's answer to a query.
    ///
    /// - Parameter fact: JSON text.
    package func insertFact(
        _ id: ID<LearnedFact>, account: AccountID, payment: ID<Payment>, fact: String, at now: Timestamp
    ) throws(StoreError) {
        try tx.enqueue(
            "INSERT INTO learned_facts (id, account, payment_id, fact, at) VALUES (?, ?, ?, ?, ?)", id, account,
            payment,
            fact, now)
    }

    /// - Parameter payer: the parts of the payer that the provider is told; nil where it needs none.
    package func insert(
        _ payment: Payment, recurring: Bool, accepts: Set<ContractType>, payer: SealedPayer? = nil,
        charging mandate: ID<Mandate>? = nil
    ) throws(StoreError) {
        try tx.enqueue(
            """
            INSERT INTO payments (id, order_id, attempt, account, processor, amount, currency, state, recurring, platform,
                return_url, environment, accepts, payer_address, app_id, wechat_openid, created_at, look_at, mandate_id)
            VALUES (?, ?, (SELECT COUNT(*) + 1 FROM payments WHERE order_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                ?)
            """,
            payment.id, payment.order, payment.order, payment.account, payment.processor, payment.amount.value,
            payment.amount.currency.code, payment.state.rawValue, recurring, payment.platform.rawValue,
            payment.returnURL, payment.environment.rawValue, accepts.map(\.rawValue).sorted().joined(separator: " "),
            payer?.address, payer?.appID, payer?.openID, payment.createdAt,
            payment.createdAt.adding(seconds: DueWork.settlingSeconds), mandate)
    }

    /// Finds the payment of an account by the provider's own id, further payments of the same attempt included.
    package func find(of account: AccountID, reference: String) throws(StoreError) -> PaymentRecord? {
        try tx.row("SELECT * FROM payments WHERE account = ? AND reference = ?", account, reference)
            .map(PaymentRecord.init(row:))
    }

    /// Finds the payment for money that came in addition to another payment.
    package func find(beside original: ID<Payment>, under name: String) throws(StoreError) -> PaymentRecord? {
        try tx.row("SELECT * FROM payments WHERE original = ? AND original_reference = ?", original, name)
            .map(PaymentRecord.init(row:))
    }

    /// Inserts money that came in addition to a payment, as a payment of its own without a contract.
    ///
    /// - Parameter name: a unique name among the further payments of the same payment; the provider's id where there is
    ///   one.
    package func insert(_ payment: Payment, beside original: Payment, under name: String) throws(StoreError) {
        try insert(payment, recurring: false, accepts: [])
        try tx.execute(
            "UPDATE payments SET original = ?, original_reference = ? WHERE id = ?", original.id, name, payment.id)
    }

    /// Replaces the reference of a payment by that of the money that paid it.
    ///
    /// - Returns: false when another payment of the account has the reference.
    package func replaceReference(_ reference: String, of payment: Payment) throws(StoreError) -> Bool {
        guard try find(of: payment.account, reference: reference) == nil else { return false }
        try tx.execute("UPDATE payments SET reference = ? WHERE id = ?", reference, payment.id)
        return true
    }

    /// Locks a payment until the commit; its user and its order are locked before it.
    package func lock(_ id: ID<Payment>) throws(StoreError) -> PaymentRecord? {
        try enqueueOwnLock(of: id)
        return try find(id).value()
    }

    /// Locks a payment's user, its order and the payment until the commit, in the order of all transactions.
    ///
    /// - Returns: false when there is no such payment; always true on SQLite, whose one writer needs no locks.
    package func lockWithOrder(_ payment: ID<Payment>) throws(StoreError) -> Bool {
        guard tx.dialect.locksRows else { return true }
        let order = try tx.row(
            "SELECT o.id, o.user_id FROM payments p JOIN orders o ON o.id = p.order_id WHERE p.id = ?", payment)
        guard let order else { return false }
        try tx.users.lock(try order.id("user_id"))
        try tx.orders.enqueueLock(of: try order.id("id", Order.self))
        try enqueueOwnLock(of: payment)
        return true
    }

    private func enqueueOwnLock(of payment: ID<Payment>) throws(StoreError) {
        guard tx.dialect.locksRows else { return }
        try tx.enqueue("SELECT id FROM payments WHERE id = ?" + tx.dialect.forUpdate, payment)
    }

    /// Moves a payment from the state that was read; the caller holds its lock.
    package func move(
        _ id: ID<Payment>, from old: Payment.State, to new: Payment.State
    ) throws(StoreError) {
        let touched = try tx.execute(
            """
            UPDATE payments
            SET state = ?, captured = CASE WHEN ? = 'succeeded' AND offers IS NULL THEN amount ELSE 0 END,
                look_at = created_at + ?, payer_address = CASE WHEN ? = 1 THEN NULL ELSE payer_address END,
                wechat_openid = CASE WHEN ? = 1 THEN NULL ELSE wechat_openid END
            WHERE id = ? AND state = ?
            """, new.rawValue, new.rawValue, DueWork.settlingSeconds, new.isFinal ? 1 : 0, new.isFinal ? 1 : 0, id,
            old.rawValue)
        guard touched == 1 else { throw .corrupt("a payment moved under its lock") }
    }

    /// Sets the provider's id of a payment that has none.
    ///
    /// - Returns: false when another payment of the account has the id.
    package func setReference(_ reference: String, of payment: Payment) throws(StoreError) -> Bool {
        let taken = try tx.row(
            "SELECT id FROM payments WHERE account = ? AND reference = ? AND id <> ?", payment.account, reference,
            payment.id)
        guard taken == nil else { return false }
        try tx.enqueue("UPDATE payments SET reference = ? WHERE id = ? AND reference IS NULL", reference, payment.id)
        return true
    }

    /// Sets the contract of a payment that has none, and deletes the payer's address and openid.
    ///
    /// - Parameter offers: the product ids of a store's contract; the amount that the store charges is not captured by
    ///   us.
    /// - Returns: false when the payment has a contract already, which stays.
    package func setInstruction(
        _ sealed: Data, _ type: ContractType, offers: [String]?, of payment: ID<Payment>
    ) throws(StoreError) -> DeferredResult<Bool> {
        try tx.deferredExecute(
            """
            UPDATE payments SET instruction = ?, contract = ?, offers = ?, payer_address = NULL, wechat_openid = NULL
            WHERE id = ? AND instruction IS NULL
            """, sealed, type.rawValue, offers?.joined(separator: " "), payment
        ).map { $0 == 1 }
    }

    package func markUnfenced(_ payment: ID<Payment>) throws(StoreError) {
        try tx.enqueue("UPDATE payments SET unfenced = 1 WHERE id = ?", payment)
    }

    /// Sets the sums that follow from the payment's refunds and disputes; the schema refuses more than the captured
    /// amount.
    package func setSums(
        _ payment: ID<Payment>, refunding: Int64, refunded: Int64, lost: Int64, disputed: Int64
    ) throws(StoreError) {
        try tx.enqueue(
            "UPDATE payments SET refunding = ?, refunded = ?, lost = ?, disputed = ? WHERE id = ?", refunding, refunded,
            lost, disputed, payment)
    }

    /// Reserves an amount for a refund in one guarded statement.
    ///
    /// - Returns: false when the amount exceeds the captured amount less refunds and disputes.
    package func reserveRefund(_ amount: Int64, of payment: ID<Payment>) throws(StoreError) -> Bool {
        try tx.execute(
            "UPDATE payments SET refunding = refunding + ? WHERE id = ? AND captured - refunding - lost - disputed >= ?",
            amount, payment, amount) == 1
    }
}

extension PaymentRecord {
    init(row: Row) throws(StoreError) {
        self.init(
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
            appID: try row.optionalText("app_id"), openID: try row.optionalBlob("wechat_openid"),
            accepts: try row.optionalText("accepts").map {
                Set($0.split(separator: " ").compactMap { .init(rawValue: "\($0)") })
            },
            recurring: try row.bool("recurring"), mandate: try row.optionalID("mandate_id"),
            captured: try row.int("captured"), refunding: try row.int("refunding"), refunded: try row.int("refunded"),
            lost: try row.int("lost"), disputed: try row.int("disputed"))
    }
}
