import AppleTrust
import SwiftASN1
import X509

/// Receipts with something wrong in the message around them.
enum ReceiptMessageCases {
    static let all: [ReceiptCase] = signatures + attributes + signers + certificates + forms

    static let signatures: [ReceiptCase] = [
        ReceiptCase("signed with another key", .badSignature) { $0.signer = { $0.key = TestReceiptChain.strangeKey } },
        ReceiptCase("the signature's last bit flipped", .badSignature) {
            $0.signer = { $0.signature = { $0.dropLast() + [($0.last ?? 0) ^ 1] } }
        },
        ReceiptCase("the signature cut off", .badSignature) { $0.signer = { $0.signature = { $0.dropLast() } } },
        ReceiptCase("no octets of a signature", .badSignature) { $0.signer = { $0.signature = { _ in [] } } },
        ReceiptCase("a signature of noughts", .badSignature) {
            $0.signer = { $0.signature = { [UInt8](repeating: 0, count: $0.count) } }
        },
        ReceiptCase("a purchase added", .badSignature) { receipt in
            let content = receipt.with { $0.purchases.append(TestPurchase([1703: TestDER.utf8("2")])) }.content
            receipt.message = { $0.content = content }
        },
        ReceiptCase("a purchase taken away", .badSignature) { receipt in
            let content = receipt.with { $0.purchases = [] }.content
            receipt.message = { $0.content = content }
        },
        ReceiptCase("another app put in", .badSignature) { receipt in
            let content = receipt.with { $0.fields[3] = TestDER.utf8("9") }.content
            receipt.message = { $0.content = content }
        },
        ReceiptCase("signed over SHA-1, said to be over SHA-256", .badSignature) { receipt in
            receipt.digest = .sha1
            receipt.signer = { $0.digestIdentifier = TestDigest.sha256.identifier }
            receipt.message = { $0.digests = [TestDigest.sha256.identifier] }
        },
        ReceiptCase("over SHA-384", .unsupportedAlgorithm, .isLaxer) { $0.digest = .sha384 },
        ReceiptCase("over SHA-1, named with SHA-256", .unsupportedAlgorithm, .isLaxer) {
            $0.digest = .sha1
            $0.signer = { $0.algorithm = TestDER.sequence(TestDER.oid([1, 2, 840, 113_549, 1, 1, 11]), TestDER.null) }
        },
        ReceiptCase("an algorithm with parameters", .unsupportedAlgorithm) {
            $0.signer = {
                $0.algorithm = TestDER.sequence(
                    TestDER.oid([1, 2, 840, 113_549, 1, 1, 10]), TestDER.sequence(TestDER.integer(1)))
            }
        },
        ReceiptCase("a digest with parameters", .unsupportedAlgorithm, .isLaxer) {
            $0.signer = {
                $0.digestIdentifier = TestDER.sequence(TestDER.oid(TestDigest.sha256.oid), TestDER.integer(1))
            }
        },
        ReceiptCase("an algorithm of a long name", .malformed) {
            $0.signer = { $0.algorithm = TestDER.sequence(TestDER.element(0x06, [UInt8](repeating: 1, count: 200))) }
        },
    ]

