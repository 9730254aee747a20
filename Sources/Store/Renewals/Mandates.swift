package import Domain
package import FoundationEssentials

/// A stored mandate.
package struct MandateRecord: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case active
        /// To be revoked at its provider.
        case revoking
        case revoked
        /// Ended at its provider, which was not asked to.
        case dead
    }

    /// A mandate in the words that its payer recognizes: `Visa •••• 4242`.
    package struct Face: Sendable, Equatable {
        package var label: String?
        package var brand: String?
        package var last4: String?
        package var expMonth: Int64?
        package var expYear: Int64?

        package init(
            label: String? = nil, brand: String? = nil, last4: String? = nil, expMonth: Int64? = nil,
            expYear: Int64? = nil
        ) {
            self.label = label
            self.brand = brand
            self.last4 = last4
            self.expMonth = expMonth
            self.expYear = expYear
        }
    }

    package let id: ID<Mandate>
    package let subscription: ID<Subscription>
    package let account: AccountID
    /// The provider's id of the mandate, sealed.
    package let reference: Data
    /// The provider's id of its customer, sealed; nil where it has none.
    package let customer: Data?
    /// True where the customer was made for this subscription, and goes with its last mandate.
    package let ownsCustomer: Bool
    package let face: Face
    package let state: State
    package let createdAt: Timestamp

    package init(
        id: ID<Mandate>, subscription: ID<Subscription>, account: AccountID, reference: Data, customer: Data?,
        ownsCustomer: Bool, face: Face, state: State = .active, createdAt: Timestamp
    ) {
        self.id = id
        self.subscription = subscription
        self.account = account
        self.reference = reference
        self.customer = customer
        self.ownsCustomer = ownsCustomer
        self.face = face
        self.state = state
        self.createdAt = createdAt
    }
}

/// Mandates of managed subscriptions.
///
/// `db.mandates` reads; `tx.mandates` also writes.
package struct MandateQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var mandates: MandateQueries<any Database> { MandateQueries(db: self, tx: self) }
}

extension Transaction {
    package var mandates: MandateQueries<any Transaction> { MandateQueries(db: self, tx: self) }
}

extension MandateQueries {
    package func find(_ id: ID<Mandate>) throws(StoreError) -> MandateRecord? {
        try db.row("SELECT * FROM mandates WHERE id = ?", id).map(MandateRecord.init(row:))
    }

    /// Finds the mandate by which a subscription is charged.
    package func findActive(of subscription: ID<Subscription>) throws(StoreError) -> MandateRecord? {
        try db.row("SELECT * FROM mandates WHERE subscription_id = ? AND state = 'active'", subscription)
            .map(MandateRecord.init(row:))
    }

    /// Lists all mandates that a subscription has had, oldest first.
    package func list(of subscription: ID<Subscription>) throws(StoreError) -> [MandateRecord] {
        try db.rows("SELECT * FROM mandates WHERE subscription_id = ? ORDER BY id", [subscription])
            .map(MandateRecord.init(row:))
    }

    /// Lists the newest mandate of each of these subscriptions.
    package func newest(of subscriptions: [ID<Subscription>]) throws(StoreError) -> [ID<Subscription>: MandateRecord] {
        let rows = try db.rowsByKey(subscriptions, "subscription_id") {
            "SELECT * FROM mandates WHERE subscription_id IN (\($0)) ORDER BY subscription_id, id"
        }
        var found: [ID<Subscription>: MandateRecord] = [:]
        for row in rows.values.compactMap(\.last) {
            let record = try MandateRecord(row: row)
            found[record.subscription] = record
        }
        return found
    }
}

extension MandateQueries where Connection == any Transaction {
    package func insert(_ mandate: MandateRecord) throws(StoreError) {
        try tx.enqueue(
            """
            INSERT INTO mandates (id, subscription_id, account, reference, customer, owns_customer, label, brand, last4,
                exp_month, exp_year, state, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            mandate.id, mandate.subscription, mandate.account, mandate.reference, mandate.customer,
            mandate.ownsCustomer, mandate.face.label, mandate.face.brand, mandate.face.last4, mandate.face.expMonth,
            mandate.face.expYear, mandate.state.rawValue, mandate.createdAt)
    }

    /// Moves a mandate from one of these states.
    ///
    /// - Returns: false where it is in another one.
    @discardableResult
    package func move(
        _ id: ID<Mandate>, from old: MandateRecord.State, to new: MandateRecord.State
    ) throws(StoreError) -> Bool {
        try tx.execute(
            "UPDATE mandates SET state = ? WHERE id = ? AND state = ?", new.rawValue, id, old.rawValue) == 1
    }
}

extension MandateRecord {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), subscription: try row.id("subscription_id"), account: try row.account("account"),
            reference: try row.blob("reference"), customer: try row.optionalBlob("customer"),
            ownsCustomer: try row.bool("owns_customer"),
            face: Face(
                label: try row.optionalText("label"), brand: try row.optionalText("brand"),
                last4: try row.optionalText("last4"), expMonth: try row.optionalInt("exp_month"),
                expYear: try row.optionalInt("exp_year")),
            state: try row.choice("state"), createdAt: try row.time("created_at"))
    }
}
