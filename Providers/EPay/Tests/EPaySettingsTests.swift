import Domain
import EPayProvider
import ProviderKit
import ProviderTesting
import Testing

struct EPaySettingsTests {
    private func faults(_ settings: [String: SettingValue], isDevelopment: Bool = true) -> [String] {
        do {
            _ = try EPayFixture().provider(settings, isDevelopment: isDevelopment)
            return []
        } catch let error as ProviderSetupError {
            return error.faults.map { "\($0.setting) \($0.problem)" }
        } catch {
            return ["\(error)"]
        }
    }

    @Test(
        arguments: [
            ([:], []), (["mode": .text("swordfish")], ["mode is not one of its words"]),
            (["pid": .text("")], ["pid is missing"]), (["pid": .text("1 0")], ["pid is no merchant id"]),
            (["key": .text("")], ["key is missing"]), (["key": .text("short")], ["key is of a wrong form"]),
            (["key": .text("with a space within")], ["key is of a wrong form"]),
            (["mode": .text("mapi_qr")], ["type is missing, and mapi needs it"]),
            (["mode": .text("mapi_url"), "type": .text("a b")], ["type is no word"]),
            (EPayFixture.mapi, []), (["type": .text("")], []), (["type": .text("usdt.trc20")], []),
            (["client_ip": .text("")], []), (["client_ip": .text("1.2")], ["client_ip is no IP address"]),
            (["client_ip": .text("a host")], ["client_ip is no IP address"]), (["client_ip": .text("2001:db8::1")], []),
            (["base": .text("")], ["base is missing"]),
            (["base": .text("epay.example")], ["base is no plain web address"]),
            (["base": .text("https://x.example/?a")], ["base is no plain web address"]),
            (["base": .text("http://127.0.0.1:8080/")], []),
            (EPayFixture.dialect(["mapi_path": .text("xpay/epay/mapi.php")]), []),
            (EPayFixture.dialect(["mapi_path": .text("../x")]), ["dialect.mapi_path is no path"]),
            (EPayFixture.dialect(["api_path": .text("/api.php")]), ["dialect.api_path is no path"]),
            (EPayFixture.dialect(["submit_path": .text("a?b")]), ["dialect.submit_path is no path"]),
            (
                EPayFixture.dialect(["key_joiner": .text(String(repeating: "&", count: 33))]),
                ["dialect.key_joiner is too long"]
            ),
        ] as [([String: SettingValue], [String])])
    func `every fault is named, without its value`(settings: [String: SettingValue], expected: [String]) {
        #expect(faults(settings) == expected)
    }

    @Test func `production needs https`() {
        #expect(faults(["base": .text("http://x.example")], isDevelopment: false).count == 1)
        #expect(faults([:], isDevelopment: false).isEmpty)
    }

    @Test func `the mode decides on the contract, and the manifest is honest`() throws {
        for (mode, contract) in [("submit", ContractType.url), ("mapi_url", .url), ("mapi_qr", .qr)] {
            let settings: [String: SettingValue] = ["mode": .text(mode), "type": .text("alipay")]
            #expect(try EPayFixture().provider(settings).contractTypes == [contract])
        }
        let manifest = EPayProvider.manifest
        #expect(manifest.cancel == .none && manifest.refunds == .full && manifest.notifications == [.get, .post])
        #expect(manifest.settings.fields.filter(\.required).map(\.name) == ["base", "pid", "key"])
    }

    @Test func `a base with a path and another dialect's paths are used as they are`() async throws {
        let fixture = EPayFixture()
        let settings: [String: SettingValue] = [
            "base": .text("https://X.example:8443/a//"), "dialect": .object(["api_path": .text("x/api.php")]),
        ]
        _ = try? await fixture.provider(settings).query(fixture.reference(fixture.attempt()))
        #expect(
            fixture.transport.requests.first?.url.hasPrefix("https://x.example:8443/a/x/api.php?act=order&") == true)
    }
}
