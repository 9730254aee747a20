import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

@testable import RemoteProvider

struct RemoteSettingsTests {
    private func faults(_ settings: [String: SettingValue], isDevelopment: Bool = false) -> [String] {
        do throws(ProviderSetupError) {
            _ = try RemoteSettings(RemoteFixture.account(settings, isDevelopment: isDevelopment))
            return []
        } catch {
            return error.faults.map { "\($0.setting): \($0.problem)" }
        }
    }

    @Test(arguments: [true, false]) func `the operator says whether the plugin is a test's`(_ isTest: Bool) {
        #expect(RemoteProvider.isTest(ProviderSettings(["test": .boolean(isTest)])) == isTest)
        #expect(!RemoteProvider.isTest(ProviderSettings([:])))
    }

    private static func secrets(_ texts: String...) -> [String: SettingValue] {
        ["secrets": .list(texts.map { .text($0) })]
    }

    @Test(
        arguments: [
            (["url": .text("")], "url: is missing"), (["url": .text("plugin")], "url: is no plain web address"),
            (["url": .text("https://plugin.example/?a=1")], "url: is no plain web address"),
            (["url": .text("http://plugin.example")], "url: is without https, which is for development only"),
            (secrets(), "secrets: is empty"), (secrets("whsec_"), "secrets: has one of a wrong form"),
            (secrets("0123456789012345678901234567890123456789"), "secrets: has one of a wrong form"),
            (
                secrets("whsec_" + Data(repeating: 1, count: 23).base64EncodedString()),
                "secrets: has one of a wrong form"
            ),
            (secrets("whsec_not base64 at all, whatever its length is"), "secrets: has one of a wrong form"),
            (secrets(ScriptedPlugin.secret, ScriptedPlugin.secret), "secrets: has one twice"),
        ] as [([String: SettingValue], String)])
    func `a setting that does not fit is named, without its value`(
        settings: [String: SettingValue], fault: String
    ) throws {
        #expect(faults(settings) == [fault])
    }

    @Test func `addresses and secrets that fit are taken`() throws {
        #expect(faults([:]).isEmpty && faults(["url": .text("http://127.0.0.1:1/")], isDevelopment: true).isEmpty)
        #expect(faults(Self.secrets(ScriptedPlugin.secret, ScriptedPlugin.nextSecret)).isEmpty)
        let settings = try RemoteSettings(RemoteFixture.account(["url": .text("https://plugin.example/v1//")]))
        #expect(settings.url == "https://plugin.example/v1")
        #expect("\(settings.secrets)" == "[<secret>]" && String(reflecting: settings.secrets) == "[<secret>]")
    }

    @Test func `the document has the calls that are made, and their limits`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "openapi.yaml")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let paths = lines.filter { $0.hasPrefix("  /") && $0.hasSuffix(":") }.map { $0.dropFirst(3).dropLast() }
        #expect(Set(paths.map(String.init)) == Set(RemoteCall.allCases.map(\.rawValue)))
        let text = lines.joined(separator: " ")
        #expect(text.contains("counts for \(RemoteLimits.window) seconds"))
        #expect(text.contains("A call has \(RemoteLimits.callMilliseconds / 1_000) seconds"))
        #expect(RemoteLimits.body == 65_536 && text.contains("at most 65,536 bytes"))
    }

    @Test func `the kind says what every plugin can do at most`() {
        let manifest = RemoteProvider.manifest
        #expect(manifest.kind == "remote" && manifest.contractTypes == [.url, .qr] && !manifest.developmentOnly)
        #expect(manifest.settings.fields.map(\.name) == ["url", "secrets", "test"])
    }
}
