import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The live stream")
struct LiveStreamTests {
    private static let path = "/v1/public/stream"

    @Test(arguments: TestEngine.allCases)
    func `it begins with the present and tells each change`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            let live = counter.desk.gateway.live
            let stream = try await OpenStream.open(
                counter, token, headers: ["Last-Event-ID": "999", "Origin": "https://app.example"])
            #expect(stream.status == 200 && stream.headers[.contentType] == "text/event-stream; charset=utf-8")
            #expect(stream.headers[.cacheControl] == "no-store, no-transform")
            #expect(stream.headers[.xAccelBuffering] == "no" && stream.headers[.vary] == "Origin")
            #expect(await stream.next() == .retry)
            // Nothing is known of this user yet.
            #expect(await stream.next() == .entitlements(0, next: nil))
            let made = try await counter.grant()
            await live.pass()
            let end = made.int("expires_at")
            #expect(await stream.next() == .entitlements(1, next: end))
            // After several changes the newest state is told, and another user's are not.
            _ = try await (counter.grant(), counter.grant(), counter.grant("bob"))
            await live.pass()
            #expect(await stream.next() == .entitlements(3, next: end))
            _ = try await counter.send(.delete, "/v1/admin/grants/\(made.text("id"))", counter.adminKey)
            await live.pass()
            #expect(await stream.next()?.id == "4")
            live.close()
            #expect(await stream.rest() == [.bye("shutdown")])
            let late = try await counter.get(Self.path, token)
            #expect(late.status == 503 && late.error == "temporarily_unavailable")
            #expect(live.count == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a boundary of time is a change`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let live = counter.desk.gateway.live
            let end = try await counter.grant().int("expires_at")
            let stream = try await counter.stream(
                try await counter.token(lifetime: 200_000), entitlements: .entitlements(1, next: end))
            try await counter.desk.pass(seconds: 86_399)
            await live.pass()
            try await counter.desk.pass(seconds: 1)
            // The first pass announces the boundary, which the second one tells.
            await live.pass()
            await live.pass()
            #expect(await stream.next() == .comment)
            #expect(await stream.next() == .entitlements(2, next: nil))
            live.close()
            #expect(await stream.rest() == [.bye("shutdown")])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `orders are told to those who may see them`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let live = counter.desk.gateway.live
            let token = try await counter.token()
            let buying = try await counter.session(token, "vip_month")
            let portal = try await counter.session(token, purpose: "portal")
            let user = try await counter.stream(token, entitlements: .entitlements(0, next: nil))
            let looking = try await counter.stream(portal.text("token"), entitlements: .entitlements(0, next: nil))
            let paying = try await counter.stream(buying.text("token"))
            let other = try await counter.checkout(token, #","provider":"box-qr""#).text("order_id")
            await live.pass()
            let contract = try await counter.buy(
                buying, #"{"sku":"vip_month","platform":"web","currency":"CNY","provider":"box-url"}"#)
            let mine = contract.text("order_id")
            await live.pass()
            #expect(try await counter.notify("payment.failed", contract).status == 200)
            try await counter.desk.work()
            await live.pass()
            let retried = try await counter.post(
                "/v1/public/orders/\(mine)/checkout", token, #"{"platform":"web","provider":"box-url"}"#
            ).data
            await live.pass()
            #expect(try await counter.notify("payment.succeeded", retried).status == 200)
            try await counter.desk.work()
            await live.pass()
            live.close()
            let told: [OpenStream.Event] = [
                .order(mine, "open", "pay"), .order(mine, "open", "retry"), .order(mine, "open", "pay"),
                .order(mine, "paid", "none"), .bye("shutdown"),
            ]
            #expect(await paying.rest() == told)
            for stream in [user, looking] {
                let events = await stream.rest()
                #expect(events.filter { $0.name != "entitlements" } == [.order(other, "open", "pay")] + told)
                #expect(events.last { $0.name == "entitlements" }?.id == "1")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `it says why it ends`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let live = counter.desk.gateway.live
            let (long, short) = (
                try await counter.token(lifetime: 100_000), try await counter.token("bob", lifetime: 5)
            )
            let gone = try await counter.token("carol")
            _ = try await counter.grant("carol")
            let ended = try await counter.session(long, purpose: "portal")
            let brief = try await counter.session(long, "vip_month", more: #","expires_in":60"#)
            let extended = try await counter.session(long, "vip_month", more: #","expires_in":60"#)
            let streams = (
                token: try await counter.stream(short), ended: try await counter.stream(ended.text("token")),
                brief: try await counter.stream(brief.text("token")),
                extended: try await counter.stream(extended.text("token")), erased: try await counter.stream(gone)
            )
            let path = "/v1/public/sessions/\(ended.text("id"))"
            #expect(try await counter.send(.delete, path, long).status == 200)
            let erased = try await counter.post(
                "/v1/admin/users/carol/erase", counter.adminKey, #"{"reason":"as asked"}"#)
            #expect(erased.status == 200)
            // An order lets its session read for another day.
            _ = try await counter.buy(extended, #"{"provider":"box-url"}"#)
            try await counter.desk.pass(seconds: 5)
            await live.pass()
            #expect(await streams.ended.rest().last == .bye("ended"))
            #expect(await streams.erased.rest().last == .bye("erased"))
            #expect(await streams.token.rest().last == .bye("expired"))
            try await counter.desk.pass(seconds: 55)
            await live.pass()
            #expect(await streams.brief.rest().last == .bye("expired"))
            live.close()
            #expect(await streams.extended.rest().last == .bye("shutdown"))
        }
    }

    @Test func `a comment comes every fifteen seconds`() async throws {
        try await withCounter { counter in
            let live = counter.desk.gateway.live
            let stream = try await counter.stream(
                try await counter.token(), entitlements: .entitlements(0, next: nil))
            for seconds in [14, 1, 14, 1] {
                try await counter.desk.pass(seconds: Int64(seconds))
                await live.pass()
            }
            live.close()
            let events = await stream.rest()
            // The reader may have been late for the first.
            #expect([1, 2].contains(events.count { $0 == .comment }) && events.last == .bye("shutdown"))
        }
    }

    @Test func `a user has five, a node its bound, and a HEAD opens none`() async throws {
        var setup = CounterSetup()
        setup.desk.streams = 6
        try await withCounter(on: .sqlite, setup) { counter in
            let live = counter.desk.gateway.live
            let token = try await counter.token()
            var streams: [OpenStream] = []
            for _ in 0..<5 { streams.append(try await counter.stream(token)) }
            let head = try await counter.send(.head, Self.path, token)
            #expect(head.status == 200 && head.text.isEmpty && live.count == 5)
            #expect(head.header("Content-Type") == "text/event-stream; charset=utf-8")
            let portal = try await counter.session(token, purpose: "portal").text("token")
            for bearer in [token, portal] {
                let sixth = try await counter.get(Self.path, bearer)
                #expect(sixth.status == 429 && sixth.error == "rate_limited")
                #expect(sixth.header("Retry-After") == "5")
            }
            streams.append(try await counter.stream(try await counter.token("bob")))
            #expect(try await counter.get(Self.path, try await counter.token("carol")).status == 429)
            live.close()
            for stream in streams { #expect(await stream.rest().last == .bye("shutdown")) }
        }
    }

    @Test func `switched off, nothing is there`() async throws {
        var setup = CounterSetup()
        setup.desk.streams = 0
        try await withCounter(on: .sqlite, setup) { counter in
            let reply = try await counter.get(Self.path, try await counter.token())
            #expect(reply.status == 404 && reply.error == "not_found")
            #expect(try await counter.get("/openapi.json").json["paths"].names.contains(Self.path))
        }
    }

    @Test func `pages of the app's origin may send the last id`() async throws {
        try await withCounter { counter in
            let reply = try await counter.send(
                .options, Self.path,
                headers: ["Origin": "https://app.example", "Access-Control-Request-Method": "GET"])
            #expect(reply.header("Access-Control-Allow-Headers")?.contains("last-event-id") == true)
        }
    }
}
