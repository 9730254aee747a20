import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Events that are made to happen")
struct TriggerTests {
    private static func make(
        _ event: Trigger, _ node: Gateway, sku: String? = nil, advances: Bool = false, user: String = "tess"
    ) async throws -> TriggeredEvent {
        try await node.triggers.make(
            TriggerRequest(event: event, user: user, sku: sku, advances: advances), context: .test)
    }

    /// A node whose pauses number the events, as the dispatcher of a server does meanwhile.
    private static func node(_ desk: GatewayFixture) -> Gateway {
        let base = desk.gateway
        return desk.node { [clock = desk.clock, store = desk.store] duration in
            // While the clock is moved, pauses are limits and leases, which must not end before the move does.
            let state = try? await store.read { db in try db.clock.find() }
            guard state?.standsAt == nil else { return await Pauses.forever(duration) }
            clock.advance(seconds: 1)
            try? await base.work()
            _ = try? await base.events.dispatch()
        }
    }

    /// The event that the outcome names.
    private static func event(_ happened: TriggeredEvent, _ desk: GatewayFixture) async throws -> NumberedEvent {
        let seq = try #require(happened.seq, "\(happened)")
        let page = try await desk.store.read { db in try db.events.list(after: seq - 1, subject: nil, limit: 1) }
        return try #require(page.events.first)
    }

    private static var development: GatewayFixtureSetup {
        var setup = GatewayFixtureSetup()
        setup.isDevelopment = true
        return setup
    }

    @Test(
        arguments: TestEngine.allCases,
        [
            Trigger.orderOpened, .orderPaid, .orderClosed, .orderAnomaly, .refundSucceeded, .refundFailed,
            .disputeOpened, .disputeClosed, .entitlementsChanged,
        ])
    func `an event of an order happens and is named by its number`(
        _ engine: TestEngine, _ trigger: Trigger
    ) async throws {
        try await withDesk(on: engine, Self.development) { desk in
            let happened = try await Self.make(trigger, Self.node(desk))
            let event = try await Self.event(happened, desk)
            #expect(event.type == trigger.rawValue && happened.event == trigger.rawValue)
            #expect(happened.user_id == "tess" && happened.payment_id != nil && happened.subscription_id == nil)
            let order = try #require(happened.order_id)
            if trigger != .entitlementsChanged { #expect(event.subject == order.rawValue) }
            #expect(try await desk.gateway.orders.find(order.rawValue).userName == "tess")
        }
    }

    private static let subscriptions: [(trigger: Trigger, advances: Bool)] = [
        (.subscriptionChanged, false), (.subscriptionChanged, true), (.subscriptionPaymentFailed, true),
        (.subscriptionRenewalUpcoming, true),
    ]

    @Test(arguments: TestEngine.allCases, subscriptions)
    func `an event of a subscription happens, where needed with the clock`(
        _ engine: TestEngine, _ asked: (trigger: Trigger, advances: Bool)
    ) async throws {
        try await withClub(on: engine) { club in
            let node = Self.node(club.desk)
            let happened = try await Self.make(asked.trigger, node, sku: "club", advances: asked.advances)
            let event = try await Self.event(happened, club.desk)
            #expect(event.type == asked.trigger.rawValue)
            #expect(event.subject == happened.subscription_id?.rawValue && happened.order_id != nil)
        }
    }

    @Test
    func `what cannot be made to happen is refused in words, and nothing happens`() async throws {
        try await withDesk(on: .sqlite, Self.development) { (desk) async throws in
            let node = Self.node(desk)
            let refused: [(Trigger, String)] = [
                (.subscriptionRenewalUpcoming, "--advance"), (.purchaseAttached, "development.appstore"),
                (.subscriptionChanged, "managed"),
            ]
            for (trigger, word) in refused {
                let refusal = await #expect(throws: TriggerRefusal.self) { try await Self.make(trigger, node) }
                #expect(refusal?.description.contains(word) == true, "\(trigger): \(String(describing: refusal))")
            }
            await #expect(throws: GatewayError.skuNotFound("no_such_sku")) {
                try await Self.make(.orderPaid, node, sku: "no_such_sku")
            }
            #expect(try await desk.count("orders") == 0)
        }
        try await withDesk(on: .sqlite) { (desk) async throws in
            await #expect(throws: TriggerRefusal.self) { try await Self.make(.orderOpened, desk.gateway) }
        }
    }

    @Test
    func `every event is one that webhooks know`() {
        for trigger in Trigger.allCases { #expect(EventType(rawValue: trigger.rawValue) != nil, "\(trigger)") }
    }
}
