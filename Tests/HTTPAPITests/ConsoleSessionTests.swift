import Domain
import Foundation
import HTTPTypes
import Store
import TestSupport
import Testing

@testable import Gateway
@testable import HTTPAPI

@Suite("Signing in to the console")
struct ConsoleSessionTests {
    private static let path = ConsoleBrowser.path
    private static let header = ConsoleBrowser.header

    @Test(arguments: TestEngine.allCases)
    func `a key signs in, and its session is the key until it ends`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let made = try await counter.key("admin:read")
            let now = counter.desk.clock.now.rawValue
            let reply = try await counter.post(
                Self.path, nil, #"{"key":"\#(made.key)"}"#,
                headers: Self.header.merging(["Idempotency-Key": "once"]) { $1 })
            #expect(reply.status == 200 && reply.header("Cache-Control") == "no-store")
            let data = try reply.data
            #expect(data.names == ["key_id", "name", "scopes", "expires_at", "idle_seconds"])
            #expect(data.text("key_id") == made.id.rawValue && data.text("name") == "test")
            #expect(data["scopes"] == .array([.string("admin:read")]))
            #expect(data.int("expires_at") == now + 43_200 && data.int("idle_seconds") == 3_600)
            let line = try #require(reply.header("Set-Cookie"))
            let attributes = "; HttpOnly; SameSite=Strict; Path=/v1/admin; Max-Age=43200; Secure"
            let cookie = try #require(line.wholeMatch(of: /paydesk_console=([A-Za-z0-9_-]{43})(;.*)/))
            #expect(String(cookie.output.2) == attributes && !reply.text.contains(made.key))
            let browser = ConsoleBrowser(cookie: String(cookie.output.1))
            let again = try await counter.send(.get, Self.path, by: browser)
            #expect(try again.data == data && again.header("Set-Cookie") == nil)
            #expect(try await counter.send(.get, "/v1/admin/orders", by: browser).status == 200)
            let grant = #"{"sku":"vip_month","duration_days":1,"reason":"x"}"#
            let refused = try await counter.send(.post, "/v1/admin/users/alice/grants", by: browser, body: grant)
            #expect(refused.status == 403)
            // The cookie itself is stored nowhere.
            let digests = try await counter.desk.store.read { db in
                try db.rows("SELECT digest FROM console_sessions").map { try $0.blob("digest") }
            }
            #expect(digests.count == 1 && digests[0].count == 32 && digests[0] != Data(browser.cookie.utf8))

