import AppleTrust
import Crypto
import Foundation
import TestSupport
import Testing

@Suite("A merchant's certificates are checked when they are configured")
struct ApplePayKeyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let certificate: [UInt8]
        let key: [UInt8]
        let fault: ApplePayKeyFault?

        init(_ name: String, _ certificate: [UInt8], _ key: [UInt8], _ fault: ApplePayKeyFault?) {
            (testDescription, self.certificate, self.key, self.fault) = (name, certificate, key, fault)
        }

        init(_ name: String, _ certificate: String, _ key: String, _ fault: ApplePayKeyFault?) {
            self.init(name, Array(certificate.utf8), Array(key.utf8), fault)
        }
    }

    private static let ec = ApplePayTestTokens.processingEC
    private static let rsa = ApplePayTestTokens.processingRSA
    private static let other = ApplePayKeyFault.anotherMerchant(configured: ApplePayTestTokens.merchantIdentifier)

    static let cases: [Case] = {
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n"
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        let wide = ApplePayTestTokens.merchant("Payment Processing", ApplePayIdentity.Key.p384(.init()))
        return [
            Case("EC", ec.certificatePEM, ec.keyPEM, nil), Case("RSA", rsa.certificatePEM, rsa.keyPEM, nil),
            Case("SEC 1", ec.certificatePEM, ec.traditionalKeyPEM, nil),
            Case("PKCS #1", rsa.certificatePEM, rsa.traditionalKeyPEM, nil),
            Case("behind its parameters", ec.certificatePEM, parameters + ec.traditionalKeyPEM, nil),
            Case("DER", ec.der, Data(base64Encoded: Self.body(ec.keyPEM)).map(Array.init) ?? [], nil),
            Case("both in one file", ec.certificatePEM + ec.keyPEM, ec.certificatePEM + ec.keyPEM, nil),
            Case("with attributes", "Bag Attributes\n    localKeyID: 01\n" + ec.certificatePEM, "\n" + ec.keyPEM, nil),
            Case(
                "with carriage returns", ec.certificatePEM.replacing("\n", with: "\r\n"),
                ec.keyPEM.replacing("\n", with: "\r\n"), nil),
            Case("no certificate", "", ec.keyPEM, .unreadableCertificate),
            Case("text", "text", ec.keyPEM, .unreadableCertificate),
            Case("the key as certificate", ec.keyPEM, ec.keyPEM, .unreadableCertificate),
            Case("two certificates", ec.certificatePEM + rsa.certificatePEM, ec.keyPEM, .severalCertificates(2)),
            Case("a large file", String(repeating: "A", count: 70_000), ec.keyPEM, .unreadableCertificate),
            Case("no key", ec.certificatePEM, "", .unreadableKey),
            Case("the certificate as key", ec.certificatePEM, ec.certificatePEM, .unreadableKey),
            Case("two keys", ec.certificatePEM, ec.keyPEM + ec.keyPEM, .unreadableKey),
            Case("a passphrase", ec.certificatePEM, encrypted, .encryptedKey),
            Case("another EC key", ec.certificatePEM, ApplePayTestTokens.leafEC.keyPEM, .keyOfAnotherCertificate),
            Case("another RSA key", rsa.certificatePEM, ApplePayTestTokens.identity.keyPEM, .keyOfAnotherCertificate),
            Case("RSA for EC", ec.certificatePEM, rsa.keyPEM, .keyOfAnotherCertificate),
            Case("EC for RSA", rsa.certificatePEM, ec.keyPEM, .keyOfAnotherCertificate),
            Case("P-384", wide.certificatePEM, wide.keyPEM, .unsupportedKey),
        ] + merchants
    }()

    private static let merchants: [Case] = {
        func minted(_ name: String, _ fault: ApplePayKeyFault?, _ edit: (inout ApplePayCertificate) -> Void) -> Case {
            let identity = ApplePayTestTokens.merchant("Payment Processing", ec.key, edit)
            return Case(name, identity.certificatePEM, identity.keyPEM, fault)
        }
        let (oid, value) = ApplePayTestTokens.merchantExtension(ApplePayTestTokens.merchantIdentifier)
        let hex = value.dropFirst(2)
        return [
            minted("without a user id", nil) { $0.userID = nil },
            minted("in lower case", nil) {
                $0.extensions = [(oid, [0x0C, 0x40] + Array(String(decoding: hex, as: UTF8.self).lowercased().utf8))]
            },
            minted("expired", nil) { $0.last = ApplePayTokenFixture.seconds - 1 },
            minted("no extension", .noMerchantIdentifier) { $0.extensions = [] },
            minted("an IA5String", .noMerchantIdentifier) { $0.extensions = [(oid, [0x16] + value.dropFirst())] },
            minted("no DER", .noMerchantIdentifier) { $0.extensions = [(oid, Array(hex))] },
            minted("bytes behind", .noMerchantIdentifier) { $0.extensions = [(oid, value + [0])] },
            minted("no hex", .noMerchantIdentifier) { $0.extensions = [(oid, value.dropLast() + [0x47])] },
            minted("63 digits", .noMerchantIdentifier) { $0.extensions = [(oid, [0x0C, 63] + Array(hex.dropLast()))] },
            minted("another merchant", other) {
                $0.extensions = [ApplePayTestTokens.merchantExtension("merchant.other")]
            },
            minted("another user id", other) { $0.userID = "merchant.other" },
        ]
    }()

    private static func body(_ pem: String) -> String {
        pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    }

    @Test(arguments: cases)
    func `processing certificates`(_ example: Case) {
        var fault: ApplePayKeyFault?
        do throws(ApplePayKeyFault) {
            let key = try ApplePayMerchantKey(
                certificate: example.certificate, privateKey: example.key,
                merchantIdentifier: ApplePayTestTokens.merchantIdentifier)
            #expect([Self.ec.publicKeyHash, Self.rsa.publicKeyHash].contains(key.publicKeyHash))
            #expect(key.notValidAfter > 1_700_000_000_000)
        } catch {
            fault = error
        }
        #expect(fault == example.fault)
    }

    @Test func `the identity certificate`() {
        func check(
            _ identity: ApplePayIdentity, key: String? = nil,
            of merchant: String = ApplePayTestTokens.merchantIdentifier
        )
            -> ApplePayIdentityCheck
        {
            ApplePayIdentityCheck(
                certificate: Array(identity.certificatePEM.utf8), privateKey: Array((key ?? identity.keyPEM).utf8),
                merchantIdentifier: merchant)
        }
        let sound = check(ApplePayTestTokens.identity)
        #expect(sound.faults == [] && sound.notValidAfter == 2_524_608_000_999)
        #expect(check(ApplePayTestTokens.identity, key: ApplePayTestTokens.identity.traditionalKeyPEM).faults == [])
        #expect(check(Self.ec).faults == [.identityIsNotRSA])
        #expect(
            check(ApplePayTestTokens.identity, key: Self.rsa.keyPEM, of: "merchant.b").faults
                == [.keyOfAnotherCertificate, .anotherMerchant(configured: "merchant.b")])
        let unreadable = ApplePayIdentityCheck(certificate: [], privateKey: [], merchantIdentifier: "merchant.a")
        #expect(unreadable.faults == [.unreadableCertificate] && unreadable.notValidAfter == nil)
    }

    @Test func `every fault is told in words`() {
        let faults: [ApplePayKeyFault] = Self.cases.compactMap(\.fault) + [.identityIsNotRSA]
        for fault in faults {
            #expect(fault.description.count > 30 && fault.description.contains(" "))
        }
        #expect(Self.other.description.contains(ApplePayTestTokens.merchantIdentifier))
        #expect(Set(faults).count == 9)
    }

    @Test func `the self-test mints, verifies and decrypts`() throws {
        try ApplePaySelfTest.run(at: ApplePayTokenFixture.now)
        try ApplePaySelfTest.run(at: ApplePayTokenFixture.now + 999, versions: ApplePayToken.Version.allCases)
        // A clock of before certificates knew their dates.
        #expect(throws: ApplePaySelfTestFailure.self) { try ApplePaySelfTest.run(at: -100_000_000_000_000) }
    }
}
