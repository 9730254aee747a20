import SwiftASN1

/// Writes DER, and BER where a test asks for it.
enum TestDER {
    static func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] { element(tag, parts) }

    static func element(_ tag: UInt8, _ parts: [[UInt8]]) -> [UInt8] {
        let content = Array(parts.joined())
        return [tag] + length(content.count) + content
    }

    /// The indefinite form, which BER has and DER has not.
    static func indefinite(_ tag: UInt8, _ parts: [[UInt8]]) -> [UInt8] { [tag, 0x80] + parts.joined() + [0, 0] }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts) }
    /// SET OF in the order of DER.
    static func set(_ members: [[UInt8]]) -> [UInt8] {
        element(0x31, members.sorted { $0.lexicographicallyPrecedes($1) })
    }
    static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }
    static func utf8(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    static func ia5(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }
    static let null: [UInt8] = [5, 0]

    static func integer(_ number: Int64) -> [UInt8] {
        var octets = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        while octets.count > 1, octets[0] == (octets[1] & 0x80 == 0 ? 0 : 0xFF) { octets.removeFirst() }
        return element(0x02, octets)
    }

    static func oid(_ name: ASN1ObjectIdentifier) -> [UInt8] { serialized(name) }

    static func serialized(_ value: some DERSerializable) -> [UInt8] {
        var serializer = DER.Serializer()
        minted { try serializer.serialize(value) }
        return serializer.serializedBytes
    }

    static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        let octets = (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }.drop { $0 == 0 }
        return [0x80 | UInt8(octets.count)] + octets
    }
}
