import Crypto

/// Signs arbitrary bytes as a certificate's content, so that they reach the code behind the check of the signature.
enum SignedDER {
    /// Makes SEQUENCE { content, ecdsa-with-SHA256, BIT STRING } (RFC 5280 section 4.1); `content` need not be DER.
    static func certificate(_ content: [UInt8], by key: P256.Signing.PrivateKey) -> [UInt8] {
        certificate(content, signature: Harness.minted { Array(try key.signature(for: content).derRepresentation) })
    }

    static func certificate(_ content: [UInt8], signature: [UInt8]) -> [UInt8] {
        element(0x30, content + algorithm + element(0x03, [0] + signature))
    }

    /// The content of the BIT STRING in a certificate whose signature is not checked.
    static let noSignature: [UInt8] = [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01]

    private static let algorithm: [UInt8] = [
        0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02,
    ]

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var digits: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            digits.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        let length = content.count < 0x80 ? [UInt8(content.count)] : [0x80 | UInt8(digits.count)] + digits
        return [tag] + length + content
    }
}
