import AppleTrust
import SwiftASN1
import X509

/// Receipts with something wrong in the message around them.
enum ReceiptMessageCases {
    static let all: [ReceiptCase] = signatures + attributes + signers + certificates + forms

    static let signatures: [ReceiptCase] = [
        ReceiptCase("signed with another key", .badSignature) { $0.signer = { $0.key = MintReceiptChain.strangeKey } },
        ReceiptCase("the signature's last bit flipped", .badSignature) {
            $0.signer = { $0.signature = { $0.dropLast() + [($0.last ?? 0) ^ 1] } }
        },
        ReceiptCase("the signature cut off", .badSignature) { $0.signer = { $0.signature = { $0.dropLast() } } },
        ReceiptCase("no octets of a signature", .badSignature) { $0.signer = { $0.signature = { _ in [] } } },
        ReceiptCase("a signature of noughts", .badSignature) {
            $0.signer = { $0.signature = { [UInt8](repeating: 0, count: $0.count) } }
        },
        ReceiptCase("a purchase added", .badSignature) { receipt in
            let content = receipt.with { $0.purchases.append(MintPurchase([1703: MintDER.utf8("2")])) }.content
            receipt.message = { $0.content = content }
        },
        ReceiptCase("a purchase taken away", .badSignature) { receipt in
            let content = receipt.with { $0.purchases = [] }.content
            receipt.message = { $0.content = content }
        },
        ReceiptCase("another app put in", .badSignature) { receipt in
            let content = receipt.with { $0.fields[3] = MintDER.utf8("9") }.content
            receipt.message = { $0.content = content }
        },
        ReceiptCase("signed over SHA-1, said to be over SHA-256", .badSignature) { receipt in
            receipt.digest = .sha1
            receipt.signer = { $0.digestIdentifier = MintDigest.sha256.identifier }
            receipt.message = { $0.digests = [MintDigest.sha256.identifier] }
        },
        ReceiptCase("over SHA-384", .unsupportedAlgorithm, .isLaxer) { $0.digest = .sha384 },
        ReceiptCase("over SHA-1, named with SHA-256", .unsupportedAlgorithm, .isLaxer) {
            $0.digest = .sha1
            $0.signer = { $0.algorithm = MintDER.sequence(MintDER.oid([1, 2, 840, 113_549, 1, 1, 11]), MintDER.null) }
        },
        ReceiptCase("an algorithm with parameters", .unsupportedAlgorithm) {
            $0.signer = {
                $0.algorithm = MintDER.sequence(
                    MintDER.oid([1, 2, 840, 113_549, 1, 1, 10]), MintDER.sequence(MintDER.integer(1)))
            }
        },
        ReceiptCase("a digest with parameters", .unsupportedAlgorithm, .isLaxer) {
            $0.signer = {
                $0.digestIdentifier = MintDER.sequence(MintDER.oid(MintDigest.sha256.oid), MintDER.integer(1))
            }
        },
        ReceiptCase("an algorithm of a long name", .malformed) {
            $0.signer = { $0.algorithm = MintDER.sequence(MintDER.element(0x06, [UInt8](repeating: 1, count: 200))) }
        },
    ]

    static let attributes: [ReceiptCase] = [
        signed("about another content", .badSignature) { MintSigner.sound($0.map { $0 ^ 1 }) },
        signed("about a content's first octets", .badSignature) { MintSigner.sound($0.dropLast()) },
        signed("of another content type", .badSignature, .isLaxer) {
            [
                MintSigner.attribute(MintSigner.contentType, MintDER.oid(MintCMS.signedData)),
                MintSigner.attribute(MintSigner.messageDigest, MintDER.octets($0)),
            ]
        },
        signed("without messageDigest", .malformed) { MintSigner.sound($0).dropLast() },
        signed("without contentType", .malformed) { Array(MintSigner.sound($0).dropFirst()) },
        signed("that are none", .malformed) { _ in [] },
        signed("with messageDigest twice", .malformed) { MintSigner.sound($0) + [MintSigner.sound($0)[1]] },
        signed("with contentType twice", .malformed) { MintSigner.sound($0) + [MintSigner.sound($0)[0]] },
        signed("with two values of messageDigest", .malformed) {
            [
                MintSigner.sound($0)[0],
                MintSigner.attribute(MintSigner.messageDigest, MintDER.octets($0), MintDER.octets([1])),
            ]
        },
        signed("with no value of messageDigest", .malformed) {
            [MintSigner.sound($0)[0], MintSigner.attribute(MintSigner.messageDigest)]
        },
        signed("with a digest in pieces", .malformed) {
            [
                MintSigner.sound($0)[0],
                MintSigner.attribute(MintSigner.messageDigest, MintDER.element(0x24, MintDER.octets($0))),
            ]
        },
        signed("with a digest that is none", .malformed) { _ in
            [MintSigner.sound([])[0], MintSigner.attribute(MintSigner.messageDigest, MintDER.null)]
        },
        signed("with an attribute twice that nobody knows", .malformed, .isLaxer) {
            MintSigner.sound($0)
                + Array(repeating: MintSigner.attribute([1, 2, 3], MintDER.null), count: 2)
        },
        ReceiptCase("signed attributes of indefinite length", .malformed, .isLaxer) {
            $0.signer = {
                $0.attributes = MintSigner.sound
                $0.attributesOnWire = { MintDER.indefinite(0xA0, $0) }
            }
        },
        ReceiptCase("signed attributes of a long length", .malformed, .isLaxer) {
            $0.signer = {
                $0.attributes = MintSigner.sound
                $0.attributesOnWire = { [0xA0, 0x82, 0] + MintDER.element(0xA0, $0).dropFirst() }
            }
        },
        ReceiptCase("signed attributes in another order than was signed", .badSignature) { receipt in
            receipt.signer = { signer in
                signer.attributesOnWire = { $0.isEmpty ? [] : MintDER.element(0xA0, $0.reversed()) }
                signer.attributes = MintSigner.sound
            }
        },
        ReceiptCase("signed attributes that were left out", .badSignature) {
            $0.signer = {
                $0.attributes = MintSigner.sound
                $0.attributesOnWire = { _ in [] }
            }
        },
    ]

