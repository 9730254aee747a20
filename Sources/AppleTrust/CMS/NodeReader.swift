import SwiftASN1

/// Reads the parts of a constructed element one after another.
struct NodeReader {
    private let name: String
    private var nodes: ASN1NodeCollection.Iterator
    /// The next part, read ahead.
    private var ahead: ASN1Node?

    /// - Throws: `malformed` where the element has another identifier or is primitive.
    init(_ node: ASN1Node, _ name: String, as identifier: ASN1Identifier = .sequence) throws(AppleRefusal) {
        guard node.identifier == identifier, case .constructed(let parts) = node.content else {
            throw .malformed("\(name) is no constructed \(identifier)")
        }
        self.name = name
        nodes = parts.makeIterator()
        ahead = nodes.next()
    }

    /// The next part; nil at the end.
    mutating func next() -> ASN1Node? {
        defer { ahead = nodes.next() }
        return ahead
    }

    mutating func next(_ part: String) throws(AppleRefusal) -> ASN1Node {
        guard let node = next() else { throw .malformed("\(name) has no \(part)") }
        return node
    }

    /// Reads an optional part; nil where the next part has another identifier.
    mutating func next(if identifier: ASN1Identifier) -> ASN1Node? {
        ahead?.identifier == identifier ? next() : nil
    }

    mutating func end() throws(AppleRefusal) {
        guard ahead == nil else { throw .malformed("\(name) has too many parts") }
    }
}

extension ASN1Identifier {
    static func context(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}

extension ASN1Node {
    /// The contents of a primitive element; nil for another one.
    func contents(_ identifier: ASN1Identifier) -> ArraySlice<UInt8>? {
        guard self.identifier == identifier, case .primitive(let bytes) = content else { return nil }
        return bytes
    }

    /// A whole number of at most eight octets.
    var integer: Int64? {
        guard let octets = contents(.integer), (1...8).contains(octets.count) else { return nil }
        let sign: Int64 = octets[octets.startIndex] & 0x80 == 0 ? 0 : -1
        return octets.reduce(sign) { $0 << 8 | Int64($1) }
    }

    /// An object identifier of at most 64 octets; those that are compared here have some ten.
    var objectIdentifier: ASN1ObjectIdentifier? {
        guard encodedBytes.count <= 66 else { return nil }
        return try? ASN1ObjectIdentifier(berEncoded: self)
    }

    /// An OCTET STRING, which BER may cut into pieces (X.690 section 8.7).
    var octets: ArraySlice<UInt8>? { try? ASN1OctetString(berEncoded: self).bytes }
}
