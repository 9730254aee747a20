package import AppStoreBox
import AppleIAPProvider
import Domain
import Foundation
package import Gateway
import ProviderKit
import ProviderTesting
package import Store

/// A ``GatewayFixture`` with an App Store in a box, whose account trusts it and asks its server API.
package struct BoxGatewayFixture: Sendable {
    package static let bundle = "com.example.app"
    package static let month = "com.example.box.month"
    package static let year = "com.example.box.year"
    package static let coins = "com.example.box.coins"
    private static let address = "http://127.0.0.1:1/dev/appstore"

    package let desk: GatewayFixture
    package let gateway: Gateway
    package let box: BoxedAppStore
    package let api: ServerAPI
    private let signing: BoxSigning
    private let authority: BoxAuthority

    package var store: Store { desk.store }

    /// The authority of all tests, because its RSA keys take long to make.
    private static let shared = Result {
        try BoxAuthority(at: Timestamp(1_700_000_000), random: SeededRandom(4_711).source)
    }

    private static let catalogue = """
        [
        {"id": "box_month", "name": "Box monthly", "kind": "subscription", "tier": "VIP", "rank": 10,
         "stack_group": "box", "duration_days": 30, "prices": [{"currency": "CNY", "value": 2990}],
         "apple_product_ids": ["\(month)"]},
        {"id": "box_year", "name": "Box yearly", "kind": "subscription", "tier": "Max", "rank": 20,
         "stack_group": "box", "duration_days": 365, "prices": [{"currency": "CNY", "value": 29900}],
         "apple_product_ids": ["\(year)"]},
        {"id": "box_coins", "name": "Box coins", "kind": "consumable", "units": {"coins": 100},
         "prices": [{"currency": "USD", "value": 199}], "apple_product_ids": ["\(coins)"]}
        ]
        """

    package init(_ desk: GatewayFixture) async throws {
        self.desk = desk
        authority = try Self.shared.get()
        signing = try BoxSigning(authority, app: BoxApp(bundleID: Self.bundle))
        try await desk.store.write { tx in try tx.box.insert(BoxMetaRow(authority: Data([0]), data: "{}")) }
        gateway = try Self.node(desk, authority, signing, store: nil)
        box = try Self.found(gateway.appStore)
        api = try Self.found(gateway.appStoreAPI)
        _ = try await gateway.catalogue.merge(
            try JSONDecoder().decode([SKU].self, from: Data(Self.catalogue.utf8)), context: .test)
        try await store.forgetCatalogueChange()
    }

    private static func found<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw GatewayFixture.Contradiction(description: "the gateway has no box") }
        return value
    }

    /// Another process of this desk, which reaches the database through another store.
    package func node(store: Store? = nil) throws -> Gateway {
        try Self.node(desk, authority, signing, store: store)
    }

    private static func node(
        _ desk: GatewayFixture, _ authority: BoxAuthority, _ signing: BoxSigning, store: Store?
    ) throws -> Gateway {
        let base = desk.gateway
        let id = try AccountID.test("apple-iap")
        let line = BoxTransport(address: address, beyond: desk.transport)
        let access = AppStoreBoxAccess(
            roots: authority.roots, keyID: authority.keyID, issuerID: authority.issuerID,
            privateKey: try authority.keyFile(), address: address)
        let settings = ProviderSettings([
            "apps": .list([.object(["bundle_id": .text(bundle)])]),
            "environments": .list([.text("Production"), .text("Sandbox")]),
        ])
        let account = ConfiguredAccount(
            id: id,
            provider: try AppleIAPProvider(
                account: ProviderAccount(id: id, settings: settings, isDevelopment: true, box: access),
                context: ProviderContext(
                    http: line, time: base.time.real, businessTime: base.time, random: base.random,
                    book: StoredBook(store: store ?? desk.store, account: id), notifyURL: "",
                    publicURL: GatewayFixture.publicURL),
                pause: { _ in }),
            isTest: false, enabled: true, routing: AccountRouting(platforms: [.ios], priority: 100),
            notifyToken: GatewayFixture.notifyToken("apple-iap"))
        let made = desk.node(store: store, replacing: account, box: BoxSettings(signing: signing, account: id))
        if let api = made.appStoreAPI { line.connect(api) }
        return made
    }

    // MARK: Acts

    package func token(_ user: String = "alice") async throws -> String {
        try await gateway.entitlements.purchaseStatus(user: GatewayFixture.user(user)).value.app_account_token
    }

    package func status(_ user: String = "alice") async throws -> PurchaseStatus {
        try await gateway.entitlements.purchaseStatus(user: GatewayFixture.user(user)).value
    }

    @discardableResult
    package func buy(
        _ product: String = BoxGatewayFixture.month, user: String? = "alice", customer: String = "default",
        at node: Gateway? = nil
    ) async throws -> BoxPurchaseAnswer {
        desk.clock.tick()
        var body = ["product_id": product, "customer": customer]
        if let user { body["app_account_token"] = try await token(user) }
        let request = try BoxPurchaseRequest(body: Array(JSONEncoder().encode(body)))
        return try await (node?.appStore ?? box).purchase(request).get()
    }

    @discardableResult
    package func act(_ name: String, on original: String, _ body: String = "{}") async throws -> BoxActAnswer {
        desk.clock.tick()
        let act = try BoxSubscriptionAct(name: name, body: Array(body.utf8))
        return try await box.act(on: original, act).get()
    }

    @discardableResult
    package func advance(_ seconds: Int64, at node: Gateway? = nil) async throws -> ClockView {
        desk.clock.tick()
        return try await (node ?? gateway).businessClock.move(
            ClockRequest(advance_seconds: seconds), context: .test)
    }

    /// The notifications of the box as `TYPE SUBTYPE status,status`, oldest first.
    package func sent() async throws -> [String] {
        try await box.state().notifications.map { one in
            ([one.type] + [one.subtype].compactMap(\.self)
                + [one.attempts.map { $0.status.map { "\($0)" } ?? "-" }.joined(separator: ",")])
                .joined(separator: " ")
        }
    }
}

/// Runs a test at a desk with an App Store in a box, and then checks every invariant of the resulting facts.
package func withBoxDesk(on engine: TestEngine, _ body: (BoxGatewayFixture) async throws -> Void) async throws {
    var setup = GatewayFixtureSetup()
    setup.isDevelopment = true
    try await withDesk(on: engine, setup) { desk in try await body(try await BoxGatewayFixture(desk)) }
}
