import AppleIAPProvider
package import Domain
import Foundation
package import Gateway
package import ProviderKit
package import Store

/// The configuration of a test's App Store account.
package struct AppStoreGatewayFixtureSetup: Sendable {
    package var desk = GatewayFixtureSetup()
    package var environments = ["Production", "Sandbox"]
    /// The bundle ids of the account's apps.
    package var bundles = ["com.example.app"]
    package var entitles = "all"
    package var users: [String] = []
    package var maxHours: Int64? = 0
    package var isDevelopment = true
    package var trustsMint = true
    /// True where the account takes the test chain for the one of an App Store in a box.
    package var isBox = false
    package var checksXcode = true
    /// The transport that answers for Apple's server API; nil for an account without a key.
    package var appStore: (any HTTPTransport)?
    /// True where the account trusts the root of the receipts that tests sign.
    package var trustsReceipts = false
    package var sharedSecret: String?
    /// `apple` or an address at which `appStore` answers; the account then has no key for the server API.
    package var verifyReceiptURL: String?
    /// The `external_purchases` settings; nil leaves them out.
    package var externalPurchases: SettingValue?

    package init() {}

    /// The access to an App Store in a box that signs with the test chain; nil unless ``isBox``.
    package var box: AppStoreBoxAccess? {
        guard isBox, let root = FileManager.default.contents(atPath: AppleTestCertificates.rootFile) else { return nil }
        return AppStoreBoxAccess(
            roots: [Array(root)], keyID: "", issuerID: "", privateKey: "", address: "http://127.0.0.1:1/dev/appstore")
    }

    package init(_ edit: (inout AppStoreGatewayFixtureSetup) -> Void) { edit(&self) }

    package var settings: ProviderSettings {
        var sandbox: [String: SettingValue] = [
            "entitles": .text(entitles), "users": .list(users.map(SettingValue.text)),
        ]
        sandbox["max_hours"] = maxHours.map(SettingValue.integer)
        let apps = bundles.map { bundle in
            var app: [String: SettingValue] = [
                "bundle_id": .text(bundle), "app_apple_id": .integer(AppleNotice.appNumber),
            ]
            app["shared_secret"] = sharedSecret.map(SettingValue.text)
            return SettingValue.object(app)
        }
        var roots = trustsMint && !isBox ? [AppleTestCertificates.rootFile] : []
        if trustsReceipts { roots.append(AppleReceipt.rootFile) }
        var settings: [String: SettingValue] = [
            "apps": .list(apps),
            "environments": .list(environments.map(SettingValue.text)),
            "root_certificates": .list(roots.map(SettingValue.text)),
            "xcode_certificates": .list(checksXcode ? [.text(AppleTestCertificates.xcodeFile)] : []),
            "sandbox": .object(sandbox),
        ]
        if let verifyReceiptURL {
            settings["api"] = .object(["verify_receipt_url": .text(verifyReceiptURL)])
        } else if appStore != nil {
            settings["api"] = FakeAppStore.settings
        }
        settings["external_purchases"] = externalPurchases
        return ProviderSettings(settings)
    }
}

