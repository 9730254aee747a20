import Crypto
import Foundation
import _CryptoExtras

/// App receipts (RFC 5652) out of bytes that need be no attributes.
enum ReceiptSamples {
    enum Style: CaseIterable {
        case plain, overSHA1, withAttributes, segmented
    }

    /// The signing time of every seed is that of JWS; all certificates are valid then.
    static let contents: [[UInt8]] = [
        set(fields + [attribute(17, purchase(full)), attribute(17, purchase(least))]),
        set(fields), SignedDER.element(0x04, set(fields)),
        set(fields.dropFirst() + [attribute(17, purchase(least + [attribute(1_705, text("1"))]))]),
        set(fields + [attribute(21, date("4001-01-01T00:00:00Z")), attribute(99, [0xFF])]),
    ]

    /// Without the root, which costs runs; the verifier has it.
    static func signed(_ content: [UInt8], _ style: Style = .plain) -> [UInt8] {
        var signedAttributes: [UInt8] = []
        var signature = sign(content, overSHA1: style == .overSHA1)
        if style == .withAttributes {
            let digest = Array(SHA256.hash(data: content))
            let attributes =
                sequence(oid(9, 3), SignedDER.element(0x31, oid(7, 1)))
                + sequence(oid(9, 4), SignedDER.element(0x31, SignedDER.element(0x04, digest)))
            signedAttributes = SignedDER.element(0xA0, attributes)
            signature = sign(SignedDER.element(0x31, attributes), overSHA1: false)
        }
        return message(
            content, [ReceiptCertificates.leaf, ReceiptCertificates.intermediate],
            [signer(signature, signedAttributes, overSHA1: style == .overSHA1)], isSegmented: style == .segmented)
    }

    /// A message that reaches the attributes at no cost: nobody signed it, and it has no certificates.
    static func unsigned(_ content: [UInt8]) -> [UInt8] { message(content, [], [signer([], [], overSHA1: false)]) }

    static func message(
        _ content: [UInt8], _ certificates: [[UInt8]], _ signers: [[UInt8]], isSegmented: Bool = false
    ) -> [UInt8] {
        let wrap: (UInt8, [UInt8]) -> [UInt8] = { tag, inner in
            isSegmented ? [tag, 0x80] + inner + [0, 0] : SignedDER.element(tag, inner)
        }
        var octets = SignedDER.element(0x04, content)
        if isSegmented {
            let half = content.count / 2
            octets = wrap(
                0x24,
                SignedDER.element(0x04, Array(content[..<half])) + SignedDER.element(0x04, Array(content[half...])))
        }
        let list = certificates.isEmpty ? [] : wrap(0xA0, Array(certificates.joined()))
        let body =
            integer(1) + SignedDER.element(0x31, sha256) + wrap(0x30, oid(7, 1) + wrap(0xA0, octets)) + list
            + SignedDER.element(0x31, Array(signers.joined()))
        return wrap(0x30, oid(7, 2) + wrap(0xA0, wrap(0x30, body)))
    }

    static func signer(_ signature: [UInt8], _ attributes: [UInt8], overSHA1: Bool) -> [UInt8] {
        sequence(
            integer(1), sequence(ReceiptCertificates.issuer, SignedDER.element(0x02, ReceiptCertificates.serial)),
            overSHA1 ? sha1 : sha256, attributes, sequence(oid(1, 1), [5, 0]), SignedDER.element(0x04, signature))
    }

    private static let fields = [
        attribute(0, text("Production")), attribute(2, text(Verifiers.bundleID)), attribute(1, integer(7)),
        attribute(3, text("1")), attribute(4, [0xFF]), attribute(12, date("2026-09-21T14:13:20Z")),
        attribute(18, date("")), attribute(19, text("1.0")),
    ]
    private static let least = [
        attribute(1_702, text("coins")), attribute(1_703, text("2")), attribute(1_704, date("2026-09-21T14:13:20Z")),
    ]
    private static let full =
        least + [
            attribute(1_701, integer(3)), attribute(1_705, text("1")), attribute(1_706, date("2026-01-01T00:00:00Z")),
            attribute(1_707, integer(3)), attribute(1_708, date("2026-10-21T14:13:20.5+08:00")),
            attribute(1_711, integer(77)), attribute(1_712, date("")), attribute(1_713, integer(1)),
            attribute(1_719, integer(0)), attribute(1_721, text("spring")),
        ]

    private static func sign(_ data: [UInt8], overSHA1: Bool) -> [UInt8] {
        Harness.minted {
            let signature =
                overSHA1
                ? try ReceiptKey.key.signature(for: Insecure.SHA1.hash(data: data), padding: .insecurePKCS1v1_5)
                : try ReceiptKey.key.signature(for: SHA256.hash(data: data), padding: .insecurePKCS1v1_5)
            return Array(signature.rawRepresentation)
        }
    }

    private static func purchase(_ attributes: [[UInt8]]) -> [UInt8] { set(attributes) }
    private static func set(_ members: [[UInt8]]) -> [UInt8] { SignedDER.element(0x31, Array(members.joined())) }
    private static func sequence(_ parts: [UInt8]...) -> [UInt8] { SignedDER.element(0x30, Array(parts.joined())) }
    private static func text(_ text: String) -> [UInt8] { SignedDER.element(0x0C, Array(text.utf8)) }
    private static func date(_ text: String) -> [UInt8] { SignedDER.element(0x16, Array(text.utf8)) }
    private static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        sequence(integer(type), integer(1), SignedDER.element(0x04, value))
    }
    /// One that is not negative and fits two octets.
    private static func integer(_ number: Int) -> [UInt8] {
        SignedDER.element(0x02, number < 0x80 ? [UInt8(number)] : [UInt8(number >> 8), UInt8(number & 0xFF)])
    }
    /// Of the arc 1.2.840.113549.1, which is that of PKCS.
    private static func oid(_ arc: UInt8, _ number: UInt8) -> [UInt8] {
        SignedDER.element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, arc, number])
    }
    private static let sha1 = sequence(SignedDER.element(0x06, [0x2B, 0x0E, 3, 2, 0x1A]), [5, 0])
    private static let sha256 = sequence(
        SignedDER.element(0x06, [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1]), [5, 0])

    static let words = [
        "Production", "ProductionSandbox", "ProductionVPP", "Xcode", Verifiers.bundleID, "2026-09-21T14:13:20Z",
        "9999-12-31T23:59:60-23:59", "0000-01-01T00:00:00+23:59", "1*H", "0", "1",
    ]
}
