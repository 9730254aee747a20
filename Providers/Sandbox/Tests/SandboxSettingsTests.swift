import Domain
import ProviderKit
import ProviderTesting
import SandboxProvider
import Testing

struct SandboxSettingsTests {
    private func faults(_ settings: [String: SettingValue], isDevelopment: Bool = true) -> [String] {
        do {
            _ = try SandboxProvider(
                account: SandboxFixture.account(settings, isDevelopment: isDevelopment),
                context: SandboxFixture().context)
            return []
        } catch {
            return error.faults.map(\.setting)
        }
    }

    @Test(
        arguments: [
            (["secret": .text("")], ["secret"]), (["contract": .text("cash")], ["contract"]),
            (["contract": .text("apple_iap")], ["contract"]), (["reply": .text("never")], ["reply"]),
            (["delay_ms": .integer(-1)], ["delay_ms"]), (["delay_ms": .integer(60_001)], ["delay_ms"]),
            (["secret": .text(""), "reply": .text("x"), "contract": .text("x")], ["contract", "reply", "secret"]),
            ([:], []), (["delay_ms": .integer(60_000), "reply": .text("lost"), "contract": .text("qr")], []),
        ] as [([String: SettingValue], [String])])
    func `every fault is named`(settings: [String: SettingValue], expected: [String]) {
        #expect(faults(settings) == expected)
    }

    @Test func `it is a test whatever its settings are`() {
        #expect(SandboxProvider.isTest(ProviderSettings([:])))
    }

    @Test func `faults never show the value`() {
        let shown = #expect(throws: ProviderSetupError.self) {
            try SandboxProvider(
                account: SandboxFixture.account(["contract": .text("swordfish"), "reply": .text("swordfish")]),
                context: SandboxFixture().context)
        }
        #expect(!"\(String(reflecting: shown))".contains("swordfish"))
    }

    @Test(arguments: [("stripe", .stripe), ("url", .url), ("qr", .qr), ("none", .none)] as [(String, ContractType)])
    func `an account makes its one contract type`(word: String, type: ContractType) async throws {
        let fixture = SandboxFixture()
        let provider = try fixture.provider(["contract": .text(word)])
        #expect(provider.contractTypes == [type])
        #expect(try await provider.open(fixture.attempt()).instruction.type == type)
    }

    @Test func `the defaults of the schema are the defaults of the code`() async throws {
        let fields = SandboxProvider.manifest.settings.fields
        let defaults = Dictionary(
            uniqueKeysWithValues: fields.compactMap { field in field.defaultValue.map { (field.name, $0) } })
        #expect(defaults == ["contract": .text("url"), "delay_ms": .integer(0), "reply": .text("normal")])
        #expect(fields.filter(\.required).map(\.name) == ["secret"])
        #expect(try SandboxFixture().provider().contractTypes == [.url])
    }
}
