import SwiftASN1

/// The attributes of a receipt or of one purchase in it: SET OF SEQUENCE { type, version, value }.
///
/// Unknown types are skipped: Apple writes some that no document mentions.
/// Source: Apple, Receipt Validation Programming Guide, "Receipt Fields".
struct ReceiptAttributes: Sendable {
    /// The most bytes of one of Apple's ids.
    static let id = 64

    private var single: [Int64: ArraySlice<UInt8>] = [:]
    private(set) var purchases: [ArraySlice<UInt8>] = []

    /// - Parameter repeated: the type that may occur any number of times.
    init(_ bytes: ArraySlice<UInt8>, repeated: Int64?, within limits: BERLimits) throws(AppleRefusal) {
        var root = try BERReader.read(bytes, within: limits)
        // Some receipts hold their attributes in a further OCTET STRING.
        if let inner = root.octets { root = try BERReader.read(inner, within: limits) }
        var attributes = try NodeReader(root, "the receipt's attributes", as: .set)
        while let attribute = attributes.next() {
            var parts = try NodeReader(attribute, "an attribute")
            guard let type = try parts.next("type").integer, try parts.next("version").integer != nil,
                let value = try parts.next("value").octets
            else { throw .malformed("an attribute is not a type, a version and a value") }
            try parts.end()
            if type == repeated {
                guard purchases.count < ReceiptLimits.purchases else {
                    throw .malformed("more than \(ReceiptLimits.purchases) purchases")
                }
                purchases.append(value)
            } else {
                // A repeated attribute is ambiguous and becomes unreadable; unknown attributes may repeat.
                single[type] = single[type] == nil ? value : []
            }
        }
    }

    /// - Throws: `malformed` where the value is no text.
    func text(_ type: Int64) throws(AppleRefusal) -> String? {
        guard let node = try node(type) else { return nil }
        let octets = node.contents(.utf8String) ?? node.contents(.ia5String) ?? node.contents(.printableString)
        guard let octets, octets.count <= ReceiptLimits.name, let text = String(validating: octets, as: UTF8.self)
        else { throw .malformed("attribute \(type) is no text") }
        return text
    }

    /// Reads text that names something, so it may not be empty.
    func name(_ type: Int64) throws(AppleRefusal) -> String {
        guard let name = try text(type), !name.isEmpty else { throw .malformed("attribute \(type) is missing") }
        return name
    }

    func integer(_ type: Int64) throws(AppleRefusal) -> Int64? {
        guard let node = try node(type) else { return nil }
        guard let integer = node.integer else { throw .malformed("attribute \(type) is no whole number") }
        return integer
    }

    /// Milliseconds since 1970-01-01 UTC; nil where it is absent or, as Apple writes an absent date, an empty text.
    func date(_ type: Int64) throws(AppleRefusal) -> Int64? {
        guard let text = try text(type), !text.isEmpty else { return nil }
        guard let date = RFC3339.milliseconds(text) else { throw .malformed("attribute \(type) is no date") }
        return date
    }

    func requiredDate(_ type: Int64) throws(AppleRefusal) -> Int64 {
        guard let date = try date(type) else { throw .malformed("attribute \(type) is missing") }
        guard ClaimReader.times.contains(date) else { throw .malformed("attribute \(type) is no time of our calendar") }
        return date
    }

    /// Reads one of Apple's ids: text of at most 64 bytes.
    func id(_ type: Int64) throws(AppleRefusal) -> String {
        let id = try name(type)
        guard id.utf8.count <= Self.id else { throw .malformed("attribute \(type) is longer than an id") }
        return id
    }

    // Values on which no decision depends: one that cannot be read counts as absent.

    func optionalText(_ type: Int64) -> String? {
        guard let text = try? text(type), !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        return text.isEmpty ? nil : text
    }

    func optionalInteger(_ type: Int64) -> Int64? { (try? integer(type)) ?? nil }

    /// Returns whether anything but an empty text is in the place of a date.
    func hasDate(_ type: Int64) -> Bool {
        do throws(AppleRefusal) { return try text(type).map { !$0.isEmpty } ?? false } catch { return true }
    }

    /// A time within the years 1970 to 9999.
    func optionalDate(_ type: Int64) -> Int64? {
        ((try? date(type)) ?? nil).flatMap { ClaimReader.times.contains($0) ? $0 : nil }
    }

    private func node(_ type: Int64) throws(AppleRefusal) -> ASN1Node? {
        guard let value = single[type] else { return nil }
        do throws(AppleRefusal) {
            return try BERReader.read(value, within: .value)
        } catch {
            throw .malformed("attribute \(type) cannot be read")
        }
    }
}
