package import Domain
import Foundation

/// The catalogue as YAML: `catalog.yaml`, `catalog import` and `catalog export`.
///
/// Variables (`${NAME}`) are not filled in.
package enum CatalogFile {
    package static let name = "catalog.yaml"

    private static let keys = [
        "id", "number", "name", "description", "kind", "tier", "rank", "duration_days", "plan_code", "subscribe_id",
        "prices",
        "apple_product_ids", "offers", "options", "units", "attributes", "client_fallback", "stacking", "stack_group",
        "on_refund", "renewal", "period", "trial_days", "grace_days",
        "one_period_elsewhere", "consumption", "once", "tax_category", "physical", "active", "localizations",
    ]

    /// The allowed values of fields, for faults: JSON's decoder does not name them.
    private static let choices = [
        "kind": SKU.Kind.allCases.map(\.rawValue), "stacking": SKU.Stacking.allCases.map(\.rawValue),
        "on_refund": SKU.OnRefund.allCases.map(\.rawValue),
        "renewal": SKU.Renewal.allCases.map(\.rawValue),
        "consumption": SKU.Consumption.allCases.map(\.rawValue),
    ]

    /// Reads `skus: […]`, whose elements have the fields of the admin call; `number` is set by the database and
    /// ignored.
    ///
    /// - Parameter file: the file's name in faults.
    /// - Throws: every fault: unknown keys, wrong types, broken rules, and two SKUs with one id or one Apple product.
    package static func parse(_ text: String, file: String) throws(ConfigurationError) -> [SKU] {
        let reading = ConfigurationReading(folder: "/", environment: [:])
        let node: YAMLNode
        do {
            node = try YAMLNode.parse(text)
        } catch {
            let fault = ConfigurationFault(file: file, line: error.line, problem: error.problem, remedy: "correct it")
            throw ConfigurationError([fault])
        }
        let root = ValueReader(node: node, place: ConfigPath(file: file), reading: reading).mapping(keys: ["skus"])
        let entries = root.elements("skus")
        let skus = entries.compactMap { entry in sku(entry).map { (entry, $0) } }
        checkIDs(skus)
        checkAppleProducts(skus)
        guard reading.faults.isEmpty else { throw ConfigurationError(reading.faults) }
        return skus.map(\.1)
    }

    private static func sku(_ entry: ValueReader) -> SKU? {
        let before = entry.reading.faults.count
        let fields = entry.mapping(keys: keys)
        for price in fields.elements("prices") { _ = price.mapping(keys: ["currency", "value"]) }
        for offer in fields.elements("offers") {
            let offer = offer.mapping(keys: ["id", "product_id", "audience", "once"])
            if let audience = offer["audience"], !audience.isNull {
                _ = audience.choice(PromotionalOffer.Audience.allCases.map(\.rawValue))
            }
        }
        for option in fields.elements("options") {
            let option = option.mapping(keys: ["days", "prices"])
            for price in option.elements("prices") { _ = price.mapping(keys: ["currency", "value"]) }
        }
        if let period = fields["period"], !period.isNull { _ = period.mapping(keys: ["unit", "count"]) }
        for key in keys where key != "attributes" { fields[key].map(checkWhole) }
        for (key, choices) in choices { if let value = fields[key], !value.isNull { _ = value.choice(choices) } }
        guard entry.reading.faults.count == before else { return nil }
        do {
            let json = try JSONEncoder().encode(entry.node.json)
            return try JSONDecoder().decode(SKU.self, from: json).validated()
        } catch let fault as SKUFault {
            fields.fault(fault.field, "breaks a rule of SKUs", fault.reason.english)
        } catch let error as DecodingError {
            report(error, entry)
        } catch {
            entry.fault("cannot be read", "compare it with the fields of the admin call")
        }
        return nil
    }

    /// Reports fractions, which only attributes may have; JSON's decoder could not name the position.
    private static func checkWhole(_ value: ValueReader) {
        switch value.node.content {
        case .null: return
        case .scalar:
            if case .number = value.node.json {
                value.fault("is not a whole number", "write minor units: 2990 for 29.90")
            }
        case .sequence:
            value.elements().forEach(checkWhole)
        case .mapping(let members):
            for member in members {
                let place = value.place.member(member.key, line: member.value.line)
                checkWhole(ValueReader(node: member.value, place: place, reading: value.reading))
            }
        }
    }

    private static func checkIDs(_ skus: [(ValueReader, SKU)]) {
        var seen: [String: ValueReader] = [:]
        for (entry, sku) in skus {
            if let other = seen.updateValue(entry, forKey: sku.id) {
                entry.fault("has the id \(sku.id), as \(other.place.path)", "give each SKU its own id")
            }
        }
    }

    /// Reports an Apple product of two active SKUs; an archived SKU gives its products up to the active one that lists
    /// them.
    private static func checkAppleProducts(_ skus: [(ValueReader, SKU)]) {
        var owners: [String: String] = [:]
        for (entry, sku) in skus where sku.active {
            for product in sku.appleProducts {
                let key = product.text.replacing("${quantity}", with: "${days}")
                guard let other = owners.updateValue(sku.id, forKey: key), other != sku.id else { continue }
                entry.fault(
                    "lists the Apple product \(product.text), as the SKU \(other) does",
                    "leave it to one of them, or set active: false on the other")
            }
        }
    }

    private static func report(_ error: DecodingError, _ entry: ValueReader) {
        switch error {
        case .keyNotFound(let key, let context):
            entry.reading.fault(place(context.codingPath + [key], entry), "is missing", "add it")
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            entry.reading.fault(place(context.codingPath, entry), "has the wrong type", "write \(words(for: type))")
        case .dataCorrupted(let context):
            entry.reading.fault(
                place(context.codingPath, entry), "is not a value that this field can have",
                "see the fields of a SKU; \(context.debugDescription)")
        @unknown default:
            entry.fault("cannot be read", "compare it with the fields of the admin call")
        }
    }

    private static func words(for type: Any.Type) -> String {
        switch type {
        case is String.Type: "a text, in quotes where it looks like a number"
        case is any BinaryInteger.Type: "a whole number"
        case is Bool.Type: "true or false"
        case is [Any].Type: "a list"
        default: "a mapping, or a list of them, as in the shipped catalog.yaml"
        }
    }

    private static func place(_ path: [any CodingKey], _ entry: ValueReader) -> ConfigPath {
        var place = entry.place
        var node = entry.node
        for key in path {
            let next = key.intValue.map { node.element($0) } ?? node.member(key.stringValue)
            place =
                key.intValue.map { place.element($0, line: next?.line) }
                ?? place.member(key.stringValue, line: next?.line)
            node = next ?? .null
        }
        return place
    }
}
