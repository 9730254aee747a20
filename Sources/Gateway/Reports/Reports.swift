package import Domain
import ProviderKit
import Store

/// Statistics, exports and explanations for staff.
package struct Reports: Sendable {
    let store: StoreAccess
    let time: BusinessTime
    let registry: ProviderRegistry

    private static let exportPage: Int64 = 500

    /// Explains a user's entitlements to one SKU, or all of them, by the stored facts that led to them.
    ///
    /// An unknown user has no facts.
    ///
    /// - Throws: `skuNotFound`.
    package func explain(
        user: ExternalUserID, sku: String?, reader: Explanation.Reader, languages: [String]
    ) async throws(GatewayError) -> Explanation {
        let now = time.now
        var code: SKUCode?
        if let sku {
            guard let named = SKUCode(sku) else { throw .skuNotFound(sku) }
            code = named
        }
        // The texts are made on the same thread, because hundreds of orders have thousands of facts.
        return try await store.report { [code] db in
            if let code, try db.skus.find(code) == nil { throw GatewayError.skuNotFound(code.rawValue) }
            let source = try ExplainSource.load(user, code, from: db)
            let explainer = Explainer(
                source: source, fold: EntitlementRules.fold(source.grants, now: now),
                language: ExplanationLanguage(languages), languages: languages, reader: reader, now: now)
            return Explanation(
                user: user.rawValue, sku: code?.rawValue, active: explainer.isActive, facts: explainer.facts(),
                conclusion: explainer.conclusion())
        }
    }

    /// Begins an export of the orders of a query, from the first on; those made from now on are not in it.
    ///
    /// - Throws: `invalidRequest` for a period that ends before it begins.
    package func beginExport(_ query: OrderQuery) throws(GatewayError) -> OrderExport {
        // A time ahead is later than every order, and no fault.
        let from = query.to == nil ? query.from.map { min($0, time.now) } : query.from
        var query = query
        query.to = try ReportPeriod(from: from, to: query.to, days: nil, limit: nil, now: time.now).to
        return OrderExport(query: query)
    }

    /// Returns the next lines of an export as CSV (RFC 4180), in the order of the orders' ids; nil at the end.
    ///
    /// Amounts are minor units and times seconds since 1970, as everywhere in the API; for people there are also the
    /// price in major units and the times in ISO 8601.
    package func continueExport(_ export: inout OrderExport) async throws(GatewayError) -> String? {
        guard !export.hasEnded else { return nil }
        let (query, last) = (export.query, export.last)
        let orders = try await store.report { db -> [ExportedOrder] in
            guard let filter = try query.filter(in: db) else { return [] }
            return try db.reports.listOrders(filter, after: last, limit: Self.exportPage)
        }
        let header = last == nil ? CSV.line(ExportedOrder.columns) : ""
        export.hasEnded = orders.count < Int(Self.exportPage)
        export.last = orders.last?.order.id
        let lines = orders.reduce(into: header) { $0 += CSV.line($1.cells) }
        return lines.isEmpty ? nil : lines
    }
}
