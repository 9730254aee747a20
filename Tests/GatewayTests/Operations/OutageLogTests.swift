import Domain
import Gateway
import Logging
import Store
import TestSupport
import Testing

@Suite("The log of an outage")
struct OutageLogTests {
    @Test(arguments: TestEngine.allCases)
    func `requests that fail without the database share a line for ten seconds`(_ engine: TestEngine) async throws {
        let capture = LogCapture()
        var setup = GatewayFixtureSetup()
        setup.logger = capture.logger()
        setup.checksInvariants = false
        try await withDesk(on: engine, setup) { desk in
            let order = try await desk.checkout().order.rawValue
            await desk.store.engine.close()
            for (wait, failures, lines) in [(0, 3, 1), (9, 2, 1), (1, 1, 2), (10, 1, 3), (-3_600, 1, 4)] {
                desk.clock.advance(seconds: Int64(wait))
                for _ in 0..<failures {
                    await #expect(throws: GatewayError.temporarilyUnavailable(retryAfter: 1)) {
                        try await desk.gateway.orders.find(order, user: GatewayFixture.user("alice"))
                    }
                }
                #expect(capture.lines(.warning).count == lines, "after \(wait) s")
            }
            let told = capture.lines(.warning)
            for (line, unlogged) in zip(told, [0, 4, 0, 0]) {
                #expect(line.contains("the database did not answer"))
                #expect(line.contains("\"failures_before\": \(unlogged)"), "\(line)")
            }
        }
    }
}
