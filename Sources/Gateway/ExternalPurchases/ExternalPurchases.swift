package import Domain
import ProviderKit
import Store

/// A token that the app has handed in.
package struct KeptExternalToken: Encodable, Sendable, Equatable {
    package let id: ID<ExternalToken>
    package let external_purchase_id: String
    package let state: String
}

/// A token in an admin's list.
package struct ExternalTokenView: Encodable, Sendable {
    package struct LineItem: Encodable, Sendable {
        let line_item_id: String
        let fact_id: String
        let amount: Money
        let erroneous: Bool
    }

    package struct Report: Encodable, Sendable {
        package let request_identifier: String
        package let status: String
        package let state: String
        @Nullable package private(set) var answer: String?
        let line_items: [LineItem]
        let created_at: Timestamp

        fileprivate init(_ record: ExternalReportRecord) {
            request_identifier = record.requestIdentifier
            status = record.status.rawValue
            state = record.state.rawValue
            _answer = Nullable(wrappedValue: record.answer)
            line_items = record.items.compactMap { item in
                item.item.money.map {
                    LineItem(
                        line_item_id: item.item.lineItemId, fact_id: item.factID, amount: $0,
                        erroneous: item.isErroneous)
                }
            }
            created_at = record.createdAt
        }
    }

    package let id: ID<ExternalToken>
    package let external_purchase_id: String
    let environment: Environment
    @Nullable private(set) var token_type: String?
    let bundle_id: String
    package let source: String
    /// The internal id; it is replaced by the app's own id where it is shown.
    @Nullable package private(set) var user_id: ID<User>?
    let created_at: Timestamp
    package let due_at: Timestamp
    package let state: String
    package let orders: [ID<Order>]
    package let reports: [Report]

    init(_ token: ExternalToken, orders: [ID<Order>], reports: [ExternalReportRecord], at now: Timestamp) {
        id = token.id
        external_purchase_id = token.token.externalPurchaseID
        environment = token.token.environment
        _token_type = Nullable(wrappedValue: token.token.type)
        bundle_id = token.token.bundleID
        source = token.source.rawValue
        _user_id = Nullable(wrappedValue: token.user)
        created_at = token.createdAt
        due_at = token.dueAt
        state = token.state(at: now).rawValue
        self.orders = orders
        self.reports = reports.map(Report.init)
    }
}

