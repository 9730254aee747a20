import Foundation

/// How an app receipt is made; the defaults make a sound one of production with one purchase.
struct TestReceipt: Sendable {
    var chain = TestReceiptChain.sound
    /// The attributes that stand alone, by type; nil removes one.
    var fields: [Int64: [UInt8]] = TestReceipt.sound
    var purchases: [TestPurchase] = [TestPurchase()]
    /// Attributes as they stand in the content.
    var more: [[UInt8]] = []
    /// Makes the content out of the attributes.
    var arrange: @Sendable ([[UInt8]]) -> [UInt8] = TestDER.set
    var digest = TestDigest.sha256
    /// Changes the signer.
    var signer: @Sendable (inout TestSigner) -> Void = { _ in }
    /// Changes the message after it was signed.
    var message: @Sendable (inout TestCMS) -> Void = { _ in }

    static let sound: [Int64: [UInt8]] = [
        0: TestDER.utf8("Production"), 1: TestDER.integer(1_234_567_890), 2: TestDER.utf8("com.example.app"),
        3: TestDER.utf8("1.2.3"), 4: [0xFF, 0x00, 0x17], 5: Array(repeating: 0xAB, count: 20),
        8: date(TestTime.now + 60_000), 12: date(TestTime.now), 15: TestDER.integer(77), 16: TestDER.integer(88),
        18: date(TestTime.now - 300 * TestTime.day), 19: TestDER.utf8("1.0"),
    ]

    var content: [UInt8] {
        arrange(
            fields.sorted { $0.key < $1.key }.map { Self.attribute($0.key, $0.value) }
                + purchases.map { Self.attribute(17, $0.value) } + more)
    }

    var cms: TestCMS {
        let content = content
        var signer = TestSigner(identity: chain.leaf, digest: digest)
        self.signer(&signer)
        var cms = TestCMS(
            digests: [digest.identifier], content: content,
            certificates: [chain.leaf.der, chain.intermediate.der, chain.root.der],
            signers: [signer.info(over: content)])
        message(&cms)
        return cms
    }

    var bytes: [UInt8] { cms.bytes }
    var text: String { bytes.base64 }

    static func attribute(_ type: Int64, _ value: [UInt8]) -> [UInt8] {
        TestDER.sequence(TestDER.integer(type), TestDER.integer(1), TestDER.octets(value))
    }

    /// As Apple writes times; nil for the empty text of an absent one.
    static func date(_ milliseconds: Int64?) -> [UInt8] {
        let text = milliseconds.map {
            Date(timeIntervalSince1970: Double($0 / 1_000)).formatted(.iso8601)
        }
        return TestDER.ia5(text ?? "")
    }

    /// This one with some changes.
    func with(_ edit: (inout TestReceipt) -> Void) -> TestReceipt {
        var copy = self
        edit(&copy)
        return copy
    }
}

/// A purchase of a receipt: the attributes of a consumable, with absent dates as Apple writes them.
struct TestPurchase: Sendable {
    var fields: [Int64: [UInt8]] = [
        1701: TestDER.integer(1), 1702: TestDER.utf8("com.example.coins"), 1703: TestDER.utf8("2000000000000001"),
        1704: TestReceipt.date(TestTime.now - 5_000), 1705: TestDER.utf8("2000000000000001"),
        1706: TestReceipt.date(TestTime.now - 5_000), 1707: TestDER.integer(1), 1708: TestReceipt.date(nil),
        1709: [0xFF], 1711: TestDER.integer(0), 1712: TestReceipt.date(nil), 1719: TestDER.integer(0),
    ]

    init(_ changes: [Int64: [UInt8]] = [:], without types: Set<Int64> = []) {
        for (type, value) in changes { fields[type] = value }
        for type in types { fields[type] = nil }
    }

    var value: [UInt8] {
        TestDER.set(fields.sorted { $0.key < $1.key }.map { TestReceipt.attribute($0.key, $0.value) })
    }
}
