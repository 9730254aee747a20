import AppleTrust

/// The faults of the signature and the payload.
enum PayloadCases {
    static let all: [SignedTextCase] = signatures + texts + sizes + claims + fields + unusual + odd

    static let signatures: [SignedTextCase] = [
        SignedTextCase("a stranger's signature", TestJWS(signer: .new(.p256)), .badSignature),
        SignedTextCase("no signature", TestJWS(signature: { _ in [] }), .badSignature),
        SignedTextCase("a short signature", TestJWS(signature: { Array($0.dropLast()) }), .badSignature),
        SignedTextCase("a long signature", TestJWS(signature: { $0 + [0] }), .badSignature),
        SignedTextCase("a DER signature", TestJWS(signature: der), .badSignature),
        SignedTextCase("r zero", TestJWS(signature: { zero + Array($0[32...]) }), .badSignature),
        SignedTextCase("s zero", TestJWS(signature: { Array($0[..<32]) + zero }), .badSignature),
        SignedTextCase("r and s zero", TestJWS(signature: { _ in zero + zero }), .badSignature),
        SignedTextCase("r the order of the curve", TestJWS(signature: { order + Array($0[32...]) }), .badSignature),
        SignedTextCase(
            "s above the order of the curve", TestJWS(signature: { Array($0[..<32]) + ones }), .badSignature),
        SignedTextCase("r and s exchanged", TestJWS(signature: { Array($0[32...] + $0[..<32]) }), .badSignature),
        SignedTextCase(
            "the other s of the same signature", TestJWS(signature: { Array($0[..<32]) + negated(Array($0[32...])) }),
            nil),
        SignedTextCase("the signature of another payload", moved, .badSignature),
    ]

    static let texts: [SignedTextCase] = [
        bytes("a list", "[]"), bytes("a text", "\"x\""), bytes("nothing", ""), bytes("an open object", "{\"a\":1"),
        bytes("text behind the object", "{\"signedDate\":1} x"), bytes("a comma at the end", "{\"signedDate\":1,}"),
        bytes("a comment", "{\"signedDate\":1/**/}"), bytes("deep", String(repeating: "{\"a\":", count: 40_000)),
        SignedTextCase(
            "not UTF-8", TestJWS(payloadBytes: [0x7B, 0x22, 0xC3, 0x28, 0x22, 0x3A, 0x31, 0x7D]), .malformed),
        SignedTextCase(
            "a byte order mark", TestJWS(payloadBytes: [0xEF, 0xBB, 0xBF] + TestJWS.transaction.bytes), .malformed,
            difference: .itIsLaxer),
        SignedTextCase(
            "a name twice",
            TestJWS(payloadBytes: TestJWS.transaction.bytes.dropLast() + Array(",\"price\":1990}".utf8)),
            .malformed, difference: .itIsLaxer),
        SignedTextCase(
            "a name twice in an object", payload("commitmentInfo", "{\"a\":1,\"a\":1}"), .malformed,
            difference: .itIsLaxer),
        SignedTextCase("white space and escapes", TestJWS(payloadBytes: spaced), nil),
    ]

    static let sizes: [SignedTextCase] = [
        SignedTextCase("as long as may be", padded(to: 65_536), nil),
        SignedTextCase("sound, and too long", padded(to: 65_540), .malformed, difference: .itIsLaxer),
    ]

    /// The payloads that Apple may send and rarely does.
    static let unusual: [SignedTextCase] =
        [
            ("type", "\"Rental\""), ("inAppOwnershipType", "\"LEASED\""), ("transactionReason", "\"GIFT\""),
            ("offerType", "99"), ("revocationReason", "7"), ("price", nil), ("currency", nil), ("quantity", nil),
            ("storefront", nil), ("appAccountToken", nil), ("price", "9007199254740993"),
            ("price", "9223372036854775807"), ("transactionId", "\"9007199254740993\""),
            ("transactionId", "\"18446744073709551616\""), ("purchaseDate", "1759302000123"),
        ].map { SignedTextCase("\($0.0) is \($0.1 ?? "missing"), which may be", payload($0.0, $0.1), nil) }

    static let claims: [SignedTextCase] = [
        SignedTextCase("another app", payload("bundleId", "\"com.other\""), .wrongApp),
        SignedTextCase("an app in other letters", payload("bundleId", "\"com.example.App\""), .wrongApp),
        SignedTextCase("Sandbox", payload("environment", "\"Sandbox\""), nil),
        SignedTextCase("Xcode under Apple's chain", payload("environment", "\"Xcode\""), .wrongEnvironment),
        SignedTextCase(
            "LocalTesting under Apple's chain", payload("environment", "\"LocalTesting\""), .wrongEnvironment),
        SignedTextCase("an unknown environment", payload("environment", "\"Moon\""), .wrongEnvironment),
        SignedTextCase("an environment in lower case", payload("environment", "\"production\""), .wrongEnvironment),
        SignedTextCase(
            "another app in another environment",
            TestJWS(payload: TestJWS.transaction.with(["bundleId": "\"com.other\"", "environment": "\"Xcode\""])),
            .wrongApp),
    ]

