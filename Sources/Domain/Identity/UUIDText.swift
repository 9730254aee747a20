import Encodings

/// The text of a UUID (RFC 9562) in lower case.
package enum UUIDText {
    /// - Parameter bytes: 16 bytes, whose version and variant are set here.
    package static func text(_ bytes: [UInt8], version: UInt8) -> String {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | version << 4
        bytes[8] = bytes[8] & 0x3F | 0x80
        return [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]].map { Hex.encoded($0) }
            .joined(separator: "-")
    }
}

extension RandomSource {
    /// Makes a random UUID (RFC 9562 section 5.4) in lower case, the form that StoreKit accepts.
    package func uuid4() -> String { UUIDText.text(bytes(16), version: 4) }
}
