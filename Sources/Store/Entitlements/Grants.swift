package import Domain

/// Grants of SKUs to users.
///
/// `db.grants` reads; `tx.grants` also writes.
package struct GrantQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var grants: GrantQueries<any Database> { GrantQueries(db: self, tx: self) }
}

extension Transaction {
    package var grants: GrantQueries<any Transaction> { GrantQueries(db: self, tx: self) }
}

extension GrantQueries {
    package func list(of user: ID<User>) throws(StoreError) -> DeferredResult<[Grant]> {
        try db.deferredRows("SELECT * FROM grants WHERE user_id = ? ORDER BY id", user).each(Grant.init(row:))
    }

    package func list(of order: ID<Order>) throws(StoreError) -> DeferredResult<[Grant]> {
        try db.deferredRows("SELECT * FROM grants WHERE order_id = ? ORDER BY id", order).each(Grant.init(row:))
    }

    package func find(_ id: ID<Grant>) throws(StoreError) -> Grant? {
        try db.row("SELECT * FROM grants WHERE id = ?", id).map(Grant.init(row:))
    }

    /// Lists all grants in the order of their ids.
    package func list(after last: String, limit: Int64) throws(StoreError) -> [Grant] {
        try db.rows("SELECT * FROM grants WHERE id > ? ORDER BY id LIMIT ?", [last, limit])
            .map(Grant.init(row:))
    }

    /// Finds the grant of the same source to the same user.
    package func find(like grant: Grant) throws(StoreError) -> Grant? {
        try find(grant.source, in: grant.environment, of: grant.user)
    }

    /// Finds the grant of a source to a user.
    package func find(
        _ source: Grant.Source, in environment: Environment, of user: ID<User>
    ) throws(StoreError) -> Grant? {
        try db.row(
            "SELECT * FROM grants WHERE source_kind = ? AND environment = ? AND source_id = ? AND user_id = ?",
            source.kind.rawValue, environment.rawValue, source.id, user
        ).map(Grant.init(row:))
    }
}