    static let fields: [SignedTextCase] =
        ["bundleId", "environment"].map { SignedTextCase("\($0) is missing", payload($0, nil), .malformed) }
        + ["transactionId", "originalTransactionId", "productId", "purchaseDate", "signedDate"].map {
            SignedTextCase("\($0) is missing", payload($0, nil), .malformed, difference: .itIsLaxer)
        }
        + [
            ("transactionId", "1"), ("transactionId", "\"\""), ("productId", "true"), ("purchaseDate", "\"2026\""),
            ("purchaseDate", "253402300800000"), ("purchaseDate", "-1"), ("transactionId", id(65)),
            ("originalTransactionId", id(65)), ("productId", id(256)), ("productId", "\"a\\u0000b\""),
            ("productId", "\"\\ud800\""), ("productId", "\"a\\u001bb\""),
        ].map { SignedTextCase("\($0.0) is \($0.1)", payload($0.0, $0.1), .malformed, difference: .itIsLaxer) }
        + [
            ("bundleId", "[\"com.example.app\"]"), ("purchaseDate", "1e400"), ("signedDate", "0"), ("signedDate", "-1"),
            ("signedDate", "true"), ("signedDate", "253402300800000"), ("signedDate", "99999999999999999999"),
            ("productId", "\"\\x\""), ("price", "01"), ("price", "+1"), ("price", ".5"), ("price", "1."),
            ("price", "NaN"),
        ].map { SignedTextCase("\($0.0) is \($0.1)", payload($0.0, $0.1), .malformed) }

    /// Optional fields of another form than documented: they count as absent.
    static let odd: [SignedTextCase] = oddFields.map {
        SignedTextCase("\($0.name) is \($0.value), which is odd", payload($0.name, $0.value), nil)
    }

    static let oddFields: [(name: String, value: String)] = [
        ("type", "null"), ("type", "\"\""), ("type", "4"), ("price", "\"1990\""), ("price", "19.9"), ("price", "-1"),
        ("price", "1e3"), ("price", "9223372036854775808"), ("quantity", "0"), ("quantity", "-3"),
        ("quantity", "2147483648"), ("quantity", "\"1\""), ("isUpgraded", "1"), ("isUpgraded", "\"true\""),
        ("appAccountToken", "\"me\""), ("appAccountToken", "1"), ("appAccountToken", "\"\""),
        ("appAccountToken", "\"6D7A1A51-0F0A-4F6E-9C1B-4A0A9C3F1E2\""), ("offerType", "\"1\""), ("offerType", "1.5"),
        ("revocationReason", "\"1\""), ("commitmentInfo", "[]"), ("storefront", "840"), ("currency", "840"),
        ("currency", "\"Dollar\""), ("webOrderLineItemId", id(65)), ("expiresDate", "-1"),
        ("expiresDate", "253402300800000"), ("originalPurchaseDate", "-62135769600000"),
        ("revocationPercentage", "-1"), ("revocationPercentage", "100001"),
    ]

    private static func id(_ bytes: Int) -> String { "\"" + String(repeating: "7", count: bytes) + "\"" }

    private static func payload(_ name: String, _ value: String?) -> TestJWS {
        TestJWS(payload: TestJWS.transaction.with([name: value]))
    }

    /// A sound transaction of as many bytes, or up to three fewer: base64url grows by four.
    private static func padded(to length: Int) -> TestJWS {
        func of(_ count: Int) -> TestJWS {
            payload("note", "\"\(String(repeating: "x", count: count))\"")
        }
        return of((length - of(0).text.utf8.count) / 4 * 3)
    }

    private static func bytes(_ name: String, _ text: String) -> SignedTextCase {
        SignedTextCase("the payload is \(name)", TestJWS(payloadBytes: Array(text.utf8)), .malformed)
    }

    private static var spaced: [UInt8] {
        let members = TestJWS.transaction.map { "\n \"\($0.key)\"\t:\r\n \($0.value) " }.joined(separator: ",")
        return Array(" {\(members), \"\\u0061dvanced\": {\"x\": [1, -2.5e3, {}, [], \"\\ud83d\\ude00\\n\"]}} ".utf8)
    }

    private static var moved: String {
        let good = TestJWS().text.split(separator: ".")
        let other = TestJWS(payload: TestJWS.transaction.with(["productId": "\"com.example.other\""])).text
        return "\(good[0]).\(other.split(separator: ".")[1]).\(good[2])"
    }

    private static let zero = [UInt8](repeating: 0, count: 32)
    private static let ones = [UInt8](repeating: 0xFF, count: 32)
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// order − s, the other half of the pair that verifies (ECDSA is malleable).
    private static func negated(_ scalar: [UInt8]) -> [UInt8] {
        var borrow = 0
        var difference = zero
        for index in (0..<32).reversed() {
            let value = Int(order[index]) - Int(scalar[index]) - borrow
            borrow = value < 0 ? 1 : 0
            difference[index] = UInt8(value + borrow * 256)
        }
        return difference
    }

    /// SEQUENCE {INTEGER r, INTEGER s}.
    @Sendable private static func der(_ signature: [UInt8]) -> [UInt8] {
        let integers = [signature[..<32], signature[32...]].flatMap { half -> [UInt8] in
            let digits = Array(half.drop { $0 == 0 })
            let value = (digits.first ?? 0) > 0x7F ? [0] + digits : digits
            return [0x02, UInt8(value.count)] + value
        }
        return [0x30, UInt8(integers.count)] + integers
    }
}
