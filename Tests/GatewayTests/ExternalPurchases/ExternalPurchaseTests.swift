import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases outside of the App Store")
struct ExternalPurchaseTests {
    private static let day: Int64 = 86_400

    @Test(arguments: TestEngine.allCases)
    func `a purchase and its refunds are line items`(_ engine: TestEngine) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            let (id, text) = try ExternalPurchaseFixture.token(at: desk.now)
            let contract = try await desk.buy(text)
            try await desk.work()
            let item = try #require(desk.apple.items.first)
            let paid = try await desk.gateway.orders.find(contract.order.rawValue)
            #expect(item.lineItemId == NameUUID.text(try desk.desk.payment(contract).rawValue))
            #expect(item.creationDate == (paid.order.paidAt?.rawValue ?? 0) * 1_000)
            #expect((item.amountTaxInclusive, item.amountTaxExclusive, item.taxAmount) == (39_900, 37_642, 2_258))
            #expect(paid.order.includedTax == GatewayFixture.money(226))
            #expect(
                item.productIdentifier == "club_days" && item.productType == .oneTimeBuy && item.taxCountry == "CHN")
            _ = try await desk.giveBack(contract.order, 1_000)
            try await desk.work(for: 2)
            _ = try await desk.giveBack(contract.order, nil)
            try await desk.work(for: 2)
            #expect(desk.apple.items.map(\.eventType) == [.buy, .refund, .refund])
            #expect(desk.apple.items.last?.netAmountTaxExclusive == 0)
            #expect(desk.apple.items.dropFirst().reduce(0) { $0 + $1.amountTaxExclusive } == item.amountTaxExclusive)
            let shown = try await desk.shown(id)
            #expect(shown.state == "reported" && shown.orders == [contract.order] && shown.source == "checkout")
            #expect(shown.reports.map(\.state) == ["accepted", "accepted", "accepted"])
            #expect(try await desk.violations().isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund that bounces is taken back`(_ engine: TestEngine) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            let (_, text) = try ExternalPurchaseFixture.token(at: desk.now)
            let contract = try await desk.buy(text)
            let refund = try await desk.giveBack(contract.order, nil)
            try await desk.work(for: 2)
            try await desk.desk.notify("refund.failed", contract, refund: refund.refund.id, at: desk.gateway)
            try await desk.work(for: 2)
            let last = try #require(desk.apple.items.last)
            #expect(desk.apple.items.count == 3 && last.restatement == true && last.erroneouslySubmitted == true)
            #expect(last.netAmountTaxExclusive == 37_642)
            #expect(try await desk.violations().isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a token of another user, of another app or for nothing that is sold so is refused`(
        _ engine: TestEngine
    ) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            let (_, text) = try ExternalPurchaseFixture.token(at: desk.now)
            _ = try await desk.keep(text)
            await #expect(throws: GatewayError.conflict(reason: "the token is another user's")) {
                try await desk.open(text, user: "bob")
            }
            func refusal(_ body: () async throws -> Void) async -> GatewayError? {
                do {
                    try await body()
                    return nil
                } catch { return error as? GatewayError }
            }
            let untaxed = await refusal { _ = try await desk.open(text, sku: "untaxed") }
            #expect(untaxed == .noProvider(NoProvider(reason: .taxCategory, accounts: [])))
            let elsewhere = await refusal { _ = try await desk.open(text, storefront: "DEU") }
            #expect(elsewhere == .noProvider(NoProvider(reason: .storefront, accounts: [])))
            let (_, real) = try ExternalPurchaseFixture.token("2924c319", at: desk.now)
            guard case .noProvider(let why)? = await refusal({ _ = try await desk.open(real) }) else {
                Issue.record("a token of Production was sold in test mode")
                return
            }
            #expect(why.reason == .environment)
            #expect(throws: GatewayError.self) { try desk.gateway.externalPurchases.claim("none", storefront: "CHN") }
            #expect(throws: GatewayError.self) { try desk.gateway.externalPurchases.claim(text, storefront: nil) }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a token that leads to nothing is reported on day 8, and a purchase after it as well`(
        _ engine: TestEngine
    ) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            let (id, text) = try ExternalPurchaseFixture.token(at: desk.now)
            let kept = try await desk.keep(text)
            #expect(try await desk.keep(text) == kept && kept.state == "waiting")
            try await desk.desk.pass(seconds: 8 * Self.day - 60)
            try await desk.gateway.work()
            #expect(desk.apple.bodies.isEmpty)
            try await desk.desk.pass(seconds: 120)
            #expect(try await desk.shown(id).state == "due")
            try await desk.gateway.work()
            #expect(desk.apple.accepted.map(\.status) == [.noLineItem])
            try await desk.buy(text)
            try await desk.work(for: 2)
            #expect(desk.apple.accepted.map(\.status) == [.noLineItem, .lineItem])
            #expect(try await desk.shown(id).state == "reported")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a user hands in a hundred tokens on a day, and those again`(_ engine: TestEngine) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            func token() throws -> String { try ExternalPurchaseFixture.token(at: desk.now).1 }
            func wait(for text: String) async throws -> Int64? {
                do {
                    _ = try await desk.keep(text)
                    return nil
                } catch GatewayError.rateLimited(let seconds) { return seconds }
            }
            let first = try token()
            let kept = try await desk.keep(first)
            try await desk.desk.pass(seconds: Self.day / 2)
            for _ in 1..<100 { _ = try await desk.keep(token()) }
            let next = try token()
            // On PostgreSQL the database's clock goes on meanwhile.
            let untilFirst = try #require(try await wait(for: next))
            #expect((Self.day / 4...Self.day / 2).contains(untilFirst))
            #expect(try await desk.keep(first) == kept)
            #expect(try await desk.desk.count("external_tokens") == 100)
            try await desk.desk.pass(seconds: untilFirst)
            #expect(try await wait(for: next) == nil)
            let untilSecond = try #require(try await wait(for: token()))
            #expect((Self.day / 4...Self.day / 2).contains(untilSecond))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `Apple's word makes a token due, and an open order is awaited`(_ engine: TestEngine) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            let account = try AccountID.test("apple-iap")
            func tell(_ text: String, reminds: Bool) async throws {
                let token = try #require(ExternalPurchaseToken(text))
                _ = try await desk.gateway.settlements.run(CallContext.test.audit) { settlement in
                    try settlement.apply(
                        .externalToken(ExternalTokenNotice(token: token, isReminder: reminds)), from: account,
                        isStored: true)
                }
            }
            let (strange, told) = try ExternalPurchaseFixture.token(at: desk.now)
            try await tell(told, reminds: false)
            try await desk.work(for: 2)
            #expect(desk.apple.bodies.isEmpty)
            try await tell(told, reminds: true)
            try await desk.work(for: 2)
            #expect(desk.apple.accepted.map(\.status) == [.unrecognizedToken])
            #expect(try await desk.shown(strange).user_id == nil)
            let (_, text) = try ExternalPurchaseFixture.token(at: desk.now)
            let contract = try await desk.open(text)
            try await tell(text, reminds: true)
            try await desk.work(for: 2)
            #expect(desk.apple.accepted.count == 1)
            _ = try await desk.gateway.orderClosing.cancel(
                contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            try await desk.work(for: 2)
            #expect(desk.apple.accepted.map(\.status) == [.unrecognizedToken, .noLineItem])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a duplicate is an admin's word about a token of a period`(_ engine: TestEngine) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            let (used, text) = try ExternalPurchaseFixture.token(type: "SERVICES", at: desk.now)
            let (spare, other) = try ExternalPurchaseFixture.token(type: "SERVICES", at: desk.now)
            let (plain, single) = try ExternalPurchaseFixture.token(at: desk.now)
            try await desk.buy(text)
            _ = try await (desk.keep(other), desk.keep(single))
            try await desk.work(for: 2)
            for id in [used, plain] {
                let token = try await desk.shown(id).id.rawValue
                await #expect(throws: GatewayError.self) {
                    try await desk.gateway.externalPurchases.reportDuplicate(token, reason: "x", context: .test)
                }
            }
            _ = try await desk.gateway.externalPurchases.reportDuplicate(
                try await desk.shown(spare).id.rawValue, reason: "on the other", context: .test)
            try await desk.work(for: 2)
            #expect(desk.apple.accepted.map(\.status) == [.lineItem, .duplicateToken])
            _ = try await desk.gateway.externalPurchases.retry(
                try await desk.shown(spare).id.rawValue, context: .test)
            for action in ["external_token.duplicate", "external_token.retried"] {
                #expect(try await desk.desk.count("audit WHERE action = ?", action) == 1)
            }
        }
    }

    @Test(arguments: [FakeExternalPurchaseAPI.Fault.lost, .notSent])
    func `what is bought on a token, or may be reported on it, makes it no duplicate`(
        _ fault: FakeExternalPurchaseAPI.Fault
    ) async throws {
        try await ExternalPurchaseFixture.with(.sqlite) { desk in
            desk.apple.script(fault)
            let (id, text) = try ExternalPurchaseFixture.token(type: "SERVICES", at: desk.now)
            try await desk.buy(text)
            for seconds: Int64 in [0, 30] {
                let token = try await desk.shown(id).id.rawValue
                await #expect(throws: GatewayError.self) {
                    try await desk.gateway.externalPurchases.reportDuplicate(token, reason: "x", context: .test)
                }
                try await desk.work(for: seconds)
            }
            #expect(desk.apple.accepted.map(\.status) == [.lineItem])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an erasure keeps the token and its reports without the user`(_ engine: TestEngine) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            let (id, text) = try ExternalPurchaseFixture.token(at: desk.now)
            try await desk.buy(text)
            try await desk.work(for: 2)
            _ = try await desk.gateway.users.erase(GatewayFixture.user("alice"), context: .test)
            let shown = try await desk.shown(id)
            #expect(shown.user_id == nil && shown.reports.count == 1 && shown.state == "reported")
            // The same person again is another user, to whom the token does not belong.
            await #expect(throws: GatewayError.self) { try await desk.open(text) }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `without a key nothing is sent, and doctor says so`(_ engine: TestEngine) async throws {
        try await ExternalPurchaseFixture.with(engine, hasKey: false) { desk in
            let (id, text) = try ExternalPurchaseFixture.token(at: desk.now)
            try await desk.buy(text)
            try await desk.work(for: 2)
            #expect(try await desk.shown(id).state == "due" && desk.apple.calls.isEmpty)
            let findings = try await desk.gateway.externalPurchases.findings()
            #expect(findings.count == 1 && findings.first?.words.contains("settings.api") == true)
            try await desk.desk.pass(seconds: Self.day + 60)
            #expect(try await desk.violations().map(\.subject) == [id])
        }
    }
}
