import SwiftASN1

/// The attributes that a signer signed in place of the content (RFC 5652 sections 5.3, 5.4 and 11).
struct SignedAttributes: Sendable {
    /// The signed bytes: the attributes under the tag of a SET (RFC 5652 section 5.4).
    let signed: [UInt8]
    let contentType: ASN1ObjectIdentifier
    let messageDigest: ArraySlice<UInt8>

    /// - Throws: `malformed` where contentType or messageDigest is missing, repeated or has not exactly one value, and
    ///   where the attributes are not DER, because the signature is over their DER encoding.
    init(_ node: ASN1Node) throws(AppleRefusal) {
        guard let first = node.encodedBytes.first, first == 0xA0, (try? DER.parse(node.encodedBytes)) != nil else {
            throw .malformed("the signed attributes are not DER")
        }
        var attributes = try NodeReader(node, "signedAttrs", as: .context(0))
        var values: [ASN1ObjectIdentifier: ASN1Node] = [:]
        while let attribute = attributes.next() {
            var parts = try NodeReader(attribute, "a signed attribute")
            guard let type = try parts.next("type").objectIdentifier else {
                throw .malformed("a signed attribute has no type")
            }
            var set = try NodeReader(try parts.next("values"), "a signed attribute's values", as: .set)
            try parts.end()
            guard values[type] == nil else { throw .malformed("the signed attribute \(type) is repeated") }
            values[type] = try set.next("value")
            if type == CMSOID.contentType || type == CMSOID.messageDigest { try set.end() }
        }
        guard let contentType = values[CMSOID.contentType]?.objectIdentifier,
            let messageDigest = values[CMSOID.messageDigest]?.contents(.octetString)
        else { throw .malformed("the signed attributes lack contentType or messageDigest") }
        self.contentType = contentType
        self.messageDigest = messageDigest
        signed = [0x31] + node.encodedBytes.dropFirst()
    }
}
