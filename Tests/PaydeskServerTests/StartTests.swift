import Foundation
import TestSupport
import Testing

@Suite("Starting, and what an operator is told")
struct StartTests {
    @Test func `a port in use is said in one line, and nothing has begun`() async throws {
        let first = try Installation()
        try await first.whileServing { _ in
            let second = try Installation()
            try second.folder.write(
                "Config/paydesk.yaml",
                """
                mode: development
                http: {host: 127.0.0.1, port: \(first.port)}
                """)
            let ended = try await second.run("serve")
            #expect(ended.status == 2 && ended.output.isEmpty)
            #expect(ended.errors.contains("another program listens on 127.0.0.1:\(first.port); stop it"))
            #expect(!ended.errors.contains("job"), "\(ended.errors)")
        }
    }

    /// The 41st field of `stat` (proc(5)), after the command's name in parentheses; 3 is `SCHED_BATCH`.
    @Test func `all threads of a server share wake-ups`() async throws {
        try await Installation().whileServing { server in
            let tasks = "/proc/\(server.pid)/task"
            for thread in try FileManager.default.contentsOfDirectory(atPath: tasks) {
                let line = try String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8)
                let fields = try #require(line.split(separator: ")").last).split(separator: " ")
                #expect(fields[38] == "3", "\(line)")
            }
        }
    }

    @Test(arguments: ["0", "65536", "99999", "-1"])
    func `a port that is none is refused`(_ port: String) async throws {
        let ended = try await Installation().run("serve", "--port=\(port)")
        #expect(ended.status == 2 && ended.errors.contains("--port is a whole number from 1 to 65535"))
    }

    @Test func `the first command to try names the folder and the scheme`() async throws {
        let installation = try Installation()
        let merchant = ApplePayCertificate("localhost", .newP256()).issued(by: nil)
        let folder = "It's mine"
        try installation.folder.write("\(folder)/tls.pem", merchant.certificatePEM)
        try installation.folder.write("\(folder)/tls.key", merchant.keyPEM)
        try installation.folder.write(
            "\(folder)/paydesk.yaml",
            """
            mode: development
            http: {port: \(installation.port), tls: {certificate: tls.pem, private_key: "file:tls.key"}}
            """)
        let server = try installation.start("serve", "--config", folder)
        while !server.output.contains("Try: ") {
            try #require(server.ended() == nil, "\(server.errors)")
            await SpawnedProgram.pause()
        }
        server.send(SIGTERM)
        #expect(try await server.wait() == 0)
        #expect(server.output.contains("serves https://127.0.0.1:\(installation.port)\n"))
        #expect(server.output.contains(#" token --config 'It'\''s mine' --user alice)"#), "\(server.output)")
    }

    @Test func `whose tokens another login makes is not told to make one`() async throws {
        let installation = try Installation(more: #"auth: {jwks_url: "http://127.0.0.1:1/keys"}"#)
        let server = try await installation.serve()
        // Before the keys are fetched every token is refused, and the log has the reason.
        let reply = await LoopbackHTTP.send(
            "GET", "/v1/public/products", port: installation.port,
            headers: ["Authorization": "Bearer eyJhbGciOiJSUzI1NiJ9.e30.AA"])
        server.send(SIGTERM)
        #expect(try await server.wait() == 0)
        #expect(reply?.status == 503)
        #expect(server.output.contains("Admin key") && !server.output.contains("Try: "))
        #expect(server.errors.contains("auth.jwks_url gives no key set"), "\(server.errors)")
        let doctor = try await installation.run("doctor")
        #expect(doctor.status == 1 && doctor.output.contains("FAIL auth: auth.jwks_url, http://127.0.0.1:1/keys: "))
        #expect(try await installation.run("doctor", "--offline").status == 0)
    }

    /// A certificate's end and whether the key belongs to it, the doctor's finding, and whether `serve` would start.
    static let certificates: [(days: Int64, isItsKey: Bool, says: String, status: Int32)] = [
        (400, true, "ok   tls: the certificate is its key's and ends on ", 0),
        (5, true, "warn tls: the certificate ends on ", 0), (-1, true, "FAIL tls: the certificate ended on ", 1),
        (400, false, "FAIL tls: paydesk.yaml: http.tls.private_key: is not the key of ", 1),
    ]

    @Test func `the doctor holds the server's certificate against its key and the clock`() async throws {
        let now = Int64(Date().timeIntervalSince1970)
        for (days, isItsKey, says, status) in Self.certificates {
            let installation = try Installation()
            let own = ApplePayCertificate("localhost", .newP256()) { $0.last = now + days * 86_400 }.issued(by: nil)
            let other = ApplePayCertificate("other", .newP256()).issued(by: nil)
            try installation.folder.write("Config/tls.pem", own.certificatePEM)
            try installation.folder.write("Config/tls.key", (isItsKey ? own : other).keyPEM)
            try installation.folder.write(
                "Config/paydesk.yaml",
                """
                mode: development
                http: {port: \(installation.port), tls: {certificate: tls.pem, private_key: "file:tls.key"}}
                """)
            #expect(try await installation.run("migrate").status == 0)
            let doctor = try await installation.run("doctor", "--offline")
            #expect(doctor.output.contains(says), "\(doctor.output)")
            #expect(doctor.status == status, "\(doctor.output)")
            guard !isItsKey else { continue }
            let serve = try await installation.run("serve")
            #expect(serve.status == 2 && serve.errors.contains("http.tls.private_key: is not the key of"))
        }
    }

    @Test func `a backup is of a database that is there, as it is`() async throws {
        let installation = try Installation()
        let missing = try await installation.run("backup", "copy.db")
        #expect(missing.status == 3 && missing.errors.contains("there is no database at "))
        #expect(!FileManager.default.fileExists(atPath: installation.folder.path + "/var/paydesk.db"))
        #expect(try await installation.run("migrate").status == 0)
        let nowhere = try await installation.run("backup", "nowhere/copy.db")
        #expect(nowhere.status == 2 && nowhere.errors.contains("there is no folder "))
        // The state of an earlier release.
        try await StoredFile.run(
            "DELETE FROM schema_migrations WHERE number = (SELECT MAX(number) FROM schema_migrations)",
            in: installation.folder.path + "/var/paydesk.db")
        #expect(try await installation.run("backup", "copy.db").status == 0)
        let check = try await installation.run("check")
        #expect(check.status == 3 && check.errors.contains("pending migrations"))
    }

    @Test func `the doctor reads settings before there is a database, and faults as JSON`() async throws {
        let installation = try Installation()
        try installation.folder.write(
            "Config/providers/apple.yaml",
            "kind: apple_iap\nnotify_token: t2\nsettings: {apps: [{bundle_id: a.b}], environments: [Production]}")
        let early = try await installation.run("doctor", "--offline")
        #expect(early.status == 3 && early.output.contains("FAIL database: paydesk: there is no database at "))
        #expect(early.output.contains("warn account apple, a.b: app_apple_id is not set"), "\(early.output)")
        try installation.folder.write(
            "Config/providers/card.yaml", "kind: stripe\nnotify_token: t3\nsettings: {secret_key: planted}")
        let faulty = try await installation.run("doctor", "--json")
        #expect(faulty.status == 2 && faulty.output.contains(#""check":"configuration""#))
        #expect(faulty.output.contains("providers/card.yaml") && !faulty.output.contains("planted"))
    }
}
