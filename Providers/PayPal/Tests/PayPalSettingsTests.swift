import Domain
import Foundation
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

struct PayPalSettingsTests {
    private func faults(_ settings: [String: SettingValue], isDevelopment: Bool = true) -> [String] {
        do {
            _ = try PayPalFixture().provider(settings, isDevelopment: isDevelopment)
            return []
        } catch let error as ProviderSetupError {
            return error.faults.map(\.setting)
        } catch {
            return ["\(error)"]
        }
    }

    @Test(
        arguments: [
            ([:], []), (["client_id": .text("")], ["client_id"]), (["client_id": .text("a b")], ["client_id"]),
            (["client_id": .text("a:b")], ["client_id"]), (["client_secret": .text("")], ["client_secret"]),
            (["client_secret": .text("a\r\nX: 1")], ["client_secret"]), (["webhook_id": .text("")], ["webhook_id"]),
            (["webhook_id": .text("a|b")], ["webhook_id"]), (PayPalFixture.byAPI, []),
            (["webhook_verification": .text("none")], ["webhook_verification"]),
            (["brand_name": .text(String(repeating: "x", count: 128))], ["brand_name"]),
            (["api_base": .text("https://api-m.sandbox.paypal.com/")], []),
            (["api_base": .text("http://127.0.0.1:8420")], []), (["api_base": .text("ftp://x")], ["api_base"]),
            (["api_base": .text("https://x.example/?a")], ["api_base"]),
            (["root_certificates": .list([.text("/nowhere")])], ["root_certificates"]),
            (["root_certificates": .list([])], []),
        ] as [([String: SettingValue], [String])])
    func `every fault is named once`(settings: [String: SettingValue], expected: [String]) {
        #expect(faults(settings) == expected)
    }

    @Test func `production needs https and the system's roots`() {
        let plain: [String: SettingValue] = ["root_certificates": .list([])]
        #expect(faults(plain, isDevelopment: false).isEmpty)
        #expect(faults([:], isDevelopment: false) == ["root_certificates"])
        let http = plain.merging(["api_base": .text("http://api-m.paypal.com")]) { $1 }
        #expect(faults(http, isDevelopment: false) == ["api_base"])
    }

    @Test func `with the system's roots a chain of the tests proves nothing`() async throws {
        let fixture = PayPalFixture()
        let raw = fixture.notification("OTHER.EVENT", ["id": "x"])
        await #expect(throws: ProviderError.unproven(.certificate)) {
            try await fixture.provider(["root_certificates": .list([])]).receive(raw)
        }
        _ = try await fixture.provider().receive(raw)
    }

    @Test func `faults never show a value`() {
        let names = ["client_id", "client_secret", "webhook_id", "webhook_verification", "api_base"]
        var settings = Dictionary(uniqueKeysWithValues: names.map { ($0, SettingValue.text("sword fish")) })
        settings["root_certificates"] = .list([.text("sword fish")])
        let error = #expect(throws: ProviderSetupError.self) { try PayPalFixture().provider(settings) }
        #expect(error?.faults.count == 6 && !"\(String(reflecting: error))".contains("sword"))
    }

    @Test(
        arguments: [
            ("https://api-m.sandbox.paypal.com", true), ("https://API.Sandbox.PayPal.com/", true),
            ("https://api-m.paypal.com", false), ("https://api-m.notsandbox.paypal.com", false),
            ("http://127.0.0.1:80", false),
            ("https://api-m.sandbox.paypal.com.example", false), ("", false),
        ] as [(String, Bool)])
    func `the sandbox is another host`(base: String, isTest: Bool) {
        #expect(PayPalProvider.isTest(ProviderSettings(["api_base": .text(base)])) == isTest)
    }

    @Test func `the defaults of the schema are the defaults of the code`() {
        let fields = PayPalProvider.manifest.settings.fields
        let defaults = Dictionary(
            uniqueKeysWithValues: fields.compactMap { field in field.defaultValue.map { (field.name, $0) } })
        #expect(
            defaults == [
                "webhook_verification": .text("offline"), "api_base": .text("https://api-m.paypal.com"),
                "root_certificates": .list([]),
            ])
        #expect(fields.filter(\.required).map(\.name) == ["client_id", "client_secret", "webhook_id"])
    }

    @Test func `the doctor tries the keys`() async throws {
        func diagnose(_ fixture: PayPalFixture) async throws -> [String] {
            try await fixture.provider().diagnose().map { "\($0.level)" }
        }
        #expect(try await diagnose(PayPalFixture()) == ["good"])
        let refused = PayPalFixture()
        refused.standIn.script("/token", .json(["error": "invalid_client"], status: 401))
        #expect(try await diagnose(refused) == ["fault"])
        let right = PayPalFixture()
        right.standIn.script("/orders/", .paypal(403, "NOT_AUTHORIZED"))
        #expect(try await diagnose(right) == ["fault"])
        let busy = PayPalFixture()
        busy.standIn.script("/orders/", .paypal(503, "SERVICE_UNAVAILABLE"))
        #expect(try await diagnose(busy) == ["notice"])
    }
}
