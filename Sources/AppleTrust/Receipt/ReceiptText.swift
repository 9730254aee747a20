import Encodings

/// The text that clients send as `receipt-data`.
enum ReceiptText {
    /// Decodes the receipt's bytes: standard base64, in which line breaks are allowed, since some encoders write them.
    static func decode(_ text: String) throws(AppleRefusal) -> [UInt8] {
        guard text.utf8.count <= ReceiptLimits.text else {
            throw .malformed("a receipt of \(text.utf8.count) characters")
        }
        guard let bytes = Base64.decodeStandard(Base64.withoutSpace(Array(text.utf8))[...]), !bytes.isEmpty else {
            throw .malformed("the receipt is no base64")
        }
        return bytes
    }

    /// Returns whether a text is shaped like a receipt: base64 of a SEQUENCE.
    static func isReceipt(_ text: String) -> Bool {
        guard let head = text.utf8.first(where: { !Base64.isSpace($0) }) else { return false }
        // The first character of the base64 of any text that begins with the octet 0x30.
        return head == UInt8(ascii: "M")
    }
}

/// Bounds on a receipt, checked before anything is decoded.
enum ReceiptLimits {
    /// Characters of base64, as many as a request may carry.
    static let text = 2 << 20
    static let purchases = 4_096
    /// Bytes of one certificate, because its extensions are parsed as well.
    static let certificate = 8_192
    /// Octets of an id or a name.
    static let name = 255
}
