import Crypto
import RefusalReasons

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An ES256 signature as a JWS carries it: r and s, 32 bytes each, big-endian (RFC 7518 section 3.4).
enum RawSignature {
    /// Refuses a signature that is not the leaf's; a DER signature is refused by its length.
    static func check(
        _ signature: [UInt8], over input: ArraySlice<UInt8>, by key: P256.Signing.PublicKey
    )
        throws(AppleRefusal)
    {
        guard signature.count == 64 else {
            throw AppleRefusal(.badSignature, "the signature has \(signature.count) bytes, not 64")
        }
        guard isScalar(signature[..<32]), isScalar(signature[32...]) else {
            throw AppleRefusal(.badSignature, "r or s is zero or not below the curve's order")
        }
        guard let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(parsed, for: SHA256.hash(data: input))
        else { throw AppleRefusal(.badSignature, "the signature is not the leaf's over this header and payload") }
    }

    /// Returns whether a big-endian number is at least 1 and below the order of P-256 (FIPS 186-5).
    private static func isScalar(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains { $0 != 0 } && bytes.lexicographicallyPrecedes(order)
    }

    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
}
