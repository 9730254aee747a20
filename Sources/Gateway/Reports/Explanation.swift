package import Domain

/// The reasons for a user's entitlements, as a support person can read them to a customer.
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

    /// The reader; the user does not see the reasons that staff gave.
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
