import Domain
import Foundation
import TestSupport
import Testing

@testable import Gateway

@Suite("Waiting for events, at the desk")
struct EventWaitTests {
    private static func key(_ desk: GatewayFixture) async throws -> AuthenticatedKey {
        let issued = try await desk.gateway.keys.create(
            name: "reader", partner: nil, scopes: ["events:read", "orders:read"], context: .test)
        return try await desk.gateway.keys.authenticate(key: issued.key)
    }

    @Test
    func `too many readers of one key are refused, and the end frees the others`() async throws {
        try await withDesk(on: .sqlite) { desk in
            let key = try await Self.key(desk)
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0...EventWaits.perKey {
                    group.addTask {
                        do throws(GatewayError) {
                            _ = try await desk.gateway.events.list(after: 0, key: key, limit: 1, waiting: 25)
                            return true
                        } catch {
                            return error != .rateLimited(retryAfter: 5)
                        }
                    }
                }
                #expect(await group.next() == false)
                desk.gateway.events.waits.close()
                for await isAnswered in group { #expect(isAnswered) }
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a wait ends with its time`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let key = try await Self.key(desk)
            let node = desk.node { [clock = desk.clock] _ in clock.advance(seconds: 1) }
            let begin = desk.clock.now
            let feed = try await node.events.list(after: 0, key: key, limit: 1, waiting: 3)
            #expect(feed.items.isEmpty && feed.next == nil)
            #expect(desk.clock.now >= begin.adding(seconds: 3))
        }
    }
}
