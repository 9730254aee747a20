import AppleTrust
import Crypto
import TestSupport
import Testing

@Suite("Payment tokens are decrypted into typed payments")
struct ApplePayDecryptionTests {
    @Test(arguments: ApplePayRecipe.Version.allCases)
    func `a 3-D Secure payment`(_ version: ApplePayRecipe.Version) throws {
        let payment = try ApplePayTokenFixture.decrypted(ApplePayTokenFixture.token(version))
        #expect(payment.kind == .threeDSecure && payment.currencyNumeric == "156" && payment.amountMinor == 3_990)
        #expect(payment.deviceManufacturerIdentifier == "040010030273" && payment.cardholderName == nil)
        #expect(payment.merchantTokenIdentifier == nil && !payment.hasMerchantTokenMetadata)
        #expect(payment.authenticationResponses.isEmpty)
        payment.withCard { card in
            #expect(String(decoding: card.accountNumber, as: UTF8.self) == ApplePayTestTokens.accountNumber)
            #expect(card.expiryYear == 2031 && card.expiryMonth == 12 && card.eci == "7")
            #expect(card.cryptogram.map(Array.init) == ApplePayTestTokens.cryptogram)
            #expect(card.emvData == nil && card.encryptedPIN == nil)
        }
    }

    @Test func `an EMV payment`() throws {
        let payment = try ApplePayTokenFixture.decrypted(
            ApplePayTokenFixture.token(.rsa) {
                $0.payment["paymentDataType"] = "\"EMV\""
                $0.payment["paymentData"] = #"{"emvData":"nyYI\/\/8=","encryptedPINData":"0aFF"}"#
                $0.payment["cardholderName"] = "\"A. Payer\""
            })
        #expect(payment.kind == .emv && payment.cardholderName == "A. Payer")
        payment.withCard { card in
            #expect(card.emvData.map(Array.init) == [0x9F, 0x26, 0x08, 0xFF, 0xFF])
            #expect(card.encryptedPIN.map(Array.init) == [0x0A, 0xFF])
            #expect(card.cryptogram == nil && card.eci == nil)
        }
    }

