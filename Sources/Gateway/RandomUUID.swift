import Domain

extension RandomSource {
    /// Makes a random UUID (RFC 9562 section 5.4) in lower case, the form that StoreKit accepts.
    func uuid4() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array("0123456789abcdef")
        let hex = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return [hex[0..<8], hex[8..<12], hex[12..<16], hex[16..<20], hex[20..<32]].map { String($0) }.joined(
            separator: "-")
    }
}
