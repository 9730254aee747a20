package import Domain
package import FoundationEssentials

/// A stored set-up of a mandate.
package struct SetupRecord: Sendable, Equatable {
    package enum Purpose: String, Sendable, CaseIterable {
        /// Begins a trial; its order is paid with the success.
        case trial
        /// Replaces the mandate of a running subscription.
        case replace
    }

    package let id: ID<Setup>
    package let subscription: ID<Subscription>
    package let account: AccountID
    package let purpose: Purpose
    /// The order of a trial; nil for a replacement.
    package let order: ID<Order>?
    /// The states of a payment; a set-up moves no money.
    package let state: Payment.State
    /// The reason of a failure, `trial_used`; nil for other states.
    package let failure: String?
    /// The provider's own id, once known.
    package let reference: String?
    /// The sealed ``PaymentInstruction``; nil until the provider has answered.
    package let instruction: Data?
    package let accepts: Set<ContractType>
    package let platform: Platform
    package let returnURL: String?
    package let mandate: ID<Mandate>?
    package let createdAt: Timestamp
    package let expiresAt: Timestamp

    package init(
        id: ID<Setup>, subscription: ID<Subscription>, account: AccountID, purpose: Purpose, order: ID<Order>?,
        state: Payment.State = .created, failure: String? = nil, reference: String? = nil, instruction: Data? = nil,
        accepts: Set<ContractType>, platform: Platform, returnURL: String?, mandate: ID<Mandate>? = nil,
        createdAt: Timestamp, expiresAt: Timestamp
    ) {
        self.id = id
        self.subscription = subscription
        self.account = account
        self.purpose = purpose
        self.order = order
        self.state = state
        self.failure = failure
        self.reference = reference
        self.instruction = instruction
        self.accepts = accepts
        self.platform = platform
        self.returnURL = returnURL
        self.mandate = mandate
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// Set-ups of mandates.
///
/// `db.setups` reads; `tx.setups` also writes.
package struct SetupQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var setups: SetupQueries<any Database> { SetupQueries(db: self, tx: self) }
}

extension Transaction {
    package var setups: SetupQueries<any Transaction> { SetupQueries(db: self, tx: self) }
}

extension SetupQueries {
    package func find(_ id: ID<Setup>) throws(StoreError) -> SetupRecord? {
        try db.row("SELECT * FROM setups WHERE id = ?", id).map(SetupRecord.init(row:))
    }

    /// Finds the set-up of a trial's order.
    package func find(of order: ID<Order>) throws(StoreError) -> SetupRecord? {
        try db.row("SELECT * FROM setups WHERE order_id = ? ORDER BY id DESC LIMIT 1", order)
            .map(SetupRecord.init(row:))
    }

    /// Counts the set-ups that a trial's order has had.
    package func count(of order: ID<Order>) throws(StoreError) -> Int64 {
        try db.row("SELECT COUNT(*) AS n FROM setups WHERE order_id = ?", order)?.int("n") ?? 0
    }

    /// Finds the newest set-up of a subscription.
    package func findNewest(of subscription: ID<Subscription>) throws(StoreError) -> SetupRecord? {
        try db.row("SELECT * FROM setups WHERE subscription_id = ? ORDER BY id DESC LIMIT 1", subscription)
            .map(SetupRecord.init(row:))
    }

    /// Finds the set-up of a subscription that is not final.
    package func findOpen(of subscription: ID<Subscription>) throws(StoreError) -> SetupRecord? {
        try db.row(
            "SELECT * FROM setups WHERE subscription_id = ? AND \(InFlight.isTrue(of: "state"))",
            subscription
        ).map(SetupRecord.init(row:))
    }
}

extension SetupQueries where Connection == any Transaction {
    package func insert(_ setup: SetupRecord) throws(StoreError) {
        try tx.enqueue(
            """
            INSERT INTO setups (id, subscription_id, account, purpose, order_id, state, accepts, platform, return_url,
                created_at, expires_at, look_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            setup.id, setup.subscription, setup.account, setup.purpose.rawValue, setup.order, setup.state.rawValue,
            setup.accepts.map(\.rawValue).sorted().joined(separator: " "), setup.platform.rawValue, setup.returnURL,
            setup.createdAt, setup.expiresAt, setup.createdAt.adding(seconds: DueWork.settlingSeconds))
    }

    /// Sets the contract of a set-up that has none.
    package func setInstruction(
        _ sealed: Data, reference: String?, of setup: ID<Setup>
    ) throws(StoreError) {
        try tx.enqueue(
            """
            UPDATE setups SET instruction = ?, reference = COALESCE(reference, ?) WHERE id = ? AND instruction IS NULL
            """, sealed, reference, setup)
    }

    /// Sets the time of the next query about a set-up.
    package func setNextLook(_ next: Timestamp, of setup: ID<Setup>) throws(StoreError) {
        try tx.enqueue("UPDATE setups SET look_at = ? WHERE id = ?", next, setup)
    }

    /// Moves a set-up from the state that was read.
    ///
    /// - Returns: false where it has moved since.
    package func move(
        _ id: ID<Setup>, from old: Payment.State, to new: Payment.State, failure: String? = nil,
        mandate: ID<Mandate>? = nil
    ) throws(StoreError) -> Bool {
        try tx.execute(
            "UPDATE setups SET state = ?, failure = ?, mandate_id = ? WHERE id = ? AND state = ?", new.rawValue,
            failure,
            mandate, id, old.rawValue) == 1
    }
}

extension SetupRecord {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), subscription: try row.id("subscription_id"), account: try row.account("account"),
            purpose: try row.choice("purpose"), order: try row.optionalID("order_id"), state: try row.choice("state"),
            failure: try row.optionalText("failure"), reference: try row.optionalText("reference"),
            instruction: try row.optionalBlob("instruction"),
            accepts: Set(try row.text("accepts").split(separator: " ").compactMap { .init(rawValue: "\($0)") }),
            platform: try row.choice("platform"), returnURL: try row.optionalText("return_url"),
            mandate: try row.optionalID("mandate_id"), createdAt: try row.time("created_at"),
            expiresAt: try row.time("expires_at"))
    }
}
