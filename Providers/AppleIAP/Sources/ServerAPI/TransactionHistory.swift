package import AppleTrust
import FoundationEssentials

/// The filter of a transaction history; empty means all.
package struct AppStoreHistoryFilter: Sendable {
    package enum ProductType: String, Sendable {
        case autoRenewable = "AUTO_RENEWABLE"
        case nonRenewable = "NON_RENEWABLE"
        case consumable = "CONSUMABLE"
        case nonConsumable = "NON_CONSUMABLE"
    }

    package var productIDs: [String] = []
    package var productTypes: [ProductType] = []
    package var subscriptionGroups: [String] = []
    /// Purchased at this time or later, in milliseconds since 1970.
    package var from: Int64?
    /// Purchased before this time.
    package var until: Int64?
    package var ownership: AppleOwnership?
    package var revoked: Bool?
    package var newestFirst = false

    package init() {}

    var query: [(name: String, value: String)] {
        var query = productIDs.map { (name: "productId", value: $0) }
        query += productTypes.map { (name: "productType", value: $0.rawValue) }
        query += subscriptionGroups.map { (name: "subscriptionGroupIdentifier", value: $0) }
        if let from { query.append((name: "startDate", value: "\(from)")) }
        if let until { query.append((name: "endDate", value: "\(until)")) }
        if let ownership { query.append((name: "inAppOwnershipType", value: ownership.rawValue)) }
        if let revoked { query.append((name: "revoked", value: "\(revoked)")) }
        if newestFirst { query.append((name: "sort", value: "DESCENDING")) }
        return query
    }
}

extension AppStoreServerAPI {
    /// All transactions of the customer who made this one, refunded and finished ones too (Get Transaction History v2).
    ///
    /// - Parameters:
    ///   - id: any transaction's id, or an original one's.
    ///   - revision: the last page's `cursor` of another day, for what has changed since, with the same filter.
    package func history(
        of id: String, filter: AppStoreHistoryFilter = AppStoreHistoryFilter(), after revision: String? = nil,
        in place: AppStoreSearch = .anywhere
    ) -> AppStorePages<SignedText> {
        AppStorePages(from: revision, in: place) { cursor, place throws(AppStoreServerError) in
            var request = AppStoreRequest(
                endpoint: .history, method: "GET",
                path: "inApps/v2/history/\(try AppStoreRequest.id(id, "transaction id"))", query: filter.query)
            if let cursor { request.query.append((name: "revision", value: cursor)) }
            return try await signedPage(request, in: place)
        }
    }

    /// A page of signed transactions.
    func signedPage(
        _ request: AppStoreRequest, in place: AppStoreSearch
    ) async throws(AppStoreServerError) -> AppStorePage<SignedText> {
        try await page(in: place) { environment throws(AppStoreServerError) in
            try await ask(request, in: environment) { body throws(AppStoreAnswerDefect) in
                try SignedTransactionsPage.read(body).page(environment)
            }
        }
    }
}

extension AppStoreServerAPI {
    /// The refunded transactions of the customer who made this one (Get Refund History v2).
    ///
    /// - Parameter revision: the last page's `cursor` of another day.
    package func refunds(
        of id: String, after revision: String? = nil, in place: AppStoreSearch = .anywhere
    ) -> AppStorePages<SignedText> {
        AppStorePages(from: revision, in: place) { cursor, place throws(AppStoreServerError) in
            var request = AppStoreRequest(
                endpoint: .refundHistory, method: "GET",
                path: "inApps/v2/refund/lookup/\(try AppStoreRequest.id(id, "transaction id"))")
            if let cursor { request.query.append((name: "revision", value: cursor)) }
            return try await signedPage(request, in: place)
        }
    }
}
