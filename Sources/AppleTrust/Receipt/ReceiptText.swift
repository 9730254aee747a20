/// What clients send as `receipt-data`.
enum ReceiptText {
    /// The receipt's bytes: standard base64, in which line breaks may stand as some encoders write them.
    static func decode(_ text: String) throws(AppleRefusal) -> [UInt8] {
        guard text.utf8.count <= ReceiptLimits.text else {
            throw .malformed("a receipt of \(text.utf8.count) characters")
        }
        var characters = Array(text.utf8)
        if characters.contains(where: isSpace) { characters.removeAll(where: isSpace) }
        guard let bytes = Base64.decodeStandard(characters[...]), !bytes.isEmpty else {
            throw .malformed("the receipt is no base64")
        }
        return bytes
    }

    /// Whether a text is at least shaped like a receipt: base64 of a SEQUENCE.
    static func isReceipt(_ text: String) -> Bool {
        guard let head = text.utf8.first(where: { !isSpace($0) }) else { return false }
        // Six bits of the first octet, which is 0x30.
        return head == UInt8(ascii: "M")
    }

    private static func isSpace(_ character: UInt8) -> Bool {
        character == 0x20 || character == 0x0A || character == 0x0D || character == 0x09
    }
}
