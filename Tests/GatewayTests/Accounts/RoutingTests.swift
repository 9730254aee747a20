import ProviderKit
import ProviderTesting
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Several accounts as one")
struct RoutingTests {
    private static func methods(
        _ desk: GatewayFixture, _ request: CheckoutRequest = ask(), user: String = "alice"
    ) async throws -> [String] {
        try await desk.gateway.cashier.paymentMethods(request, user: GatewayFixture.user(user)).map(\.account)
    }

    private static func ask(
        sku: String = "vip_month", platform: Platform = .web, accept: Set<ContractType> = ContractType.base
    ) -> CheckoutRequest {
        CheckoutRequest(sku: sku, platform: platform, currency: GatewayFixture.money(0).currency, accept: accept)
    }

    private static func health(_ desk: GatewayFixture, _ account: String) async throws -> CircuitBreaker.Health? {
        try await desk.gateway.accounts.list().first { $0.account.id.rawValue == account }?.health
    }

    @Test(arguments: TestEngine.allCases)
    func `an account that keeps failing is left out until a trial succeeds`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            #expect(try await Self.methods(desk) == ["box-url", "box-qr", "box-stripe", "scripted"])
            desk.line.set(.open, .unavailable, at: "box-url")
            for number in 0..<5 {
                #expect(try await Self.health(desk, "box-url") == .closed)
                let contract = try await desk.checkout(user: "user-\(number)", provider: nil)
                #expect(contract.provider?.rawValue == "box-qr")
            }
            #expect(try await Self.health(desk, "box-url") == .open)
            #expect(try await Self.methods(desk) == ["box-qr", "box-stripe", "scripted"])
            let spared = try await desk.checkout(provider: nil)
            #expect(spared.provider?.rawValue == "box-qr")
            #expect(try await desk.payments(spared.order).count == 1)
            #expect(desk.line.count(.open, at: "box-url") == 5)
            // A client that names the account is not refused because of its health.
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.checkout(provider: "box-url") }
            #expect(desk.line.count(.open, at: "box-url") == 6)

            try await desk.pass(seconds: 5)
            #expect(try await Self.health(desk, "box-url") == .halfOpen)
            #expect(try await Self.methods(desk).first == "box-url")
            #expect(try await desk.checkout(user: "trial", provider: nil).provider?.rawValue == "box-qr")
            #expect(desk.line.count(.open, at: "box-url") == 7)
            try await desk.pass(seconds: 5)
            #expect(try await Self.health(desk, "box-url") == .open)
            try await desk.pass(seconds: 5)
            desk.line.set(.open, nil, at: "box-url")
            #expect(try await desk.checkout(user: "second", provider: nil).provider?.rawValue == "box-url")
            #expect(try await Self.health(desk, "box-url") == .closed)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `where no account is healthy the best is tried all the same`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            for account in desk.gateway.registry.accounts { desk.fail(account.id.rawValue) }
            let all = try await Self.methods(desk)
            #expect(all == ["box-url", "box-qr", "box-stripe", "scripted"])
            #expect(try await desk.checkout(provider: nil).provider?.rawValue == "box-url")
            #expect(try await Self.health(desk, "box-url") == .closed)
            #expect(try await Self.methods(desk) == ["box-url"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `refusals are no failures`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .refused, at: "box-url")
            for number in 0..<20 { _ = try? await desk.checkout(user: "user-\(number)", provider: nil) }
            #expect(desk.line.count(.open, at: "box-url") == 20)
            let health = try await Self.health(desk, "box-url")
            #expect(health == .closed)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `queries and refunds that fail tell of an account too`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            desk.line.set(.refund, .unavailable)
            for _ in 0..<16 { _ = try? await desk.refund(contract.order, 10) }
            #expect(try await Self.health(desk, "box-url") == .open)
            #expect(try await desk.checkout(provider: nil).provider?.rawValue == "box-qr")
            // Payments under way are continued whatever the account's health.
            desk.line.set(.refund, nil)
            try await desk.pass(seconds: 60)
            try await desk.work()
            #expect(try await desk.refunds(contract.order).allSatisfy { $0.state == .succeeded })
        }
    }

    // MARK: An account that hangs

    @Test(arguments: TestEngine.allCases)
    func `one that hangs takes its own calls and no others`(_ engine: TestEngine) async throws {
        var setup = GatewayFixtureSetup()
        setup.callsPerAccount = 2
        try await withDesk(on: engine, setup) { desk in
            let gate = Gate()
            desk.line.hold(.open, at: "box-url") { await gate.pass() }
            let first = Task { try await desk.checkout(user: "first", provider: nil) }
            let second = Task { try await desk.checkout(user: "second", provider: nil) }
            await gate.arrivals(2)
            #expect(try await Self.methods(desk).first == "box-qr")
            for number in 0..<5 {
                let contract = try await desk.checkout(user: "user-\(number)", provider: nil)
                #expect(contract.provider?.rawValue == "box-qr")
                #expect(try await desk.payments(contract.order).count == 1)
            }
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.checkout(provider: "box-url") }
            #expect(desk.line.count(.open, at: "box-url") == 2)
            // The account reached its limit between the choice and the call: the request continues, and no provider is
            // called.
            let id = try await desk.gateway.orders.list(user: GatewayFixture.user("alice"), cursor: nil, limit: 1)
                .items[0].order
                .id
            let order = try #require(try await desk.store.read { db in try db.orders.find(id) })
            let payment = try #require(try await desk.payments(id).last).payment
            let accounts = desk.gateway.registry.accounts.filter { ["box-qr", "box-url"].contains($0.id.rawValue) }
            let attempt = CheckoutAttempt(
                order: order.id, request: RetryRequest(Self.ask()), context: .test, isCheckout: true)
            let contract = try await desk.gateway.cashier.openPayment(
                PaymentIntent(order: order, payment: payment, payerAddress: nil), attempt,
                at: CandidateAccounts(
                    accounts: accounts.reversed(),
                    need: SelectionNeed(
                        sku: "vip_month", kind: .nonRenewing, sellsOnePeriod: false, hasAppleProducts: true,
                        quantity: 1,
                        amount: payment.amount, platform: .web, accepts: ContractType.base, user: "alice"),
                    insists: false))
            #expect(contract.provider?.rawValue == "box-qr")
            let payments = try await desk.payments(order.id).map(\.payment)
            #expect(payments.map(\.state) == [.cancelled, .pending] && payments.map(\.unfenced) == [false, false])
            #expect(desk.line.count(.cancel) == 0 && desk.line.count(.query) == 0)
            gate.open()
            #expect(try await first.value.provider?.rawValue == "box-url")
            #expect(try await second.value.provider?.rawValue == "box-url")
            #expect(try await Self.methods(desk).first == "box-url")
        }
    }

    // MARK: What is said and what is done

    @Test(arguments: TestEngine.allCases, 0..<6)
    func `the payment methods are what checkout takes, in its order`(_ engine: TestEngine, _ seed: UInt64) async throws
    {
        try await withDesk(on: engine) { desk in
            var dice = SplitMix64(seed &* 7_919 &+ 1)
            let names = ["box-url", "box-qr", "box-stripe", "scripted"]
            for round in 0..<12 {
                for name in names { try await desk.shuffle(name, &dice) }
                for name in names where Int.random(in: 0..<4, using: &dice) == 0 { desk.fail(name) }
                let request = Self.ask(
                    sku: ["vip_month", "vip_year", "coins"].randomElement(using: &dice) ?? "coins",
                    platform: [.web, .desktop].randomElement(using: &dice) ?? .web,
                    accept: Bool.random(using: &dice) ? ContractType.base : [.url])
                let user = "user-\(round)"
                let said = try await Self.methods(desk, request, user: user)
                guard !said.isEmpty else {
                    desk.clock.tick()
                    await expectNoProvider {
                        try await desk.gateway.cashier.open(request, user: GatewayFixture.user(user), context: .test)
                    }
                    continue
                }
                let away = Int.random(in: 0..<min(3, said.count), using: &dice)
                for name in names { desk.away(name, said.prefix(away).contains(name)) }
                desk.clock.tick()
                let contract = try await desk.gateway.cashier.open(
                    request, user: GatewayFixture.user(user), context: .test)
                #expect(contract.provider?.rawValue == said[away], "\(said), \(away) away, round \(round)")
                for name in names { desk.away(name, false) }
                try await desk.pass(seconds: Int64.random(in: 0...10, using: &dice))
            }
        }
    }
}