            let out = try await counter.send(.delete, Self.path, by: browser)
            #expect(out.status == 200)
            #expect(
                out.header("Set-Cookie")
                    == "paydesk_console=; HttpOnly; SameSite=Strict; Path=/v1/admin; Max-Age=0; Secure")
            let over = try await counter.send(.get, Self.path, by: browser)
            #expect(over.status == 401 && over.error == "unauthenticated")
            #expect(try await counter.send(.delete, Self.path, headers: Self.header).status == 200)
            #expect(try await counter.get(Self.path, counter.adminKey).status == 401)
            let audit = try await counter.get("/v1/admin/audit?subject=\(made.id)", counter.adminKey)
            let acts = try audit.data["items"].elements
            #expect(acts.map { $0.text("action") } == ["console.closed", "console.opened", "key.created"])
            #expect(acts.map { $0["via"] } == [.string("console"), .string("console"), .null])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a session ends by idleness, after twelve hours, and with its key`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            func status(_ browser: ConsoleBrowser) async throws -> Int {
                try await counter.send(.get, "/v1/admin/orders", by: browser).status
            }
            let clock = counter.desk.clock
            let idle = try await counter.console(counter.adminKey)
            let busy = try await counter.console(counter.adminKey)
            clock.advance(seconds: 3_540)
            #expect(try await status(busy) == 200)
            clock.advance(seconds: 60)
            #expect(try await status(idle) == 401)
            for _ in 0..<11 {
                clock.advance(seconds: 3_500)
                #expect(try await status(busy) == 200)
            }
            clock.advance(seconds: 43_200 - 3_600 - 11 * 3_500 - 1)
            #expect(try await status(busy) == 200)
            clock.advance(seconds: 1)
            #expect(try await status(busy) == 401)

            let key = try await counter.key("admin")
            let (one, two) = (try await counter.console(key.key), try await counter.console(key.key))
            #expect(try await counter.send(.delete, "/v1/admin/api-keys/\(key.id)", by: one).status == 200)
            #expect(try await status(one) == 401)
            #expect(try await status(two) == 401)

            let end = clock.now.adding(seconds: 90)
            let brief = try await counter.desk.gateway.keys.create(
                name: "brief", partner: nil, scopes: ["admin"], expiresAt: end, context: .test)
            let last = try await counter.console(brief.key)
            let shown = try await counter.send(.get, Self.path, by: last).data
            #expect(shown.int("expires_at") == end.rawValue)
            clock.advance(seconds: 90)
            #expect(try await status(last) == 401)
            // Retention drops what is over.
            clock.advance(seconds: 43_300)
            if engine == .sqlite {
                _ = try await counter.desk.gateway.retention.apply()
                #expect(try await counter.desk.count("console_sessions") == 0)
            }
        }
    }

    /// The body, headers beside `X-Paydesk-Console`, the status, the error and the field.
    static let refused: [(String, [String: String], Int, String, String?)] = [
        ("{}", [:], 400, "invalid_request", "key"), (#"{"key":5}"#, [:], 400, "invalid_request", "key"),
        (#"{"key":"pdk_x","once":"x"}"#, [:], 400, "invalid_request", "once"),
        (#"{"key":"pdk_x","name":"x"}"#, [:], 400, "invalid_request", "name"),
        (#"{"key":"pdk_x"}"#, [:], 401, "unauthenticated", nil), (#"{"once":"x"}"#, [:], 401, "unauthenticated", nil),
        (#"{"key":"pdk_x"}"#, ["Content-Type": "text/plain"], 415, "unsupported_media_type", nil),
        (#"{"key":"pdk_x"}"#, ["Content-Type": "application/vnd.x+json"], 415, "unsupported_media_type", nil),
        (#"{"key":"pdk_x"}"#, ["X-Paydesk-Console": "0"], 403, "forbidden", nil),
        (#"{"key":"pdk_x"}"#, ["Sec-Fetch-Site": "same-site"], 403, "forbidden", nil),
        (#"{"key":"pdk_x"}"#, ["Sec-Fetch-Site": "same-origin"], 401, "unauthenticated", nil),
    ]

    @Test
    func `what is no sign-in from the console is refused`() async throws {
        try await withCounter { counter in
            for (body, headers, status, error, field) in Self.refused {
                let reply = try await counter.post(
                    Self.path, nil, body, headers: Self.header.merging(headers) { $1 })
                #expect(reply.status == status && reply.error == error && reply.field == field, "\(body) \(headers)")
                #expect(reply.header("Set-Cookie") == nil)
            }
            let partner = try await counter.key("orders:read")
            let wrong = try await counter.post(
                Self.path, nil, #"{"key":"\#(partner.key)"}"#, headers: Self.header)
            #expect(wrong.status == 403)
            #expect(try await counter.send(.delete, Self.path).status == 403)
            #expect(try await counter.desk.count("console_sessions") == 0)
        }
    }

    @Test
    func `after ten wrong tries an address is refused for a while, whatever it sends`() async throws {
        try await withCounter { counter in
            func sign(_ body: String) async throws -> Reply {
                try await counter.post(Self.path, nil, body, headers: Self.header)
            }
            let right = #"{"key":"\#(counter.adminKey)"}"#
            for _ in 0..<12 { #expect(try await sign(right).status == 200) }
            for _ in 0..<10 { #expect(try await sign(#"{"key":"pdk_x"}"#).status == 401) }
            for body in [#"{"key":"pdk_x"}"#, #"{"once":"x"}"#, right] {
                let reply = try await sign(body)
                let wait = reply.header("Retry-After").flatMap { Int($0) }
                #expect(reply.status == 429 && reply.error == "rate_limited" && (1...60).contains(wait ?? 0))
            }
            #expect(try await counter.get("/v1/admin/orders", counter.adminKey).status == 200)
            counter.desk.clock.advance(seconds: 60)
            #expect(try await sign(right).status == 200)
        }
    }

    @Test
    func `the cookie counts only with the console's header, from its own origin, and for admins' calls`() async throws {
        try await withCounter { counter in
            let browser = try await counter.console(counter.adminKey)
            let bare = ["Cookie": browser.headers["Cookie"] ?? ""]
            let grant = #"{"sku":"vip_month","duration_days":1,"reason":"x"}"#
            for headers in [
                bare, bare.merging(["X-Paydesk-Console": "0"]) { $1 },
                browser.headers.merging(["Sec-Fetch-Site": "same-site"]) { $1 },
                browser.headers.merging(["Sec-Fetch-Site": "cross-site"]) { $1 },
                browser.headers.merging(["Sec-Fetch-Site": "none"]) { $1 },
            ] {
                let read = try await counter.get("/v1/admin/orders", headers: headers)
                #expect(read.status == 403 && read.error == "forbidden", "\(headers)")
                let write = try await counter.post("/v1/admin/users/alice/grants", nil, grant, headers: headers)
                #expect(write.status == 403 && write.error == "forbidden", "\(headers)")
            }
            #expect(try await counter.desk.count("grants") == 0)
            let own = browser.headers.merging(["Sec-Fetch-Site": "same-origin"]) { $1 }
            #expect(try await counter.get("/v1/admin/orders", headers: own).status == 200)
            for path in [
                "/v1/partner/orders", "/v1/partner/events", "/v1/public/orders", "/v1/public/session",
                "/v1/public/entitlements",
            ] {
                #expect(try await counter.get(path, headers: own).status == 401, "\(path)")
            }
            // The key counts where both are sent, and then the cookie's rules do not.
            let reader = try await counter.key("admin:read")
            let denied = try await counter.post("/v1/admin/users/alice/grants", reader.key, grant, headers: own)
            #expect(denied.status == 403)
            #expect(try await counter.get("/v1/admin/orders", "pdk_wrong", headers: own).status == 401)
            let foreign = bare.merging(["Sec-Fetch-Site": "cross-site"]) { $1 }
            #expect(
                try await counter.post("/v1/admin/users/alice/grants", counter.adminKey, grant, headers: foreign).status
                    == 200)
            let wrong = ConsoleBrowser(cookie: String(repeating: "A", count: 43))
            #expect(try await counter.send(.get, "/v1/admin/orders", by: wrong).status == 401)
            let both = ["Cookie": "paydesk_console=wrong; paydesk_console=\(browser.cookie)", "X-Paydesk-Console": "1"]
            #expect(try await counter.get("/v1/admin/orders", headers: both).status == 200)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the caller is the key, and the audit says that it was on the console`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let key = try await counter.key("admin")
            let browser = try await counter.console(key.key)
            let grant = #"{"sku":"vip_month","duration_days":2,"reason":"sorry"}"#
            let named = ["Idempotency-Key": "grant-1"]
            let first = try await counter.send(
                .post, "/v1/admin/users/alice/grants", by: browser, body: grant, headers: named)
            let again = try await counter.post("/v1/admin/users/alice/grants", key.key, grant, headers: named)
            #expect(try first.data == again.data && again.header("Idempotency-Replayed") == "true")
            counter.desk.clock.tick()
            _ = try await counter.post("/v1/admin/users/alice/grants", key.key, grant)
            let audit = try await counter.get("/v1/admin/audit?user_id=alice", counter.adminKey)
            let acts = try audit.data["items"].elements.filter { $0.text("action") == "grant.created" }
            #expect(acts.map { $0["via"] } == [.null, .string("console")])
            #expect(Set(acts.map { $0.text("actor") }) == ["partner:test/\(key.id)"])
            // The mark is part of what the chain covers.
            await #expect(throws: StoreError.self) {
                try await counter.desk.store.write { tx in
                    try tx.execute("UPDATE audit SET seal = 1, via = NULL WHERE via IS NOT NULL")
                }
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a link signs one browser in, within ten minutes, as the oldest admin key`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let consoles = counter.desk.gateway.consoleSessions
            let oldest = try await counter.desk.gateway.keys.authenticate(key: counter.adminKey).id
            counter.desk.clock.tick()
            _ = try await counter.key("admin")
            let earlier = consoles.makeLink()
            let code = consoles.makeLink()
            #expect(code.count == 43 && code != earlier)
            await #expect(throws: GatewayError.invalidCredential(.noSignIn)) {
                _ = try await consoles.signIn(once: earlier, requestID: "req_test")
            }
            let opened = await withTaskGroup(of: OpenedConsole?.self) { group in
                for _ in 0..<4 { group.addTask { try? await consoles.signIn(once: code, requestID: "req_test") } }
                return await group.reduce(into: [OpenedConsole]()) { found, one in if let one { found.append(one) } }
            }
            #expect(opened.count == 1)
            let browser = ConsoleBrowser(cookie: try #require(opened.first).cookie)
            let shown = try await counter.send(.get, Self.path, by: browser).data
            #expect(shown.text("key_id") == oldest.rawValue)
            let late = consoles.makeLink()
            counter.desk.clock.advance(seconds: 600)
            await #expect(throws: GatewayError.invalidCredential(.noSignIn)) {
                _ = try await consoles.signIn(once: late, requestID: "req_test")
            }
            // The test's client has no address, so it is not of this machine.
            let distant = try await counter.post(
                Self.path, nil, #"{"once":"\#(consoles.makeLink())"}"#, headers: Self.header)
            #expect(distant.status == 401)
        }
    }
}
