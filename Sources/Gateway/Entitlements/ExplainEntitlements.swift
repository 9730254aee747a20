package import Domain
import Store

/// Why a user owns what the user owns, as a support person can read it to a customer.
package struct Explanation: Encodable, Sendable {
    package struct Fact: Encodable, Sendable {
        package let at: Timestamp
        package let type: String
        package let text: String
        package let order: ID<Order>?
        package let grant: ID<Grant>?

        private enum CodingKeys: String, CodingKey { case at, type, text, order_id, grant_id }

        package func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(at, forKey: .at)
            try fields.encode(type, forKey: .type)
            try fields.encode(text, forKey: .text)
            try fields.encode(order, forKey: .order_id)
            try fields.encode(grant, forKey: .grant_id)
        }
    }

    /// Who reads it: the user is not shown the reasons that the staff noted.
    package enum Reader: Sendable {
        case user, staff
    }

    package let user: String
    package let sku: String?
    package let active: Bool
    /// Oldest first.
    package let facts: [Fact]
    package let conclusion: String

    private enum CodingKeys: String, CodingKey { case user_id, sku, active, facts, conclusion }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(user, forKey: .user_id)
        try fields.encode(sku, forKey: .sku)
        try fields.encode(active, forKey: .active)
        try fields.encode(facts, forKey: .facts)
        try fields.encode(conclusion, forKey: .conclusion)
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
