import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Store
import TestSupport
import Testing

@testable import RemoteProvider

/// Tests from the checkout to the paid order and the refund, on both engines.
@Suite(.timeLimit(.minutes(10)))
struct RemoteGatewayTests {
    /// Runs a test with the example in Python, in a process of its own.
    private func withPlugin(on engine: TestEngine, _ body: (RemoteGatewayFixture) async throws -> Void) async throws {
        let plugin = try await ExamplePlugin.start(.python)
        defer { plugin.stop() }
        try await withDesk(on: engine) { desk in
            let line = RehearsalTransport(http: LoopbackTransport(), time: desk.clock.time)
            let account = RemoteFixture.account(["url": .text(plugin.url)], secrets: [ExamplePlugin.secret])
            let remote = try RemoteGatewayFixture(desk, account, http: line)
            #expect(await remote.provider.fetchManifest(keeps: true) == .pinned)
            try await body(remote)
        }
    }

    /// Runs a test with a scripted plugin.
    private func withScript(
        on engine: TestEngine, _ body: (RemoteGatewayFixture, ScriptedPlugin) async throws -> Void
    ) async throws {
        try await withDesk(on: engine) { desk in
            let (plugin, clock) = (ScriptedPlugin(), desk.clock)
            let transport = RecordingTransport { plugin.answer($0, now: clock.now.rawValue) }
            try await body(try RemoteGatewayFixture(desk, RemoteFixture.account(), http: transport), plugin)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order is paid through a plugin, once, and given back`(engine: TestEngine) async throws {
        try await withPlugin(on: engine) { remote in
            let contract = try await remote.checkout()
            guard case .url(let address) = contract.instruction else {
                Issue.record("another contract: \(contract.instruction)")
                return
            }
            let payment = try remote.desk.payment(contract)
            #expect(address.hasPrefix("http://127.0.0.1:") && address.hasSuffix("/pay/\(payment)"))
            let letter = try #require(try await remote.pay(contract))
            for _ in 0..<3 { #expect(try await remote.notify(letter.raw).body == "ok") }
            #expect(try await remote.order(contract).status == .paid)
            #expect(try await remote.desk.grants(contract.order).count == 1)
            let part = try await remote.refund(contract, GatewayFixture.money(1_000))
            #expect(part.refund.state == .succeeded)
            await #expect(throws: GatewayError.self) { try await remote.refund(contract, GatewayFixture.money(3_000)) }
            #expect(try await remote.refund(contract, nil).refund.state == .succeeded)
            let order = try await remote.order(contract)
            #expect(order.status == .refunded && order.order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a payment whose notification never came is found by asking`(engine: TestEngine) async throws {
        try await withPlugin(on: engine) { remote in
            let contract = try await remote.checkout()
            _ = try #require(try await remote.pay(contract))
            let order = try await remote.gateway.reconciliation.refresh(
                contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(order.status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a second attempt closes the first for good`(engine: TestEngine) async throws {
        try await withPlugin(on: engine) { remote in
            let first = try await remote.checkout()
            let second = try await remote.retry(first)
            #expect(try await remote.pay(first) == nil)
            let letter = try #require(try await remote.pay(second))
            try await remote.notify(letter.raw)
            let order = try await remote.order(first)
            #expect(order.status == .paid && order.order.anomalies.isEmpty)
            let payments = try await remote.desk.payments(first.order).map(\.payment)
            #expect(payments.map(\.state) == [.cancelled, .succeeded])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another amount, another payment and a word that is not known pay nothing`(engine: TestEngine) async throws {
        try await withScript(on: engine) { remote, _ in
            let contract = try await remote.checkout(fetching: true)
            let payment = try remote.desk.payment(contract).rawValue
            func notify(
                _ status: String, _ amount: Int64, _ id: String? = nil, currency: String = "CNY"
            ) async throws {
                let text = """
                    {"type":"payment","payment":{"payment_id":"\(id ?? payment)","status":"\(status)",
                    "amount":{"value":\(amount),"currency":"\(currency)"}}}
                    """
                try await remote.notify(
                    ScriptedPlugin.notice(
                        text, id: "evt_\(status)_\(amount)_\(currency)_\(id ?? "")",
                        time: remote.desk.clock.now.rawValue))
            }
            try await notify("teleported", 3990)
            try await notify("succeeded", 3990, "pay_0000000000000000000000000a")
            try await notify("succeeded", 3990, "invoice-77")
            #expect(try await remote.order(contract).order.anomalies.isEmpty)
            try await notify("succeeded", 1)
            try await notify("succeeded", 3990, currency: "USD")
            let order = try await remote.order(contract)
            #expect(order.status == .open && order.order.anomalies == [.amountMismatch])
            #expect(try await remote.desk.grants(contract.order).isEmpty)
            // The right amount still pays.
            try await notify("succeeded", 3990)
            #expect(try await remote.order(contract).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an account is chosen once its manifest is there, and no more once it has changed`(
        engine: TestEngine
    ) async throws {
        try await withScript(on: engine) { remote, plugin in
            plugin.twist("manifest") { $0.raw = IncomingReply(status: 502) }
            await #expect {
                try await remote.checkout(fetching: true)
            } throws: {
                if case .noProvider? = $0 as? GatewayError { true } else { false }
            }
            plugin.twist("manifest", nil)
            let contract = try await remote.checkout(fetching: true)
            plugin.twist("manifest") { $0.body["cancel"] = "none" }
            await #expect {
                try await remote.checkout(fetching: true)
            } throws: {
                if case .noProvider? = $0 as? GatewayError { true } else { false }
            }
            // An opened payment is paid and refunded as before.
            let payment = try remote.desk.payment(contract).rawValue
            let text =
                #"{"type":"payment","payment":{"payment_id":"\#(payment)","status":"succeeded","#
                + #""amount":{"value":3990,"currency":"CNY"}}}"#
            try await remote.notify(ScriptedPlugin.notice(text, time: remote.desk.clock.now.rawValue))
            #expect(try await remote.order(contract).status == .paid)
            #expect(try await remote.refund(contract, nil).refund.state == .succeeded)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an opening whose answer lies is asked about, and shows nobody a contract`(engine: TestEngine) async throws {
        try await withScript(on: engine) { remote, plugin in
            _ = await remote.provider.fetchManifest(keeps: true)
            plugin.twist("payments/open") { $0["payment", "amount"] = ["value": 1, "currency": "CNY"] }
            await #expect(throws: GatewayError.providerUnavailable) { try await remote.checkout() }
            let unknown = try await remote.desk.count("payments WHERE state = 'unknown'")
            #expect(unknown == 1)
        }
    }
}

/// A whole gateway with one remote account.
struct RemoteGatewayFixture: ProviderGatewayFixture {
    static let account = "plug"

    let desk: GatewayFixture
    let gateway: Gateway
    let provider: RemoteProvider
    private let api: RemoteAPI

    /// - Parameter http: the transport to the plugin.
    init(_ desk: GatewayFixture, _ account: ProviderAccount, http: any HTTPTransport) throws {
        self.desk = desk
        let configured = try desk.account(Self.account, http: http) {
            try RemoteProvider(account: account, context: $0)
        }
        gateway = desk.gateway(with: [configured])
        provider = try #require(configured.provider as? RemoteProvider)
        api = provider.api
    }

    func checkout(
        _ sku: String = "vip_month", user: String = "alice", fetching: Bool = false
    ) async throws -> PaymentContract {
        if fetching { _ = await provider.fetchManifest(keeps: true) }
        return try await desk.checkout(
            sku, user: user, provider: Self.account, returnURL: "https://app.example/done", at: gateway)
    }

    /// Says how later charges of a subscription end, or ends its mandates; returns what the plugin tells of it.
    @discardableResult
    func play(
        _ subscription: ID<Subscription>, charges: String? = nil, ended: Bool? = nil
    ) async throws -> RemoteLetter? {
        var request = RemoteRequest(.playMandates)
        request.subscription_id = subscription.rawValue
        request.charges = charges
        request.ended = ended
        let acted: RehearsalActed = try await api.send(request)
        return acted.notification
    }

    /// The payer's act in a set-up at the plugin.
    func agree(_ setup: ID<Setup>) async throws -> RemoteLetter? {
        var request = RemoteRequest(.act)
        request.setup_id = setup.rawValue
        request.act = "succeed"
        let acted: RehearsalActed = try await api.send(request)
        return acted.notification
    }

    /// The payer's act at the plugin; nil where it was not taken.
    func pay(_ contract: PaymentContract) async throws -> RemoteLetter? {
        var request = RemoteRequest(.act)
        request.payment_id = try desk.payment(contract).rawValue
        request.act = "succeed"
        let acted: RehearsalActed = try await api.send(request)
        return acted.taken ? acted.notification : nil
    }

    func refund(_ contract: PaymentContract, _ amount: Money?) async throws -> RefundView {
        desk.clock.tick()
        return try await gateway.refunds.request(
            contract.order.rawValue, amount: amount, reason: "a test", context: .test)
    }
}
