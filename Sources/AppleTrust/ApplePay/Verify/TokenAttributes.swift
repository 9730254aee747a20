/// The signed attributes of a payment token (RFC 5652 sections 5.3 and 11).
struct TokenAttributes {
    /// The signed bytes: the attributes under the tag of a SET (RFC 5652 section 5.4).
    let signed: [UInt8]
    let contentType: ArraySlice<UInt8>
    let messageDigest: ArraySlice<UInt8>
    let signingTime: Int64

    /// - Throws: `malformed` where the attributes are not in DER order, where one of the three is missing or has not
    ///   exactly one value, and where a name is repeated.
    init(_ element: BERCursor.Element) throws(AppleRefusal) {
        var cursor = BERCursor(element.contents, "the signed attributes")
        var names: [ArraySlice<UInt8>] = []
        var last: ArraySlice<UInt8> = []
        var contentType: ArraySlice<UInt8>?
        var messageDigest: ArraySlice<UInt8>?
        var signingTime: Int64?
        while !cursor.isAtEnd {
            let attribute = try cursor.next(0x30, "attribute")
            guard last.lexicographicallyPrecedes(attribute.whole) else {
                throw .malformed("the signed attributes are not in the order of DER")
            }
            last = attribute.whole
            var parts = BERCursor(attribute.contents, "a signed attribute")
            let name = try parts.next(0x06, "type").contents
            let values = try parts.next(0x31, "values").contents
            try parts.end()
            guard !names.contains(name) else { throw .malformed("a signed attribute is repeated") }
            guard names.count < Self.limit else { throw .malformed("more than \(Self.limit) signed attributes") }
            names.append(name)
            if name.elementsEqual(TokenOID.contentType) {
                contentType = try BERCursor.only(0x06, of: values, "OID", in: "contentType").contents
            } else if name.elementsEqual(TokenOID.messageDigest) {
                messageDigest = try BERCursor.only(0x04, of: values, "OCTET STRING", in: "messageDigest").contents
            } else if name.elementsEqual(TokenOID.signingTime) {
                signingTime = try SigningTime.milliseconds(values)
            }
        }
        guard let contentType, let messageDigest, let signingTime else {
            throw .malformed("the signed attributes lack contentType, messageDigest or signingTime")
        }
        self.contentType = contentType
        self.messageDigest = messageDigest
        self.signingTime = signingTime
        signed = try Self.signed(element)
    }

    /// The most attributes that are read; Apple signs four.
    private static let limit = 16

    /// The attributes under the tag of a SET; they must have a definite length in its shortest form.
    private static func signed(_ element: BERCursor.Element) throws(AppleRefusal) -> [UInt8] {
        let count = element.contents.count
        let octets = count < 0x80 ? 0 : count < 0x100 ? 1 : 2
        guard element.whole.count == count + 2 + octets, element.whole.endIndex == element.contents.endIndex else {
            throw .malformed("the signed attributes are not DER")
        }
        return [0x31] + element.whole.dropFirst()
    }
}
