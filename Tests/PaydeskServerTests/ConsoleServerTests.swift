import Foundation
import TestSupport
import Testing

@Suite("The console's calls, served")
struct ConsoleServerTests {
    private static let session = "/v1/admin/console/session"
    private static let headers = ["Content-Type": "application/json", "X-Paydesk-Console": "1"]

    /// Returns the code of the link on standard output.
    private static func code(_ server: SpawnedProgram) async throws -> String {
        while true {
            if let found = server.output.firstMatch(of: /\/console#once=([A-Za-z0-9_-]{43})\n/) {
                return String(found.output.1)
            }
            await SpawnedProgram.pause()
        }
    }

    private static func key(_ installation: Installation) async throws -> String {
        let made = try await installation.run("keys", "create", "--name", "first", "--scopes", "admin", "--json")
        let json = try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: Any]
        return try #require(json?["key"] as? String)
    }

    @Test func `the link of the start signs in once, and is printed and not logged`() async throws {
        let installation = try Installation()
        #expect(try await installation.run("migrate").status == 0)
        _ = try await Self.key(installation)
        try await installation.whileServing { server in
            let code = try await Self.code(server)
            #expect(!server.errors.contains(code))
            func sign(_ more: [String: String] = [:]) async throws -> LoopbackHTTP.Reply {
                try #require(
                    await LoopbackHTTP.send(
                        "POST", Self.session, port: installation.port, headers: Self.headers.merging(more) { $1 },
                        body: #"{"once":"\#(code)"}"#))
            }
            #expect(try await sign(["X-Forwarded-For": "127.0.0.1"]).status == 401)
            #expect(try await sign(["Host": "evil.example"]).status == 401)
            let first = try await sign()
            #expect(first.status == 200 && first.body.contains(#""name":"first""#), "\(first.body)")
            #expect(first.head.contains("; Max-Age=43200\r\n") && !first.head.contains("Secure"))
            #expect(try await sign().status == 401)
        }
    }

    @Test func `the catalogue goes out and in as a file, and the doctor answers`() async throws {
        let installation = try Installation()
        #expect(try await installation.run("migrate").status == 0)
        let key = try await Self.key(installation)
        try await installation.whileServing { _ in
            func send(
                _ method: String, _ path: String, _ body: String = "", type: String = "application/yaml"
            ) async throws -> LoopbackHTTP.Reply {
                try #require(
                    await LoopbackHTTP.send(
                        method, "/v1/admin/\(path)", port: installation.port,
                        headers: ["Authorization": "Bearer \(key)", "Content-Type": type], body: body))
            }
            let yaml = try await send("GET", "catalog.yaml")
            #expect(yaml.status == 200 && yaml.head.lowercased().contains("content-type: application/yaml"))
            let same = try await send("POST", "catalog/import?format=yaml", yaml.body)
            #expect(same.body.contains(#""data":{"added":0,"changed":0}"#), "\(same.body)")
            let more = yaml.body.replacing("VIP monthly", with: "VIP of a month")
            let dry = try await send("POST", "catalog/import?format=yaml&dry_run=true", more)
            #expect(dry.body.contains(#""changed":1"#))
            #expect(try await send("GET", "skus/vip_month").body.contains("VIP monthly"))
            let bad = try await send("POST", "catalog/import?format=yaml", "skus: [{id: a, name: x, kind: banana}]")
            #expect(bad.status == 400 && bad.body.contains(#""field":"skus[0].kind""#), "\(bad.body)")
            #expect(try await send("POST", "catalog/import?format=yaml&tier=x", more).body.contains(#""field":"tier""#))
            let large = String(repeating: "#", count: (2 << 20) + 1)
            #expect(try await send("POST", "catalog/import?format=yaml", large).status == 413)

            let xcode = try await send("GET", "catalog.storekit?currency=CNY")
            #expect(xcode.status == 200 && xcode.body.contains("com.example.month"))
            let back = try await send(
                "POST", "catalog/import?format=storekit&dry_run=true&currency=CNY&bundle=com.example.app", xcode.body,
                type: "application/json")
            #expect(back.status == 200 && back.body.contains(#""added":0"#), "\(back.body)")
            let odd = try await send("POST", "catalog/import?format=storekit&tier=nothing", xcode.body)
            #expect(odd.status == 400 && odd.body.contains(#""field":"tier""#), "\(odd.body)")
            #expect(try await send("GET", "catalog.storekit?currency=XX").body.contains(#""field":"currency""#))

            let doctor = try await send("GET", "doctor")
            for check in ["configuration", "clock", "database", "migrations", "keys", "catalogue"] {
                #expect(doctor.body.contains(#""check":"\#(check)""#), "\(check)")
            }
        }
    }
}
