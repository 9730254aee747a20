import Domain
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import Testing

struct StripeSettingsTests {
    private func faults(_ settings: [String: SettingValue], isDevelopment: Bool = true) -> [String] {
        do {
            _ = try StripeFixture().provider(settings, isDevelopment: isDevelopment)
            return []
        } catch let error as ProviderSetupError {
            return error.faults.map(\.setting)
        } catch {
            return ["\(error)"]
        }
    }

    private static func secrets(_ texts: String...) -> [String: SettingValue] {
        ["webhook_secrets": .list(texts.map { .text($0) })]
    }

    @Test(
        arguments: [
            ([:], []), (["secret_key": .text("")], ["secret_key"]),
            (["secret_key": .text("swordfish")], ["secret_key"]), (["secret_key": .text("sk_test_")], ["secret_key"]),
            (["secret_key": .text("sk_prod_x")], ["secret_key"]), (["secret_key": .text("pk_test_x")], ["secret_key"]),
            (["secret_key": .text("sk_test_x y")], ["secret_key"]),
            (["secret_key": .text("sk_test_x\r\nX: 1")], ["secret_key"]),
            (["secret_key": .text("rk_test_x")], []),
            (["secret_key": .text("sk_live_x")], ["publishable_key"]),
            (["secret_key": .text("sk_live_x"), "publishable_key": .text("pk_live_x")], []),
            (["publishable_key": .text("")], ["publishable_key"]),
            (["publishable_key": .text("sk_test_x")], ["publishable_key"]),
            (["publishable_key": .text(""), "mode": .text("checkout_session")], []),
            (["publishable_key": .text("x"), "mode": .text("checkout_session")], ["publishable_key"]),
            (["mode": .text("swordfish")], ["mode"]), (["webhook_secrets": .list([])], ["webhook_secrets"]),
            (secrets("whsec_"), ["webhook_secrets"]), (secrets("swordfish"), ["webhook_secrets"]),
            (secrets("whsec_a", "whsec_b"), []), (secrets("whsec_a", ""), ["webhook_secrets"]),
            (secrets("whsec_a b"), ["webhook_secrets"]),
            (["webhook_secrets": .list(Array(repeating: .text("whsec_a"), count: 9))], ["webhook_secrets"]),
            (["payment_method_types": .list([.text("card"), .text("us_bank_account")])], []),
            (["payment_method_types": .list([.text("Card")])], ["payment_method_types"]),
            (["payment_method_types": .list([.text("card"), .text("card")])], ["payment_method_types"]),
            (["payment_method_types": .list([.text("a&b")])], ["payment_method_types"]),
            (["recurring_payment_method_types": .list([])], []),
            (["recurring_payment_method_types": .list([.text("card"), .text("link")])], []),
            (["recurring_payment_method_types": .list([.text("C")])], ["recurring_payment_method_types"]),
            (["recurring_payment_method_types": .list([.text("sepa_debit")])], ["recurring_payment_method_types"]),
            (["api_base": .text("http://127.0.0.1:8420/")], []), (["api_base": .text("https://x.example/stripe/")], []),
            (["api_base": .text("swordfish")], ["api_base"]), (["api_base": .text("ftp://x.example")], ["api_base"]),
            (["api_base": .text("https://a@x.example")], ["api_base"]),
            (["api_base": .text("https://x.example/?a")], ["api_base"]),
            (
                [
                    "secret_key": .text("x"), "publishable_key": .text("y"), "webhook_secrets": .list([]),
                    "mode": .text("z"), "api_base": .text("no"), "payment_method_types": .list([.text("?")]),
                ], ["mode", "secret_key", "publishable_key", "webhook_secrets", "payment_method_types", "api_base"]
            ),
        ] as [([String: SettingValue], [String])])
    func `every fault is named once`(settings: [String: SettingValue], expected: [String]) {
        #expect(faults(settings) == expected)
    }

    @Test func `production needs https`() {
        #expect(faults(["api_base": .text("http://api.stripe.com")], isDevelopment: false) == ["api_base"])
        #expect(faults(["api_base": .text("https://api.stripe.com")], isDevelopment: false).isEmpty)
        #expect(faults([:], isDevelopment: false).isEmpty)
    }

    @Test func `faults never show a value`() {
        let error = #expect(throws: ProviderSetupError.self) {
            try StripeFixture().provider([
                "secret_key": .text("swordfish"), "publishable_key": .text("swordfish"),
                "webhook_secrets": .list([.text("swordfish")]), "mode": .text("swordfish"),
                "api_base": .text("swordfish"), "payment_method_types": .list([.text("sword fish")]),
            ])
        }
        #expect(error?.faults.count == 6 && !"\(String(reflecting: error))".contains("sword"))
    }

    @Test func `a test key in production mode is warned of`() throws {
        let fixture = StripeFixture()
        _ = try fixture.provider(isDevelopment: false)
        #expect(fixture.logged.count { $0.hasPrefix("warning stripe: a test key") } == 1)
        let live: [String: SettingValue] = ["secret_key": .text("sk_live_x"), "publishable_key": .text("pk_live_x")]
        _ = try fixture.provider(live, isDevelopment: false)
        _ = try fixture.provider()
        #expect(fixture.logged.count == 1)
    }

    @Test(
        arguments: [
            ("sk_test_x", true), ("rk_test_x", true), ("sk_live_x", false), ("rk_live_x", false), ("pk_test_x", false),
        ] as [(String, Bool)])
    func `the secret key says whether the account is a test's`(key: String, isTest: Bool) {
        #expect(StripeProvider.isTest(ProviderSettings(["secret_key": .text(key)])) == isTest)
    }

    @Test func `the defaults of the schema are the defaults of the code`() throws {
        let fields = StripeProvider.manifest.settings.fields
        let defaults = Dictionary(
            uniqueKeysWithValues: fields.compactMap { field in field.defaultValue.map { (field.name, $0) } })
        #expect(
            defaults == [
                "mode": .text("payment_intent"), "payment_method_types": .list([]),
                "recurring_payment_method_types": .list([.text("card")]), "api_base": .text("https://api.stripe.com"),
            ])
        #expect(fields.filter(\.required).map(\.name) == ["secret_key", "webhook_secrets"])
        #expect(try StripeFixture().provider().contractTypes == [.stripe])
        #expect(try StripeFixture().provider(StripeFixture.sessions).contractTypes == [.url])
    }

    @Test func `a base with a path is used as it is`() async throws {
        let fixture = StripeFixture()
        _ = try? await fixture.provider(["api_base": .text("https://X.example:8443/stripe//")]).open(fixture.attempt())
        #expect(fixture.transport.requests.first?.url == "https://x.example:8443/stripe/v1/payment_intents")
    }
}
