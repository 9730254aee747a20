import SwiftASN1
import X509

/// Receipts that have to be accepted.
enum ReceiptSoundCases {
    static let all: [ReceiptCase] = encodings + types + contents + odd + chains + messages + varied

    /// Both digests, every encoding, with and without signed attributes.
    static let encodings: [ReceiptCase] = [TestDigest.sha1, .sha256].flatMap { digest in
        TestCMS.Encoding.allCases.flatMap { encoding in
            [false, true].map { isSigned in
                ReceiptCase("\(digest) \(encoding)\(isSigned ? " with signed attributes" : "")") {
                    $0.digest = digest
                    $0.signer = { if isSigned { $0.attributes = TestSigner.sound } }
                    $0.message = { $0.encoding = encoding }
                }
            }
        }
    }

    static let types: [ReceiptCase] =
        [
            "Production", "ProductionVPP", "ProductionSandbox", "ProductionVPPSandbox", "Sandbox", "Later", "",
        ].map { type in ReceiptCase("of type \(type)") { $0.fields[0] = TestDER.utf8(type) } }
        + [ReceiptCase("without a type") { $0.fields[0] = nil }]

    static let contents: [ReceiptCase] = [
        ReceiptCase("without purchases") { $0.purchases = [] },
        ReceiptCase("1,000 purchases") {
            $0.purchases = (0..<1_000).map { TestPurchase([1703: TestDER.utf8("\($0)")]) }
        },
        ReceiptCase("1,000 purchases in pieces") {
            $0.purchases = (0..<1_000).map { TestPurchase([1703: TestDER.utf8("\($0)")]) }
            $0.message = { $0.encoding = .segmented }
        },
        ReceiptCase("a content within a content") { $0.arrange = { TestDER.octets(TestDER.set($0)) } },
        ReceiptCase("attributes in no order") { $0.arrange = { TestDER.element(0x31, $0.reversed()) } },
        ReceiptCase("attributes that nobody knows") {
            $0.more = [
                TestReceipt.attribute(99, [0xFF, 0x00]), TestReceipt.attribute(70_000, TestDER.utf8("later")),
                TestReceipt.attribute(99, []), TestReceipt.attribute(-1, [5]),
            ]
        },
        ReceiptCase("a purchase without what Xcode omits") {
            $0.purchases = [TestPurchase(without: [1705, 1706, 1707, 1711])]
        },
        ReceiptCase("a purchase with the least") {
            $0.purchases = [TestPurchase(without: [1701, 1705, 1706, 1707, 1708, 1709, 1711, 1712, 1719])]
        },
        ReceiptCase("empty dates") { for type: Int64 in [8, 18, 21] { $0.fields[type] = TestReceipt.date(nil) } },
        ReceiptCase("a volume purchase that ends in the year 4001") {
            $0.fields[21] = TestDER.ia5("4001-01-01T00:00:00Z")
        },
        ReceiptCase("a creation date east of Greenwich") { $0.fields[12] = TestDER.ia5("2026-09-21T22:13:20+08:00") },
        ReceiptCase("the attributes as BER") { receipt in
            receipt.arrange = { TestDER.indefinite(0x31, $0) }
        },
    ]

    /// Unreadable attributes that no decision needs; they count as absent.
    static let odd: [ReceiptCase] =
        [
            ("an app id of nine octets", 1, TestDER.element(0x02, Array(repeating: 1, count: 9))),
            ("an app id without octets", 1, TestDER.element(0x02)),
            ("a version that goes on", 3, TestDER.utf8("1") + [0]), ("a version that is cut off", 3, [0x0C, 5, 0x31]),
            ("an original date that is none", 18, TestDER.ia5("soon")),
        ].map { (name: String, type: Int64, value: [UInt8]) in ReceiptCase(name) { $0.fields[type] = value } }
        + [
            ("a quantity of none", 1701, TestDER.integer(0)), ("a quantity below none", 1701, TestDER.integer(-1)),
            ("a quantity too large", 1701, TestDER.integer(1 << 31)),
            ("an expiry before 1970", 1708, TestDER.ia5("1969-12-31T23:59:59Z")),
        ].map { (name: String, type: Int64, value: [UInt8]) in
            ReceiptCase(name) { $0.purchases = [TestPurchase([type: value])] }
        }

