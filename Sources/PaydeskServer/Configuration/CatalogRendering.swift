package import Domain
import Foundation
import Yams

extension CatalogFile {
    /// The order of the fields, as in the documentation; further fields follow by name.
    private static let order = [
        "id", "name", "description", "kind", "tier", "rank", "duration_days", "plan_code", "subscribe_id", "prices",
        "apple_product_ids", "offers", "options", "units", "attributes", "client_fallback", "stacking", "stack_group",
        "on_refund", "renewal", "period", "trial_days", "grace_days",
        "one_period_elsewhere", "consumption", "once", "tax_category", "physical", "active", "localizations",
    ]

    /// Writes a catalogue that ``parse(_:file:)`` reads back as the same SKUs.
    ///
    /// The `number` is set by the database and left out.
    ///
    /// - Throws: an encoding error, for a number that JSON cannot hold.
    package static func render(_ skus: [SKU]) throws -> String {
        let nodes = try skus.map { sku in
            let json = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(sku))
            return node(json)
        }
        let root = Node([("skus", Node(nodes, Tag(.seq), nodes.isEmpty ? .flow : .block))], Tag(.map), .block)
        return try Yams.serialize(node: root, indent: 2, width: -1, allowUnicode: true)
    }

    private static func node(_ json: JSONValue) -> Node {
        guard case .object(var fields) = json else { return json.yaml }
        fields["number"] = nil
        let rest = fields.keys.filter { !order.contains($0) }.sorted()
        let pairs = (order + rest).compactMap { key in
            fields[key].map { (Node(key), compact($0)) }
        }
        return Node(pairs, Tag(.map), .block)
    }

    /// Writes lists and mappings of one field on one line.
    private static func compact(_ json: JSONValue) -> Node {
        var node = json.yaml
        if case .sequence(var sequence) = node {
            sequence.style = .flow
            node = .sequence(sequence)
        } else if case .mapping(var mapping) = node {
            mapping.style = .flow
            node = .mapping(mapping)
        }
        return node
    }
}
