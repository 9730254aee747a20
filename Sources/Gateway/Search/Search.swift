import Domain
import Store

/// A subject that a search found.
package struct SearchResult: Encodable, Sendable, Equatable {
    /// The kind of a subject, which has a page of its own in the console.
    package enum Kind: String, Encodable, Sendable, CaseIterable {
        case order, user, sku, subscription, purchase, webhook, notification
    }

    let type: Kind
    /// The id in the API.
    let id: String
    /// The name to show.
    let label: String
    /// A few words about it.
    let hint: String
}

/// Searches all subjects by their exact ids, and users by the beginning of their ids.
package struct Search: Sendable {
    let store: StoreAccess

    private static let limit = 20

    /// Finds at most 20 subjects: exact matches first, then users by prefix.
    package func find(_ text: String) async throws(GatewayError) -> [SearchResult] {
        guard text.hasScalars(1...128), text.isPlain else {
            throw .invalidRequest(
                field: "q", reason: "must have 1 to 128 characters, none of them a control character")
        }
        return try await store.report { db in
            var found = try orders(text, in: db) + purchases(text, in: db)
            let exact = try ExternalUserID(text).flatMap { try db.users.findID($0) } != nil
            if exact { found.append(SearchResult(type: .user, id: text, label: text, hint: "")) }
            found += try things(text, in: db)
            let room = Self.limit - found.count
            guard room > 0 else { return Array(found.prefix(Self.limit)) }
            let users = try db.users.list(prefix: text, after: exact ? text : nil, limit: Int64(room))
            return found + users.map { SearchResult(type: .user, id: $0.name, label: $0.name, hint: "") }
        }
    }

    private func orders(_ text: String, in db: any Database) throws -> [SearchResult] {
        try db.search.listOrders(named: text, limit: Int64(Self.limit)).compactMap { id in
            try db.orders.find(id).map { order in
                let money = (order.charged ?? order.amount).map { " \($0.decimal) \($0.currency)" } ?? ""
                return SearchResult(
                    type: .order, id: id.rawValue, label: id.rawValue,
                    hint: "\(order.status.rawValue) \(order.sku.rawValue)\(money)")
            }
        }
    }

    private func purchases(_ text: String, in db: any Database) throws -> [SearchResult] {
        try db.search.listPurchases(transaction: text, limit: Self.limit).map {
            SearchResult(
                type: .purchase, id: $0.purchase.originalTransactionID, label: $0.purchase.productID,
                hint: $0.purchase.environment.rawValue)
        }
    }

    /// Finds the SKU, subscription, webhook and notification with this id.
    private func things(_ text: String, in db: any Database) throws -> [SearchResult] {
        var found: [SearchResult] = []
        if let sku = try SKUCode(text).flatMap({ try db.skus.find($0) }) {
            found.append(SearchResult(type: .sku, id: sku.id, label: sku.name, hint: sku.kind.rawValue))
        }
        if let record = try ID<Subscription>(text).flatMap({ try db.subscriptions.find($0) }) {
            found.append(
                SearchResult(
                    type: .subscription, id: record.id.rawValue, label: record.original,
                    hint: record.environment.rawValue))
        }
        if let record = try ID<Webhook>(text).flatMap({ try db.webhooks.find($0) }), !record.isRetired {
            found.append(
                SearchResult(type: .webhook, id: record.id.rawValue, label: record.url, hint: record.partner))
        }
        if let summary = try ID<Notification>(text).flatMap({ try db.notifications.find($0) }) {
            found.append(
                SearchResult(
                    type: .notification, id: summary.id.rawValue, label: summary.type,
                    hint: "\(summary.account) \(summary.status.rawValue)"))
        }
        return found
    }
}
