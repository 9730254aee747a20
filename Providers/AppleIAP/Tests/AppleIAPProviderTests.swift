import AppleIAPProvider
import Domain
import ProviderKit
import ProviderTesting
import Testing

struct AppleIAPProviderTests {
    @Test(arguments: [nil, ["Production", "Sandbox"], ["Sandbox"], ["Sandbox", "Xcode"]] as [[String]?])
    func `an account that accepts nothing of Production is a test's`(_ environments: [String]?) {
        let settings = ProviderSettings(
            environments.map { ["environments": .list($0.map(SettingValue.text))] } ?? [:])
        #expect(AppleIAPProvider.isTest(settings) == (environments?.contains("Production") == false))
    }

    private static let app: SettingValue = .object(["bundle_id": .text("com.example.app"), "app_apple_id": .integer(0)])

    private static func context() -> ProviderContext {
        ProviderContext(
            http: RecordingTransport { _ throws(HTTPTransportError) in throw .notSent }, time: ManualClock().time,
            random: SeededRandom().source, book: InMemoryBook(), notifyURL: "", publicURL: "https://pay.example")
    }

    private static func provider(
        _ settings: [String: SettingValue] = ["apps": .list([app])], isDevelopment: Bool = true
    ) throws(ProviderSetupError) -> AppleIAPProvider {
        try AppleIAPProvider(
            account: ProviderAccount(
                id: AccountID("apple-iap")!, settings: ProviderSettings(settings), isDevelopment: isDevelopment),
            context: context())
    }

    private func attempt(_ products: [String], _ token: String?) -> PaymentAttempt {
        let ids = IDSource(time: ManualClock().time, random: SeededRandom().source)
        return PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: Money(value: 3990, currency: Currency("CNY")!),
            title: "VIP",
            platform: .ios, returnURL: nil, expiresAt: Timestamp(1_736_861_800), appleProductIDs: products,
            appAccountToken: token, accepts: [.appleIAP])
    }

    @Test func `opening names the products and the token in their order`() async throws {
        let opened = try await Self.provider().open(attempt(["com.example.month", "com.example.week"], "a-token"))
        #expect(
            opened.instruction
                == .appleIAP(
                    productIDs: ["com.example.month", "com.example.week"], appAccountToken: "a-token",
                    hint: "Use StoreKit to purchase the given product_ids with app_account_token, "
                        + "then POST signedData to attach."))
        #expect(opened.outcome == .accepted && opened.reference == nil)
    }

    @Test(
        arguments: [
            ([], "a-token", "no_apple_product"), (["com.example.month"], nil, "no_app_account_token"),
            (["com.example.month"], "", "no_app_account_token"),
        ] as [([String], String?, String)])
    func `opening needs a product and a token`(products: [String], token: String?, reason: String) async {
        await #expect(throws: ProviderError.rejected(reason: reason)) {
            try await Self.provider().open(attempt(products, token))
        }
    }

    @Test func `a refund is left to apple`() async throws {
        let attempt = attempt(["com.example.month"], "a-token")
        let ids = IDSource(time: ManualClock().time, random: SeededRandom(2).source)
        let refund = RefundAttempt(
            refund: ids.make(),
            payment: ProviderReference(payment: attempt.payment, reference: nil, amount: attempt.amount),
            amount: attempt.amount, reason: "")
        await #expect(throws: ProviderError.rejected(reason: "refund_by_apple_only")) {
            try await Self.provider().refund(refund)
        }
    }

    @Test(
        arguments: [
            ([:], ["apps"]), (["apps": .list([])], ["apps"]), (["apps": .list([app])], []),
            (["apps": .list([app, app])], ["apps[1].bundle_id"]),
            (["apps": .list([app, .object(["bundle_id": .text("")])])], ["apps[1].bundle_id"]),
            (
                ["apps": .list([.object(["bundle_id": .text("com.example.app"), "app_apple_id": .integer(-1)])])],
                ["apps[0].app_apple_id"]
            ),
            (["apps": .list([app]), "environments": .list([])], ["environments"]),
            (["apps": .list([app]), "environments": .list([.text("Xcode")])], []),
            (["apps": .list([app]), "api": .object(["key_id": .text("K")])], ["api.issuer_id", "api.private_key"]),
            (
                ["apps": .list([app]), "api": .object(["private_key": .text("P")])],
                ["api.key_id", "api.issuer_id", "api.private_key"]
            ),
            (
                [
                    "apps": .list([app]),
                    "api": .object(["key_id": .text("K"), "issuer_id": .text("I"), "private_key": .text("P")]),
                ], ["api.issuer_id", "api.private_key"]
            ),
            (["apps": .list([app]), "api": .object(["verify_receipt_url": .text("apple")])], []),
            (["apps": .list([app]), "api": .object(["verify_receipt_url": .text("http://127.0.0.1:1")])], []),
            (
                ["apps": .list([app]), "api": .object(["verify_receipt_url": .text("ftp://x")])],
                ["api.verify_receipt_url"]
            ),
            (["api": .object(["key_id": .text("K"), "issuer_id": .text("I")])], ["apps", "api.private_key"]),
        ] as [([String: SettingValue], [String])])
    func `every fault of the settings is named`(settings: [String: SettingValue], expected: [String]) {
        do {
            _ = try Self.provider(settings)
            #expect(expected.isEmpty)
        } catch {
            #expect(error.faults.map(\.setting) == expected)
        }
    }

    @Test func `in production a receipt address needs https`() {
        let settings: [String: SettingValue] = [
            "apps": .list([Self.app]), "api": .object(["verify_receipt_url": .text("http://127.0.0.1:1")]),
        ]
        #expect(throws: ProviderSetupError.self) { try Self.provider(settings, isDevelopment: false) }
    }

    @Test func `xcode and foreign roots are for development only`() {
        let fields = AppleIAPProvider.manifest.settings.fields
        #expect(fields.filter(\.developmentOnly).map(\.name) == ["xcode_certificates", "root_certificates"])
        #expect(fields.first { $0.name == "environments" }?.developmentOnlyChoices == ["Xcode"])
    }
}
