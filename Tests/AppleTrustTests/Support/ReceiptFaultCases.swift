import AppleTrust
import SwiftASN1
import X509

/// Receipts with something wrong in what they say, in their chain, or in who signed them.
enum ReceiptFaultCases {
    static let all: [ReceiptCase] = chains + purposes + claims + contents

    static let chains: [ReceiptCase] = [
        ReceiptCase(
            "created a second after the leaf ended", .certificateExpired, at: TestTime.now - TestTime.day + 1_000
        ) {
            $0.chain = ReceiptSoundCases.ended
        },
        ReceiptCase("created after the leaf ended", .certificateExpired) { $0.chain = ReceiptSoundCases.ended },
        ReceiptCase("created before the leaf began", .certificateExpired) {
            $0.chain = TestReceiptChain.new(leaf: { $0.days = 1...700 })
        },
        ReceiptCase("created after the intermediate ended", .certificateExpired) {
            $0.chain = TestReceiptChain.new(intermediate: { $0.days = -700...(-1) })
        },
        ReceiptCase("created before the intermediate began", .certificateExpired) {
            $0.chain = TestReceiptChain.new(intermediate: { $0.days = 1...700 })
        },
        ReceiptCase("created after the root ended", .certificateExpired) {
            $0.chain = TestReceiptChain.new(root: TestReceiptChain.expiredRoot)
        },
        ReceiptCase("a foreign root of the same name", .untrustedChain) {
            $0.chain = TestReceiptChain.new(root: TestReceiptChain.foreignRoot)
        },
        ReceiptCase("a foreign root of another name", .untrustedChain) {
            $0.chain = TestReceiptChain.new(root: stranger)
        },
        ReceiptCase("the intermediate signed by a stranger", .untrustedChain) {
            $0.chain = TestReceiptChain.new(intermediateSigner: TestReceiptChain.strangeKey)
        },
        ReceiptCase("the leaf signed by a stranger", .untrustedChain) {
            $0.chain = TestReceiptChain.new(leafSigner: TestReceiptChain.strangeKey)
        },
        ReceiptCase("no certificate of the intermediate", .untrustedChain) {
            $0.message = { $0.certificates.remove(at: 1) }
        },
        ReceiptCase("signed by the root", .untrustedChain, .isLaxer) {
            $0.signer = { $0.identity = TestReceiptChain.root }
        },
        ReceiptCase("signed by the intermediate", .untrustedChain, .isLaxer) { receipt in
            let intermediate = receipt.chain.intermediate
            receipt.signer = { $0.identity = intermediate }
        },
        ReceiptCase("the leaf is a CA", .untrustedChain, .isLaxer) {
            $0.chain = TestReceiptChain.new(leaf: {
                $0.constraints = .isCertificateAuthority(maxPathLength: nil)
                $0.usage = nil
            })
        },
        ReceiptCase("the leaf may not sign data", .untrustedChain, .isLaxer) {
            $0.chain = TestReceiptChain.new(leaf: { $0.usage = .init(keyEncipherment: true) })
        },
        ReceiptCase("the intermediate is no CA", .untrustedChain) {
            $0.chain = TestReceiptChain.new(intermediate: {
                $0.constraints = .notCertificateAuthority
                $0.usage = .init(digitalSignature: true)
            })
        },
        ReceiptCase("an unknown critical extension", .untrustedChain) {
            $0.chain = TestReceiptChain.new(leaf: { $0.critical = [[1, 2, 3, 4]] })
        },
        ReceiptCase("a further CA in between", .untrustedChain, .isLaxer) {
            $0.chain = longer
            $0.message = { $0.certificates.append(longer.root.der) }
        },
        ReceiptCase("as Xcode signs", .untrustedChain) { receipt in
            receipt.chain = TestChain(root: xcode, intermediate: xcode, leaf: xcode)
            receipt.fields[0] = TestDER.utf8("Xcode")
            receipt.message = { cms in
                cms.certificates = [xcode.der]
                cms.encoding = .segmented
            }
        },
        ReceiptCase("a leaf on a curve, signed with ECDSA", .unsupportedAlgorithm, .isLaxer) { receipt in
            receipt.chain = curved
            receipt.signer = { $0.algorithm = TestDER.sequence(TestDER.oid([1, 2, 840, 10_045, 4, 3, 2])) }
        },
        ReceiptCase("a leaf on a curve that says it is RSA", .untrustedChain, .isLaxer) { receipt in
            receipt.chain = curved
        },
        ReceiptCase("a key of 1024 bits", .malformed, .isLaxer) { receipt in
            receipt.chain = TestReceiptChain.new(leafKey: .rsa(bits: 1_024))
        },
    ]

    /// Apple's markers: OpenSSL knows nothing of them.
    static let purposes: [ReceiptCase] = [
        ReceiptCase("the leaf lacks its marker", .wrongPurpose, .isLaxer) {
            $0.chain = TestReceiptChain.new(leaf: { $0.markers = [] })
        },
        ReceiptCase("the leaf has the intermediate's marker", .wrongPurpose, .isLaxer) {
            $0.chain = TestReceiptChain.new(leaf: { $0.markers = [TestChain.developerRelations] })
        },
        ReceiptCase("the intermediate lacks its marker", .wrongPurpose, .isLaxer) {
            $0.chain = TestReceiptChain.new(intermediate: { $0.markers = [] })
        },
        ReceiptCase("the intermediate has the leaf's marker", .wrongPurpose, .isLaxer) {
            $0.chain = TestReceiptChain.new(intermediate: { $0.markers = [TestChain.storeLeaf] })
        },
        ReceiptCase("markers missing and ended", .wrongPurpose) {
            $0.chain = TestReceiptChain.new(leaf: {
                $0.markers = []
                $0.days = -9...(-1)
            })
        },
    ]

