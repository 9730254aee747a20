import AppleTrust
import TestSupport
import Testing

@Suite("Payment tokens are bound to their time, their order and their id")
struct ApplePayVerificationTests {
    /// Seconds between the signing time and now; milliseconds of now count.
    @Test(
        arguments: [
            (0, nil), (300_000, nil), (300_001, "signing_time_out_of_window"), (299_999, nil), (-60_000, nil),
            (-60_001, "signing_time_out_of_window"), (Int64.max / 2, "signing_time_out_of_window"),
            (Int64.min / 2, "signing_time_out_of_window"),
        ] as [(Int64, String?)])
    func `a token counts for five minutes`(_ age: Int64, _ reason: String?) {
        let token = ApplePayTokenFixture.token()
        #expect(ApplePayTokenFixture.reason(token, at: ApplePayTokenFixture.now + age) == reason)
    }

    @Test func `the window is configured`() throws {
        let token = ApplePayTokenFixture.token()
        let narrow = try ApplePayVerifier(
            ApplePayVerifierConfiguration(
                extraRoots: [ApplePayTestTokens.root.der], signingTimeWindowSeconds: 10, clockSkewSeconds: -5))
        for (age, isInside) in [(0, true), (10_000, true), (10_001, false), (-1, false)] as [(Int64, Bool)] {
            #expect(
                (ApplePayTokenFixture.refusal(token, at: ApplePayTokenFixture.now + age, narrow) == nil) == isInside)
        }
        let endless = try ApplePayVerifier(
            ApplePayVerifierConfiguration(
                extraRoots: [ApplePayTestTokens.root.der], signingTimeWindowSeconds: .max, clockSkewSeconds: .max))
        for now in [Int64.min, 0, .max] {
            #expect(
                ApplePayTokenFixture.refusal(token, at: now, endless).map { $0.reason == .signingTimeOutOfWindow }
                    ?? true)
        }
    }

    @Test(
        arguments: [
            (Array("the order".utf8), nil), (Array("another order".utf8), "application_data_mismatch"),
            ([], "application_data_mismatch"), (nil, "application_data_mismatch"),
        ] as [([UInt8]?, String?)])
    func `a bound token pays for its order only`(_ expected: [UInt8]?, _ reason: String?) {
        for version in ApplePayRecipe.Version.allCases {
            #expect(
                ApplePayTokenFixture.reason(ApplePayTokenFixture.token(version), applicationData: expected) == reason)
        }
    }

    @Test func `a token bound to nothing serves where nothing was asked for`() {
        let token = ApplePayTestTokens.token(applicationData: nil, at: ApplePayTokenFixture.seconds)
        #expect(ApplePayTokenFixture.reason(token, applicationData: nil) == nil)
        #expect(ApplePayTokenFixture.reason(token, applicationData: [1]) == "application_data_mismatch")
        #expect(ApplePayTokenFixture.reason(token, applicationData: []) == "application_data_mismatch")
    }

    @Test func `ids are compared without their case, and the signed one counts`() throws {
        for isUpper in [true, false] {
            let json = ApplePayTokenFixture.token { recipe in
                let id = ApplePayRecipe.hex(recipe.transactionID)
                recipe.editHeader = { $0["transactionId"] = isUpper ? id.uppercased() : id }
                recipe.editToken = { $0["transactionIdentifier"] = isUpper ? id : id.uppercased() }
            }
            let token = try ApplePayToken(json)
            let verified = try ApplePayTokenFixture.verifier.verify(
                token, applicationData: ApplePayTokenFixture.applicationData, at: ApplePayTokenFixture.now)
            #expect(verified.transactionID == token.transactionIdentifier?.lowercased())
            #expect(verified.transactionID.count == 64 && verified.signedAt == ApplePayTokenFixture.now)
        }
    }

    @Test(arguments: ["null", nil])
    func `an absent outer id is not compared`(_ outer: String?) {
        let json = ApplePayTokenFixture.token { $0.editToken = { $0["transactionIdentifier"] = outer } }
        #expect(ApplePayTokenFixture.reason(json) == nil)
    }

    /// A fault of a later check does not hide one of an earlier.
    @Test(arguments: [
        (ApplePayVariant.foreignRoot, "untrusted_chain"), (.leafMarkerMissing, "wrong_purpose"),
        (.signatureTampered, "bad_signature"), (.derEncoding, "signing_time_out_of_window"),
    ])
    func `faults come in their order`(_ variant: ApplePayVariant, _ reason: String) {
        let json = ApplePayTokenFixture.token(.ec, variant) {
            $0.editToken = { $0["transactionIdentifier"] = "\"00\"" }
            $0.publicKeyHash = [UInt8](repeating: 0, count: 32)
        }
        let late = ApplePayTokenFixture.now + 3_600_000
        #expect(ApplePayTokenFixture.reason(json, applicationData: nil, at: late) == reason)
        #expect(
            variant != .derEncoding
                || ApplePayTokenFixture.reason(json, applicationData: nil) == "application_data_mismatch")
        #expect(variant != .derEncoding || ApplePayTokenFixture.reason(json) == "transaction_identifier_mismatch")
    }

    /// A token that was used in time can be recognised later.
    @Test(arguments: [(nil, nil, true), (ApplePayVariant.signatureTampered, nil, false), (nil, [1] as [UInt8], false)])
    func `an old token is named only where nothing else is wrong with it`(
        _ variant: ApplePayVariant?, _ applicationData: [UInt8]?, _ isNamed: Bool
    ) throws {
        let json = ApplePayTokenFixture.token(.ec, variant)
        let token = try ApplePayToken(json)
        let late = ApplePayTokenFixture.now + 3_600_000
        let refusal = #expect(throws: ApplePayRefusal.self) {
            try ApplePayTokenFixture.verifier.verify(
                token, applicationData: applicationData ?? ApplePayTokenFixture.applicationData, at: late)
        }
        #expect(refusal?.transactionID == (isNamed ? token.transactionIdentifier?.lowercased() : nil))
    }

    /// The chain is judged when the token was signed, not now.
    @Test func `a leaf that ended since is good enough`() throws {
        let leaf = ApplePayTestTokens.leaf("Ended", .newP256()) { $0.last = ApplePayTokenFixture.seconds + 10 }
            .issued(by: ApplePayTestTokens.intermediate)
        let json = ApplePayTokenFixture.token { $0.sign(by: leaf) }
        #expect(ApplePayTokenFixture.reason(json, at: ApplePayTokenFixture.now + 60_000) == nil)
        let later = ApplePayTokenFixture.token {
            $0.sign(by: leaf)
            $0.signer.signedAt += 11
        }
        #expect(ApplePayTokenFixture.reason(later, at: ApplePayTokenFixture.now + 60_000) == "untrusted_chain")
    }

    @Test func `a root that anchors nothing is said when the verifier is made`() {
        for der in [[], ApplePayTestTokens.leafEC.der, Array("text".utf8)] {
            #expect(throws: AppleVerifierSetupError.unusableRoot(1)) {
                try ApplePayVerifier(ApplePayVerifierConfiguration(extraRoots: [ApplePayTestTokens.root.der, der]))
            }
        }
    }
}
