import AppleTrust
import Foundation
import TestSupport
import Testing

@Suite("No card shows in what can be printed")
struct ApplePaySecrecyTests {
    /// Planted in every field that is a person's or a card's.
    private static let planted = [
        ApplePayTestTokens.accountNumber, Data(ApplePayTestTokens.accountNumber.utf8).base64EncodedString(),
        "Planted Name",
        "PLANTEDTOKEN", Data(ApplePayTestTokens.cryptogram).base64EncodedString(), "193, 194, 195", "311231",
        "[52, 49, 49, 49", "cHJvb2Y=", "[112, 114, 111",
    ]

    private static func texts(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var mirrored = ""
        var mirror: Mirror? = Mirror(reflecting: value)
        while let present = mirror {
            for child in present.children { mirrored += "\(child)" }
            mirror = present.superclassMirror
        }
        return [
            String(describing: value), String(reflecting: value), "\(value)", dumped, mirrored, "\([value])",
            "\(Optional(value) as Any)",
        ]
    }

    private static func expectNothing(_ value: Any, _ more: [String] = []) {
        for text in texts(value) {
            for secret in planted + more { #expect(!text.contains(secret), "\(type(of: value))") }
        }
    }

    private static func token(_ version: ApplePayRecipe.Version) -> [UInt8] {
        ApplePayTokenFixture.token(version) {
            $0.payment["cardholderName"] = "\"Planted Name\""
            $0.payment["merchantTokenIdentifier"] = "\"PLANTEDTOKEN\""
            $0.payment["authenticationResponses"] = #"""
                [{"merchantIdentifier":"one","authenticationData":"cHJvb2Y=","transactionAmount":"311231"}]
                """#
        }
    }

    @Test(arguments: ApplePayRecipe.Version.allCases)
    func `neither a token nor what it decrypts to`(_ version: ApplePayRecipe.Version) throws {
        let json = Self.token(version)
        let token = try ApplePayToken(json)
        let verified = try ApplePayTokenFixture.verifier.verify(
            token, applicationData: ApplePayTokenFixture.applicationData, at: ApplePayTokenFixture.now)
        let payment = try ApplePayTokenFixture.ring.decrypt(verified)
        let data = String(decoding: token.paymentData, as: UTF8.self)
        let encrypted = try #require(data.firstMatch(of: /"data":"([^"]{20})/)).output.1
        for value in [token, verified, payment, payment.authenticationResponses[0]] as [Any] {
            Self.expectNothing(value, [String(encrypted)])
        }
        // What is shown is there: the search finds what it looks for.
        #expect(payment.cardholderName == "Planted Name")
        #expect("\(payment)" == "DecryptedToken(3DSecure)" && "\(token)" == "ApplePayToken(\(version.rawValue))")
        #expect(
            Self.texts(Holder(number: ApplePayTestTokens.accountNumber)).allSatisfy { $0.contains(Self.planted[0]) })
    }

    private struct Holder { let number: String }

    @Test func `nor a merchant's key`() throws {
        for identity in [ApplePayTestTokens.processingEC, ApplePayTestTokens.processingRSA] {
            let secret = identity.keyPEM.split(separator: "\n")[1].prefix(30)
            for value in [ApplePayTokenFixture.key(identity), ApplePayTokenFixture.ring] as [Any] {
                Self.expectNothing(value, [String(secret)])
                for text in Self.texts(value) { #expect(text.utf8.count < 400) }
            }
        }
    }

    @Test func `nor a refusal of what was decrypted`() {
        let faults: [(String, String)] = [
            ("transactionAmount", "\"\(ApplePayTestTokens.accountNumber)\""),
            ("applicationPrimaryAccountNumber", "\"\(ApplePayTestTokens.accountNumber)x\""),
            ("applicationExpirationDate", "\"\(ApplePayTestTokens.accountNumber)\""),
            ("paymentDataType", "\"\(ApplePayTestTokens.accountNumber)\""),
            ("paymentData", "\"\(ApplePayTestTokens.accountNumber)\""),
            ("extra", ApplePayTestTokens.accountNumber + "x"),
        ]
        for (name, value) in faults {
            let refusal = ApplePayTokenFixture.refusal(ApplePayTokenFixture.token { $0.payment[name] = value })
            #expect(refusal?.reason == .decryptionFailed, "\(name)")
            Self.expectNothing(refusal as Any)
        }
    }

    /// The memory of the last one that goes is overwritten; what a closure took out is its own.
    @Test func `a card is only there while its token is`() throws {
        var payment: DecryptedToken? = try ApplePayTokenFixture.decrypted(Self.token(.ec))
        weak let gone = payment
        let taken = payment?.withCard { Array($0.accountNumber) }
        #expect(gone != nil && taken == Array(ApplePayTestTokens.accountNumber.utf8))
        payment = nil
        #expect(gone == nil)
    }
}
