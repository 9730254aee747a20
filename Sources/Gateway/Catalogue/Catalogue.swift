package import Domain
import FoundationEssentials
import Store

/// The SKUs, and the products that frontends show.
package struct Catalogue: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let accounts: Accounts
    /// Grants the stored purchases whose product a SKU now names.
    let grantUnmapped: @Sendable (AuditContext) async -> Void

    /// Adds a SKU; it is offered from the next checkout on.
    ///
    /// - Throws: `invalidRequest` naming the field, `conflict` for an id or an Apple product id that is taken.
    package func create(_ draft: SKU, context: CallContext) async throws(GatewayError) -> SKU {
        let sku = try validate(draft)
        let resumed = context.resumed == sku.id
        let made = try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            guard let code = sku.code else { throw GatewayError.internalError }
            if resumed, let made = try tx.skus.lock(code) { return made }
            guard let made = try tx.skus.insert(sku, at: settlement.now) else {
                throw GatewayError.conflict(reason: "the SKU \(sku.id) exists", resource: sku.id)
            }
            try CatalogueWriter(settlement).claimProducts(made)
            try settlement.purchases.fulfilUnmappedLater()
            try tx.bind(context, to: made.id)
            try settlement.log.audit(subject: "sku/\(made.id)", "sku.created", before: "", after: try made.storedJSON())
            return made
        }
        await grantUnmapped(context.audit)
        return made
    }

    /// Changes members of a SKU (RFC 7396): an absent one stays, null goes back to the default.
    ///
    /// - Throws: `skuNotFound`, `invalidRequest`, `conflict`.
    package func change(_ id: String, _ patch: JSONValue, context: CallContext) async throws(GatewayError) -> SKU {
        let code = try checkedCode(of: id, in: patch)
        guard let current = try await store.read({ db in try db.skus.find(code) }) else { throw .skuNotFound(id) }
        _ = try patched(current, patch)
        let changed = try await settlements.run(context.audit) { settlement in
            guard let before = try settlement.tx.skus.lock(code) else { throw GatewayError.skuNotFound(id) }
            let after = try patched(before, patch)
            try CatalogueWriter(settlement).replace(before, by: after, action: "sku.changed")
            try settlement.purchases.fulfilUnmappedLater()
            return after
        }
        await grantUnmapped(context.audit)
        return changed
    }

    /// Ends the sale of a SKU; purchases of it stay, and so do its Apple product ids until another SKU claims them.
    ///
    /// - Throws: `skuNotFound`.
    package func archive(_ id: String, context: CallContext) async throws(GatewayError) -> SKU {
        guard let code = SKUCode(id) else { throw .skuNotFound(id) }
        return try await settlements.run(context.audit) { settlement in
            guard let before = try settlement.tx.skus.lock(code) else { throw GatewayError.skuNotFound(id) }
            var after = before
            after.active = false
            try CatalogueWriter(settlement).replace(before, by: after, action: "sku.archived")
            return after
        }
    }

    /// - Throws: `skuNotFound`.
    package func find(_ id: String) async throws(GatewayError) -> SKU {
        guard let code = SKUCode(id), let sku = try await store.read({ db in try db.skus.find(code) }) else {
            throw .skuNotFound(id)
        }
        return sku
    }

    /// All SKUs, archived ones too, newest first.
    package func list(cursor: String?, limit: Int64) async throws(GatewayError) -> Page<SKU> {
        let before = try Cursor(number: cursor).position
        let skus = try await store.report { db in try db.skus.list(before: before, limit: limit + 1, activeOnly: false)
        }
        return Page(skus, limit: limit) { String($0.number) }
    }

    /// Merges a catalogue file: SKUs that are not there are added, others are replaced; none is removed.
    ///
    /// - Returns: the numbers of added and changed SKUs.
    package func merge(_ drafts: [SKU], context: CallContext) async throws(GatewayError) -> CatalogueImport {
        var skus: [SKU] = []
        for draft in drafts { skus.append(try validate(draft)) }
        let result = try await settlements.run(context.audit) { [skus] settlement in
            try CatalogueWriter(settlement).merge(skus)
        }
        await grantUnmapped(context.audit)
        return result
    }

    /// Every SKU by ascending number, for an export.
    package func all() async throws(GatewayError) -> [SKU] {
        try await store.read { db in try db.skus.list(before: nil, limit: 1_000_000, activeOnly: false).reversed() }
    }

    /// True where there is no SKU, so that the catalogue file fills it.
    package func isEmpty() async throws(GatewayError) -> Bool {
        try await store.read { db in try !db.skus.hasAny() }
    }

    /// Returns the id of a SKU that a patch leaves as it is.
    func checkedCode(of id: String, in patch: JSONValue) throws(GatewayError) -> SKUCode {
        guard let code = SKUCode(id) else { throw .skuNotFound(id) }
        if case .object(let members) = patch, let renamed = members["id"], renamed != .string(id) {
            throw .invalidRequest(field: "id", reason: "a SKU's id never changes")
        }
        return code
    }

    func validate(_ draft: SKU) throws(GatewayError) -> SKU {
        do throws(SKUFault) { return try draft.validated() } catch {
            throw .invalidRequest(field: error.field, reason: error.reason)
        }
    }

    private static let kindIsFixed = GatewayError.invalidRequest(
        field: "kind", reason: "a SKU's kind never changes; make another SKU")
    /// The members of a SKU that are maps; an empty object in a patch empties them, where a merge would change nothing.
    private static let maps = ["units", "attributes", "localizations"]

    /// The active SKUs that give their buyers nothing.
    package func skusGivingNothing() async throws(GatewayError) -> [(sku: SKU, fault: SKUFault)] {
        try await store.read { db in try db.skus.listActive() }.compactMap { sku in sku.givesNothing.map { (sku, $0) } }
    }

    static func requireKind(of after: SKU, like before: SKU) throws(GatewayError) {
        guard after.kind == before.kind else { throw kindIsFixed }
    }

    func patched(_ sku: SKU, _ patch: JSONValue) throws(GatewayError) -> SKU {
        let merged: SKU
        do {
            let current = try JSONDecoder().decode(JSONValue.self, from: Data(try sku.storedJSON().utf8))
            merged = try JSONTree(current.forgettingRenewal(in: patch).merging(patch).emptying(patch, Self.maps))
                .decode(SKU.self)
        } catch {
            throw GatewayError(decoding: error)
        }
        guard merged.kind == sku.kind else { throw Self.kindIsFixed }
        var after = try validate(merged)
        after.number = sku.number
        return after
    }
}

/// The counts of a catalogue import.
package struct CatalogueImport: Codable, Sendable, Equatable {
    package var added: Int
    package var changed: Int

    package init(added: Int, changed: Int) {
        self.added = added
        self.changed = changed
    }
}

extension JSONValue {
    /// Returns this SKU without `renewal` and `one_period_elsewhere`, which say the same, where the patch has one of them.
    fileprivate func forgettingRenewal(in patch: JSONValue) -> JSONValue {
        let twins = ["renewal", "one_period_elsewhere"]
        guard case .object(var members) = self, case .object(let changes) = patch,
            twins.contains(where: { changes[$0] != nil })
        else { return self }
        for name in twins { members[name] = nil }
        return .object(members)
    }

    /// Returns this object with each of the named members empty for which the patch has an empty object.
    fileprivate func emptying(_ patch: JSONValue, _ names: [String]) -> JSONValue {
        guard case .object(var members) = self, case .object(let changes) = patch else { return self }
        for name in names where changes[name] == .object([:]) { members[name] = .object([:]) }
        return .object(members)
    }
}
