import Foundation
import ProviderKit
import ProviderTesting
import TestSupport
import Testing

@testable import ApplePayProvider

struct ApplePaySettingsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let setting: String
        let problem: String
        let edit: @Sendable (inout [String: SettingValue]) -> Void

        init(_ setting: String, _ problem: String, _ edit: @escaping @Sendable (inout [String: SettingValue]) -> Void) {
            self.setting = setting
            self.problem = problem
            self.edit = edit
        }

        var testDescription: String { "\(setting) \(problem)" }
    }

    static let cases = [
        Case("merchant_identifier", "is empty") { $0["merchant_identifier"] = .text("") },
        Case("display_name", "is too long") { $0["display_name"] = .text(String(repeating: "名", count: 22)) },
        Case("domain", "is no domain name") { $0["domain"] = .text("https://shop.example.com") },
        Case("domain", "is no domain name") { $0["domain"] = .text("shop.example.com:443") },
        Case("domain", "is no domain name") { $0["domain"] = .text("Shop.example.com") },
        Case("domain", "is no domain name") { $0["domain"] = .text("localhost") },
        Case("country_code", "is no country") { $0["country_code"] = .text("cn") },
        Case("supported_networks", "has no word, or one that is none") { $0["supported_networks"] = .list([]) },
        Case("supported_networks", "has no word, or one that is none") {
            $0["supported_networks"] = .list([.text("vi sa")])
        },
        Case("merchant_capabilities", "lacks supports3DS, which Apple demands") {
            $0["merchant_capabilities"] = .list([.text("supportsEMV")])
        },
        Case("gateway", "is no https address") { $0["gateway"] = .text("http://127.0.0.1:1") },
        Case("gateway_ca", "cannot be read") { $0["gateway_ca"] = .text("/nonexistent/ca.pem") },
        Case("domain_association", "cannot be read") { $0["domain_association"] = .text("/nonexistent/file") },
        Case("identity.private_key", "is missing") {
            $0["identity"] = .object(["certificate": .text(ApplePayTestTokens.rootFile)])
        },
        Case("identity.certificate", "is missing") { $0["identity"] = .object(["private_key": .text("x")]) },
        Case("identity", "cannot be used: the certificate's key is not RSA") {
            $0["identity"] = ApplePayGatewayFixtureSetup.pair(ApplePayTestTokens.processingEC)
        },
        Case("payment_processing[0]", "cannot be used: the private key is not the one of the certificate") {
            $0["payment_processing"] = .list([Self.mixed])
        },
        Case("payment_processing[0]", "cannot be used: the certificate was not issued for the merchant identifier") {
            $0["merchant_identifier"] = .text("merchant.com.example.other")
            $0["identity"] = nil
        },
        Case("processor", "is no account's name") { $0["processor"] = .text("") },
        Case("token_form", "is decrypted, but payment_processing holds no key") {
            $0["token_form"] = .text("decrypted")
            $0["payment_processing"] = nil
        },
        Case("root_certificates[0]", "is no CA certificate that can anchor a chain") {
            $0["root_certificates"] = .list([
                .text(ApplePayGatewayFixtureSetup.file("r.pem", Data("no certificate".utf8)))
            ])
        },
    ]

    private static let mixed: SettingValue = {
        guard case .object(var pair) = ApplePayGatewayFixtureSetup.pair(ApplePayTestTokens.processingEC) else {
            return .object([:])
        }
        pair["private_key"] = .text(ApplePayTestTokens.identity.keyPEM)
        return .object(pair)
    }()

    @Test(arguments: cases)
    func `a fault stops the start with its setting`(_ example: Case) throws {
        let faults = ApplePayFixture().faults(example.edit)
        let fault = try #require(faults.first { $0.setting == example.setting }, "\(faults)")
        #expect(fault.problem.hasPrefix(example.problem), "\(fault.problem)")
        #expect(!fault.remedy.isEmpty && !"\(faults)".contains("PRIVATE KEY-----\nM"))
    }

    @Test func `sound settings have no fault, and several faults are told at once`() {
        #expect(ApplePayFixture().faults { _ in }.isEmpty)
        let faults = ApplePayFixture().faults {
            $0["domain"] = .text("x")
            $0["country_code"] = .text("x")
        }
        #expect(faults.map(\.setting) == ["domain", "country_code"])
    }

    @Test(
        arguments: [
            ("https://apple-pay-gateway.apple.com", true), ("https://cn-apple-pay-gateway.apple.com/", true),
            ("https://apple-pay-gateway-cert.apple.com", true), ("https://apple-pay-gateway.apple.com:444", false),
            ("https://apple-pay-gateway.apple.com/x", false), ("https://apple-pay-gateway-apple.com", false),
            ("https://apple-pay-gateway.apple.com.evil.example", false), ("https://127.0.0.1:1", false),
        ])
    func `in production the gateway is one of Apple's`(_ address: String, _ isGood: Bool) {
        let faults = ApplePayFixture().faults(isDevelopment: false) {
            $0["gateway"] = .text(address)
            $0["root_certificates"] = nil
        }
        #expect(faults.isEmpty == isGood, "\(faults)")
    }

    @Test(
        arguments: [
            ("https://apple-pay-gateway.apple.com", false), ("https://apple-pay-gateway-cert.apple.com", true),
            ("https://cn-apple-pay-gateway-cert.apple.com", true), ("https://gateway.example", false), ("", false),
        ] as [(String, Bool)])
    func `Apple's hosts for tests make a test account`(_ address: String, _ isTest: Bool) {
        #expect(ApplePayProvider.isTest(ProviderSettings(["gateway": .text(address)])) == isTest)
    }

    @Test func `a certificate may be DER and its key of the older forms`() {
        let faults = ApplePayFixture().faults {
            let der = ApplePayGatewayFixtureSetup.file("c.der", Data(ApplePayTestTokens.processingEC.der))
            $0["payment_processing"] = .list([
                .object([
                    "certificate": .text(der), "private_key": .text(ApplePayTestTokens.processingEC.traditionalKeyPEM),
                ])
            ])
        }
        #expect(faults.isEmpty, "\(faults)")
    }

    @Test func `nothing of an account's keys is shown`() throws {
        let fixture = ApplePayFixture()
        let provider = try fixture.provider()
        var dumped = ""
        dump(provider, to: &dumped)
        for text in [dumped, "\(provider)", String(reflecting: provider)] {
            for identity in [
                ApplePayTestTokens.processingEC, ApplePayTestTokens.processingRSA, ApplePayTestTokens.identity,
            ] {
                let body = identity.keyPEM.split(separator: "\n")[1]
                #expect(
                    !text.contains(body) && !text.contains("\(Array(identity.keyPEM.utf8))".prefix(200).dropFirst()))
            }
        }
    }
}
