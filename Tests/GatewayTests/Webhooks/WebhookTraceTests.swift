import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("The trace of a request in its webhooks")
struct WebhookTraceTests {
    private static let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test(arguments: TestEngine.allCases)
    func `each attempt is a new span of the caller's trace, and a call without one has none`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let trace = try #require(TraceContext(traceparent: Self.header))
            try await desk.subscribe(types: [.orderOpened])
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            let traced = try await RequestTrace.$current.withValue(RequestTrace(requestID: "req_1", trace: trace)) {
                try await desk.checkout().order.rawValue
            }
            try await desk.work()
            desk.endpoints.answer(GatewayFixture.hook, status: 204)
            try await desk.pass(seconds: 6)
            let plain = try await desk.checkout(user: "bob").order.rawValue
            try await desk.work()

            let received = desk.endpoints.received(GatewayFixture.hook)
            let handed = received.filter { $0.member("subject") == traced }.compactMap { $0.headers["traceparent"] }
            #expect(handed.count == 2 && Set(handed).count == 2, "\(handed)")
            #expect(handed.allSatisfy { TraceContext(traceparent: $0) == trace && $0 != Self.header })
            let others = received.filter { $0.member("subject") == plain }
            #expect(!others.isEmpty && others.allSatisfy { $0.headers["traceparent"] == nil })
        }
    }
}
