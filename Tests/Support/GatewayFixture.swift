import AppleIAPProvider
package import Domain
import Foundation
package import Gateway
package import Logging
import ProviderKit
import ProviderTesting
package import Store

/// The settings of a ``GatewayFixture`` that a test may change.
package struct GatewayFixtureSetup: Sendable {
    package var policies = OrderPolicies()
    package var billing = BillingSettings()
    package var returnURLs = ReturnURLRules.anything
    package var defaultCurrency: Currency?
    package var pages = PageSettings()
    package var logger = Logger(label: "desk") { _ in SwiftLogNoOpLogHandler() }
    package var rehearse = false
    package var ownership = OwnershipRules()
    package var callsPerAccount = 64
    /// The most live streams of the node.
    package var streams = 100
    package var snapshots = SnapshotLife()
    /// True for tests that move the clock.
    package var isDevelopment = false
    /// False for tests that break the stored facts on purpose.
    package var checksInvariants = true
    /// Records the statements of the gateway, and may delay them; nil for the desk's own watch.
    package var watch: StatementWatch?

    package init() {}

    package init(policies: OrderPolicies) { self.policies = policies }
}

/// A whole gateway on a fresh database: accounts of the sandbox, Apple's and a scripted one, a catalogue, a clock.
package struct GatewayFixture: Sendable {
    /// The reason why the stored facts of a test contradict each other.
    package struct Contradiction: Error, CustomStringConvertible {
        package let description: String
    }

    package static let publicURL = "https://pay.example"
    package static let sandboxSecret = "sandbox-secret-planted-in-tests"

    package let database: TestDatabase
    package let gateway: Gateway
    package let clock: FixtureClock
    package let transport: FixtureTransport
    package let endpoints = ScriptedEndpoints()
    package let line: SandboxFaults
    package let scripted: ScriptedProvider
    package let keyRing: KeyRing
    /// Records the statements of the gateway.
    package let watch: StatementWatch

    package var store: Store { database.store }
    package var engine: TestEngine { database.engine }

    /// The token of an account's notify URL.
    package static func notifyToken(_ account: String) -> String { "notify-token-of-\(account)" }

    init(_ database: TestDatabase, _ setup: GatewayFixtureSetup) async throws {
        self.database = database
        let watch = setup.watch ?? StatementWatch()
        self.watch = watch
        // Leases and expiry count by the database's clock, so the desk begins at its time.
        clock = FixtureClock(try await database.store.engine.databaseTime())
        transport = FixtureTransport()
        line = SandboxFaults()
        scripted = ScriptedProvider()
        keyRing = try KeyRing(keys: [Data(repeating: 7, count: 32)])
        let random = SeededRandom(UInt64(TestTemplates.nextNumber())).source
        let watched = Store(engine: WatchedEngine(database.store.engine, watch))
        let node = NodeClock(real: clock.time)
        let accounts = try Self.accounts(
            watched, clock: clock, businessTime: node.time, random: random, transport: transport, line: line,
            scripted: scripted)
        gateway = Gateway(
            store: watched,
            registry: ProviderRegistry(
                kinds: [FaultySandbox.self, AppleIAPProvider.self, ScriptedProvider.self], accounts: accounts),
            keyRing: keyRing, clock: node, random: random, calls: ProviderCalls(), webhooks: endpoints,
            settings: GatewaySettings(
                publicURL: Self.publicURL, returnURLs: setup.returnURLs, policies: setup.policies,
                meters: try Self.meters(), defaultCurrency: setup.defaultCurrency,
                isDevelopment: setup.isDevelopment, ownership: setup.ownership, billing: setup.billing,
                callsPerAccount: setup.callsPerAccount, pages: setup.pages, streams: setup.streams,
                snapshots: setup.snapshots),
            logger: setup.logger, pause: Pauses.forever)
        transport.connect(to: gateway)
        _ = try await gateway.catalogue.merge(try FixtureCatalogue.skus(), context: .test)
        try await store.forgetCatalogueChange()
    }

    private static func meters() throws -> [Meter] {
        let limits: [String: Int64?] = ["": 10, "VIP": nil]
        guard let meter = Meter(id: "messages", period: .day, timeZone: "Asia/Shanghai", limits: limits) else {
            throw Contradiction(description: "the meter is not one")
        }
        return [meter]
    }

    private static func accounts(
        _ store: Store, clock: FixtureClock, businessTime: BusinessTime, random: RandomSource,
        transport: FixtureTransport, line: SandboxFaults,
        scripted: ScriptedProvider
    ) throws -> [ConfiguredAccount] {
        func context(_ id: AccountID) -> ProviderContext {
            ProviderContext(
                http: transport, time: clock.time, businessTime: businessTime, random: random,
                book: StoredBook(store: store, account: id),
                notifyURL: "\(publicURL)/v1/notify/\(notifyToken(id.rawValue))", publicURL: publicURL)
        }
        func account(_ id: AccountID, _ settings: [String: SettingValue]) -> ProviderAccount {
            ProviderAccount(id: id, settings: ProviderSettings(settings), isDevelopment: true)
        }
        let elsewhere: [Platform] = [.web, .android, .desktop]
        let sandboxes = try [("box-url", "url", 50), ("box-qr", "qr", 40), ("box-stripe", "stripe", 30)].map {
            (name, contract, priority) in
            let id = try AccountID.test(name)
            let provider = try FaultySandbox(
                account: account(id, ["contract": .text(contract), "secret": .text(sandboxSecret)]),
                context: context(id), line: line)
            return ConfiguredAccount(
                id: id, provider: provider, isTest: true, enabled: true,
                routing: AccountRouting(platforms: elsewhere, priority: Int64(priority)),
                notifyToken: notifyToken(name))
        }
        let instant = try AccountID.test("box-none")
        let none = ConfiguredAccount(
            id: instant,
            provider: try FaultySandbox(
                account: account(instant, ["contract": .text("none"), "secret": .text(sandboxSecret)]),
                context: context(instant), line: line),
            isTest: true, enabled: true, routing: AccountRouting(platforms: elsewhere, priority: 20),
            notifyToken: notifyToken("box-none"))
        let apple = try AccountID.test("apple-iap")
        let app = SettingValue.object(["bundle_id": .text("com.example.app")])
        let appStore = ConfiguredAccount(
            id: apple,
            provider: try AppleIAPProvider(
                account: account(apple, ["apps": .list([app]), "environments": .list([.text("Production")])]),
                context: context(apple)),
            isTest: false, enabled: true, routing: AccountRouting(platforms: [.ios], priority: 100), notifyToken: nil)
        let script = ConfiguredAccount(
            id: try .test("scripted"), provider: scripted, isTest: false, enabled: true,
            routing: AccountRouting(platforms: elsewhere, priority: 10), notifyToken: notifyToken("scripted"))
        return sandboxes + [none, appStore, script]
    }
}

