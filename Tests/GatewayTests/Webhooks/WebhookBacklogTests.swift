import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("The backlog of a webhook that is switched off")
struct WebhookBacklogTests {
    /// More than two transactions end.
    private static let size = 1_200

    private static func withBacklog(
        _ engine: TestEngine, _ body: (GatewayFixture, WebhookView) async throws -> Void
    ) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            try await desk.append(many: (0..<size).map { "ord_\($0 % 400)" })
            try await desk.dispatch()
            #expect(try await desk.count("deliveries WHERE state = 'pending'") == Int64(size))
            try await body(desk, hook)
            #expect(try await desk.count("jobs WHERE subject <> ''") == 0)
        }
    }

    private static func expectSound(_ desk: GatewayFixture) async throws {
        let violations = try await InvariantCheck(store: desk.store).run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test(arguments: TestEngine.allCases)
    func `switched off it gets nothing at once, and its deliveries end piece by piece`(
        _ engine: TestEngine
    ) async throws {
        try await Self.withBacklog(engine) { desk, hook in
            try await desk.change(hook, WebhookChange(status: .disabled))
            #expect(try await desk.count("deliveries WHERE state = 'pending'") == 700)
            try await Self.expectSound(desk)
            // To its partner all of it has ended.
            #expect(try await desk.deliveries(hook).allSatisfy { $0.status == "failed" && $0.last_error == "disabled" })
            try await desk.perform(.deliverWebhook)
            try await desk.perform(.retryDeliveries)
            #expect(desk.endpoints.received(GatewayFixture.hook).isEmpty)
            // What it missed must not go out when it is switched on again.
            await #expect(throws: GatewayError.self) { try await desk.change(hook, WebhookChange(status: .enabled)) }
            #expect(try await desk.status(hook) == "partner")
            try await desk.work()
            #expect(try await desk.count("deliveries WHERE state = 'failed' AND last_error = 'disabled'") == 1_200)
            try await desk.change(hook, WebhookChange(status: .enabled))
            try await desk.append("ord_new")
            try await desk.work()
            #expect(desk.endpoints.received(GatewayFixture.hook).map { $0.member("subject") } == ["ord_new"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `deleted it is gone at once, and its rows go piece by piece`(_ engine: TestEngine) async throws {
        try await Self.withBacklog(engine) { desk, hook in
            let key = try await desk.partnerKey()
            try await desk.gateway.webhooks.delete(hook.id.rawValue, by: key, context: .test)
            #expect(try await desk.count("deliveries") == 700)
            #expect(try await desk.count("webhooks WHERE url = '' AND length(secret) = 0 AND partner = ''") == 1)
            try await Self.expectSound(desk)
            await expectNotFound { try await desk.status(hook) }
            await expectNotFound { try await desk.deliveries(hook) }
            await expectNotFound {
                try await desk.change(hook, WebhookChange(status: .enabled))
            }
            await expectNotFound {
                try await desk.gateway.webhooks.delete(hook.id.rawValue, by: key, context: .test)
            }
            #expect(try await desk.gateway.webhooks.list(of: "acme", cursor: nil, limit: 9).items.isEmpty)
            try await desk.append("ord_new")
            try await desk.work()
            #expect(desk.endpoints.received(GatewayFixture.hook).isEmpty)
            #expect(try await desk.count("deliveries") == 0)
            #expect(try await desk.count("webhooks") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a worker that dies while it ends them is replaced`(_ engine: TestEngine) async throws {
        try await Self.withBacklog(engine) { desk, hook in
            try await desk.change(hook, WebhookChange(status: .disabled))
            _ = try #require(try await desk.gateway.jobQueue.claim([.endDeliveries], limit: 1).first)
            try await desk.crash()
            try await desk.work()
            #expect(try await desk.count("deliveries WHERE state = 'pending'") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an endpoint that is gone ends its backlog the same way`(_ engine: TestEngine) async throws {
        try await Self.withBacklog(engine) { desk, hook in
            desk.endpoints.answer(GatewayFixture.hook, status: 410)
            try await desk.perform(.deliverWebhook)
            #expect(try await desk.status(hook) == "gone")
            #expect(desk.endpoints.received(GatewayFixture.hook).count <= 16)
            #expect(try await desk.deliveries(hook).allSatisfy { $0.status == "failed" })
            try await desk.work()
            #expect(try await desk.count("deliveries WHERE state = 'failed'") == 1_200)
        }
    }
}
