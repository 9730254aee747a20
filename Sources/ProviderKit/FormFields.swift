import Domain
package import FoundationEssentials

/// The fields of `application/x-www-form-urlencoded` text, byte for byte, each name once, as signatures need them.
///
/// Text that two parsers could read differently is refused.
package struct FormFields: Sendable {
    package static let sizeLimit = 64 << 10
    package static let countLimit = 256

    private struct Field: Sendable {
        let name: [UInt8]
        let value: [UInt8]
    }

    /// The fields, sorted by the bytes of their names.
    private let fields: [Field]

    /// - Returns: nil for a broken escape, a field without a name, a repeated name, and for text beyond the limits.
    package init?(_ text: some Collection<UInt8>) {
        guard text.count <= Self.sizeLimit else { return nil }
        var fields: [Field] = []
        for part in text.split(separator: UInt8(ascii: "&")) {
            let sides = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decoded(sides[0], readsPlus: true), !name.isEmpty,
                fields.count < Self.countLimit,
                let value = sides.count > 1 ? PercentEncoding.decoded(sides[1], readsPlus: true) : []
            else { return nil }
            fields.append(Field(name: name, value: value))
        }
        fields.sort { $0.name.lexicographicallyPrecedes($1.name) }
        guard zip(fields, fields.dropFirst()).allSatisfy({ $0.name != $1.name }) else { return nil }
        self.fields = fields
    }

    /// The text of a field; nil where it is absent, empty or not UTF-8.
    package subscript(_ name: String) -> String? {
        guard let value = fields.first(where: { $0.name.elementsEqual(name.utf8) })?.value, !value.isEmpty else {
            return nil
        }
        return String(validating: value, as: UTF8.self)
    }

    package var isEmpty: Bool { fields.isEmpty }

    /// Joins the decoded fields as `name=value&…`, sorted by their names.
    package func joined(without names: Set<String>, dropsEmpty: Bool) -> Data {
        var text = Data()
        for field in fields where !(dropsEmpty && field.value.isEmpty) {
            guard !names.contains(where: { field.name.elementsEqual($0.utf8) }) else { continue }
            if !text.isEmpty { text.append(UInt8(ascii: "&")) }
            text += field.name + [UInt8(ascii: "=")] + field.value
        }
        return text
    }

    /// Encodes fields as form text, sorted by their names.
    package static func encoded(_ fields: [String: String]) -> String {
        fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { "\(PercentEncoding.encoded($0.key))=\(PercentEncoding.encoded($0.value))" }.joined(separator: "&")
    }
}
