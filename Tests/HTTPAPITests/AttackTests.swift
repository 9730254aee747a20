import Domain
import Foundation
import Gateway
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Under attack")
struct AttackTests {
    private static func text(_ unit: String, _ count: Int) -> String { String(repeating: unit, count: count) }

    /// Metadata as JSON, and whether it is accepted.
    static let metadata: [(json: String, isTaken: Bool)] = [
        (#"{"\#(text("k", 64))":"v"}"#, true), (#"{"\#(text("k", 65))":"v"}"#, false),
        (#"{"\#(text("\u{952E}", 22))":"v"}"#, false), (#"{"k":"\#(text("v", 1_000))"}"#, true),
        (#"{"k":"\#(text("v", 1_001))"}"#, false), (#"{"k":"\#(text("\u{503C}", 334))"}"#, false),
        (#"{"k":"\#(text("e\u{301}", 400))"}"#, false), (#"{"":"v"}"#, false),
        ("{\((0..<19).map { #""k\#($0)":"\#(text("v", 900))""# }.joined(separator: ","))}", false),
        (#"{"a\u0000":"v"}"#, false), (#"{"k":"\\u0000"}"#, true),
    ]

    @Test(arguments: metadata)
    func `metadata is bounded in bytes`(_ json: String, _ isTaken: Bool) async throws {
        try await withCounter { counter in
            let reply = try await counter.post(
                "/v1/public/checkout", try await counter.token(), Counter.ask(#","metadata":\#(json)"#))
            #expect(reply.status == (isTaken ? 200 : 400), "\(reply)")
        }
    }

    @Test(arguments: [
        "/v1/admin/skus/a%00b", "/v1/admin/orders?a%00b=1", "/v1/admin/orders?provider=a%00b",
        "/v1/partner/users/a%00b/entitlements",
    ])
    func `U+0000 comes through no path and no query`(_ path: String) async throws {
        try await withCounter { counter in
            let reply = try await counter.get(path, counter.adminKey)
            #expect(reply.status == 400 && reply.error == "invalid_request", "\(reply)")
        }
    }

    @Test(arguments: [
        "/healthz", "/metrics", "/openapi.json", "/docs", "/v1/public/orders", "/nothing", "/v1/notify/x",
    ])
    func `every answer says that its type is what it says`(_ path: String) async throws {
        try await withCounter { counter in
            let reply = try await counter.get(path)
            #expect(reply.header("X-Content-Type-Options") == "nosniff")
            // Pages say it wherever their address begins with https; the rest leaves it to what ends TLS.
            #expect((reply.header("Strict-Transport-Security") != nil) == (path == "/docs"))
            #expect(counter.api.loadShedder().headers[.xContentTypeOptions] == "nosniff")
        }
    }

    @Test
    func `wrong keys are limited, and a right one is not`() async throws {
        try await withCounter { counter in
            for number in 0..<103 {
                let wrong = number.isMultiple(of: 2) ? "pdk_\(number)_x" : "\(number).b.c"
                let path = number.isMultiple(of: 2) ? "/v1/partner/orders" : "/v1/public/orders"
                let reply = try await counter.get(path, wrong)
                #expect(reply.status == (number < 100 ? 401 : 429), "\(number): \(reply)")
                if number >= 100 { #expect(reply.error == "rate_limited" && reply.header("Retry-After") == "1") }
            }
            #expect(try await counter.get("/v1/notify/guessed").status == 429)
            #expect(try await counter.get("/v1/partner/orders").status == 401)
            #expect(try await counter.get("/v1/partner/orders", counter.adminKey).status == 200)
            #expect(try await counter.get("/v1/public/orders", try await counter.token()).status == 200)
            // An expired token does not count as a guess.
            let old = try await counter.token(lifetime: -10)
            #expect(try await counter.get("/v1/public/orders", old).status == 401)
            counter.desk.clock.advance(seconds: 1)
            #expect(try await counter.get("/v1/partner/orders", "pdk_a_b").status == 401)
        }
    }

    @Test
    func `a restore is paid by its signatures`() async throws {
        var setup = CounterSetup()
        setup.limits.userPerSecond = 1
        setup.limits.userBurst = 10
        try await withCounter(setup) { counter in
            let token = try await counter.token()
            func restore(_ count: Int) async throws -> Reply {
                let list = (0..<count).map { #""\#($0).b.c""# }.joined(separator: ",")
                return try await counter.post("/v1/public/iap/apple/restore", token, #"{"transactions":[\#(list)]}"#)
            }
            #expect(try await restore(6).status == 200)
            let refused = try await restore(6)
            #expect(refused.status == 429 && refused.header("Retry-After") == "2", "\(refused)")
            #expect(try await counter.get("/v1/public/orders", try await counter.token("bob")).status == 200)
            // More tokens than a full bucket has cost a full bucket.
            counter.desk.clock.advance(seconds: 11)
            #expect(try await restore(11).status == 429)
            #expect(try await restore(0).status == 200)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a page ends where its bytes are too many, and the next one goes on`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            let words = (0..<16).map { #""k\#($0)":"\#(Self.text("v", 990))""# }.joined(separator: ",")
            var made: Set<String> = []
            for _ in 0..<80 {
                let order = try await counter.checkout(token, #","metadata":{\#(words)}"#).text("order_id")
                _ = try await counter.post("/v1/public/orders/\(order)/cancel", token)
                made.insert(order)
            }
            for (path, bearer) in [("/v1/public/orders", token), ("/v1/admin/orders", counter.adminKey)] {
                var (cursor, seen, pages) = ("", [String](), 0)
                repeat {
                    let reply = try await counter.get("\(path)?limit=200\(cursor)", bearer)
                    #expect(reply.text.utf8.count <= 1 << 20)
                    let page = try reply.data
                    seen += page["items"].elements.map { $0.text("id") }
                    cursor = page["next_cursor"] == .null ? "" : "&cursor=\(page.text("next_cursor"))"
                    pages += 1
                } while !cursor.isEmpty
                #expect(seen.count == 80 && Set(seen) == made && pages == 2)
            }
            let events = try await counter.key("events:read")
            var (after, seen, pages) = ("", [Int64](), 0)
            repeat {
                let reply = try await counter.get("/v1/partner/events?limit=200\(after)", events.key)
                #expect(reply.text.utf8.count <= 1 << 20)
                let page = try reply.data
                seen += page["items"].elements.map { $0.int("seq") }
                after = page["next_cursor"] == .null ? "" : "&after=\(page.int("next_cursor"))"
                pages += 1
            } while !after.isEmpty && pages < 20
            #expect(seen == seen.sorted() && Set(seen).count == seen.count)
        }
    }
}

@Suite("Shares of the memory")
struct ByteBudgetTests {
    private static func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    private static func budget() -> ByteBudget {
        ByteBudget(bytes: 100, strangers: 25, stranger: 10, providers: 50, provider: 25, caller: 20)
    }

    private func takes(_ bytes: Int, _ holder: ByteBudget.Holder, from budget: ByteBudget) -> Bool {
        (try? budget.take(bytes, for: holder)) != nil
    }

    @Test
    func `strangers fill their own share and nobody else's`() throws {
        let budget = Self.budget()
        let (one, two, three) = try (
            Self.address("192.0.2.1"), Self.address("192.0.2.2"), Self.address("2001:db8::1")
        )
        #expect(takes(10, .stranger(one), from: budget) && !takes(1, .stranger(one), from: budget))
        #expect(takes(10, .stranger(two), from: budget) && takes(5, .stranger(three), from: budget))
        #expect(!takes(1, .stranger(three), from: budget) && !takes(1, .stranger(nil), from: budget))
        #expect(takes(25, .provider(one), from: budget) && !takes(1, .provider(one), from: budget))
        #expect(takes(25, .provider(two), from: budget) && !takes(1, .provider(three), from: budget))
        #expect(
            takes(20, .user(GatewayFixture.user("alice")), from: budget)
                && !takes(1, .user(GatewayFixture.user("alice")), from: budget))
        #expect(
            takes(5, .user(GatewayFixture.user("bob")), from: budget)
                && !takes(1, .user(GatewayFixture.user("bob")), from: budget))
        budget.giveBack(10, for: .stranger(one))
        #expect(takes(4, .stranger(three), from: budget) && takes(6, .user(GatewayFixture.user("bob")), from: budget))
    }

    @Test
    func `addresses of one network are one`() throws {
        let (one, two, other) = try (
            Self.address("2001:db8::1"), Self.address("2001:db8::ffff:1"), Self.address("2001:db8:0:1::1")
        )
        #expect(one.source == two.source && one.source != other.source)
        #expect(try Self.address("192.0.2.1").source == Self.address("192.0.2.1"))
    }

    @Test
    func `strangers have a quarter of the places`() {
        let concurrency = ConcurrencyLimit(limit: 8)
        #expect(concurrency.enter(isStranger: true) && concurrency.enter(isStranger: true))
        #expect(!concurrency.enter(isStranger: true) && concurrency.enter())
        concurrency.leave(isStranger: true)
        #expect(concurrency.enter(isStranger: true))
        for _ in 0..<5 { #expect(concurrency.enter()) }
        #expect(!concurrency.enter())
        let off = ConcurrencyLimit(limit: 0)
        for _ in 0..<9 { #expect(off.enter(isStranger: true)) }
    }

    /// Collects the written pieces.
    private struct Collector: ResponseBodyWriter {
        let pieces: @Sendable (Int) -> Void

        mutating func write(_ buffer: ByteBuffer) async throws { pieces(buffer.readableBytes) }
        consuming func finish(_: HTTPFields?) async throws {}
    }

    @Test
    func `an answer is counted until it is sent or dropped, and sent in pieces`() async throws {
        let bytes = ByteBudget(bytes: 150_000)
        let answers = AnswerBudget(bytes: bytes)
        func answer(_ count: Int) throws -> Response {
            let body = ResponseBody(byteBuffer: ByteBuffer(repeating: 0x61, count: count))
            return try answers.counted(Response(status: .ok, body: body), for: .stranger(nil))
        }
        // Small answers are sent whatever else is being sent.
        try bytes.take(150_000, for: .key(try #require(ID("key_00000000000000000000000000"))))
        _ = try answer(16 << 10)
        #expect(throws: GatewayError.temporarilyUnavailable(retryAfter: 1)) { try answer((16 << 10) + 1) }
        bytes.giveBack(150_000, for: .key(try #require(ID("key_00000000000000000000000000"))))
        do {
            let dropped = try answer(100_000)
            #expect(dropped.body.contentLength == 100_000)
            #expect(throws: GatewayError.self) { try answer(100_000) }
        }
        let pieces = Mutex<[Int]>([])
        do {
            let sent = try answer(100_000)
            try await sent.body.write(Collector { piece in pieces.withLock { $0.append(piece) } })
        }
        let sizes = pieces.withLock { $0 }
        #expect(sizes.reduce(0, +) == 100_000 && sizes.max() == 32 << 10)
        _ = try answer(150_000)
    }
}
