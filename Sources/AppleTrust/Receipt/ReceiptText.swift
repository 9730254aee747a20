import Encodings

/// The text that clients send as `receipt-data`.
enum ReceiptText {
    /// The receipt's bytes: standard base64, in which line breaks may stand as some encoders write them.
    static func decode(_ text: String) throws(AppleRefusal) -> [UInt8] {
        guard text.utf8.count <= ReceiptLimits.text else {
            throw .malformed("a receipt of \(text.utf8.count) characters")
        }
        guard let bytes = Base64.decodeStandard(Base64.withoutSpace(Array(text.utf8))[...]), !bytes.isEmpty else {
            throw .malformed("the receipt is no base64")
        }
        return bytes
    }

    /// Returns whether a text is at least shaped like a receipt: base64 of a SEQUENCE.
    static func isReceipt(_ text: String) -> Bool {
        guard let head = text.utf8.first(where: { !Base64.isSpace($0) }) else { return false }
        // Six bits of the first octet, which is 0x30.
        return head == UInt8(ascii: "M")
    }
}