extension GatewayFixture {
    /// Makes openings fail until the account counts as unhealthy.
    func fail(_ account: String) {
        guard let id = AccountID(account) else { return }
        for _ in 0..<5 {
            guard let call = gateway.load.begin(id, .opening(insists: true)) else { continue }
            gateway.load.end(id, call, .failed)
        }
    }

    fileprivate func away(_ account: String, _ isAway: Bool) {
        if account == "scripted" { return scripted.openings(isAway ? .unavailable : nil) }
        line.set(.open, isAway ? .unavailable : nil, at: account)
    }

    /// Changes an account's rules at random, as an admin might.
    fileprivate func shuffle(_ account: String, _ dice: inout SplitMix64) async throws {
        func pick(_ choices: [JSONValue]) -> JSONValue { choices.randomElement(using: &dice) ?? .null }
        let routing: JSONValue = .object([
            "priority": pick([.integer(1), .integer(2)]), "weight": pick([.integer(0), .integer(1), .integer(5)]),
            "platforms": pick([.array([]), .array([.string("web")]), .array([.string("web"), .string("desktop")])]),
            "skus": pick([.array([]), .array([]), .array([.string("vip_month")])]),
            "min": pick([.null, .null, .integer(1_000)]), "max": pick([.null, .null, .integer(5_000)]),
        ])
        let change = AccountChange(enabled: Int.random(in: 0..<6, using: &dice) > 0, routing: routing)
        _ = try await gateway.accounts.change(account, change, context: .test)
    }
}
