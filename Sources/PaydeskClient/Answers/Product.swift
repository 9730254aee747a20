import Foundation

/// A SKU that is sold (`api.md` section 3).
public struct CatalogueProduct: Sendable, Equatable, Decodable {
    public struct Option: Sendable, Equatable, Decodable {
        public let days: Int64
    }

    public let sku: String
    public let name: String
    public let description: String
    /// `subscription`, `non_renewing`, `non_consumable` or `consumable`.
    public let kind: String
    public let tier: String?
    public let durationDays: Int64?
    public let prices: [ClientMoney]
    public let options: [Option]
    public let appleProductIDs: [String]
    public let attributes: [String: AttributeValue]
    public let isOwned: Bool

    enum CodingKeys: String, CodingKey {
        case sku, name, description, kind, tier, prices, options, attributes
        case durationDays = "duration_days"
        case appleProductIDs = "apple_product_ids"
        case isOwned = "owned"
    }

    /// The product ids to ask the App Store for: a pattern gives one for each option's days.
    var storeProductIDs: [String] {
        appleProductIDs.flatMap { id in
            let name = id.split(separator: ":", maxSplits: 1).last.map(String.init) ?? id
            guard let mark = name.range(of: "${days}") else { return name.contains("${") ? [] : [name] }
            return options.map { name.replacingCharacters(in: mark, with: String($0.days)) }
        }
    }
}

/// A page of a list.
struct Page<Item: Decodable & Sendable>: Decodable, Sendable {
    let items: [Item]
    let nextCursor: String?

    enum CodingKeys: String, CodingKey {
        case items
        case nextCursor = "next_cursor"
    }
}
