import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import SwiftASN1
import TestSupport
import Testing

/// SIGHUP and log lines of the built program.
@Suite("A running server's settings and lines")
struct ReloadTests {
    private static func meters(_ limit: Int) -> String {
        "meters: [{id: messages, period: day, timezone: UTC, limits: {\"\": \(limit)}}]"
    }

    private static func write(_ installation: Installation, port: UInt16? = nil, _ more: String) throws {
        try installation.folder.write(
            "Config/paydesk.yaml",
            """
            mode: development
            http: {port: \(port ?? installation.port), public_url: "http://127.0.0.1:\(installation.port)"}
            database: {url: "sqlite:var/paydesk.db"}
            \(more)
            """)
    }

    /// Sends SIGHUP and returns what was logged since, once a line of it says this.
    private static func hangUp(_ server: SpawnedProgram, until text: String) async -> String {
        let before = server.errors.count
        server.send(SIGHUP)
        while true {
            let said = String(server.errors.dropFirst(before))
            if said.contains(text) { return said }
            await SpawnedProgram.pause()
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `SIGHUP takes meters and the keys of tokens, and says what needs a restart`() async throws {
        let installation = try Installation(more: Self.meters(10))
        try await installation.whileServing { server in
            let old = try await installation.token()
            func limit(_ token: String) async throws -> Int? {
                try await installation.call("GET", "/v1/public/usage/messages", token)["limit"] as? Int
            }
            #expect(try await limit(old) == 10)

            let secret = "auth: {hs256_secret: another user secret of the process tests}"
            try Self.write(installation, port: try FreePort.next(), "\(Self.meters(3))\n\(secret)")
            let said = await Self.hangUp(server, until: "http.port")
            #expect(said.contains("the configuration was read anew"), "\(said)")
            #expect(said.split(separator: "\n").contains { $0.contains("http.port") && $0.contains("restart") })
            #expect(!said.contains("another user secret"))
            let new = try await installation.token()
            #expect(try await limit(new) == 3)
            let refused = await LoopbackHTTP.send(
                "GET", "/v1/public/entitlements", port: installation.port, headers: ["Authorization": "Bearer \(old)"])
            #expect(refused?.status == 401)

            try Self.write(installation, "\(Self.meters(1))\nordrs: {}")
            let fault = await Self.hangUp(server, until: "not read anew")
            #expect(fault.contains("paydesk.yaml") && fault.contains("ordrs"), "\(fault)")
            #expect(try await limit(new) == 3)
        }
    }

    /// A certificate for `localhost` and its authority.
    private struct Served {
        let root: ApplePayIdentity
        let own: ApplePayIdentity

        init(_ name: String) {
            root = ApplePayCertificate(name, .newP256()) { $0.isAuthority = true }.issued(by: nil)
            own = ApplePayCertificate("localhost", .newP256()) {
                // subjectAltName (RFC 5280 section 4.2.1.6): one dNSName.
                $0.extensions = [([2, 5, 29, 17], [0x30, 0x0B, 0x82, 0x09] + Array("localhost".utf8))]
            }.issued(by: root)
        }
    }

    /// Returns whether a new connection is answered with a certificate of this authority.
    private static func serves(_ served: Served, _ installation: Installation) async throws -> Bool {
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: served.root.der, format: .der)])
        configuration.tlsConfiguration = tls
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let reply = try? await client.execute(
            HTTPClientRequest(url: "https://localhost:\(installation.port)/healthz"), timeout: .seconds(10))
        try await client.shutdown()
        return reply?.status == .ok
    }

    @Test(.timeLimit(.minutes(2)))
    func `SIGHUP takes another certificate, and not one without its key`() async throws {
        let (first, second) = (Served("The first authority"), Served("The second authority"))
        let installation = try Installation()
        func put(_ certificate: Served, key: Served) throws {
            try installation.folder.write("Config/tls.pem", certificate.own.certificatePEM)
            try installation.folder.write("Config/tls.key", key.own.keyPEM)
        }
        try put(first, key: first)
        let port = installation.port
        try installation.folder.write(
            "Config/paydesk.yaml",
            """
            mode: development
            http:
              {port: \(port), public_url: "https://localhost:\(port)",
               tls: {certificate: tls.pem, private_key: "file:tls.key"}}
            database: {url: "sqlite:var/paydesk.db"}
            """)
        let server = try installation.start("serve")
        while try await !Self.serves(first, installation) {
            try #require(server.ended() == nil, "\(server.errors)")
            await SpawnedProgram.pause()
        }
        #expect(try await !Self.serves(second, installation))
        try put(second, key: first)
        let refused = await Self.hangUp(server, until: "not read anew")
        #expect(refused.contains("http.tls.private_key"), "\(refused)")
        #expect(try await Self.serves(first, installation))
        try put(second, key: second)
        _ = await Self.hangUp(server, until: "the configuration was read anew")
        #expect(try await Self.serves(second, installation))
        #expect(try await !Self.serves(first, installation))
        server.send(SIGTERM)
        #expect(try await server.wait() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `JSON lines name the request, its trace and its caller`() async throws {
        let installation = try Installation()
        let server = try installation.start("serve", "--log-format", "json", "--log-level", "debug")
        while await LoopbackHTTP.send("GET", "/readyz", port: installation.port)?.status != 200 {
            try #require(server.ended() == nil, "\(server.errors)")
            await SpawnedProgram.pause()
        }
        let (trace, token) = ("0af7651916cd43dd8448eb211c80319c", try await installation.token("a-private-name"))
        _ = await LoopbackHTTP.send(
            "GET", "/v1/public/entitlements", port: installation.port,
            headers: [
                "Authorization": "Bearer \(token)", "X-Request-Id": "own-1",
                "traceparent": "00-\(trace)-b7ad6b7169203331-01",
            ])
        var line: [String: Any]?
        while line == nil {
            // The last line may be half written.
            let whole = server.errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            line = try whole.map { text in
                try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
            }.first { $0["request_id"] as? String == "own-1" }
            if line == nil { await SpawnedProgram.pause() }
        }
        #expect(line?["message"] as? String == "request" && line?["level"] as? String == "debug")
        #expect(line?["route"] as? String == "GET /v1/public/entitlements" && line?["status"] as? Int == 200)
        #expect(line?["trace_id"] as? String == trace && line?["caller"] as? String == "user")
        #expect(line?["duration_ms"] as? Double != nil)
        #expect(!server.errors.contains("a-private-name") && !server.errors.contains(token))
        let text = await LoopbackHTTP.send("GET", "/metrics", port: installation.port)?.body ?? ""
        for name in [
            "http_request_seconds_bucket", "database_call_seconds_bucket", "jobs_due", "oldest_due_job_seconds",
            "webhook_backlog", "streams", "cache_hits_total", "cache_misses_total", "database_pool_in_use",
            "billing_hold", "log_lines_left_out_total",
        ] {
            #expect(text.contains("\npaydesk_\(name)"), "\(name)")
        }
        server.send(SIGTERM)
        #expect(try await server.wait() == 0)
    }
}
