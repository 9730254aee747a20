/// A promotional offer of App Store Connect on a product of a SKU, with the customers who may have it.
package struct PromotionalOffer: Hashable, Sendable {
    /// The customers to whom an offer is signed, by their subscriptions of the SKU's stack group.
    package enum Audience: String, Sendable, Codable, CaseIterable {
        case any
        /// Users who never had one.
        case new
        /// Users who had one and have none that is active or in its grace period.
        case lapsed
        /// Users who have one that is active or in its grace period.
        case running
    }

    package static let most = 100

    /// Apple's offer identifier.
    package let id: String
    /// The product without its bundle id.
    package let productID: String
    package let audience: Audience
    /// True for an offer that a user redeems once.
    package let isOnce: Bool

    package init(id: String, productID: String, audience: Audience = .any, isOnce: Bool = false) {
        self.id = id
        self.productID = productID
        self.audience = audience
        self.isOnce = isOnce
    }
}

extension PromotionalOffer: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, productID = "product_id", audience, isOnce = "once"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(String.self, forKey: .id)
        productID = try fields.decode(String.self, forKey: .productID)
        isOnce = try fields.decodeIfPresent(Bool.self, forKey: .isOnce) ?? false
        let word = try fields.decodeIfPresent(String.self, forKey: .audience) ?? Audience.any.rawValue
        guard let audience = Audience(rawValue: word) ?? (decoder.isSurvey ? .any : nil) else {
            // The fault is the list's, as are those of its other rules.
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: Array(decoder.codingPath.dropLast()),
                    debugDescription: "an offer's audience is any, new, lapsed or running"))
        }
        self.audience = audience
    }
}

extension SKU {
    /// The fault of the offers; nil where there is none.
    var offersFault: SKUFault? {
        guard !offers.isEmpty else { return nil }
        guard kind == .subscription else { return SKUFault(field: "offers", reason: "only a subscription has offers") }
        let names = Set(offers.map { [$0.productID, $0.id] })
        guard offers.count <= PromotionalOffer.most, names.count == offers.count else {
            return SKUFault(field: "offers", reason: "at most 100, each product with different ids")
        }
        guard offers.allSatisfy({ $0.id.hasBytes(1...255, where: \.isVisible) }) else {
            return SKUFault(field: "offers", reason: "an offer's id has 1 to 255 visible ASCII characters")
        }
        let own = Set(appleProducts.filter { !$0.isPattern }.map(\.product))
        guard offers.allSatisfy({ own.contains($0.productID) }) else {
            return SKUFault(field: "offers", reason: "an offer's product must be one of the SKU's")
        }
        return nil
    }
}