/// A ``GatewayFixture`` with an App Store account that trusts ``AppleTestCertificates`` and sells one product of each kind.
package struct AppStoreGatewayFixture: Sendable {
    package let desk: GatewayFixture
    package let gateway: Gateway

    package var store: Store { desk.store }
    package var now: Timestamp { desk.clock.now }

    private static let more = """
        [
        {"id": "ring", "name": "Ring", "kind": "non_consumable", "prices": [{"currency": "USD", "value": 199}],
         "apple_product_ids": ["com.example.ring"]},
        {"id": "life", "name": "For life", "kind": "non_consumable", "tier": "VIP", "rank": 20,
         "prices": [{"currency": "CNY", "value": 99900}], "apple_product_ids": ["com.example.life"]},
        {"id": "gems", "name": "Gems", "kind": "consumable", "prices": [{"currency": "CNY", "value": 600}],
         "units": {"gems": 10}, "apple_product_ids": ["com.example.gems"]},
        {"id": "pro_auto", "name": "Pro", "kind": "subscription", "tier": "Pro", "rank": 30, "duration_days": 30,
         "prices": [{"currency": "CNY", "value": 6900}], "apple_product_ids": ["com.example.pro.auto"]},
        {"id": "believed", "name": "Believed", "kind": "non_renewing", "tier": "Basic", "rank": 5,
         "duration_days": 30, "subscribe_id": 1001, "client_fallback": true,
         "prices": [{"currency": "CNY", "value": 1000}]},
        {"id": "doubted", "name": "Doubted", "kind": "non_renewing", "tier": "VIP", "rank": 20,
         "duration_days": 30, "subscribe_id": 1002, "prices": [{"currency": "CNY", "value": 1000}]}
        ]
        """

    package init(_ desk: GatewayFixture, _ setup: AppStoreGatewayFixtureSetup) async throws {
        self.desk = desk
        let base = desk.gateway
        let id = try AccountID.test("apple-iap")
        let account = ConfiguredAccount(
            id: id,
            provider: try AppleIAPProvider(
                account: ProviderAccount(
                    id: id, settings: setup.settings, isDevelopment: setup.isDevelopment, box: setup.box),
                context: ProviderContext(
                    http: setup.appStore ?? desk.transport, time: base.time.real, businessTime: base.time,
                    random: base.random,
                    book: StoredBook(store: desk.store, account: id), notifyURL: "", publicURL: GatewayFixture.publicURL
                ),
                // A pause moves the clock by its length instead of taking time.
                pause: { desk.clock.advance(seconds: max(1, $0.components.seconds)) }),
            isTest: AppleIAPProvider.isTest(setup.settings), enabled: true,
            routing: AccountRouting(platforms: [.ios], priority: 100), notifyToken: Self.notifyToken)
        gateway = desk.node(replacing: account)
        _ = try await gateway.catalogue.merge(
            try JSONDecoder().decode([SKU].self, from: Data(Self.more.utf8)), context: .test)
        try await store.forgetCatalogueChange()
    }

    /// Another node with this account, which reaches the database through another store.
    package func node(store: Store) -> Gateway {
        desk.node(
            store: store, replacing: gateway.registry.accounts.first { $0.provider is any PurchaseVerifying })
    }

    /// Runs every due job like ``GatewayFixture/work()``, with this account.
    package func work() async throws { try await gateway.work() }

    package func sale(
        _ product: String = "com.example.vip.month", _ kind: String = AppleSale.pass,
        _ edit: (inout AppleSale) -> Void = { _ in }
    ) -> AppleSale {
        AppleSale(product, kind, at: now, edit)
    }

    /// A period of a subscription.
    ///
    /// - Parameters:
    ///   - from: the days from now to the period's begin.
    ///   - days: the length in days.
    package func period(
        _ original: String, from: Int64, days: Int64 = 30, _ product: String = "com.example.apple.auto",
        _ edit: (inout AppleSale) -> Void = { _ in }
    ) -> AppleSale {
        sale(product, AppleSale.subscription) {
            $0.original = original
            $0.purchased += from * 86_400_000
            $0.expires = $0.purchased + days * 86_400_000
            edit(&$0)
        }
    }

    @discardableResult
    package func attach(
        _ sale: AppleSale, user: String = "alice", fallback: PurchaseFallback? = nil, context: CallContext = .test
    ) async throws -> AttachedPurchase {
        desk.clock.tick()
        return try await gateway.purchases.attach(
            .signedTransaction(sale.jws), fallback: fallback, user: GatewayFixture.user(user), context: context)
    }

    /// Attaches a sale that is expected to be refused.
    ///
    /// - Returns: the error of the refusal; nil where the attach succeeds.
    package func refusal(
        _ sale: AppleSale, user: String = "alice", fallback: PurchaseFallback? = nil
    ) async throws -> GatewayError? {
        do {
            try await attach(sale, user: user, fallback: fallback)
            return nil
        } catch let error as GatewayError {
            return error
        }
    }

    package func restore(_ sales: [String], user: String = "alice") async throws -> [RestoredItem] {
        desk.clock.tick()
        return try await gateway.purchases.restore(sales, user: GatewayFixture.user(user), context: .test)
    }

    package func status(_ user: String = "alice") async throws -> PurchaseStatus {
        try await gateway.entitlements.purchaseStatus(user: GatewayFixture.user(user)).value
    }

    /// The `app_account_token` that a user's purchases carry.
    package func token(_ user: String = "alice") async throws -> String {
        try await status(user).app_account_token
    }

    /// Opens an order through the App Store.
    package func ask(
        _ sku: String = "vip_month", user: String = "alice", days: Int64? = nil
    ) async throws -> PaymentContract {
        try await desk.checkout(sku, user: user, days: days, platform: .ios)
    }

    package func order(_ attached: AttachedPurchase) async throws -> OrderSnapshot {
        try await gateway.orders.find(attached.order_id)
    }

    package func record(_ sale: AppleSale) async throws -> PurchaseRecord? {
        let environment = Environment(rawValue: sale.environment) ?? .production
        return try await store.read { db in try db.purchases.find(environment, sale.id).value() }
    }

    package func grants(_ user: String = "alice") async throws -> [Grant] {
        try await store.read { db in
            try db.users.findID(GatewayFixture.user(user)).map { try db.grants.list(of: $0).value() } ?? []
        }
    }
}

private let turnstile = Turnstile(6)

/// Runs a test at a desk that sells through the App Store, and then checks every invariant of the resulting facts.
package func withAppleDesk(
    on engine: TestEngine, _ setup: AppStoreGatewayFixtureSetup = AppStoreGatewayFixtureSetup(),
    _ body: (AppStoreGatewayFixture) async throws -> Void
) async throws {
    await turnstile.enter()
    do {
        try await withDesk(on: engine, setup.desk) { desk in
            try await body(try await AppStoreGatewayFixture(desk, setup))
        }
    } catch {
        await turnstile.leave()
        throw error
    }
    await turnstile.leave()
}