extension GrantQueries where Connection == any Transaction {
    /// - Returns: false when this source has already granted to this user.
    @discardableResult
    package func insert(_ grant: Grant) throws(StoreError) -> DeferredResult<Bool> {
        var days: Int64?
        var endsAt: Timestamp?
        switch grant.term {
        case .perpetual: break
        case .days(let count): days = count
        case .until(let end): endsAt = end
        }
        return try tx.deferredExecute(
            """
            INSERT INTO grants (id, user_id, sku, kind, tier, rank, source_kind, source_id, order_id, environment,
                purchased_at, perpetual, days, ends_at, stack_group, attributes, revoked_at, revoked_by, suspended,
                paid_until, billing_retry, will_renew, upgraded, ahead)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            [
                grant.id, grant.user, grant.sku, grant.kind.rawValue, grant.tier, grant.rank,
                grant.source.kind.rawValue,
                grant.source.id, grant.order, grant.environment.rawValue, grant.purchasedAt, grant.term == .perpetual,
                days,
                endsAt, grant.stackGroup, try grant.attributes.storedJSON(), grant.revocation?.at,
                grant.revocation?.reason.rawValue, grant.suspended, grant.renewal?.paidUntil,
                grant.renewal?.isInBillingRetry, grant.renewal?.willRenew, grant.renewal?.isUpgraded,
                try grant.ahead.stored(),
            ]
        ).map { $0 == 1 }
    }

    /// Inserts the one grant of a subscription, or updates it; the caller holds the user's lock.
    ///
    /// - Returns: false where the stored grant is equal already.
    package func upsert(_ grant: Grant) throws(StoreError) -> Bool {
        guard case .until(let end) = grant.term else { return false }
        guard let stored = try find(like: grant) else { return try insert(grant).value() }
        var grant = grant
        // A revocation by an admin stays.
        if stored.revocation?.reason == .admin { grant.revocation = stored.revocation }
        guard !grant.isEqual(to: stored) else { return false }
        try tx.execute(
            """
            UPDATE grants SET sku = ?, tier = ?, rank = ?, order_id = ?, purchased_at = ?, ends_at = ?, attributes = ?,
                revoked_at = ?, revoked_by = ?, paid_until = ?, billing_retry = ?, will_renew = ?, upgraded = ?,
                ahead = ?
            WHERE source_kind = ? AND environment = ? AND source_id = ? AND user_id = ?
            """,
            grant.sku, grant.tier, grant.rank, grant.order, grant.purchasedAt, end, try grant.attributes.storedJSON(),
            grant.revocation?.at, grant.revocation?.reason.rawValue, grant.renewal?.paidUntil,
            grant.renewal?.isInBillingRetry, grant.renewal?.willRenew, grant.renewal?.isUpgraded,
            try grant.ahead.stored(), grant.source.kind.rawValue, grant.environment.rawValue, grant.source.id,
            grant.user)
        return true
    }

    /// Updates the term of a grant of a store purchase; the caller holds the user's lock.
    package func updateTerm(_ grant: Grant) throws(StoreError) {
        var (days, endsAt): (Int64?, Timestamp?) = (nil, nil)
        switch grant.term {
        case .perpetual: break
        case .days(let count): days = count
        case .until(let end): endsAt = end
        }
        try tx.enqueue(
            "UPDATE grants SET perpetual = ?, days = ?, ends_at = ?, stack_group = ? WHERE id = ?",
            grant.term == .perpetual, days, endsAt, grant.stackGroup, grant.id)
    }

    /// Deletes the grants of one transaction, which the grant of its subscription replaces.
    ///
    /// - Returns: the users who had the grants.
    package func delete(ofTransaction key: String, in environment: Environment) throws(StoreError) -> [ID<User>] {
        try tx.rows(
            """
            DELETE FROM grants WHERE source_kind = 'apple_transaction' AND environment = ? AND source_id = ?
            RETURNING user_id
            """, [environment.rawValue, key]
        ).map { row throws(StoreError) in try row.id("user_id") }
    }

    /// Updates the revocation and suspension of a grant; the caller holds the user's lock.
    package func update(_ id: ID<Grant>, revocation: Grant.Revocation?, suspended: Bool) throws(StoreError) {
        try tx.enqueue(
            "UPDATE grants SET revoked_at = ?, revoked_by = ?, suspended = ? WHERE id = ?", revocation?.at,
            revocation?.reason.rawValue, suspended, id)
    }
}

extension Grant {
    /// Returns whether two versions of one grant are equal, values that only an admin sets left out.
    fileprivate func isEqual(to other: Grant) -> Bool {
        var copy = Grant(
            id: other.id, user: user, sku: sku, kind: kind, tier: tier, rank: rank, source: source, order: order,
            environment: environment, purchasedAt: purchasedAt, term: term, stackGroup: stackGroup,
            attributes: attributes, revocation: revocation, suspended: other.suspended)
        (copy.renewal, copy.ahead) = (renewal, ahead)
        return copy == other
    }

    private static func revocation(_ row: Row) throws(StoreError) -> Grant.Revocation? {
        guard let at = try row.optionalTime("revoked_at") else { return nil }
        return Grant.Revocation(at: at, reason: try row.choice("revoked_by"))
    }

    private static func renewal(_ row: Row) throws(StoreError) -> Grant.Renewal? {
        guard let paidUntil = try row.optionalTime("paid_until") else { return nil }
        return Grant.Renewal(
            paidUntil: paidUntil, isInBillingRetry: try row.optionalInt("billing_retry") == 1,
            willRenew: try row.optionalInt("will_renew").map { $0 == 1 },
            isUpgraded: try row.optionalInt("upgraded") == 1)
    }

    init(row: Row) throws(StoreError) {
        let term: Grant.Term
        if try row.bool("perpetual") {
            term = .perpetual
        } else if let days = try row.optionalInt("days") {
            term = .days(days)
        } else {
            term = .until(try row.time("ends_at"))
        }
        var grant = Grant(
            id: try row.id("id"), user: try row.id("user_id"), sku: try row.code("sku"), kind: try row.choice("kind"),
            tier: try row.text("tier"), rank: try row.int("rank"),
            source: Grant.Source(kind: try row.choice("source_kind"), id: try row.text("source_id")),
            order: try row.optionalID("order_id"), environment: try row.choice("environment"),
            purchasedAt: try row.time("purchased_at"), term: term, stackGroup: try row.optionalText("stack_group"),
            attributes: try row.json("attributes"), revocation: try Self.revocation(row),
            suspended: try row.bool("suspended"))
        grant.renewal = try Self.renewal(row)
        if try row.optionalText("ahead") != nil {
            grant.ahead = try row.json("ahead", [StoredAhead].self).map { part throws(StoreError) in try part.part() }
        }
        self = grant
    }
}

/// A later part of a subscription's grant as it is stored.
private struct StoredAhead: Codable {
    let starts_at: Timestamp
    let gap_from: Timestamp?
    let sku: String
    let tier: String
    let rank: Int64
    let order_id: String?
    let attributes: [String: JSONValue]

    init(_ part: Grant.Ahead) {
        starts_at = part.startsAt
        gap_from = part.gapFrom
        sku = part.sku.rawValue
        tier = part.tier
        rank = part.rank
        order_id = part.order?.rawValue
        attributes = part.attributes
    }

    func part() throws(StoreError) -> Grant.Ahead {
        guard let code = SKUCode(sku) else { throw .corrupt("a grant's later part has no SKU") }
        return Grant.Ahead(
            startsAt: starts_at, gapFrom: gap_from, sku: code, tier: tier, rank: rank,
            order: order_id.flatMap { ID<Order>($0) }, attributes: attributes)
    }
}

extension [Grant.Ahead] {
    /// The parts as JSON; nil where there are none.
    func stored() throws(StoreError) -> String? { isEmpty ? nil : try map(StoredAhead.init).storedJSON() }
}
