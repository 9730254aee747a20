import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing
import WeChatPayProvider

struct WeChatPaySettingsTests {
    private func faults(_ settings: [String: SettingValue], isDevelopment: Bool = true) -> [String] {
        do {
            _ = try WeChatPayFixture().provider(settings, isDevelopment: isDevelopment)
            return []
        } catch let error as ProviderSetupError {
            return error.faults.map(\.setting)
        } catch {
            return ["\(error)"]
        }
    }

    /// All modes, and an authorisation with other settings of these names.
    private static func oauth(_ changed: [String: SettingValue] = [:]) -> [String: SettingValue] {
        let own: [String: SettingValue] = [
            "app_id": .text(FakeWeChatPayServer.office), "app_secret": .text("the secret of the office"),
        ]
        return WeChatPayFixture.wallets.merging(["oauth": .object(own.merging(changed) { $1 })]) { $1 }
    }

    private static let otherKey = WeChatPayTestCertificates.otherMerchant.key.pkcs8PEM
    private static let serialOnly: [String: SettingValue] = [
        "certificate": .text(""), "certificate_serial": .text(WeChatPayTestCertificates.merchant.serial),
    ]

    @Test(
        arguments: [
            ([:], []), (["mchid": .text("")], ["mchid"]), (["mchid": .text("19-00")], ["mchid"]),
            (["appid": .text("")], ["appid"]), (["appid": .text("wx/../x")], ["appid"]),
            (["mode": .text("lottery")], ["mode"]), (["mode": .text("jsapi")], []),
            (["private_key": .text("")], ["private_key"]),
            (["private_key": .text("swordfish")], ["private_key"]),
            (["private_key": .text(WeChatPayTestCertificates.publicKeyPEM)], ["private_key"]),
            (["private_key": .text(WeChatPayTestCertificates.merchant.key.asPKCS1)], []),
            // The key, the certificate and the serial number must belong together.
            (["private_key": .text(otherKey)], ["certificate"]),
            (["certificate_serial": .text(WeChatPayTestCertificates.merchant.serial.lowercased())], []),
            (["certificate_serial": .text("00" + WeChatPayTestCertificates.merchant.serial)], []),
            (["certificate_serial": .text(WeChatPayTestCertificates.otherMerchant.serial)], ["certificate_serial"]),
            (["certificate_serial": .text("no serial")], ["certificate_serial"]),
            (["certificate": .text("/nowhere/apiclient_cert.pem")], ["certificate"]),
            (["certificate": .text(WeChatPayTestCertificates.publicKeyFile)], ["certificate"]),
            (["certificate": .text("")], ["certificate"]), (serialOnly, []),
            (["api_v3_key": .text("")], ["api_v3_key"]), (["api_v3_key": .text("0123456789abcdef")], ["api_v3_key"]),
            (["api_v3_key": .text(String(repeating: "月", count: 32))], ["api_v3_key"]),
            (WeChatPayFixture.publicKey, []),
            (["public_key_id": .text(WeChatPayTestCertificates.publicKeyID)], ["public_key"]),
            (["public_key": .text(WeChatPayTestCertificates.publicKeyFile)], ["public_key_id"]),
            (WeChatPayFixture.publicKey.merging(["public_key_id": .text("5ACE5501")]) { $1 }, ["public_key_id"]),
            (WeChatPayFixture.publicKey.merging(["public_key": .text("/nowhere")]) { $1 }, ["public_key"]),
            (
                WeChatPayFixture.publicKey.merging(["public_key": .text(WeChatPayTestCertificates.certificateFile)]) {
                    $1
                },
                ["public_key"]
            ),
            (["mode": .text("h5")], []), (WeChatPayFixture.h5, []),
            (WeChatPayFixture.h5.merging(["h5_payer_address": .text("2001:db8::1")]) { $1 }, []),
            (WeChatPayFixture.h5.merging(["h5_payer_address": .text("shop.example")]) { $1 }, ["h5_payer_address"]),
            (WeChatPayFixture.wallets, []), (["modes": .list([])], ["modes"]),
            (["modes": WeChatPayFixture.texts("app", "app")], ["modes"]),
            (["modes": WeChatPayFixture.texts("app"), "mode": .text("app")], ["mode"]),
            (["app_ids": .object(["app": WeChatPayFixture.texts("wx bad")])], ["app_ids.app"]),
            (["app_ids": .object(["jsapi": .list([])])], ["app_ids.jsapi"]),
            (["app_ids": .object(["jsapi": WeChatPayFixture.texts("wx1", "wx1")])], ["app_ids.jsapi"]),
            (oauth(), []), (oauth(["app_id": .text("wx00another0office")]), ["oauth.app_id"]),
            (oauth(["app_secret": .text("")]), ["oauth.app_secret"]),
            (oauth(["authorize_url": .text("https://x.example/a?b")]), ["oauth.authorize_url"]),
            (oauth(["api_base": .text("https://x.example/a")]), ["oauth.api_base"]),
            (oauth().merging(["modes": WeChatPayFixture.texts("native", "app")]) { $1 }, ["oauth"]),
            (["api_base": .text("http://127.0.0.1:8420")], []),
            (["api_base": .text("https://api2.mch.weixin.qq.com/")], []),
            (["api_base": .text("https://x.example/proxy")], ["api_base"]),
            (["api_base": .text("ftp://x")], ["api_base"]),
        ] as [([String: SettingValue], [String])])
    func `every fault is named once`(settings: [String: SettingValue], expected: [String]) {
        #expect(faults(settings) == expected)
    }

