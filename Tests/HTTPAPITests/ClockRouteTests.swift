import Domain
import Gateway
import HTTPTypes
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The clock over HTTP")
struct ClockRouteTests {
    private static func withClock(
        on engine: TestEngine = .sqlite, _ body: @escaping @Sendable (Counter) async throws -> Void
    ) async throws {
        var setup = CounterSetup()
        setup.desk.isDevelopment = true
        try await withCounter(on: engine, setup, body)
    }

    @Test(arguments: TestEngine.allCases)
    func `the clock is read and moved by seconds and to a time`(_ engine: TestEngine) async throws {
        try await Self.withClock(on: engine) { counter in
            let now = counter.desk.clock.now.rawValue
            let first = try await counter.get("/v1/admin/clock", counter.adminKey).data
            #expect(first.int("now") == now && first.int("offset_seconds") == 0 && first.int("target") == now)
            #expect(first.int("jobs_run") == 0 && first.int("pending") == 0)
            let moved = try await counter.post("/v1/admin/clock", counter.adminKey, #"{"advance_seconds":3600}"#).data
            #expect(moved.int("offset_seconds") == 3_600 && moved.int("target") == now + 3_600)
            #expect(moved.int("now") == now + 3_600 && moved.int("pending") == 0)
            let later = now + 30 * 86_400
            let again = try await counter.post("/v1/admin/clock", counter.adminKey, #"{"to":\#(later)}"#).data
            #expect(again.int("now") == later && again.int("offset_seconds") == 30 * 86_400)
        }
    }

    private static let refused: [(body: String, fields: Set<String>)] = [
        ("{}", ["advance_seconds", "to"]), (#"{"advance_seconds":0}"#, ["advance_seconds"]),
        (#"{"advance_seconds":-5}"#, ["advance_seconds"]), (#"{"advance_seconds":157680001}"#, ["advance_seconds"]),
        (#"{"advance_seconds":"1"}"#, ["advance_seconds"]), (#"{"advance_seconds":1.5}"#, ["advance_seconds"]),
        (#"{"to":1}"#, ["to"]), (#"{"to":"tomorrow"}"#, ["to"]), (#"{"to":4000000000}"#, ["to"]),
        (#"{"to":9223372036854775807}"#, ["to"]),
        (#"{"advance_seconds":9223372036854775807}"#, ["advance_seconds"]),
        (#"{"advance_seconds":1,"to":2000000000}"#, ["advance_seconds", "to"]),
        (#"{"advance_seconds":null,"to":null}"#, ["advance_seconds", "to"]), (#"{"by":1}"#, ["by"]),
    ]

    @Test func `a bad move is refused by its field and changes nothing`() async throws {
        try await Self.withClock { counter in
            for (body, fields) in Self.refused {
                let reply = try await counter.post("/v1/admin/clock", counter.adminKey, body)
                #expect(reply.status == 400 && reply.error == "invalid_request", "\(body): \(reply)")
                #expect(fields.contains(reply.field ?? ""), "\(body): \(reply)")
            }
            #expect(try await counter.get("/v1/admin/clock", counter.adminKey).data.int("offset_seconds") == 0)
        }
    }

    @Test func `the offset is never above five years`() async throws {
        try await Self.withClock { counter in
            let all = try await counter.post("/v1/admin/clock", counter.adminKey, #"{"advance_seconds":157680000}"#)
            #expect(try all.data.int("offset_seconds") == 157_680_000)
            let now = try all.data.int("now")
            for (body, field) in [(#"{"advance_seconds":1}"#, "advance_seconds"), (#"{"to":\#(now + 60)}"#, "to")] {
                let reply = try await counter.post("/v1/admin/clock", counter.adminKey, body)
                #expect(reply.status == 400 && reply.field == field)
            }
            #expect(try await counter.get("/readyz").status == 200)
        }
    }

    @Test func `readers may read the clock, and only admins move it`() async throws {
        try await Self.withClock { counter in
            let reader = try await counter.key("admin:read").key
            let body = #"{"advance_seconds":60}"#
            #expect(try await counter.get("/v1/admin/clock", reader).status == 200)
            #expect(try await counter.post("/v1/admin/clock", reader, body).status == 403)
            #expect(try await counter.post("/v1/admin/clock", try await counter.token(), body).status == 401)
            #expect(try await counter.get("/v1/admin/clock", counter.adminKey).data.int("offset_seconds") == 0)
        }
    }

    @Test func `production mode has no clock to move`() async throws {
        try await withCounter { counter in
            #expect(try await counter.get("/v1/admin/clock", counter.adminKey).status == 404)
            let reply = try await counter.post("/v1/admin/clock", counter.adminKey, #"{"advance_seconds":60}"#)
            #expect(reply.status == 404 && reply.error == "not_found")
            #expect(counter.desk.gateway.time.now == counter.desk.clock.now)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a repeated move moves once, also after a year`(_ engine: TestEngine) async throws {
        try await Self.withClock(on: engine) { counter in
            let (body, key) = (#"{"advance_seconds":31536000}"#, ["Idempotency-Key": "a-year"])
            let first = try await counter.post("/v1/admin/clock", counter.adminKey, body, headers: key)
            let again = try await counter.post("/v1/admin/clock", counter.adminKey, body, headers: key)
            let (told, repeated) = (try first.data, try again.data)
            #expect(first.status == 200 && again.status == 200 && told == repeated)
            #expect(again.header("Idempotency-Replayed") == "true")
            #expect(try await counter.get("/v1/admin/clock", counter.adminKey).data.int("offset_seconds") == 31_536_000)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another move is refused while one runs, and the text is about the clock`(_ engine: TestEngine) async throws {
        try await Self.withClock(on: engine) { counter in
            let now = counter.desk.clock.now
            _ = try await counter.desk.store.write { tx in
                try tx.clock.begin(lease: 10, at: ClockReading(real: now, business: now))
            }
            let reply = try await counter.post("/v1/admin/clock", counter.adminKey, #"{"advance_seconds":60}"#)
            #expect(reply.status == 409 && reply.error == "request_in_progress")
            #expect(reply.text.contains("clock is being moved") && !reply.text.contains("Idempotency"))
        }
    }
}
