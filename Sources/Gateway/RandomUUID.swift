import Domain

extension RandomSource {
    /// Makes a random UUID (RFC 9562 section 5.4) in lower case, the form that StoreKit accepts.
    func uuid4() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]].map { Hex.encoded($0) }
            .joined(separator: "-")
    }
}
