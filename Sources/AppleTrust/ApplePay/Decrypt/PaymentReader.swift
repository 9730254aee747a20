import Encodings

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads fields of a decrypted payment; null counts as absent, and a refusal names the field and never its value.
struct PaymentReader {
    let json: JSONDocument
    let members: [JSONMember]

    /// The most bytes of a name or an identifier; Apple's are far shorter.
    static let textLimit = 256
    /// The most parts of a payment for several merchants.
    static let listLimit = 64

    func text(_ name: String) throws(ApplePayRefusal) -> String? {
        guard let node = node(name) else { return nil }
        guard let text = json.string(node), text.utf8.count <= Self.textLimit else { throw wrong(name) }
        return text
    }

    func required(_ name: String) throws(ApplePayRefusal) -> String {
        guard let text = try text(name), !text.isEmpty else { throw wrong(name) }
        return text
    }

    /// The digits of a text, without a copy; nil where the field is absent.
    func digits(_ name: String, _ count: ClosedRange<Int>) throws(ApplePayRefusal) -> ArraySlice<UInt8>? {
        guard let node = node(name) else { return nil }
        guard let bytes = json.plainBytes(node), count.contains(bytes.count), bytes.allSatisfy(\.isDigit) else {
            throw wrong(name)
        }
        return bytes
    }

    /// A JSON number of digits alone; a fraction, a sign, an exponent, quotes and overflow are refused.
    func amount(_ name: String) throws(ApplePayRefusal) -> Int64 {
        guard case .number(let range)? = node(name), json.bytes[range].allSatisfy(\.isDigit),
            let amount = JSONNumber.exact(json.bytes[range])
        else { throw wrong(name) }
        return amount
    }

    /// Decodes base64, appends it to `bytes` and returns its range there.
    func base64(_ name: String, into bytes: inout [UInt8]) throws(ApplePayRefusal) -> Range<Int>? {
        try decoded(name, into: &bytes) { Base64.decodeStandard($0) }
    }

    func hex(_ name: String, into bytes: inout [UInt8]) throws(ApplePayRefusal) -> Range<Int>? {
        try decoded(name, into: &bytes) { Hex.decoded($0) }
    }

    func object(_ name: String) throws(ApplePayRefusal) -> PaymentReader? {
        guard let node = node(name) else { return nil }
        guard case .object(let members) = node else { throw wrong(name) }
        return PaymentReader(json: json, members: members)
    }

    func objects(_ name: String) throws(ApplePayRefusal) -> [PaymentReader] {
        guard let node = node(name) else { return [] }
        guard case .array(let nodes) = node, nodes.count <= Self.listLimit else { throw wrong(name) }
        var readers: [PaymentReader] = []
        for node in nodes {
            guard case .object(let members) = node else { throw wrong(name) }
            readers.append(PaymentReader(json: json, members: members))
        }
        return readers
    }

    func has(_ name: String) -> Bool { node(name) != nil }

    func wrong(_ name: String) -> ApplePayRefusal {
        TokenDecryption.refusal("\(name) is missing or not as it has to be")
    }

    private func decoded(
        _ name: String, into bytes: inout [UInt8], _ decode: (ArraySlice<UInt8>) -> [UInt8]?
    ) throws(ApplePayRefusal) -> Range<Int>? {
        guard let node = node(name) else { return nil }
        guard case .string(let range, let escaped) = node else { throw wrong(name) }
        // Some writers escape every slash.
        var text = escaped ? Array((json.string(node) ?? "").utf8) : []
        defer { WipedBytes.wipe(&text) }
        guard var decoded = decode(escaped ? text[...] : json.bytes[range]), !decoded.isEmpty else {
            throw wrong(name)
        }
        defer { WipedBytes.wipe(&decoded) }
        let start = bytes.count
        bytes.append(contentsOf: decoded)
        return start..<bytes.count
    }

    private func node(_ name: String) -> JSONNode? {
        guard let node = members[name] else { return nil }
        if case .null = node { return nil }
        return node
    }
}
