import Domain
package import FoundationEssentials

/// Fields of `application/x-www-form-urlencoded` text, byte for byte, each name once: as such text is signed.
///
/// What two parsers could understand differently is refused.
package struct FormFields: Sendable {
    package static let sizeLimit = 64 << 10
    package static let countLimit = 256

    private struct Field: Sendable {
        let name: [UInt8]
        let value: [UInt8]
    }

    /// In the order of their names' bytes.
    private let fields: [Field]

    /// - Returns: nil for a broken escape, a field without a name, a name that comes twice, and for too much of it.
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

    /// A field's text; nil where it is missing, empty or not UTF-8.
    package subscript(_ name: String) -> String? {
        guard let value = fields.first(where: { $0.name.elementsEqual(name.utf8) })?.value, !value.isEmpty else {
            return nil
        }
        return String(validating: value, as: UTF8.self)
    }

    package var isEmpty: Bool { fields.isEmpty }

    /// `name=value&…` with the decoded values, in the order of the names.
    package func joined(without names: Set<String>, dropsEmpty: Bool) -> Data {
        var text = Data()
        for field in fields where !(dropsEmpty && field.value.isEmpty) {
            guard !names.contains(where: { field.name.elementsEqual($0.utf8) }) else { continue }
            if !text.isEmpty { text.append(UInt8(ascii: "&")) }
            text += field.name + [UInt8(ascii: "=")] + field.value
        }
        return text
    }

    /// Fields as form text, in the order of their names.
    package static func encoded(_ fields: [String: String]) -> String {
        fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { "\(PercentEncoding.encoded($0.key))=\(PercentEncoding.encoded($0.value))" }.joined(separator: "&")
    }
}
