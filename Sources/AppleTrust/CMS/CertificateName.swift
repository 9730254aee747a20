/// The name of a certificate in CMS, as it is encoded: its issuer and its serial number (RFC 5652 section 10.2.4).
struct CertificateName: Equatable, Sendable {
    /// The whole element.
    let issuer: ArraySlice<UInt8>
    /// The contents of the INTEGER.
    let serial: ArraySlice<UInt8>

    init(issuer: ArraySlice<UInt8>, serial: ArraySlice<UInt8>) {
        self.issuer = issuer
        self.serial = serial
    }

    /// The name of a certificate, read without the rest of it (RFC 5280 section 4.1).
    ///
    /// - Returns: nil where the bytes do not begin like a certificate.
    init?(certificate: ArraySlice<UInt8>) {
        var outer = certificate
        guard var whole = Self.next(0x30, &outer)?.contents, var signed = Self.next(0x30, &whole)?.contents else {
            return nil
        }
        if signed.first == 0xA0, Self.next(0xA0, &signed) == nil { return nil }
        guard let serial = Self.next(0x02, &signed)?.contents, Self.next(0x30, &signed) != nil,
            let issuer = Self.next(0x30, &signed)?.element
        else { return nil }
        self.init(issuer: issuer, serial: serial)
    }

    /// Takes one element with this tag and a definite length from the front.
    private static func next(
        _ tag: UInt8, _ bytes: inout ArraySlice<UInt8>
    ) -> (element: ArraySlice<UInt8>, contents: ArraySlice<UInt8>)? {
        var rest = bytes
        guard rest.popFirst() == tag, let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first & 0x80 != 0 {
            guard (0x81...0x83).contains(first) else { return nil }
            length = 0
            for _ in 0..<(first & 0x7F) {
                guard let octet = rest.popFirst() else { return nil }
                length = length << 8 | Int(octet)
            }
        }
        guard length <= rest.count else { return nil }
        let contents = rest.prefix(length)
        let element = bytes[bytes.startIndex..<contents.endIndex]
        bytes = rest.dropFirst(length)
        return (element, contents)
    }
}
