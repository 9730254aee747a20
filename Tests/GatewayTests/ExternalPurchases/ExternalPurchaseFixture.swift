import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// A desk that sells outside of the App Store, with Apple's API and the acts of its buyers.
struct ExternalPurchaseFixture {
    let fixture: AppStoreGatewayFixture
    let apple: FakeExternalPurchaseAPI

    var desk: GatewayFixture { fixture.desk }
    var gateway: Gateway { fixture.gateway }
    var now: Timestamp { desk.clock.now }

    static let settings = SettingValue.object([
        "report_after_days": .integer(8),
        "regions": .list([
            .object([
                "storefront": .text("CHN"), "from": .text("2020-01-01"),
                "tax": .object(["standard": .integer(600)]),
            ])
        ]),
    ])

    private static let sku = """
        [{"id":"club_days","name":"Club","kind":"non_renewing","tier":"Club","rank":20,"duration_days":30,
          "prices":[{"currency":"CNY","value":3990}],"tax_category":"standard"},
         {"id":"untaxed","name":"Untaxed","kind":"non_renewing","tier":"Club","rank":20,"duration_days":30,
          "prices":[{"currency":"CNY","value":3990}]}]
        """

    /// The text of a token, and its id.
    static func token(
        _ id: String = "SANDBOX_\(UUID().uuidString)", type: String? = nil, at time: Timestamp
    ) throws -> (id: String, text: String) {
        let kind = type.map { #","tokenType":"\#($0)""# } ?? ""
        let json = """
            {"externalPurchaseId":"\(id)","appAppleId":\(AppleNotice.appNumber),"bundleId":"com.example.app",\
            "tokenCreationDate":\(time.rawValue * 1_000)\(kind)}
            """
        let text = Data(json.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        return (id, text.replacing("=", with: ""))
    }

    func open(
        _ text: String, user: String = "alice", sku: String = "club_days", storefront: String = "CHN",
        provider: String? = "box-url"
    ) async throws -> PaymentContract {
        desk.clock.tick()
        var request = CheckoutRequest(
            sku: sku, platform: .web, currency: GatewayFixture.money(0).currency, provider: provider,
            accept: ContractType.base)
        request.external = try gateway.externalPurchases.claim(text, storefront: storefront)
        return try await gateway.cashier.open(request, user: GatewayFixture.user(user), context: .test)
    }

    @discardableResult
    func buy(_ text: String, user: String = "alice") async throws -> PaymentContract {
        let contract = try await open(text, user: user)
        try await desk.notify("payment.succeeded", contract, at: gateway)
        return contract
    }

    func giveBack(_ order: ID<Order>, _ value: Int64?) async throws -> RefundView {
        desk.clock.tick()
        return try await gateway.refunds.request(
            order.rawValue, amount: value.map { GatewayFixture.money($0) }, reason: "a test", context: .test)
    }

    func keep(_ text: String, user: String = "alice") async throws -> KeptExternalToken {
        desk.clock.tick()
        return try await gateway.externalPurchases.keep(text, user: GatewayFixture.user(user), context: .test)
    }

    func shown(_ id: String) async throws -> ExternalTokenView {
        let page = try await gateway.externalPurchases.list(nil, nil, cursor: nil, limit: 200)
        return try #require(page.items.first { $0.external_purchase_id == id })
    }

    /// Runs what is due, and what becomes due in the next seconds.
    func work(for seconds: Int64 = 0) async throws {
        try await runDueJobs()
        guard seconds > 0 else { return }
        for _ in 0..<seconds {
            try await desk.pass(seconds: 1)
            try await runDueJobs()
        }
    }

    /// Runs every due job, without what a restart does.
    private func runDueJobs() async throws {
        while case let jobs = try await gateway.jobQueue.claim(JobKind.allCases, limit: 50), !jobs.isEmpty {
            for job in jobs { await gateway.worker.perform(job) }
        }
    }

    /// The violations of the invariants that external purchases have.
    func violations() async throws -> [Violation] {
        try await InvariantCheck(store: desk.store, time: desk.clock.time).run().filter { $0.invariant == 21 }
    }

    static func with(
        _ engine: TestEngine, hasKey: Bool = true, _ body: (ExternalPurchaseFixture) async throws -> Void
    ) async throws {
        let apple = FakeExternalPurchaseAPI()
        var setup = AppStoreGatewayFixtureSetup()
        if hasKey { setup.appStore = apple }
        setup.externalPurchases = settings
        try await withAppleDesk(on: engine, setup) { fixture in
            _ = try await fixture.gateway.catalogue.merge(
                try JSONDecoder().decode([SKU].self, from: Data(sku.utf8)), context: .test)
            try await fixture.gateway.workFinder.prepare()
            try await body(ExternalPurchaseFixture(fixture: fixture, apple: apple))
        }
    }
}
