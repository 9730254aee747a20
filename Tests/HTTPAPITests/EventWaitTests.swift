import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Waiting for events")
struct EventWaitTests {
    @Test(arguments: TestEngine.allCases)
    func `a call that waits is answered by the next event`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let key = try await counter.key("events:read", "orders:read").key
            async let answer = counter.get("/v1/partner/events?after=0&wait=25", key)
            _ = try await counter.desk.checkout()
            try await counter.desk.work()
            let items = try await answer.data["items"].elements
            #expect(items.map { $0.text("type") } == ["order.opened"])
        }
    }

    @Test
    func `what is there is answered at once, and nothing without a wait`() async throws {
        try await withCounter { counter in
            let key = try await counter.key("events:read", "orders:read").key
            #expect(try await counter.get("/v1/partner/events?after=0&wait=0", key).data["items"].elements.isEmpty)
            _ = try await counter.desk.checkout()
            try await counter.desk.work()
            let found = try await counter.get("/v1/partner/events?after=0&wait=25", key)
            #expect(try found.data["items"].elements.count == 1)
        }
    }

    @Test(arguments: ["26", "-1", "x", "1.5"])
    func `a wait that is none is refused`(_ wait: String) async throws {
        try await withCounter { counter in
            let key = try await counter.key("events:read").key
            let reply = try await counter.get("/v1/partner/events?wait=\(wait)", key)
            #expect(reply.status == 400 && reply.error == "invalid_request" && reply.field == "wait", "\(reply)")
        }
    }
}
