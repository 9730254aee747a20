import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Webhooks and the keys of their partner")
struct WebhookKeyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The scopes of each key that the partner has beside the one that made the webhook.
        let others: [Set<Scope>]
        var partner = "acme"
        let seen: [EventType]
    }

    static let both: [EventType] = [.balanceOverdrawn, .orderPaid]
    static let cases = [
        Case(testDescription: "no other key", others: [], seen: []),
        Case(testDescription: "one that reads orders", others: [[.ordersRead]], seen: [.orderPaid]),
        Case(testDescription: "one that reads entitlements", others: [[.entitlementsRead]], seen: [.balanceOverdrawn]),
        Case(testDescription: "two that read both", others: [[.ordersRead], [.entitlementsRead]], seen: both),
        Case(testDescription: "an admin's", others: [[.admin]], seen: both),
        Case(testDescription: "one that only manages", others: [[.webhooksWrite, .checkoutWrite]], seen: []),
        Case(
            testDescription: "another partner's", others: [[.admin], [.ordersRead]], partner: "other", seen: []),
    ]

    @Test(arguments: TestEngine.allCases, cases)
    func `a type goes out as long as some good key of the partner may read it`(
        _ engine: TestEngine, _ item: Case
    ) async throws {
        try await withDesk(on: engine) { desk in
            let maker = try await desk.partnerKey()
            desk.clock.tick()
            _ = try await desk.gateway.webhooks.create(url: GatewayFixture.hook, types: [], by: maker, context: .test)
            for scopes in item.others { _ = try await desk.partnerKey(item.partner, scopes) }
            func events(_ subject: String) async throws -> [String] {
                let before = desk.endpoints.received(GatewayFixture.hook).count
                for type in Self.both { try await desk.append("\(subject)_\(type)", type) }
                try await desk.work()
                return desk.endpoints.received(GatewayFixture.hook).dropFirst(before).map { $0.member("type") }.sorted()
            }
            #expect(try await events("before") == Self.both.map(\.rawValue))
            try await desk.gateway.keys.revoke(maker.id.rawValue, context: .test)
            #expect(try await events("after") == item.seen.map(\.rawValue))
            // The webhook is its partner's: with a new key it goes on with what happens from then on.
            _ = try await desk.partnerKey()
            #expect(try await events("again") == Self.both.map(\.rawValue))
            #expect(try await desk.count("webhooks WHERE failing_since IS NOT NULL") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what still waited for another attempt is withheld, too`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let maker = try await desk.partnerKey()
            desk.clock.tick()
            let hook = try await desk.gateway.webhooks.create(
                url: GatewayFixture.hook, types: [], by: maker, context: .test)
            _ = try await desk.partnerKey("acme", [.ordersRead])
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            for type in Self.both { try await desk.append("x_\(type)", type) }
            try await desk.work()
            try await desk.gateway.keys.revoke(maker.id.rawValue, context: .test)
            desk.endpoints.answer(GatewayFixture.hook, status: 200)
            try await desk.pass(seconds: 6)
            try await desk.work()
            let ends = try await desk.deliveries(hook).map {
                "\($0.type) \($0.status) \($0.attempts) \($0.last_error ?? "")"
            }
            #expect(Set(ends) == ["order.paid succeeded 2 ", "balance.overdrawn failed 1 forbidden"])
            #expect(desk.endpoints.received(GatewayFixture.hook).count == 3)
        }
    }
}