    static let claims: [ReceiptCase] = [
        ReceiptCase("another app", .wrongApp, .isLaxer) { $0.fields[2] = TestDER.utf8("com.other") },
        ReceiptCase("an app that differs in case", .wrongApp, .isLaxer) {
            $0.fields[2] = TestDER.utf8("com.example.App")
        },
        ReceiptCase("Xcode's environment", .wrongEnvironment, .isLaxer) { $0.fields[0] = TestDER.utf8("Xcode") },
        ReceiptCase("another app in Xcode's environment", .wrongApp, .isLaxer) {
            $0.fields[2] = TestDER.utf8("com.other")
            $0.fields[0] = TestDER.utf8("Xcode")
        },
    ]

    /// Signed contents that are no receipt.
    static let contents: [ReceiptCase] = [
        field("no app", 2, nil), field("an app without a name", 2, TestDER.utf8("")),
        field("an app that is no text", 2, TestDER.octets([1])),
        field("an app that is no UTF-8", 2, TestDER.element(0x0C, [0xC3, 0x28])),
        field("an app of 256 octets", 2, TestDER.utf8(String(repeating: "a", count: 256))),
        field("no creation date", 12, nil), field("an empty creation date", 12, TestReceipt.date(nil)),
        field("a creation date that is none", 12, TestDER.ia5("2026-02-29T00:00:00Z")),
        field("a creation date that is a number", 12, TestDER.integer(7)),
        field("a creation date before 1970", 12, TestDER.ia5("1969-12-31T23:59:59Z")),
        purchase("no product", without: [1702]), purchase("no transaction", without: [1703]),
        purchase("an empty transaction", [1703: TestDER.utf8("")]), purchase("no purchase date", without: [1704]),
        purchase("an empty purchase date", [1704: TestReceipt.date(nil)]),
        purchase("a transaction of 65 octets", [1703: TestDER.utf8(String(repeating: "7", count: 65))]),
        ReceiptCase("the app twice", .malformed, .isLaxer) {
            $0.more = [TestReceipt.attribute(2, TestDER.utf8("com.example.app"))]
        },
        ReceiptCase("the creation date twice", .malformed, .isLaxer) {
            $0.more = [TestReceipt.attribute(12, TestReceipt.date(TestTime.now))]
        },
        ReceiptCase("a purchase that is none", .malformed, .isLaxer) { $0.more = [TestReceipt.attribute(17, [5, 0])] },
        ReceiptCase("an attribute of two parts", .malformed, .isLaxer) {
            $0.more = [TestDER.sequence(TestDER.integer(99), TestDER.integer(1))]
        },
        ReceiptCase("an attribute of four parts", .malformed, .isLaxer) {
            $0.more = [TestDER.sequence(TestDER.integer(99), TestDER.integer(1), TestDER.octets([]), TestDER.null)]
        },
        ReceiptCase("attributes in a sequence", .malformed, .isLaxer) { $0.arrange = { TestDER.element(0x30, $0) } },
        ReceiptCase("bytes after the attributes", .malformed, .isLaxer) { $0.arrange = { TestDER.set($0) + [0] } },
        ReceiptCase("a content within a content within a content", .malformed, .isLaxer) {
            $0.arrange = { TestDER.octets(TestDER.octets(TestDER.set($0))) }
        },
        ReceiptCase("no attributes", .malformed, .isLaxer) { $0.arrange = { _ in TestDER.element(0x31, [[UInt8]]()) } },
        ReceiptCase("nothing at all", .malformed, .isLaxer) { $0.arrange = { _ in [] } },
        ReceiptCase("more purchases than are read", .malformed, .isLaxer) {
            $0.more = Array(repeating: TestReceipt.attribute(17, [0x31, 0]), count: 4_097)
        },
    ]

    private static func field(_ name: String, _ type: Int64, _ value: [UInt8]?) -> ReceiptCase {
        ReceiptCase(name, .malformed, .isLaxer) { $0.fields[type] = value }
    }

    private static func purchase(
        _ name: String, _ changes: [Int64: [UInt8]] = [:], without types: Set<Int64> = []
    ) -> ReceiptCase {
        ReceiptCase(name, .malformed, .isLaxer) { $0.purchases = [TestPurchase(changes, without: types)] }
    }

    private static let stranger: TestIdentity = {
        var recipe = TestReceiptChain.rootRecipe
        recipe.name = "Test Foreign Root"
        return recipe.issue(by: nil, key: TestReceiptChain.strangeKey)
    }()
    private static let xcode: TestIdentity = {
        var recipe = TestChain.leafRecipe
        recipe.name = "StoreKit Testing in Xcode"
        return recipe.issue(by: nil, key: TestReceiptChain.strangeKey)
    }()
    private static let curved: TestChain = {
        let sound = TestReceiptChain.sound
        return TestChain(
            root: sound.root, intermediate: sound.intermediate,
            leaf: TestChain.leafRecipe.issue(by: sound.intermediate, key: .new(.p256)))
    }()
    /// A CA between the intermediate and the root; it stands as this chain's root.
    private static let longer: TestChain = {
        var recipe = TestChain.intermediateRecipe
        recipe.name = "Test Hidden Receipt CA"
        recipe.constraints = .isCertificateAuthority(maxPathLength: nil)
        return TestReceiptChain.new(
            root: recipe.issue(by: TestReceiptChain.root, key: TestReceiptChain.strangeKey))
    }()
}
