import Domain
import Testing

/// Makes grants for the tests of entitlements; days count from 1970-01-01 UTC.
enum GrantSample {
    /// Makes a pass of the group and tier `VIP`; the number is the grant's id and, by default, its source's id.
    static func make(
        _ number: Int, sku: String = "vip", kind: SKU.Kind = .nonRenewing, tier: String = "VIP", rank: Int64 = 20,
        bought: Int64, _ term: Grant.Term, group: String? = "VIP", source: Grant.Source? = nil, order: Int? = nil,
        environment: Environment = .production, attributes: [String: JSONValue] = [:],
        revoked: Grant.Revocation? = nil, suspended: Bool = false
    ) throws -> Grant {
        let code: SKUCode = try #require(SKUCode(sku))
        return Grant(
            id: try sampleID(number), user: try sampleID(1), sku: code, kind: kind, tier: tier, rank: rank,
            source: source ?? Grant.Source(kind: .order, id: "source-\(number)"),
            order: try order.map { try sampleID($0) }, environment: environment, purchasedAt: day(bought), term: term,
            stackGroup: group, attributes: attributes, revocation: revoked, suspended: suspended)
    }

    /// Makes the grants of a user with every kind: consecutive passes, another tier, a device, a subscription, revoked
    /// ones.
    static func mixture() throws -> [Grant] {
        [
            try make(1, sku: "month", bought: 0, .days(30)),
            try make(2, sku: "year", bought: 10, .days(365)),
            try make(3, sku: "basic", tier: "BASIC", rank: 5, bought: 5, .days(7), group: "BASIC"),
            try make(4, sku: "radio", kind: .nonConsumable, tier: "", rank: 0, bought: 3, .perpetual, group: nil),
            try make(5, sku: "gone", bought: 12, .days(30), revoked: Grant.Revocation(at: day(13), reason: .refund)),
            try make(6, sku: "held", bought: 14, .days(30), suspended: true),
            try make(7, sku: "sub", kind: .subscription, bought: 300, .until(day(330)), group: nil),
            try make(8, sku: "test", bought: 20, .days(3), environment: .sandbox),
        ]
    }
}

extension EntitlementFold {
    /// The periods of the grants in days, by their SKU: "0–30", without an end "3–".
    var spans: [String: String] {
        Dictionary(
            entitlements.map { entitlement in
                let start = entitlement.startsAt.rawValue / 86_400
                let end = entitlement.endsAt.map { String($0.rawValue / 86_400) }
                return (entitlement.grant.sku.rawValue, "\(start)–\(end ?? "")")
            }, uniquingKeysWith: { "\($0), \($1)" })
    }

    var statuses: [String: Entitlement.Status] {
        Dictionary(entitlements.map { ($0.grant.sku.rawValue, $0.status) }, uniquingKeysWith: { first, _ in first })
    }
}
