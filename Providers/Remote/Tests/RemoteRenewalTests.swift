import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Store
import TestSupport
import Testing

@testable import RemoteProvider

/// Tests subscriptions that Paydesk renews through a plugin, on both engines.
@Suite(.timeLimit(.minutes(10)))
struct RemoteRenewalTests {
    private static let day: Int64 = 86_400

    /// Runs a test with the example in Python, in a process of its own.
    private func withPlugin(
        on engine: TestEngine, trial: Int64 = 0, _ body: (RemoteClub) async throws -> Void
    ) async throws {
        let plugin = try await ExamplePlugin.start(.python)
        defer { plugin.stop() }
        try await RemoteClub.open(on: engine, trial: trial) { desk in
            let line = RehearsalTransport(http: LoopbackTransport(), time: desk.clock.time)
            let account = RemoteFixture.account(["url": .text(plugin.url)], secrets: [ExamplePlugin.secret])
            return try RemoteGatewayFixture(desk, account, http: line)
        } body: {
            try await body($0)
        }
    }

    /// Runs a test with a scripted plugin.
    private func withScript(
        on engine: TestEngine, trial: Int64 = 0, _ body: (RemoteClub, ScriptedPlugin) async throws -> Void
    ) async throws {
        let plugin = ScriptedPlugin(hasMandates: true)
        try await RemoteClub.open(on: engine, trial: trial) { desk in
            let clock = desk.clock
            let transport = RecordingTransport { plugin.answer($0, now: clock.now.rawValue) }
            return try RemoteGatewayFixture(desk, RemoteFixture.account(), http: transport)
        } body: {
            try await body($0, plugin)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a subscription renews through a plugin, is dunned, and recovers`(engine: TestEngine) async throws {
        try await withPlugin(on: engine) { club in
            let contract = try await club.remote.checkout("club", fetching: true)
            let letter = try #require(try await club.remote.pay(contract))
            for _ in 0..<3 { try await club.remote.notify(letter.raw) }
            try await club.advance(120)
            var held = try #require(try await club.list().first)
            #expect(held.status == .active && held.will_renew && held.renewal.payment_method != nil)
            for index in 1...3 as ClosedRange<Int64> {
                try await club.advance(to: held.expires_at.adding(seconds: 5))
                held = try await club.find(held.id)
                #expect(held.renewal.period_index == index && held.status == .active && held.renewal.tries == 0)
            }
            try await club.remote.play(held.id, charges: "soft")
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            let refused = try await club.find(held.id)
            #expect(refused.status == .inGracePeriod && refused.renewal.refusal == .soft && refused.renewal.tries == 1)
            try await club.remote.play(held.id, charges: "succeed")
            try await club.advance(Self.day + 60)
            held = try await club.find(held.id)
            #expect(held.status == .active && held.renewal.period_index == 4 && held.renewal.refusal == nil)
            let ended = try #require(try await club.remote.play(held.id, ended: true))
            try await club.remote.notify(ended.raw)
            let warned = try await club.find(held.id)
            #expect(warned.status == .active && warned.renewal.refusal == .hard)
            #expect(
                try await club.desk.events(held.id.rawValue).filter { $0 == "subscription.payment_failed" }.count == 2)
            // A renewal's charge can be refunded as any payment.
            let newest = try #require(held.orders.last)
            club.desk.clock.tick()
            let refund = try await club.gateway.refunds.request(
                newest.rawValue, amount: GatewayFixture.money(1_000), reason: "a test", context: .test)
            #expect(refund.refund.state == .succeeded)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a trial begins with a plugin's set-up, and is once for an account`(engine: TestEngine) async throws {
        try await withScript(on: engine, trial: 7) { club, plugin in
            let contract = try await club.remote.checkout("club", fetching: true)
            let setup = try #require(contract.renewal?.setup)
            #expect(contract.payment == nil && plugin.asked.last?.path == "setups/open")
            let mandate = #""mandate":{"reference":"M-1","fingerprint":"F-1","label":"Account 1"}"#
            try await club.notify("setup", #""setup_id":"\#(setup)","status":"succeeded",\#(mandate)"#)
            let held = try #require(try await club.list().first)
            #expect(held.renewal.trial)
            #expect(try await club.desk.count("mandates WHERE label = ?", "Account 1") == 1)
            let other = try await club.remote.checkout("club", user: "bob")
            let again = try #require(other.renewal?.setup)
            try await club.notify(
                "setup",
                #""setup_id":"\#(again)","status":"succeeded","mandate":{"reference":"M-2","fingerprint":"F-1"}"#)
            try await club.advance(120)
            #expect(try await club.list("bob").isEmpty)
            #expect(try await club.remote.order(other).status == .closed)
            #expect(try club.asked(plugin, "mandates/revoke").contains("M-2"))
            #expect(try club.asked(plugin, "mandates/charge").isEmpty)
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            let charged = try await club.find(held.id)
            #expect(charged.status == .active && charged.renewal.period_index == 1 && !charged.renewal.trial)
            #expect(try club.asked(plugin, "mandates/charge") == ["M-1"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a set-up whose notification never came is found by asking`(engine: TestEngine) async throws {
        try await withPlugin(on: engine, trial: 7) { club in
            let contract = try await club.remote.checkout("club", fetching: true)
            _ = try await club.remote.agree(try #require(contract.renewal?.setup))
            try await club.advance(300)
            #expect(try await club.list().first?.renewal.trial == true)
        }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let status: String
        let refusal: String?
        let kind: ChargeRefusal
        let triesAgain: Bool
    }

    static let refused = [
        Refused(testDescription: "soft", status: "failed", refusal: "soft", kind: .soft, triesAgain: true),
        Refused(testDescription: "hard", status: "failed", refusal: "hard", kind: .hard, triesAgain: false),
        Refused(
            testDescription: "the payer must confirm", status: "failed", refusal: "action_required",
            kind: .actionRequired, triesAgain: false),
        Refused(testDescription: "no word", status: "failed", refusal: nil, kind: .soft, triesAgain: true),
        Refused(testDescription: "cancelled", status: "cancelled", refusal: nil, kind: .soft, triesAgain: true),
    ]

    @Test(arguments: TestEngine.allCases, refused)
    func `a refusal is dunned by its kind`(engine: TestEngine, refused: Refused) async throws {
        try await withScript(on: engine) { club, plugin in
            let held = try await club.begin()
            plugin.twist("mandates/charge") { said in
                said["payment", "status"] = refused.status
                if let word = refused.refusal { said["payment", "refusal"] = word }
            }
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            let failed = try await club.find(held.id)
            #expect(failed.status == .inGracePeriod && failed.renewal.tries == 1)
            #expect(failed.renewal.refusal == refused.kind && (failed.renewal.retry_at != nil) == refused.triesAgain)
            try await club.advance(2 * Self.day)
            #expect(try await club.find(held.id).renewal.tries == (refused.triesAgain ? 2 : 1))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a charge that its bank works on is undecided until it is told of`(engine: TestEngine) async throws {
        try await withScript(on: engine) { club, plugin in
            let held = try await club.begin()
            plugin.twist("mandates/charge") { $0["payment", "status"] = "waiting" }
            try await club.advance(to: held.expires_at.adding(seconds: Self.day))
            let waiting = try await club.find(held.id)
            #expect(waiting.status == .inGracePeriod && waiting.renewal.tries == 0)
            let charged = try club.payments(plugin)
            #expect(charged.count == 1)
            try await club.notify(
                "payment",
                #""payment_id":"\#(charged[0])","status":"succeeded","amount":{"value":3990,"currency":"CNY"}"#)
            let renewed = try await club.find(held.id)
            #expect(renewed.status == .active && renewed.renewal.period_index == 1)
            #expect(renewed.renewal.period_start == held.expires_at)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a charge whose answer is lost is asked about, and made once`(engine: TestEngine) async throws {
        try await withScript(on: engine) { club, plugin in
            let held = try await club.begin()
            plugin.twist("mandates/charge") { $0.raw = IncomingReply(status: 502) }
            plugin.twist("payments/query") { $0["payment", "status"] = "succeeded" }
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            try await club.advance(Self.day)
            let renewed = try await club.find(held.id)
            #expect(renewed.status == .active && renewed.renewal.period_index == 1 && renewed.renewal.tries == 0)
            #expect(try club.payments(plugin).count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a charge that never arrived is withdrawn, and another is made`(engine: TestEngine) async throws {
        try await withScript(on: engine) { club, plugin in
            let held = try await club.begin()
            plugin.twist("mandates/charge") { $0.raw = IncomingReply(status: 502) }
            plugin.twist("payments/query") { $0["payment", "status"] = "not_found" }
            plugin.twist("payments/cancel") { $0["payment", "status"] = "cancelled" }
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            plugin.twist("mandates/charge", nil)
            try await club.advance(Self.day)
            let renewed = try await club.find(held.id)
            #expect(renewed.status == .active && renewed.renewal.period_index == 1 && renewed.renewal.tries == 0)
            let charged = try club.payments(plugin)
            #expect(charged.count >= 2 && Set(charged).count == charged.count)
            let withdrawn = plugin.asked.filter { $0.path == "payments/cancel" }.map {
                String(decoding: $0.body, as: UTF8.self)
            }
            for (index, payment) in charged.enumerated() {
                #expect(withdrawn.contains { $0.contains(payment) } == (index < charged.count - 1))
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a plugin that is away costs nobody a try`(engine: TestEngine) async throws {
        try await withScript(on: engine) { club, plugin in
            let held = try await club.begin()
            plugin.twist("mandates/charge") { said in
                said.status = 503
                said.body = ["error": ["type": "unavailable"]]
            }
            try await club.advance(to: held.expires_at.adding(seconds: 3_600))
            let waiting = try await club.find(held.id)
            #expect(waiting.status == .inGracePeriod && waiting.renewal.tries == 0)
            plugin.twist("mandates/charge", nil)
            try await club.advance(Self.day)
            #expect(try await club.find(held.id).renewal.period_index == 1)
            // The same charge was repeated.
            #expect(Set(try club.payments(plugin)).count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another amount, another payment and another's mandate renew nothing`(engine: TestEngine) async throws {
        try await withScript(on: engine) { club, plugin in
            let held = try await club.begin()
            plugin.twist("mandates/charge") { $0["payment", "amount"] = ["value": 1, "currency": "CNY"] }
            try await club.advance(to: held.expires_at.adding(seconds: 60))
            func expectUndecided() async throws {
                let now = try await club.find(held.id)
                #expect(now.status == .inGracePeriod && now.renewal.period_index == 0 && now.renewal.tries == 0)
            }
            try await expectUndecided()
            let charged = try #require(try club.payments(plugin).first)
            let right = #""amount":{"value":3990,"currency":"CNY"}"#
            let other = "pay_0000000000000000000000000a"
            try await club.notify("payment", #""payment_id":"\#(other)","status":"succeeded",\#(right)"#)
            try await club.notify("payment", #""payment_id":"\#(charged)","status":"teleported",\#(right)"#)
            let wrong = #""amount":{"value":3990,"currency":"USD"}"#
            try await club.notify("payment", #""payment_id":"\#(charged)","status":"succeeded",\#(wrong)"#)
            try await expectUndecided()
            // Another subscription's id ends nothing, and another reference only what it names.
            try await club.notify(
                "mandate", #""subscription_id":"sub_0000000000000000000000000a","status":"ended""#)
            try await club.notify(
                "mandate", #""subscription_id":"\#(held.id)","status":"ended","mandate":{"reference":"M-9"}"#)
            try await expectUndecided()
            // A charge leaves no mandate behind, whatever its report says.
            let rotated = #""mandate":{"reference":"M-7"}"#
            try await club.notify("payment", #""payment_id":"\#(charged)","status":"succeeded",\#(right),\#(rotated)"#)
            let renewed = try await club.find(held.id)
            #expect(renewed.status == .active && renewed.renewal.period_index == 1)
            plugin.twist("mandates/charge", nil)
            try await club.advance(to: renewed.expires_at.adding(seconds: 5))
            #expect(try await club.find(held.id).renewal.period_index == 2)
            #expect(try club.asked(plugin, "mandates/charge").allSatisfy { $0 == "M-1" })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a mandate that comes after the money repairs what was paid without it`(engine: TestEngine) async throws {
        try await withScript(on: engine) { club, plugin in
            let held = try await club.begin(mandate: nil)
            #expect(held.status == .active && !held.will_renew && held.renewal.cancel_at_period_end)
            try await club.notify(
                "mandate", #""subscription_id":"\#(held.id)","status":"made","mandate":{"reference":"M-5"}"#)
            #expect(try await club.find(held.id).will_renew)
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            #expect(try await club.find(held.id).renewal.period_index == 1)
            #expect(try club.asked(plugin, "mandates/charge") == ["M-5"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `paid by its payer without a mandate, a period is the last`(engine: TestEngine) async throws {
        try await withScript(on: engine) { club, plugin in
            let held = try await club.begin()
            try await club.notify("mandate", #""subscription_id":"\#(held.id)","status":"ended""#)
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            #expect(try await club.find(held.id).renewal.refusal == .hard)
            let wish = RetryRequest(
                platform: .web, currency: nil, provider: nil, accept: ContractType.base, returnURL: nil)
            let contract = try await club.gateway.subscriptionActs.pay(
                held.id.rawValue, wish, by: .user(GatewayFixture.user("alice")), context: .test)
            let payment = try club.desk.payment(contract)
            try await club.notify(
                "payment",
                #""payment_id":"\#(payment)","status":"succeeded","amount":{"value":3990,"currency":"CNY"}"#)
            let paid = try await club.find(held.id)
            #expect(paid.status == .active && paid.renewal.period_index == 1)
            #expect(!paid.will_renew && paid.renewal.cancel_at_period_end)
            try await club.advance(to: paid.expires_at.adding(seconds: 30))
            let over = try await club.find(held.id)
            #expect(over.status == .expired && over.renewal.end_reason == "mandate_ended")
            #expect(try club.asked(plugin, "mandates/charge").isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a mandate that comes after the end is revoked`(engine: TestEngine) async throws {
        try await withScript(on: engine) { club, plugin in
            let held = try await club.begin(mandate: nil)
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            #expect(try await club.find(held.id).renewal.end_reason == "mandate_ended")
            for _ in 0..<2 {
                try await club.notify(
                    "mandate", #""subscription_id":"\#(held.id)","status":"made","mandate":{"reference":"M-5"}"#)
            }
            try await club.advance(120)
            #expect(try club.asked(plugin, "mandates/revoke") == ["M-5"])
            #expect(try await club.desk.count("mandates WHERE state = 'revoked'") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a cancelled subscription's mandate is revoked until the plugin says so`(engine: TestEngine) async throws {
        try await withScript(on: engine) { club, plugin in
            let held = try await club.begin()
            let alice = SubscriptionActor.user(GatewayFixture.user("alice"))
            _ = try await club.gateway.subscriptionActs.cancel(held.id.rawValue, by: alice, context: .test)
            plugin.twist("mandates/revoke") { $0.raw = IncomingReply(status: 502) }
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            #expect(try await club.find(held.id).status == .expired)
            #expect(try await club.desk.count("mandates WHERE state = 'revoking'") == 1)
            plugin.twist("mandates/revoke", nil)
            try await club.advance(Self.day)
            #expect(try await club.desk.count("mandates WHERE state = 'revoked'") == 1)
            #expect(try club.asked(plugin, "mandates/charge").isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a plugin without mandates sells everything but what renews`(engine: TestEngine) async throws {
        let plugin = ScriptedPlugin()
        try await RemoteClub.open(on: engine) { desk in
            let clock = desk.clock
            let transport = RecordingTransport { plugin.answer($0, now: clock.now.rawValue) }
            return try RemoteGatewayFixture(desk, RemoteFixture.account(), http: transport)
        } body: { club in
            await #expect {
                _ = try await club.remote.checkout("club", fetching: true)
            } throws: {
                if case .noProvider? = $0 as? GatewayError { true } else { false }
            }
            let contract = try await club.remote.checkout()
            let payment = try club.desk.payment(contract)
            try await club.notify(
                "payment", #""payment_id":"\#(payment)","status":"succeeded","amount":{"value":3990,"currency":"CNY"}"#)
            #expect(try await club.remote.order(contract).status == .paid)
            #expect(!plugin.asked.contains { $0.path.hasPrefix("setups/") || $0.path.hasPrefix("mandates/") })
        }
    }
}

/// A desk that sells a club through a plugin, with the acts of its payer.
struct RemoteClub {
    let remote: RemoteGatewayFixture
    private let letters = Letters()

    private actor Letters {
        private var count = 0

        func next() -> String {
            count += 1
            return "evt_\(count)"
        }
    }

    var desk: GatewayFixture { remote.desk }
    var gateway: Gateway { remote.gateway }

    static func open(
        on engine: TestEngine, trial: Int64 = 0, _ connect: (GatewayFixture) throws -> RemoteGatewayFixture,
        body: (RemoteClub) async throws -> Void
    ) async throws {
        var setup = GatewayFixtureSetup()
        setup.isDevelopment = true
        try await withDesk(on: engine, setup) { desk in
            let club = RemoteClub(remote: try connect(desk))
            let sku = """
                {"id":"club","name":"Club","kind":"subscription","tier":"Club","rank":40,"stack_group":"club",
                 "renewal":"managed","period":{"unit":"month","count":1},"trial_days":\(trial),
                 "prices":[{"currency":"CNY","value":3990}]}
                """
            let made = try JSONDecoder().decode(SKU.self, from: Data(sku.utf8))
            _ = try await club.gateway.catalogue.create(made, context: .test)
            try await body(club)
        }
    }

    private init(remote: RemoteGatewayFixture) { self.remote = remote }

    /// Buys, and has the plugin tell of the payment.
    ///
    /// - Parameter mandate: the reference of the mandate that the payment leaves behind; nil for none.
    func begin(mandate: String? = "M-1") async throws -> SubscriptionSnapshot {
        let contract = try await remote.checkout("club", fetching: true)
        let payment = try desk.payment(contract)
        let left = mandate.map { #","mandate":{"reference":"\#($0)"}"# } ?? ""
        try await notify(
            "payment",
            #""payment_id":"\#(payment)","status":"succeeded","amount":{"value":3990,"currency":"CNY"}\#(left)"#)
        try await advance(120)
        return try #require(try await list().first)
    }

    /// Has the scripted plugin tell of something.
    func notify(_ type: String, _ members: String) async throws {
        let text = #"{"type":"\#(type)","\#(type)":{\#(members)}}"#
        try await remote.notify(
            ScriptedPlugin.notice(text, id: await letters.next(), time: desk.clock.now.rawValue))
    }

    func advance(_ seconds: Int64) async throws {
        desk.clock.tick()
        _ = try await gateway.businessClock.move(ClockRequest(advance_seconds: seconds), context: .test)
    }

    func advance(to time: Timestamp) async throws {
        try await advance(time.rawValue - gateway.time.now.rawValue)
    }

    func list(_ user: String = "alice") async throws -> [SubscriptionSnapshot] {
        try await gateway.subscriptions.list(user: GatewayFixture.user(user), cursor: nil, limit: 10).items
    }

    func find(_ id: ID<Subscription>, _ user: String = "alice") async throws -> SubscriptionSnapshot {
        try await gateway.subscriptions.find(id.rawValue, user: GatewayFixture.user(user))
    }

    /// The references of the mandates that a call was about.
    func asked(_ plugin: ScriptedPlugin, _ path: String) throws -> [String] {
        try bodies(plugin, path).compactMap { ($0["mandate"] as? [String: Any])?["reference"] as? String }
    }

    /// The payments of the charges that the plugin was asked for.
    func payments(_ plugin: ScriptedPlugin) throws -> [String] {
        try bodies(plugin, "mandates/charge").compactMap { $0["payment_id"] as? String }
    }

    private func bodies(_ plugin: ScriptedPlugin, _ path: String) throws -> [[String: Any]] {
        try plugin.asked.filter { $0.path == path }.compactMap {
            try JSONSerialization.jsonObject(with: $0.body) as? [String: Any]
        }
    }
}
