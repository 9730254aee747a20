import Domain
import ProviderKit

/// Reads `routing` of an account's file.
enum RoutingSection {
    private static let keys = ["platforms", "currencies", "priority", "weight", "min", "max", "skus"]
    private static let amounts: ClosedRange<Int64> = 0...1_000_000_000_000_000

    static func read(_ root: MappingReader) -> AccountRouting {
        let routing = root.section("routing", keys: keys)
        let platforms = Platform.allCases.map(\.rawValue)
        let least = routing["min"]?.optionalInteger(in: amounts)
        let most = routing["max"]?.optionalInteger(in: amounts)
        if let least, let most, least > most {
            routing.fault("max", "is below min", "write the larger amount, in minor units, in max")
        }
        return AccountRouting(
            platforms: routing.elements("platforms").compactMap {
                $0.choice(platforms).flatMap(Platform.init(rawValue:))
            },
            currencies: currencies(routing),
            priority: routing.integer("priority", in: -1_000_000...1_000_000, default: 0),
            weight: routing.integer("weight", in: 0...1_000_000, default: 1), min: least, max: most, skus: skus(routing)
        )
    }

    private static func currencies(_ routing: MappingReader) -> [Currency] {
        routing.elements("currencies").compactMap { element in
            guard let text = element.text() else { return nil }
            guard let currency = Currency(text) else {
                element.fault("is not an ISO 4217 currency", "write three capitals such as CNY")
                return nil
            }
            return currency
        }
    }

    private static func skus(_ routing: MappingReader) -> [String] {
        routing.elements("skus").compactMap { element in
            guard let text = element.text() else { return nil }
            guard SKUCode(text) != nil else {
                element.fault("is not a SKU's id", "use small letters, digits and _.- only")
                return nil
            }
            return text
        }
    }
}
