package import Domain
import Store

/// A grant that staff or a partner give.
package struct GrantRequest: Sendable {
    package var sku: String
    package var durationDays: Int64?
    package var expiresAt: Timestamp?
    package var reason: String

    package init(sku: String, durationDays: Int64?, expiresAt: Timestamp?, reason: String) {
        self.sku = sku
        self.durationDays = durationDays
        self.expiresAt = expiresAt
        self.reason = reason
    }
}

/// Grants without an order, and the revocation of any grant.
package struct Grants: Sendable {
    let settlements: SettlementRunner

    /// Grants a user a SKU without an order.
    ///
    /// A grant of days is stacked like a bought pass; a grant until a time is not.
    /// - Parameter kind: `admin` or `partner`.
    /// - Throws: `skuNotFound`, `invalidRequest`.
    package func create(
        _ request: GrantRequest, to user: ExternalUserID, by kind: Grant.SourceKind, context: CallContext
    ) async throws(GatewayError) -> EntitlementSnapshot.Item {
        guard let code = SKUCode(request.sku) else { throw .skuNotFound(request.sku) }
        let resumed = context.resumed.flatMap(ID<Grant>.init)
        let id = try await settlements.run(context.audit) { settlement in
            let (tx, ids, now) = (settlement.tx, settlement.ids, settlement.now)
            if let resumed, try tx.grants.find(resumed) != nil { return resumed }
            guard let sku = try tx.skus.find(code) else { throw GatewayError.skuNotFound(request.sku) }
            let term = try Self.term(request, sku, now: now)
            let userID = try tx.users.ensure(user, candidate: ids.make(), at: now)
            try tx.users.lock(userID)
            let id = ids.make(Grant.self)
            let terms = sku.terms(days: nil, quantity: 1)
            let isPass = if case .days = term { true } else { false }
            try tx.grants.insert(
                Grant(
                    id: id, user: userID, sku: code, kind: sku.kind, tier: sku.tier, rank: sku.rank,
                    source: Grant.Source(kind: kind, id: id.rawValue), order: nil, environment: .production,
                    purchasedAt: now,
                    term: term, stackGroup: isPass ? terms.stackGroup : nil, attributes: sku.attributes))
            let source = LedgerSource(kind: kind.rawValue, id: id.rawValue)
            for (unit, amount) in sku.units.sorted(by: { $0.key < $1.key }) where sku.kind == .consumable {
                _ = try tx.wallets.book(
                    amount, unit: unit, user: userID, environment: .production, source: source, step: 1,
                    reason: request.reason, at: now)
            }
            try tx.bind(context, to: id.rawValue)
            try settlement.log.audit(
                subject: userID.rawValue, "grant.created", before: "", after: "\(id) \(sku.id)",
                reason: request.reason, about: userID)
            try settlement.entitlements.publish(userID)
            return id
        }
        return try await item(id)
    }

    /// Revokes a grant permanently.
    ///
    /// - Throws: `notFound`.
    package func revoke(
        _ grant: String, context: CallContext
    ) async throws(GatewayError) -> EntitlementSnapshot.Item {
        guard let id = ID<Grant>(grant) else { throw .unknown(.grant, grant) }
        try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            guard let unlocked = try tx.grants.find(id) else { throw GatewayError.unknown(.grant, grant) }
            try tx.users.lock(unlocked.user)
            guard let current = try tx.grants.find(id), current.revocation?.reason != .admin else { return }
            // A transfer moved the grant to a user whose lock this transaction does not hold.
            guard current.user == unlocked.user else { throw StoreError.unavailable("the grant changed hands") }
            let revocation = Grant.Revocation(at: current.revocation?.at ?? settlement.now, reason: .admin)
            try tx.grants.update(id, revocation: revocation, suspended: current.suspended)
            try settlement.entitlements.takeBackUnits(of: current)
            // A purchase of the same SKU that was a duplicate beside this grant is granted now.
            if current.order == nil {
                _ = try settlement.entitlements.grantDuplicate(
                    of: current.sku, in: current.environment, to: current.user)
            }
            let before = current.revocation.map { "revoked by a \($0.reason.rawValue)" } ?? "good"
            try settlement.log.audit(
                subject: current.user.rawValue, "grant.revoked", before: "\(id) \(current.sku.rawValue) \(before)",
                after: "\(id) \(current.sku.rawValue) revoked by an admin")
            try settlement.entitlements.publish(current.user)
        }
        return try await item(id)
    }

    private func item(_ id: ID<Grant>) async throws(GatewayError) -> EntitlementSnapshot.Item {
        let now = settlements.time.now
        let item = try await settlements.store.read { db -> EntitlementSnapshot.Item? in
            guard let grant = try db.grants.find(id) else { return nil }
            let fold = EntitlementRules.fold(try db.grants.list(of: grant.user).value(), now: now)
            return fold.entitlements.first { $0.grant.id == id }.map(EntitlementSnapshot.Item.init)
        }
        guard let item else { throw .unknown(.grant, id.rawValue) }
        return item
    }

    private static func term(_ request: GrantRequest, _ sku: SKU, now: Timestamp) throws(GatewayError) -> Grant.Term {
        switch (request.durationDays, request.expiresAt) {
        case (nil, nil) where sku.kind == .consumable:
            // The units are credited; the grant itself ends at its beginning.
            return .until(now)
        case (let days, _) where sku.kind == .consumable:
            throw .invalidRequest(
                field: days == nil ? "expires_at" : "duration_days", reason: "only what lasts has an end")
        case (.some, .some):
            throw .invalidRequest(field: "expires_at", reason: "either duration_days or expires_at, not both")
        case (let days?, nil):
            guard AppleProduct.dayRange.contains(days) else {
                throw .invalidRequest(field: "duration_days", reason: "must be 1 to 3,660")
            }
            return .days(days)
        case (nil, let end?):
            guard end > now, end <= .farFuture else {
                throw .invalidRequest(field: "expires_at", reason: "must lie ahead")
            }
            return .until(end)
        case (nil, nil):
            guard let term = sku.terms(days: sku.durationDays, quantity: 1).term else {
                throw .invalidRequest(
                    field: "duration_days", reason: "duration_days or expires_at is needed for this SKU")
            }
            return term
        }
    }
}
