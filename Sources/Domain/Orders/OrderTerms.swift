/// The terms that an order grants, fixed when the order is made; later changes of the SKU do not touch them.
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

extension OrderTerms {
    /// The part of an order's terms that is left after a refund.
    package struct Remainder: Sendable, Equatable {
        /// The number of items that are left; 0 where nothing is left that lasts.
        package let items: Int64
        /// The whole length in days; nil for what does not end or is used up.
        package let days: Int64?
        package let units: [String: Int64]
    }

    /// Returns the terms that are left after a store took back a share.
    ///
    /// A consumable loses that share of its units, something bought several times loses whole items, both rounded to
    /// the nearest; a single item stays until all of it is taken back.
    ///
    /// - Parameters:
    ///   - quantity: how many were bought, at least 1; `days` and `units` are those of all of them.
    ///   - share: in thousandths of a percent; nil where nothing was taken back.
    package func remainder(of quantity: Int64, after share: Int64?) -> Remainder {
        let share = min(max(share ?? 0, 0), Order.wholeShare)
        let quantity = max(quantity, 1)
        let items: Int64 =
            if share == Order.wholeShare {
                0
            } else if quantity == 1 || kind == .subscription {
                quantity
            } else {
                quantity - Self.part(share, of: quantity)
            }
        let left =
            kind == .consumable
            ? units.mapValues { $0 - Self.part(share, of: $0) }
            : units.mapValues {
                $0 / quantity * items
            }
        return Remainder(items: items, days: days.map { $0 / quantity * items }, units: left)
    }

    /// A share of a number, rounded to the nearest whole one.
    private static func part(_ share: Int64, of number: Int64) -> Int64 {
        let (whole, rest) = number.quotientAndRemainder(dividingBy: Order.wholeShare)
        return whole * share + (rest * share + Order.wholeShare / 2) / Order.wholeShare
    }
}
