import Domain
import Gateway
import HTTPTypes
import Hummingbird
import NIOCore
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("More than a node can do")
struct OverloadTests {
    private static func setup(concurrent: Int) -> CounterSetup {
        var setup = CounterSetup()
        setup.limits.concurrent = concurrent
        return setup
    }

    @Test(arguments: TestEngine.allCases)
    func `beyond the bound a request is refused at once, and served when a place is free`(
        _ engine: TestEngine
    ) async throws {
        try await withCounter(on: engine, Self.setup(concurrent: 3)) { counter in
            let gate = Gate()
            counter.desk.line.hold(.open, at: "box-url") { await gate.pass() }
            let token = try await counter.token()
            try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<3 {
                    group.addTask { try await counter.post("/v1/public/checkout", token, Counter.ask()) }
                }
                await gate.arrivals(3)
                for (method, path) in [(HTTPRequest.Method.get, "/v1/public/orders"), (.post, "/v1/public/checkout")] {
                    let refused = try await counter.send(method, path, token, body: Counter.ask())
                    #expect(refused.status == 503 && refused.error == "temporarily_unavailable")
                    #expect(refused.header("Retry-After") == "1")
                }
                // The request is refused before any work for it: not even its token is checked.
                #expect(try await counter.get("/v1/public/orders", "no token").status == 503)
                for path in ["/healthz", "/metrics"] { #expect(try await counter.get(path).status == 200) }
                gate.open()
                for try await reply in group { #expect(reply.status == 200, "\(reply)") }
            }
            #expect(try await counter.get("/v1/public/orders", token).data["items"].elements.count == 3)
        }
    }

    @Test func `a congested store refuses everything, whatever the number`() {
        let concurrency = ConcurrencyLimit(limit: 5) { true }
        #expect(concurrency.isFull)
        #expect(!ConcurrencyLimit(limit: 5).isFull)
        #expect(!ConcurrencyLimit(limit: 0) { true }.isFull)
        // A request that arrives anyway is served.
        #expect(concurrency.enter())
    }

    @Test func `all bodies together are bounded, and each is given back`() async throws {
        let reader = BodyReader(budget: ByteBudget(bytes: 100))
        func body(_ count: Int) -> RequestBody { RequestBody(buffer: ByteBuffer(repeating: 0x61, count: count)) }
        func refusal(_ count: Int, upTo limit: Int = 1_000) async -> String? {
            do throws(GatewayError) {
                _ = try await reader.read(body(count), upTo: limit, for: .stranger(nil))
                return nil
            } catch {
                return ErrorReply(error).id
            }
        }
        let first = try await reader.read(body(60), upTo: 1_000, for: .stranger(nil))
        #expect(await refusal(60) == "temporarily_unavailable")
        #expect(await refusal(30, upTo: 20) == "payload_too_large")
        #expect(await refusal(40) == nil)
        #expect(await refusal(1) == "temporarily_unavailable")
        reader.budget.giveBack(first.count, for: .stranger(nil))
        #expect(await refusal(60) == nil)
    }
}
