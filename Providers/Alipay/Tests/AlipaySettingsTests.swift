import AlipayProvider
import Domain
import ProviderKit
import ProviderTesting
import Synchronization
import Testing
import _CryptoExtras

struct AlipaySettingsTests {
    private func faults(_ settings: [String: SettingValue], isDevelopment: Bool = true) -> [String] {
        do {
            _ = try AlipayFixture().provider(settings, isDevelopment: isDevelopment)
            return []
        } catch let error as ProviderSetupError {
            return error.faults.map { "\($0.setting) \($0.problem)" }
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `both forms of a private key are taken, as PEM and as base64 alone`() async throws {
        let (one, eight) = (
            AlipayTestCertificates.application.pemRepresentation,
            AlipayTestCertificates.application.pkcs8PEMRepresentation
        )
        #expect(one.contains("BEGIN RSA PRIVATE KEY") && eight.contains("BEGIN PRIVATE KEY"))
        let lines = AlipayTestCertificates.bare(one).map { "\($0)" }.joined().split(by: 64).joined(separator: "\r\n")
        for key in [one, eight, AlipayTestCertificates.bare(one), AlipayTestCertificates.bare(eight), " \(lines)\n"] {
            let fixture = AlipayFixture()
            let provider = try fixture.provider(["app_private_key": .text(key)])
            _ = try await provider.open(fixture.attempt())
            #expect(fixture.standIn.state.withLock { $0.offers.count } == 1)
        }
        for key in [AlipayTestCertificates.alipay.publicKey.pemRepresentation, AlipayTestCertificates.alipayPublic] {
            #expect(faults(["alipay_public_key": .text(key)]).isEmpty)
        }
    }

    @Test(
        arguments: [
            ([:], []), (["mode": .text("swordfish")], ["mode is not one of its words"]),
            (["app_id": .text("")], ["app_id is missing"]),
            (["app_id": .text("2021x0000000001")], ["app_id is not made of digits"]),
            (["seller_id": .text("")], ["seller_id is missing"]),
            (["seller_id": .text("1088000000000001")], ["seller_id is not of 16 digits that begin with 2088"]),
            (["product_code": .text("a b")], ["product_code is no word"]),
            (["product_code": .text("QR_CODE_OFFLINE")], []),
            (["modes": .list([.text("web"), .text("app"), .text("precreate")])], []),
            (["modes": .list([])], ["modes is empty"]),
            (["modes": .list([.text("page"), .text("wap")])], ["modes has two modes of one contract type"]),
            (["modes": .list([.text("app"), .text("app")])], ["modes has two modes of one contract type"]),
            (["modes": .list([.text("app")]), "mode": .text("app")], ["mode stands beside modes"]),
            (
                ["modes": .list([.text("page"), .text("app")]), "product_code": .text("QUICK_WAP_WAY")],
                ["product_code stands beside several modes"]
            ),
            (["gateway": .text("https://x.example/a?b")], ["gateway is no plain web address"]),
            (["gateway": .text("http://127.0.0.1:80/gateway.do")], []),
            (["app_private_key": .text("")], ["app_private_key is missing"]),
            (
                ["app_private_key": .text("swordfish")],
                ["app_private_key is no RSA private key of 2,048 bits or more"]
            ),
            (["alipay_public_key": .text("")], ["alipay_public_key is missing"]),
            (
                ["alipay_public_key": .text("swordfish")],
                ["alipay_public_key is no RSA public key of 2,048 bits or more"]
            ),
        ] as [([String: SettingValue], [String])])
    func `every fault is named, without its value`(settings: [String: SettingValue], expected: [String]) {
        #expect(faults(settings) == expected)
    }

    @Test func `keys are compared with each other`() throws {
        let own = AlipayTestCertificates.application.publicKey.pemRepresentation
        #expect(faults(["alipay_public_key": .text(own)]) == ["alipay_public_key is the application's own public key"])
        #expect(
            faults(["app_private_key": .text(own)]) == ["app_private_key is a public key, not the private one"])
        var files = AlipayFixture.certificateMode(alipay: AlipayTestCertificates.alipayCertificate)
        #expect(faults(files).isEmpty)
        files["app_private_key"] = .text(AlipayTestCertificates.stranger.pemRepresentation)
        #expect(faults(files) == ["app_certificate is not of app_private_key"])
        #expect(
            faults(AlipayFixture.certificateMode(alipay: AlipayTestCertificates.applicationCertificate)) == [
                "alipay_certificates has the application's own certificate"
            ])
    }

