import AppleIAPProvider
import Domain
import ProviderKit
import ProviderTesting
import TestSupport
import Testing

struct AppleIAPVerifyTests {
    private static let now = Timestamp(1_790_000_000)

    private static func provider(
        _ setup: AppStoreGatewayFixtureSetup = AppStoreGatewayFixtureSetup()
    ) throws(ProviderSetupError) -> AppleIAPProvider {
        try AppleIAPProvider(
            account: ProviderAccount(
                id: AccountID("apple-iap")!, settings: setup.settings, isDevelopment: setup.isDevelopment),
            context: ProviderContext(
                http: RecordingTransport { _ throws(HTTPTransportError) in throw .notSent }, time: ManualClock().time,
                random: SeededRandom().source, book: InMemoryBook(), notifyURL: "", publicURL: "https://pay.example"))
    }

    /// The reason of a refusal; nil where the evidence is accepted.
    private static func reason(
        _ evidence: PurchaseEvidence, _ setup: AppStoreGatewayFixtureSetup = AppStoreGatewayFixtureSetup()
    ) throws -> PurchaseRefusal.Reason? {
        let provider = try provider(setup)
        do throws(PurchaseRefusal) {
            _ = try provider.verify(evidence)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `every signed fact arrives`() throws {
        let sale = AppleSale("com.example.vip.auto", AppleSale.subscription, at: Self.now) {
            $0.id = "2"
            $0.original = "1"
            $0.purchased += 999
            $0.expires = $0.purchased + 1
            $0.signed = $0.purchased + 2
            $0.quantity = 4
            ($0.price, $0.currency) = (5_990, "USD")
            $0.token = "6D7A1A51-0F0A-4F6E-9C1B-4A0A9C3F1E2D"
            ($0.isRenewal, $0.isUpgraded) = (true, true)
            ($0.revoked, $0.percentage) = ($0.purchased + 3, 50_000)
            $0.environment = "Sandbox"
        }
        let purchase = try Self.provider().verify(.signedTransaction(sale.jws))
        #expect(
            purchase
                == StorePurchase(
                    environment: .sandbox, bundleID: "com.example.app", productID: "com.example.vip.auto",
                    transactionID: "2", originalTransactionID: "1", kind: .autoRenewable, purchasedAt: sale.purchased,
                    expiresAt: sale.expires, signedAt: sale.purchased + 2, quantity: 4, priceMilliunits: 5_990,
                    currency: Currency("USD"), appAccountToken: "6d7a1a51-0f0a-4f6e-9c1b-4a0a9c3f1e2d", isRenewal: true,
                    isUpgraded: true, isFamilyShared: false,
                    revocation: .init(at: sale.purchased + 3, reason: 0, percentage: 50_000)))
    }

    @Test(
        arguments: [
            (AppleSale.pass, .nonRenewing), (AppleSale.subscription, .autoRenewable),
            (AppleSale.consumable, .consumable), (AppleSale.nonConsumable, .nonConsumable),
            ("Something New", .unknown("Something New")),
        ] as [(String, StorePurchase.Kind)])
    func `apple's type is kept`(type: String, kind: StorePurchase.Kind) throws {
        let sale = AppleSale("com.example.x", type, at: Self.now)
        #expect(try Self.provider().verify(.signedTransaction(sale.jws)).kind == kind)
    }

    @Test func `every refusal has the contract's reason`() throws {
        let sale = AppleSale(at: Self.now)
        func signed(_ edit: (inout AppleSale) -> Void) -> PurchaseEvidence { .signedTransaction(sale.with(edit).jws) }
        #expect(try Self.reason(.signedTransaction(sale.jws)) == nil)
        #expect(try Self.reason(.signedTransaction("x")) == .malformed)
        #expect(
            try Self.reason(.signedTransaction(AppleTestCertificates.sign(sale.payload, by: .forger))) == .badSignature)
        #expect(try Self.reason(signed { $0.bundle = "com.other" }) == .wrongApp)
        let narrow = AppStoreGatewayFixtureSetup { $0.environments = ["Production"] }
        #expect(try Self.reason(signed { $0.environment = "Sandbox" }, narrow) == .wrongEnvironment)
        #expect(try Self.reason(signed { $0.purchased = 1_000_000_000_000 }) == .certificateExpired)
        let strange = AppStoreGatewayFixtureSetup { $0.trustsMint = false }
        #expect(try Self.reason(.signedTransaction(sale.jws), strange) == .untrustedChain)
    }

    @Test func `xcode counts where it is allowed`() throws {
        let sale = AppleSale(at: Self.now) { $0.environment = "Xcode" }
        let allowed = AppStoreGatewayFixtureSetup { $0.environments = ["Production", "Xcode"] }
        #expect(try Self.reason(.signedTransaction(sale.jws), allowed) == nil)
        #expect(try Self.reason(.signedTransaction(sale.jws)) != nil)
        // What the store's chain signed for Production does not become Xcode's, and a forger's Xcode is not Xcode's.
        let unchecked = AppStoreGatewayFixtureSetup { ($0.environments, $0.checksXcode) = (["Xcode"], false) }
        #expect(try Self.reason(.signedTransaction(sale.jws), unchecked) == nil)
        #expect(try Self.reason(.signedTransaction(AppleSale(at: Self.now).jws), unchecked) == .wrongEnvironment)
    }

    @Test func `a simulator's receipt counts in development where xcode is allowed`() throws {
        let sale = AppleSale(at: Self.now)
        let allowed = AppStoreGatewayFixtureSetup { $0.environments = ["Xcode"] }
        let purchase = try Self.provider(allowed).verify(.simulatorReceipt(sale.simulatorReceipt))
        #expect(purchase.environment == .xcode && purchase.transactionID == sale.id && purchase.kind == .unknown(""))
        #expect(purchase.purchasedAt == sale.purchased && purchase.expiresAt == nil && purchase.price == nil)
        for receipt in ["", "x", "e30=", sale.with { $0.id = "" }.simulatorReceipt] {
            #expect(try Self.reason(.simulatorReceipt(receipt), allowed) == .malformed, "\(receipt)")
        }
        let production = AppStoreGatewayFixtureSetup { ($0.environments, $0.isDevelopment) = (["Xcode"], false) }
        for setup in [AppStoreGatewayFixtureSetup(), production] {
            #expect(try Self.reason(.simulatorReceipt(sale.simulatorReceipt), setup) == .wrongEnvironment)
        }
    }

    @Test(
        arguments: [("all", nil, true, 0), ("all", nil, false, 24), ("none", 5, true, 5), ("users", 0, false, 0)]
            as [(String, Int64?, Bool, Int64)])
    func `the sandbox is bounded as configured`(
        entitles: String, hours: Int64?, isDevelopment: Bool, expected: Int64
    ) throws {
        let setup = AppStoreGatewayFixtureSetup {
            ($0.entitles, $0.users, $0.maxHours, $0.isDevelopment) = (entitles, ["alice"], hours, isDevelopment)
        }
        let rules = try Self.provider(setup).testPurchases
        #expect(rules.maxHours == expected)
        #expect(rules.entitled == (entitles == "all" ? .all : entitles == "none" ? .none : .users(["alice"])))
    }
}
