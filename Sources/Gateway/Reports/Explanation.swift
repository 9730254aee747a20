package import Domain

/// The reasons for a user's entitlements, in sentences that a support agent can read to a customer.
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

    /// The reader; the reasons that staff gave are not shown to the user.
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