    @Test func `small keys are refused`() throws {
        let small = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1_024))
        #expect(
            faults([
                "app_private_key": .text(small.pemRepresentation),
                "alipay_public_key": .text(small.publicKey.pemRepresentation),
            ]).count == 2)
    }

    @Test func `certificate mode needs all its files, and no public key`() {
        let whole = AlipayFixture.certificateMode(alipay: AlipayTestCertificates.alipayCertificate)
        #expect(
            faults(whole.merging(["alipay_public_key": .text(AlipayTestCertificates.alipayPublic)]) { $1 }) == [
                "alipay_public_key is set beside certificates"
            ])
        for (name, empty) in [
            ("app_certificate", SettingValue.text("")), ("alipay_root_certificate", .text("")),
            ("alipay_certificates", .list([])),
        ] {
            #expect(
                faults(whole.merging([name: empty]) { $1 }) == ["\(name) is missing, and certificate mode needs it"])
        }
        let garbage = SettingValue.text(AlipayTestCertificates.file("no certificate"))
        #expect(
            faults(whole.merging(["alipay_root_certificate": garbage]) { $1 }) == [
                "alipay_root_certificate has no RSA certificate that can be read"
            ])
        #expect(
            faults(whole.merging(["alipay_certificates": .list([garbage])]) { $1 }) == [
                "alipay_certificates has no RSA certificate that can be read"
            ])
    }

    @Test func `production needs https, and no fault shows a value`() {
        #expect(faults(["gateway": .text("http://x.example")], isDevelopment: false).count == 1)
        #expect(faults([:], isDevelopment: false).isEmpty)
        let shown = faults([
            "app_id": .text("swordfish"), "seller_id": .text("swordfish"), "app_private_key": .text("swordfish"),
            "alipay_public_key": .text("swordfish"), "gateway": .text("swordfish"), "mode": .text("swordfish"),
        ])
        #expect(shown.count == 6 && !shown.joined().contains("swordfish"))
    }

    @Test(
        arguments: [
            ("https://openapi-sandbox.dl.alipaydev.com/gateway.do", true),
            ("https://openapi.alipaydev.com/gateway.do", true),
            ("https://openapi.alipay.com/gateway.do", false), ("https://alipaydev.com.example/", false), ("", false),
        ] as [(String, Bool)])
    func `the sandbox is another gateway`(gateway: String, isTest: Bool) {
        #expect(AlipayProvider.isTest(ProviderSettings(["gateway": .text(gateway)])) == isTest)
    }

    @Test func `the mode decides on the contract`() throws {
        #expect(try AlipayFixture().provider().contractTypes == [.qr])
        #expect(try AlipayFixture().provider(["mode": .text("app")]).contractTypes == [.alipayApp])
        let several: SettingValue = .list(["app", "web", "precreate"].map(SettingValue.text))
        #expect(try AlipayFixture().provider(["modes": several]).orderedContractTypes == [.alipayApp, .url, .qr])
        for mode in ["page", "wap", "web"] {
            #expect(try AlipayFixture().provider(["mode": .text(mode)]).contractTypes == [.url])
        }
        let required = AlipayProvider.manifest.settings.fields.filter(\.required).map(\.name)
        #expect(required == ["app_id", "seller_id", "app_private_key"])
        #expect(
            AlipayProvider.manifest.cancel == .bestEffort && AlipayProvider.manifest.currencies.map(\.code) == ["CNY"])
    }
}

extension String {
    fileprivate func split(by length: Int) -> [String] {
        stride(from: 0, to: count, by: length).map { String(dropFirst($0).prefix(length)) }
    }
}