    static let signers: [ReceiptCase] = [
        ReceiptCase("no signer", .malformed) { $0.message = { $0.signers = [] } },
        ReceiptCase("the signer twice", .malformed, .isLaxer) { $0.message = { $0.signers += $0.signers } },
        ReceiptCase("a second signer over the other digest", .malformed, .isLaxer) { receipt in
            let second = MintSigner(identity: receipt.chain.leaf, digest: .sha1).info(over: receipt.content)
            receipt.message = {
                $0.signers.append(second)
                $0.digests.append(MintDigest.sha1.identifier)
            }
        },
        ReceiptCase("a forged signer besides", .malformed) { receipt in
            let forged = MintSigner(identity: receipt.chain.leaf, key: MintReceiptChain.strangeKey)
                .info(over: receipt.content)
            receipt.message = { $0.signers.append(forged) }
        },
        ReceiptCase("a signer of version 2", .malformed, .isLaxer) { $0.signer = { $0.version = 2 } },
        ReceiptCase("a signer named by its key", .malformed) {
            $0.signer = {
                $0.version = 3
                $0.name = MintDER.element(0x80, [UInt8](repeating: 7, count: 20))
            }
        },
        ReceiptCase("a signer of another serial number", .malformed) { receipt in
            let issuer = MintDER.serialized(receipt.chain.leaf.certificate.issuer)
            receipt.signer = { $0.name = MintDER.sequence(issuer, MintDER.integer(7)) }
        },
    ]

    static let certificates: [ReceiptCase] = [
        ReceiptCase("no certificates", .malformed) { $0.message = { $0.certificates = [] } },
        ReceiptCase("no certificate of the signer", .malformed) { $0.message = { $0.certificates.removeFirst() } },
        ReceiptCase("the signer's certificate twice", .malformed, .isLaxer) {
            $0.message = { $0.certificates.append($0.certificates[0]) }
        },
        ReceiptCase("nine certificates", .malformed, .isLaxer) {
            $0.message = { $0.certificates += Array(repeating: $0.certificates[2], count: 6) }
        },
        ReceiptCase("a certificate that is none", .malformed) {
            $0.message = { $0.certificates.append(MintDER.sequence(MintDER.null)) }
        },
        ReceiptCase("a certificate of 9 KiB", .malformed, .isLaxer) {
            let long = MintReceiptChain.new(leaf: { $0.name = String(repeating: "x", count: 9_000) })
            $0.message = { $0.certificates.append(long.leaf.der) }
        },
    ]

    static let forms: [ReceiptCase] = [
        ReceiptCase("detached", .malformed) { $0.message = { $0.content = nil } },
        ReceiptCase("signed data within signed data", .malformed, .isLaxer) { receipt in
            let inner = receipt.bytes
            receipt.arrange = { _ in inner }
            receipt.message = { $0.contentType = MintCMS.signedData }
        },
        ReceiptCase("a message that is data", .malformed) { $0.message = { $0.type = MintCMS.data } },
        ReceiptCase("of version 4", .malformed, .isLaxer) { $0.message = { $0.version = 4 } },
    ]

    private static func signed(
        _ name: String, _ reason: AppleRefusal.Reason, _ openSSL: ReceiptCase.OpenSSL = .agrees,
        _ attributes: @escaping @Sendable (_ digest: [UInt8]) -> [[UInt8]]
    ) -> ReceiptCase {
        ReceiptCase("signed attributes \(name)", reason, openSSL) { $0.signer = { $0.attributes = attributes } }
    }
}