/// Purchases outside of the App Store, with the tokens that Apple wants reported.
package struct ExternalPurchases: Sendable {
    /// The number of new tokens that a user may hand in within a day without an order.
    ///
    /// Anybody can write a token, and each one that is kept is reported to Apple.
    static let tokensPerDay: Int64 = 100

    let settlements: SettlementRunner

    var store: StoreAccess { settlements.store }
    private var accounts: ExternalAccounts { ExternalAccounts(registry: settlements.providers.registry) }

    /// Reads the claim of a checkout or a session; nil where it has no token.
    ///
    /// - Throws: `invalidRequest` naming `external_purchase_token` or `storefront`.
    package func claim(_ text: String?, storefront: String?) throws(GatewayError) -> ExternalClaim? {
        let read = try text.map { text throws(GatewayError) in try accounts.read(text, "external_purchase_token") }
        if let storefront, !ExternalRegions.isStorefront(storefront) {
            throw .invalidRequest(field: "storefront", reason: "must be a country in three letters (ISO 3166 alpha-3)")
        }
        guard let read else { return nil }
        guard let storefront else { throw .invalidRequest(field: "storefront", reason: "is missing") }
        return ExternalClaim(token: .given(read.token, at: read.account), storefront: storefront)
    }

    /// Keeps a token without an order.
    ///
    /// - Throws: `invalidRequest` naming `token`, `conflict` for a token of another user, `rateLimited` for a new token
    ///   of a user who has handed in as many as a day may have.
    package func keep(
        _ text: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> KeptExternalToken {
        let (token, account) = try accounts.read(text, "token")
        return try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            let userID = try tx.users.ensure(user, candidate: settlement.ids.make(), at: settlement.now)
            try tx.users.lock(userID)
            if try tx.externalPurchases.find(at: account, externalPurchaseID: token.externalPurchaseID) == nil,
                let earlier = try tx.externalPurchases.time(ofNewest: Self.tokensPerDay, of: userID)
            {
                let end = earlier.adding(days: 1)
                guard end <= settlement.now else {
                    throw GatewayError.rateLimited(retryAfter: end.rawValue - settlement.now.rawValue)
                }
            }
            let kept = try settlement.external.keep(token, at: account, for: userID, source: .app)
            try tx.bind(context, to: kept.id.rawValue)
            return KeptExternalToken(
                id: kept.id, external_purchase_id: token.externalPurchaseID,
                state: kept.state(at: settlement.now).rawValue)
        }
    }

    /// Lists tokens with their orders and reports, newest first.
    package func list(
        _ state: ExternalToken.State?, _ environment: Environment?, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<ExternalTokenView> {
        let cursor = try Cursor(cursor, of: ExternalToken.self)
        let now = settlements.time.now
        let filter = ExternalTokenFilter(state: state, environment: environment)
        let found = try await store.report { db in
            let tokens = try db.externalPurchases.list(filter, before: cursor.position, limit: limit + 1, at: now)
            return try Self.views(tokens, in: db, at: now)
        }
        return Page(found, limit: limit) { $0.id.rawValue }
    }

    /// Reports a token as a duplicate of another one, on which its transactions were reported.
    ///
    /// - Throws: `notFound`; `conflict` for a token of another type, and for one on which something was bought or line
    ///   items are, or may be, reported.
    package func reportDuplicate(
        _ token: String, reason: String, context: CallContext
    ) async throws(GatewayError) -> ExternalTokenView {
        try await act(on: token, context) { settlement, found in
            let reports = try settlement.tx.externalPurchases.reports(of: found.id)
            guard found.mayBeDuplicate else {
                throw GatewayError.conflict(reason: "only a token of the type SERVICES or ACQUISITION has duplicates")
            }
            let isUsed = reports.contains { $0.state != .refused && $0.status == .lineItem }
            guard try !isUsed && ExternalPurchaseReading(db: settlement.tx).purchases(of: found.id).isEmpty else {
                throw GatewayError.conflict(reason: "line items are reported on this token")
            }
            guard !reports.contains(where: { $0.status == .duplicateToken }) else { return }
            _ = try settlement.external.intend(.duplicateToken, [], of: found)
            try settlement.log.audit(
                subject: found.id.rawValue, "external_token.duplicate", before: found.state.rawValue,
                after: ExternalReportStatus.duplicateToken.rawValue, reason: reason, about: found.user)
            try settlement.external.look(at: found.id)
        }
    }

    /// Sends what Apple refused again under the same identifiers, and lets the account send where its key was refused.
    ///
    /// - Throws: `notFound`.
    package func retry(_ token: String, context: CallContext) async throws(GatewayError) -> ExternalTokenView {
        try await act(on: token, context) { settlement, found in
            try settlement.external.retry(found)
            try settlement.log.audit(
                subject: found.id.rawValue, "external_token.retried", before: found.state.rawValue, after: "due",
                about: found.user)
        }
    }

    private func act(
        on token: String, _ context: CallContext,
        _ body: @escaping @Sendable (Settlement, ExternalToken) throws -> Void
    ) async throws(GatewayError) -> ExternalTokenView {
        guard let id = ID<ExternalToken>(token) else { throw .unknown(.externalToken, token) }
        return try await settlements.run(context.audit) { settlement in
            guard let found = try settlement.tx.externalPurchases.lock(id) else {
                throw GatewayError.unknown(.externalToken, token)
            }
            try body(settlement, found)
            try settlement.tx.bind(context, to: id.rawValue)
            let after = try settlement.tx.externalPurchases.find(id) ?? found
            guard let view = try Self.views([after], in: settlement.tx, at: settlement.now).first else {
                throw GatewayError.internalError
            }
            return view
        }
    }

    private static func views(
        _ tokens: [ExternalToken], in db: any Database, at now: Timestamp
    ) throws -> [ExternalTokenView] {
        let ids = tokens.map(\.id)
        let (reports, orders) = (
            try db.externalPurchases.reports(of: ids), try db.externalPurchases.orderIDs(of: ids)
        )
        return tokens.map { token in
            ExternalTokenView(token, orders: orders[token.id] ?? [], reports: reports[token.id] ?? [], at: now)
        }
    }
}