    @Test func `production needs https`() {
        #expect(faults(["api_base": .text("http://api.mch.weixin.qq.com")], isDevelopment: false) == ["api_base"])
        #expect(faults([:], isDevelopment: false).isEmpty)
    }

    @Test func `faults never show a value`() {
        let names = [
            "mchid", "appid", "mode", "private_key", "certificate", "certificate_serial", "api_v3_key", "public_key",
            "public_key_id", "api_base",
        ]
        let settings = Dictionary(uniqueKeysWithValues: names.map { ($0, SettingValue.text("sword fish")) })
        let error = #expect(throws: ProviderSetupError.self) { try WeChatPayFixture().provider(settings) }
        #expect(error?.faults.map(\.setting).sorted() == names.sorted())
        #expect(!"\(String(reflecting: error))".contains("sword"))
    }

    @Test func `the defaults of the schema are the defaults of the code`() throws {
        let fields = WeChatPayProvider.manifest.settings.fields
        let defaults = Dictionary(
            uniqueKeysWithValues: fields.compactMap { field in field.defaultValue.map { (field.name, $0) } })
        #expect(defaults == ["api_base": .text("https://api.mch.weixin.qq.com")])
        #expect(fields.filter(\.required).map(\.name) == ["mchid", "appid", "private_key", "api_v3_key"])
        #expect(try WeChatPayFixture().provider().contractTypes == [.qr])
        #expect(try WeChatPayFixture().provider(WeChatPayFixture.h5).contractTypes == [.url])
        let several = try WeChatPayFixture().provider(WeChatPayFixture.wallets)
        #expect(several.orderedContractTypes == [.qr, .wechatJSAPI, .wechatApp])
        #expect(several.appIDs(of: .wechatJSAPI) == [FakeWeChatPayServer.office, FakeWeChatPayServer.mini])
        #expect(several.appIDs(of: .wechatApp) == [FakeWeChatPayServer.mobile] && several.appIDs(of: .qr).isEmpty)
        let plain = try WeChatPayFixture().provider(["mode": .text("app")])
        #expect(plain.appIDs(of: .wechatApp) == [FakeWeChatPayServer.appid] && plain.authorization == nil)
    }

    @Test func `the doctor tries keys against WeChat Pay`() async throws {
        func diagnose(_ fixture: WeChatPayFixture, _ settings: [String: SettingValue] = [:]) async throws -> [String] {
            let provider = try fixture.provider(settings)
            return (provider.examine() + (await provider.diagnose())).map { "\($0.level) \($0.subject)" }
        }
        let good = try await diagnose(WeChatPayFixture())
        #expect(good == ["good merchant certificate", "good platform certificates", "good question"])
        let serial = try await diagnose(WeChatPayFixture(), Self.serialOnly)
        #expect(serial.first == "notice merchant certificate")
        let fixture = WeChatPayFixture()
        fixture.standIn.state.withLock { $0.seal = .publicKey }
        let publicKey = try await diagnose(fixture, WeChatPayFixture.publicKey)
        #expect(publicKey == ["good merchant certificate", "good question"])
        let wrongKey = try await diagnose(
            WeChatPayFixture(), ["api_v3_key": .text(String(repeating: "k", count: 32))])
        #expect(wrongKey[1] == "fault platform certificates")
        let wrongSerial = WeChatPayFixture()
        wrongSerial.standIn.state.withLock { $0.seal = .publicKey }
        let settings = WeChatPayFixture.publicKey.merging(["certificate": .text(""), "certificate_serial": .text("77")])
        {
            $1
        }
        #expect(try await diagnose(wrongSerial, settings).last == "fault question")
        let wallets = try await diagnose(
            WeChatPayFixture(),
            WeChatPayFixture.wallets.merging([
                "app_ids": .object([
                    "app": WeChatPayFixture.texts(FakeWeChatPayServer.mobile, FakeWeChatPayServer.mini),
                    "jsapi": WeChatPayFixture.texts(FakeWeChatPayServer.office, FakeWeChatPayServer.mobile),
                ])
            ]) { $1 })
        #expect(
            wallets == [
                "good merchant certificate", "notice oauth", "good platform certificates", "good question",
                "good app id \(FakeWeChatPayServer.office)", "fault app id \(FakeWeChatPayServer.mobile)",
                "good app id \(FakeWeChatPayServer.mobile)", "fault app id \(FakeWeChatPayServer.mini)",
            ])
        let silent = WeChatPayFixture { _ throws(HTTPTransportError) in throw .notSent }
        #expect(try await diagnose(silent).last == "notice question")
        let late = WeChatPayFixture()
        late.clock.advance(seconds: 2_524_608_000 - late.clock.now.rawValue - 86_400)
        #expect(try await diagnose(late).first == "notice merchant certificate")
        late.clock.advance(seconds: 86_400)
        #expect(try await diagnose(late).first == "fault merchant certificate")
    }
}
