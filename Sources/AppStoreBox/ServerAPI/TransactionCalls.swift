import Domain
import Encodings

// Get Transaction Info, Get Transaction History, Get Refund History and Look Up Order ID.
extension ServerAPI {
    /// The transactions of a page.
    static let page = 20

    private struct TransactionInfo: Encodable {
        let signedTransactionInfo: String
    }

    func transactionInfo(_ id: String) async throws -> ServerAPIAnswer {
        .json(TransactionInfo(signedTransactionInfo: try signer.transaction(try await known(id))))
    }

    private struct History: Encodable {
        let revision: String
        let hasMore: Bool
        let bundleId: String
        let appAppleId: Int64?
        let environment = boxEnvironment
        let signedTransactions: [String]
    }

    func history(of id: String, _ request: ServerAPIRequest) async throws -> ServerAPIAnswer {
        let filter = try HistoryFilter(request)
        let found = try await customerPage(of: id, request, newestFirst: filter.newestFirst, where: filter.takes)
        return .json(
            History(
                revision: found.revision, hasMore: found.hasMore, bundleId: app.bundleID, appAppleId: app.appAppleID,
                signedTransactions: found.signed))
    }

    private struct Refunds: Encodable {
        let signedTransactions: [String]
        let revision: String
        let hasMore: Bool
    }

    func refunds(of id: String, _ request: ServerAPIRequest) async throws -> ServerAPIAnswer {
        let found = try await customerPage(of: id, request, newestFirst: false) {
            $0.revocation.map { $0.kind != .family } ?? false
        }
        return .json(Refunds(signedTransactions: found.signed, revision: found.revision, hasMore: found.hasMore))
    }

    private struct Page {
        let signed: [String]
        let revision: String
        let hasMore: Bool
    }

    /// A page of the customer's transactions that a filter takes.
    private func customerPage(
        of id: String, _ request: ServerAPIRequest, newestFirst: Bool, where takes: (BoxTransaction) -> Bool
    ) async throws -> Page {
        let row = try await known(id)
        var place: HistoryPlace?
        if let revision = request.value("revision") {
            guard let known = HistoryPlace(revision: revision) else { throw AppleError.invalidRequestRevision }
            place = known
        }
        var rows: [BoxTransaction] = []
        if newestFirst {
            // The whole history is turned round; the revision is then the place before which the page ends.
            let all = try await transactions(of: row.customer, after: nil, upTo: .max, where: takes).reversed()
            rows = Array(all.drop { row in place.map { !Self.isBefore(row, $0) } ?? false }.prefix(Self.page + 1))
        } else {
            rows = try await transactions(of: row.customer, after: place, upTo: Self.page + 1, where: takes)
        }
        let shown = rows.prefix(Self.page)
        let end = shown.last.map(HistoryPlace.init(behind:)) ?? place ?? HistoryPlace(behind: row)
        return Page(
            signed: try shown.map { try signer.transaction($0) }, revision: end.revision,
            hasMore: rows.count > Self.page)
    }

    private static func isBefore(_ row: BoxTransaction, _ place: HistoryPlace) -> Bool {
        (row.signedAt, row.transactionID) < (place.signedAt, place.transactionID)
    }

    /// The transactions of a customer that a filter takes, read a hundred at a time.
    func transactions(
        of customer: String, after place: HistoryPlace?, upTo limit: Int,
        where takes: (BoxTransaction) -> Bool = { _ in true }
    ) async throws -> [BoxTransaction] {
        var (found, place): ([BoxTransaction], HistoryPlace?) = ([], place)
        while true {
            let rows = try await reader.transactions(of: customer, after: place, limit: 100)
            found += rows.filter(takes)
            guard rows.count == 100, found.count < limit, let last = rows.last else { break }
            place = HistoryPlace(behind: last)
        }
        return Array(found.prefix(limit))
    }

    private struct Order: Encodable {
        let status: Int
        let signedTransactions: [String]?
    }

