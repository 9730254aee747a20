package import Domain
import Store

/// Why a user owns what the user owns, as a support person can read it to a customer.
package struct Explanation: Encodable, Sendable {
    package struct Fact: Encodable, Sendable {
        package let at: Timestamp
        package let type: String
        package let text: String
        @Nullable package private(set) var order: ID<Order>?
        @Nullable package private(set) var grant: ID<Grant>?

        private enum CodingKeys: String, CodingKey {
            case at, type, text
            case order = "order_id"
            case grant = "grant_id"
        }
    }

    /// Who reads it: the user is not shown the reasons that the staff noted.
    package enum Reader: Sendable {
        case user, staff
    }

    package let user: String
    @Nullable package private(set) var sku: String?
    package let active: Bool
    /// Oldest first.
    package let facts: [Fact]
    package let conclusion: String

    private enum CodingKeys: String, CodingKey {
        case user = "user_id"
        case sku, active, facts, conclusion
    }
}

extension Gateway {
    /// Tells the stored facts that led to what a user owns: of one SKU, or of everything; a user never seen has none.
    ///
    /// - Throws: `skuNotFound`.
    package func explainEntitlements(
        user: ExternalUserID, sku: String?, reader: Explanation.Reader, languages: [String]
    ) async throws(GatewayError) -> Explanation {
        let now = time.now
        var code: SKUCode?
        if let sku {
            guard let named = SKUCode(sku) else { throw .skuNotFound(sku) }
            code = named
        }
        // The words are made where the facts are read: hundreds of orders have thousands of them.
        return try await report { [code] db in
            if let code, try db.skus.find(code) == nil { throw GatewayError.skuNotFound(code.rawValue) }
            let source = try ExplainSource.load(user, code, from: db)
            let explainer = Explainer(
                source: source, fold: EntitlementRules.fold(source.grants, now: now),
                words: ExplainWords(languages: languages), languages: languages, reader: reader, now: now)
            return Explanation(
                user: user.rawValue, sku: code?.rawValue, active: explainer.isActive, facts: explainer.facts(),
                conclusion: explainer.conclusion())
        }
    }
}
