/// What an order grants, fixed at the moment of its making; later changes of the SKU do not touch it.
package struct OrderTerms: Hashable, Sendable, Codable {
    package var name: String
    package var kind: SKU.Kind
    package var tier: String
    package var rank: Int64
    /// The whole length in days, quantity included; nil for what does not end or is used up.
    package var days: Int64?
    /// The stack group where passes extend each other.
    package var stackGroup: String?
    package var onRefund: SKU.OnRefund
    /// Units to credit, quantity included.
    package var units: [String: Int64]
    package var attributes: [String: JSONValue]

    private enum CodingKeys: String, CodingKey {
        case name, kind, tier, rank, days, units, attributes
        case stackGroup = "stack_group"
        case onRefund = "on_refund"
    }
}