    /// Status 0 with the transaction, or 1 for an order that the box does not know.
    func order(_ id: String) async throws -> ServerAPIAnswer {
        guard let number = BoxTransaction.transactionID(ofOrder: id), let row = try await reader.transaction(number)
        else { return .json(Order(status: 1, signedTransactions: nil)) }
        return .json(Order(status: 0, signedTransactions: [try signer.transaction(row)]))
    }
}

extension BoxTransaction {
    /// The id of the order on the customer's receipt: `M` and the transaction's id in base 36.
    package var orderID: String { "M" + (Int64(transactionID).map { String($0, radix: 36, uppercase: true) } ?? "") }

    /// - Returns: nil for a text that is no order of the box.
    static func transactionID(ofOrder id: String) -> String? {
        guard id.hasPrefix("M"), id.utf8.count <= 14, let number = Int64(id.dropFirst(), radix: 36) else { return nil }
        let text = String(number)
        return BoxTransactionID.isOne(text) ? text : nil
    }
}

/// The filter of a transaction history.
///
/// Source: Apple, App Store Server API, Get Transaction History, "Query Parameters".
private struct HistoryFilter {
    private let products: Set<String>
    private let kinds: Set<SKU.Kind>
    private let groups: Set<String>
    private let from: Int64?
    private let until: Int64?
    private let isShared: Bool?
    private let isRevoked: Bool?
    let newestFirst: Bool

    private static let productTypes: [String: SKU.Kind] = [
        "AUTO_RENEWABLE": .subscription, "NON_RENEWABLE": .nonRenewing, "CONSUMABLE": .consumable,
        "NON_CONSUMABLE": .nonConsumable,
    ]

    init(_ request: ServerAPIRequest) throws(AppleError) {
        products = Set(request.values("productId"))
        guard !products.contains("") else { throw .invalidProductID }
        var kinds: Set<SKU.Kind> = []
        for name in request.values("productType") {
            guard let kind = Self.productTypes[name] else { throw .invalidProductType }
            kinds.insert(kind)
        }
        self.kinds = kinds
        groups = Set(request.values("subscriptionGroupIdentifier"))
        guard !groups.contains("") else { throw .invalidSubscriptionGroup }
        from = try Self.date(request.value("startDate"), else: .invalidStartDate)
        until = try Self.date(request.value("endDate"), else: .invalidEndDate)
        if let from, let until, from >= until { throw .startDateAfterEndDate }
        isShared = try Self.word(
            request.value("inAppOwnershipType"), ["FAMILY_SHARED": true, "PURCHASED": false],
            else: .invalidOwnershipType)
        // `excludeRevoked` is the older name of `revoked=false`.
        let excluded = try Self.word(
            request.value("excludeRevoked"), ["true": true, "false": false], else: .invalidExcludeRevoked)
        let revoked = try Self.word(request.value("revoked"), ["true": true, "false": false], else: .invalidRevoked)
        isRevoked = revoked ?? (excluded == true ? false : nil)
        newestFirst =
            try Self.word(request.value("sort"), ["DESCENDING": true, "ASCENDING": false], else: .invalidSort) ?? false
    }

    private static func date(_ text: String?, else error: AppleError) throws(AppleError) -> Int64? {
        guard let text else { return nil }
        guard let date = Int64(text), date >= 0 else { throw error }
        return date
    }

    private static func word(
        _ text: String?, _ words: [String: Bool], else error: AppleError
    ) throws(AppleError) -> Bool? {
        guard let text else { return nil }
        guard let value = words[text] else { throw error }
        return value
    }

    /// Returns whether the history has a transaction.
    func takes(_ row: BoxTransaction) -> Bool {
        (products.isEmpty || products.contains(row.productID)) && (kinds.isEmpty || kinds.contains(row.kind))
            && (groups.isEmpty || row.group.map(groups.contains) ?? false)
            && (from.map { row.purchasedAt >= $0 } ?? true) && (until.map { row.purchasedAt < $0 } ?? true)
            && (isShared.map { row.isFamilyShared == $0 } ?? true)
            && (isRevoked.map { (row.revocation != nil) == $0 } ?? true)
    }
}