    @Test func `a merchant token, and several merchants at once`() throws {
        let payment = try ApplePayTokenFixture.decrypted(
            ApplePayTokenFixture.token {
                $0.payment["merchantTokenIdentifier"] = "\"DAPLMC00001\""
                $0.payment["merchantTokenMetadata"] = #"{"cardMetadata":{"expirationDate":"12/31"}}"#
                $0.payment["paymentData"] = "{}"
                $0.payment["authenticationResponses"] = #"""
                    [{"merchantIdentifier":"one","authenticationData":"AQID","transactionAmount":"1500"},
                    {"merchantIdentifier":"two","authenticationData":"BAU=","transactionAmount":"2490","new":1}]
                    """#
            })
        #expect(payment.merchantTokenIdentifier == "DAPLMC00001" && payment.hasMerchantTokenMetadata)
        // What follows an agreement later has no cryptogram.
        payment.withCard { #expect($0.cryptogram == nil && $0.eci == nil) }
        let responses = payment.authenticationResponses
        #expect(responses.map(\.merchantIdentifier) == ["one", "two"])
        #expect(responses.map(\.transactionAmount) == ["1500", "2490"])
        #expect(responses.map { $0.withAuthenticationData(Array.init) } == [[1, 2, 3], [4, 5]])
    }

    /// Two, no and three decimals, and a code without its leading zeros.
    @Test(arguments: [("840", "840"), ("392", "392"), ("048", "048"), ("36", "036"), ("8", "008")])
    func `currencies have three digits`(_ written: String, _ read: String) throws {
        let json = ApplePayTestTokens.token(
            amount: 12_345, currency: written, applicationData: ApplePayTokenFixture.applicationData,
            at: ApplePayTokenFixture.seconds)
        let payment = try ApplePayTokenFixture.decrypted(json)
        #expect(payment.currencyNumeric == read && payment.amountMinor == 12_345)
    }

    @Test(
        arguments: [
            ("0", 0), ("9223372036854775807", Int64.max), ("9223372036854775808", nil), ("1e3", nil), ("1E3", nil),
            ("\"12\"", nil), ("1.5", nil), ("1.0", nil), ("-1", nil), ("-0", nil), ("null", nil), ("[]", nil),
            (nil, nil),
            ("12345678901234567890123", nil), ("true", nil),
        ] as [(String?, Int64?)])
    func `amounts are whole numbers of minor units`(_ written: String?, _ read: Int64?) throws {
        let json = ApplePayTokenFixture.token { $0.payment["transactionAmount"] = written }
        let payment = try? ApplePayTokenFixture.decrypted(json)
        #expect(payment?.amountMinor == read)
        #expect(ApplePayTokenFixture.reason(json) == (read == nil ? "decryption_failed" : nil))
    }

    @Test(
        arguments: [
            (
                "applicationPrimaryAccountNumber",
                [nil, "4111", "\"411111111111\\u0031\"", "\"4111 1111 1111 1111\"", "\"\""]
            ),
            (
                "applicationExpirationDate",
                [nil, "\"2512\"", "\"251301\"", "\"250001\"", "\"251200\"", "\"25123x\"", "1"]
            ),
            ("currencyCode", [nil, "156", "\"\"", "\"CNY\"", "\"1560\"", "\"15.\""]),
            ("paymentDataType", [nil, "\"\"", "\"3dsecure\"", "\"Other\"", "1", "\"EMV\""]),
            (
                "paymentData",
                [
                    nil, "1", "[]", #"{"onlinePaymentCryptogram":"?"}"#, #"{"onlinePaymentCryptogram":""}"#,
                    #"{"onlinePaymentCryptogram":1}"#, #"{"eciIndicator":"123"}"#, #"{"eciIndicator":7}"#,
                    #"{"emvData":"AAAA"}"#, #"{"onlinePaymentCryptogram":"AAAA","encryptedPINData":"00"}"#,
                ]
            ),
            ("deviceManufacturerIdentifier", ["1", "\"\(String(repeating: "a", count: 257))\""]),
            ("cardholderName", ["{}"]), ("merchantTokenIdentifier", ["7"]),
            (
                "authenticationResponses",
                [
                    "{}", "[1]", "[{}]", #"[{"merchantIdentifier":"a","authenticationData":"AAAA"}]"#,
                    #"[{"merchantIdentifier":"a","authenticationData":"AAAA","transactionAmount":1}]"#,
                    #"[{"merchantIdentifier":"a","authenticationData":"?","transactionAmount":"1"}]"#,
                    "[\(Array(repeating: "{}", count: 65).joined(separator: ","))]",
                ]
            ),
        ] as [(String, [String?])])
    func `what is no payment is refused`(_ name: String, _ values: [String?]) {
        for value in values {
            let refusal = ApplePayTokenFixture.refusal(ApplePayTokenFixture.token { $0.payment[name] = value })
            #expect(refusal?.reason == .decryptionFailed, "\(name) \(value ?? "-")")
            // The log learns which field, and nothing of it.
            #expect(refusal?.detail.contains("411") == false, "\(name) \(value ?? "-")")
        }
    }

    @Test(arguments: [#"{"paymentData":{"emvData":"AAAA","onlinePaymentCryptogram":"AAAA"}}"#, "[]", "", "{", "\u{0}"])
    func `content that is no payment is refused`(_ content: String) {
        for version in ApplePayRecipe.Version.allCases {
            let json = ApplePayTokenFixture.token(version) { $0.content = Array(content.utf8) }
            #expect(ApplePayTokenFixture.reason(json) == (content.isEmpty ? "malformed" : "decryption_failed"))
        }
    }

    @Test func `EMV data and a cryptogram exclude each other`() {
        for data in [
            #"{"emvData":"AAAA","onlinePaymentCryptogram":"AAAA"}"#, #"{"emvData":"AAAA","eciIndicator":"7"}"#, "{}",
        ] {
            let json = ApplePayTokenFixture.token {
                $0.payment["paymentDataType"] = "\"EMV\""
                $0.payment["paymentData"] = data
            }
            #expect(ApplePayTokenFixture.reason(json) == "decryption_failed")
        }
    }

    /// RSA tokens whose key is of another length, or not wrapped for anyone.
    @Test func `a key that cannot be unwrapped is refused`() {
        let json = ApplePayTokenFixture.token(.rsa) { $0.editKey = { _ in [UInt8](repeating: 1, count: 256) } }
        #expect(ApplePayTokenFixture.reason(json) == "decryption_failed")
        let named = ApplePayTokenFixture.token(.rsa) {
            $0.publicKeyHash = ApplePayTestTokens.processingEC.publicKeyHash
        }
        #expect(ApplePayTokenFixture.reason(named) == "decryption_failed")
    }

    @Test func `the key of the token's hash is taken, and the others are named`() throws {
        let next = ApplePayTestTokens.merchant("Payment Processing", .newP256())
        let expired = ApplePayTestTokens.merchant("Payment Processing", .newP256()) {
            $0.last = ApplePayTokenFixture.seconds - 9
        }
        let held = [next, expired, ApplePayTestTokens.processingEC]
        let ring = ApplePayKeyRing(held.map(ApplePayTokenFixture.key))
        #expect(ApplePayKeyRing([]).isEmpty && !ring.isEmpty)
        for identity in held {
            let json = ApplePayTokenFixture.token {
                $0.recipient = identity.key
                $0.publicKeyHash = identity.publicKeyHash
            }
            #expect(ApplePayTokenFixture.refusal(json, ring: ring) == nil)
        }
        let refusal = ApplePayTokenFixture.refusal(ApplePayTokenFixture.token(.rsa), ring: ring)
        #expect(refusal?.reason == .unknownMerchantKey)
        for identity in held + [ApplePayTestTokens.processingRSA] {
            #expect(refusal?.detail.contains(identity.publicKeyHash.base64) == true)
        }
    }
}