/// Runs a test at a desk, and then checks every invariant of the resulting facts.
package func withDesk(
    on engine: TestEngine, _ setup: GatewayFixtureSetup = GatewayFixtureSetup(),
    _ body: (GatewayFixture) async throws -> Void
) async throws {
    try await withDatabase(on: engine, rehearse: setup.rehearse) { database in
        let desk = try await GatewayFixture(database, setup)
        try await body(desk)
        await desk.gateway.calls.untilIdle()
        guard setup.checksInvariants else { return }
        let violations = try await InvariantCheck(store: desk.store).run()
        guard violations.isEmpty else {
            throw GatewayFixture.Contradiction(
                description: violations.map { "invariant \($0.invariant): \($0.subject): \($0.detail)" }
                    .joined(separator: "\n"))
        }
        let faults = try await StatementPlans.faults(in: desk.watch.taken(), on: engine, desk.store)
        guard faults.isEmpty else { throw GatewayFixture.Contradiction(description: faults.joined(separator: "\n")) }
    }
}

extension CallContext {
    /// A call of a user without an idempotency key.
    package static let test = CallContext(actor: .user, requestID: "req_test")
}

extension AccountID {
    package static func test(_ name: String) throws -> AccountID {
        guard let id = AccountID(name) else {
            throw GatewayFixture.Contradiction(description: "\(name) is no account id")
        }
        return id
    }
}