    static let attributes: [ReceiptCase] = [
        signed("about another content", .badSignature) { TestSigner.sound($0.map { $0 ^ 1 }) },
        signed("about a content's first octets", .badSignature) { TestSigner.sound($0.dropLast()) },
        signed("of another content type", .badSignature, .isLaxer) {
            [
                TestSigner.attribute(TestSigner.contentType, TestDER.oid(TestCMS.signedData)),
                TestSigner.attribute(TestSigner.messageDigest, TestDER.octets($0)),
            ]
        },
        signed("without messageDigest", .malformed) { TestSigner.sound($0).dropLast() },
        signed("without contentType", .malformed) { Array(TestSigner.sound($0).dropFirst()) },
        signed("that are none", .malformed) { _ in [] },
        signed("with messageDigest twice", .malformed) { TestSigner.sound($0) + [TestSigner.sound($0)[1]] },
        signed("with contentType twice", .malformed) { TestSigner.sound($0) + [TestSigner.sound($0)[0]] },
        signed("with two values of messageDigest", .malformed) {
            [
                TestSigner.sound($0)[0],
                TestSigner.attribute(TestSigner.messageDigest, TestDER.octets($0), TestDER.octets([1])),
            ]
        },
        signed("with no value of messageDigest", .malformed) {
            [TestSigner.sound($0)[0], TestSigner.attribute(TestSigner.messageDigest)]
        },
        signed("with a digest in pieces", .malformed) {
            [
                TestSigner.sound($0)[0],
                TestSigner.attribute(TestSigner.messageDigest, TestDER.element(0x24, TestDER.octets($0))),
            ]
        },
        signed("with a digest that is none", .malformed) { _ in
            [TestSigner.sound([])[0], TestSigner.attribute(TestSigner.messageDigest, TestDER.null)]
        },
        signed("with an attribute twice that nobody knows", .malformed, .isLaxer) {
            TestSigner.sound($0)
                + Array(repeating: TestSigner.attribute([1, 2, 3], TestDER.null), count: 2)
        },
        ReceiptCase("signed attributes of indefinite length", .malformed, .isLaxer) {
            $0.signer = {
                $0.attributes = TestSigner.sound
                $0.attributesOnWire = { TestDER.indefinite(0xA0, $0) }
            }
        },
        ReceiptCase("signed attributes of a long length", .malformed, .isLaxer) {
            $0.signer = {
                $0.attributes = TestSigner.sound
                $0.attributesOnWire = { [0xA0, 0x82, 0] + TestDER.element(0xA0, $0).dropFirst() }
            }
        },
        ReceiptCase("signed attributes in another order than was signed", .badSignature) { receipt in
            receipt.signer = { signer in
                signer.attributesOnWire = { $0.isEmpty ? [] : TestDER.element(0xA0, $0.reversed()) }
                signer.attributes = TestSigner.sound
            }
        },
        ReceiptCase("signed attributes that were left out", .badSignature) {
            $0.signer = {
                $0.attributes = TestSigner.sound
                $0.attributesOnWire = { _ in [] }
            }
        },
    ]

    static let signers: [ReceiptCase] = [
        ReceiptCase("no signer", .malformed) { $0.message = { $0.signers = [] } },
        ReceiptCase("the signer twice", .malformed, .isLaxer) { $0.message = { $0.signers += $0.signers } },
        ReceiptCase("a second signer over the other digest", .malformed, .isLaxer) { receipt in
            let second = TestSigner(identity: receipt.chain.leaf, digest: .sha1).info(over: receipt.content)
            receipt.message = {
                $0.signers.append(second)
                $0.digests.append(TestDigest.sha1.identifier)
            }
        },
        ReceiptCase("a forged signer besides", .malformed) { receipt in
            let forged = TestSigner(identity: receipt.chain.leaf, key: TestReceiptChain.strangeKey)
                .info(over: receipt.content)
            receipt.message = { $0.signers.append(forged) }
        },
        ReceiptCase("a signer of version 2", .malformed, .isLaxer) { $0.signer = { $0.version = 2 } },
        ReceiptCase("a signer named by its key", .malformed) {
            $0.signer = {
                $0.version = 3
                $0.name = TestDER.element(0x80, [UInt8](repeating: 7, count: 20))
            }
        },
        ReceiptCase("a signer of another serial number", .malformed) { receipt in
            let issuer = TestDER.serialized(receipt.chain.leaf.certificate.issuer)
            receipt.signer = { $0.name = TestDER.sequence(issuer, TestDER.integer(7)) }
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
            $0.message = { $0.certificates.append(TestDER.sequence(TestDER.null)) }
        },
        ReceiptCase("a certificate of 9 KiB", .malformed, .isLaxer) {
            let long = TestReceiptChain.new(leaf: { $0.name = String(repeating: "x", count: 9_000) })
            $0.message = { $0.certificates.append(long.leaf.der) }
        },
    ]

    static let forms: [ReceiptCase] = [
        ReceiptCase("detached", .malformed) { $0.message = { $0.content = nil } },
        ReceiptCase("signed data within signed data", .malformed, .isLaxer) { receipt in
            let inner = receipt.bytes
            receipt.arrange = { _ in inner }
            receipt.message = { $0.contentType = TestCMS.signedData }
        },
        ReceiptCase("a message that is data", .malformed) { $0.message = { $0.type = TestCMS.data } },
        ReceiptCase("of version 4", .malformed, .isLaxer) { $0.message = { $0.version = 4 } },
    ]

    private static func signed(
        _ name: String, _ reason: AppleRefusal.Reason, _ openSSL: ReceiptCase.OpenSSL = .agrees,
        _ attributes: @escaping @Sendable (_ digest: [UInt8]) -> [[UInt8]]
    ) -> ReceiptCase {
        ReceiptCase("signed attributes \(name)", reason, openSSL) { $0.signer = { $0.attributes = attributes } }
    }
}