    static let chains: [ReceiptCase] = [
        ReceiptCase("a chain over SHA-1") {
            $0.chain = TestReceiptChain.legacy
            $0.digest = .sha1
        },
        ReceiptCase("a chain over SHA-1 under a signature over SHA-256") { $0.chain = TestReceiptChain.legacy },
        ReceiptCase("the leaf alone signed over SHA-1") {
            $0.chain = TestReceiptChain.new(leaf: { $0.algorithm = .sha1WithRSAEncryption })
        },
        ReceiptCase("the leaf signed over SHA-512") {
            $0.chain = TestReceiptChain.new(leaf: { $0.algorithm = .sha512WithRSAEncryption })
        },
        ReceiptCase("created inside the dates of a leaf that has ended", at: TestTime.now - 2 * TestTime.day) {
            $0.chain = ended
        },
        // OpenSSL takes the last second for the first one after it.
        ReceiptCase("created in the leaf's last second", nil, .isStricter, at: TestTime.now - TestTime.day) {
            $0.chain = ended
        },
        ReceiptCase("created in the leaf's first second", at: TestTime.now - 700 * TestTime.day) { $0.chain = ended },
        ReceiptCase("created before the root ended", at: TestTime.now - 2 * TestTime.day) {
            $0.chain = TestReceiptChain.new(root: TestReceiptChain.expiredRoot)
        },
        ReceiptCase("ten years ago", at: TestTime.now - 3_600 * TestTime.day) {
            $0.chain = TestReceiptChain.new(
                intermediate: { $0.days = -3_650...(-1_000) }, leaf: { $0.days = -3_640...(-3_000) })
        },
        ReceiptCase("a leaf without keyUsage") { $0.chain = TestReceiptChain.new(leaf: { $0.usage = nil }) },
    ]

    static let ended = TestReceiptChain.new(leaf: { $0.days = -700...(-1) })

    static let messages: [ReceiptCase] = [
        ReceiptCase("the certificates in another order") {
            $0.message = { $0.certificates.reverse() }
        },
        ReceiptCase("without the root") { $0.message = { $0.certificates.removeLast() } },
        ReceiptCase("the root twice") { $0.message = { $0.certificates.append($0.certificates[2]) } },
        ReceiptCase("the intermediate twice") { $0.message = { $0.certificates.append($0.certificates[1]) } },
        ReceiptCase("a stranger's certificate besides") {
            $0.message = { $0.certificates.insert(TestChain.sound.leaf.der, at: 0) }
        },
        ReceiptCase("an intermediate of the same name and another key besides") {
            $0.message = { $0.certificates.insert(other.intermediate.der, at: 0) }
        },
        ReceiptCase("unsigned attributes") {
            $0.signer = {
                $0.unsigned = TestDER.element(0xA1, TestSigner.attribute([1, 2, 3], TestDER.null))
            }
        },
        ReceiptCase("a further signed attribute") {
            $0.signer = {
                $0.attributes = {
                    TestSigner.sound($0) + [TestSigner.attribute([1, 2, 3], TestDER.null, TestDER.octets([1]))]
                }
            }
        },
        ReceiptCase("the algorithm named with its digest") {
            $0.signer = { $0.algorithm = TestDER.sequence(TestDER.oid([1, 2, 840, 113_549, 1, 1, 11]), TestDER.null) }
        },
        ReceiptCase("the algorithm named with SHA-1") {
            $0.digest = .sha1
            $0.signer = { $0.algorithm = TestDER.sequence(TestDER.oid([1, 2, 840, 113_549, 1, 1, 5]), TestDER.null) }
        },
        ReceiptCase("a digest without parameters") {
            $0.signer = { $0.digestIdentifier = TestDER.sequence(TestDER.oid(TestDigest.sha256.oid)) }
        },
        ReceiptCase("another digest announced besides") {
            $0.message = { $0.digests.append(TestDigest.sha384.identifier) }
        },
        ReceiptCase("no digest announced", nil, .isStricter) { $0.message = { $0.digests = [] } },
    ]

    private static let other = TestReceiptChain.new(intermediateKey: TestReceiptChain.strangeKey)

    /// Sound ones of every sort.
    static let varied: [ReceiptCase] = (0..<40).map { number in
        ReceiptCase("sound \(number)", at: TestTime.now - Int64(number) * 15 * TestTime.day) { receipt in
            receipt.digest = number % 2 == 0 ? .sha1 : .sha256
            receipt.purchases = (0..<(number % 5)).map { TestPurchase([1703: TestDER.utf8("\(number)-\($0)")]) }
            receipt.message = { $0.encoding = TestCMS.Encoding.allCases[number % 5] }
            if number % 3 == 0 { receipt.signer = { $0.attributes = TestSigner.sound } }
        }
    }
}
