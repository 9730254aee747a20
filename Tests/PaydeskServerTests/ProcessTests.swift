import Foundation
import TestSupport
import Testing

@Suite("The program")
struct ProcessTests {
    @Test
    func `a paid order is still paid after kill -9`() async throws {
        let installation = try Installation()
        let server = try await installation.serve()
        let token = try await installation.token()
        let order = try await installation.buy(token)
        let before = try await installation.status(order, token)
        server.send(SIGKILL)
        let status = try await server.wait()
        #expect(before == "paid")
        #expect(status == -SIGKILL)
        try await installation.whileServing { _ in
            let after = try await installation.status(order, token)
            #expect(after == "paid")
            let owned = try await installation.call("GET", "/v1/public/entitlements", token)
            #expect(owned["tier"] as? String == "VIP")
            let check = try await installation.run("check")
            #expect(check.status == 0)
            #expect(check.output == "Every invariant holds.\n")
        }
    }

    @Test
    func `keys are made, listed and revoked while serving`() async throws {
        let installation = try Installation()
        try await installation.whileServing { server in
            let socket = installation.folder.path + "/var/paydesk.db.sock"
            // Only the server's own user may connect.
            let mode = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o677 } == 0o600)
            let made = try await installation.run("keys", "create", "--name", "ops", "--scopes", "admin", "--json")
            #expect(made.status == 0, "\(made.errors)")
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: String])
            #expect(Set(json.keys) == ["id", "key"])
            let (id, key) = (try #require(json["id"]), try #require(json["key"]))
            let skus = try await installation.call("GET", "/v1/admin/skus", key)
            #expect((skus["items"] as? [Any])?.count == 2)
            let listed = try await installation.run("keys", "list", "--json")
            #expect(listed.status == 0 && listed.output.contains(id) && !listed.output.contains(key))
            #expect(try await installation.run("keys", "revoke", id).status == 0)
            let refused = await LoopbackHTTP.send(
                "GET", "/v1/admin/skus", port: installation.port, headers: ["Authorization": "Bearer \(key)"])
            #expect(refused?.status == 401)
            let again = try await installation.run("keys", "revoke", id)
            #expect(again.status == 2 && again.errors == "paydesk: there is no such key\n")
            let bad = try await installation.run("keys", "create", "--name", "bad", "--scopes", "root")
            #expect(bad.status == 2 && bad.output.isEmpty)
            #expect(!server.errors.contains(key) && !server.output.contains(key))
        }
    }

    @Test
    func `a second server of one database ends with 3 and disturbs nothing`() async throws {
        let installation = try Installation()
        try await installation.whileServing { _ in
            let second = try await installation.run("serve", "--port", String(try FreePort.next()))
            #expect(second.status == 3, "\(second.errors)")
            #expect(second.errors.hasPrefix("paydesk: "))
            let order = try await installation.buy(try await installation.token())
            #expect(order.hasPrefix("ord_"))
        }
    }

    @Test(arguments: [
        ["serve", "--nonsense"], ["nonsense"], ["keys", "create"], ["token"], ["serve", "--port", "x"],
        ["serve", "--log-level", "loud"], ["serve", "--log-format", "xml"],
        ["catalog", "import", "missing.yaml"], ["token", "--user", ""],
        ["token", "--user", "u", "--ttl", "0"],
    ])
    func `wrong usage ends with 2`(_ arguments: [String]) async throws {
        let installation = try Installation()
        let program = try SpawnedProgram(
            [try Installation.program()] + arguments, in: installation.folder.path, name: "usage",
            environment: ["PATH": "/usr/bin:/bin"])
        let status = try await program.wait()
        #expect(status == 2, "\(program.errors)")
        #expect(!program.errors.isEmpty && program.output.isEmpty)
    }

    @Test(arguments: [["--help"], ["--version"], ["serve", "--help"]])
    func `help and version are good`(_ arguments: [String]) async throws {
        let installation = try Installation()
        let program = try SpawnedProgram(
            [try Installation.program()] + arguments, in: installation.folder.path, name: "help",
            environment: ["PATH": "/usr/bin:/bin"])
        let status = try await program.wait()
        #expect(status == 0 && !program.output.isEmpty && program.errors.isEmpty)
    }

    @Test
    func `every fault of the configuration is one line, and the end is 2`() async throws {
        let installation = try Installation(more: "ordrs: {}\nlimits: {concurrent: many}")
        let ended = try await installation.run("serve")
        #expect(ended.status == 2)
        let lines = ended.errors.split(separator: "\n")
        #expect(lines.count == 2, "\(ended.errors)")
        #expect(lines.allSatisfy { $0.contains("paydesk.yaml") })
        #expect(!FileManager.default.fileExists(atPath: installation.folder.path + "/var/paydesk.db"))
    }

    @Test(
        arguments: [
            (
                "stripe", "{secret_key: planted-1, publishable_key: planted-2, webhook_secrets: [planted-3]}",
                ["secret_key", "publishable_key", "webhook_secrets"]
            ),
            (
                "paypal", "{client_id: \"\", client_secret: planted-1, webhook_id: \"\"}",
                ["client_id", "webhook_id"]
            ),
        ])
    func `every fault of an account's settings is one line, and none shows a value`(
        _ kind: String, _ settings: String, _ faults: [String]
    ) async throws {
        let installation = try Installation()
        try installation.folder.write(
            "Config/providers/card.yaml", "kind: \(kind)\nnotify_token: t2\nsettings: \(settings)")
        let ended = try await installation.run("serve")
        #expect(ended.status == 2 && !ended.errors.contains("planted"), "\(ended.errors)")
        let lines = ended.errors.split(separator: "\n")
        for fault in faults {
            #expect(lines.count { $0.contains("providers/card.yaml") && $0.contains(fault) } == 1, "\(ended.errors)")
        }
    }

    @Test
    func `production refuses the sandbox`() async throws {
        let key = Data(repeating: 7, count: 32).base64EncodedString()
        let installation = try Installation(mode: "production", more: "secrets: {keys: [\"\(key)\"]}")
        let ended = try await installation.run("serve")
        #expect(ended.status == 2)
        #expect(ended.errors.contains("box.yaml"), "\(ended.errors)")
        #expect(!ended.errors.contains(Installation.sandboxSecret))
    }

    @Test(arguments: [
        ("environments: [Production, Xcode]", "settings.environments"),
        ("xcode_certificates: [\(AppleTestCertificates.xcodeFile)]", "settings.xcode_certificates"),
        ("root_certificates: [\(AppleTestCertificates.rootFile)]", "settings.root_certificates"),
    ])
    func `production does not start with an App Store account that trusts more than Apple`(
        _ setting: String, _ key: String
    ) async throws {
        let secret = Data(repeating: 7, count: 32).base64EncodedString()
        let installation = try Installation(mode: "production", more: "secrets: {keys: [\"\(secret)\"]}")
        let account = "kind: apple_iap\nnotify_token: t2\nsettings:\n  apps: [{bundle_id: a.b}]\n  \(setting)\n"
        try installation.folder.write("Config/providers/apple.yaml", account)
        let ended = try await installation.run("serve")
        #expect(ended.status == 2)
        let lines = ended.errors.split(separator: "\n").filter { $0.contains("providers/apple.yaml") }
        #expect(lines.count == 1 && lines.first?.contains(": \(key): ") == true, "\(ended.errors)")
        let development = try Installation()
        try development.folder.write("Config/providers/apple.yaml", account)
        #expect(try await development.run("migrate").status == 0)
    }

    @Test
    func `a token is all that is printed, and no database is opened`() async throws {
        let installation = try Installation()
        let made = try await installation.run("token", "--user", "alice")
        #expect(made.status == 0 && made.errors.isEmpty)
        let lines = made.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 2 && lines[1].isEmpty)
        #expect(lines[0].split(separator: ".").count == 3)
        #expect(!FileManager.default.fileExists(atPath: installation.folder.path + "/var/paydesk.db"))
    }

    @Test
    func `a backup made while serving is a whole database`() async throws {
        let installation = try Installation()
        var order = ""
        let token = try await installation.token()
        try await installation.whileServing { _ in
            order = try await installation.buy(token)
            let made = try await installation.run("backup", "copy.db")
            #expect(made.status == 0, "\(made.errors)")
            let twice = try await installation.run("backup", "copy.db")
            #expect(twice.status == 2)
        }
        let copy = try Installation()
        try FileManager.default.createDirectory(
            atPath: copy.folder.path + "/var", withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: installation.folder.path + "/var/development-secrets.json",
            toPath: copy.folder.path + "/var/development-secrets.json")
        let restored = try await copy.run("restore", installation.folder.path + "/copy.db")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try await copy.run("check").status == 0)
        try await copy.whileServing { _ in
            let status = try await copy.status(order, token)
            #expect(status == "paid")
        }
    }

    @Test
    func `a backup replaces a database that nobody serves, and holds the charges`() async throws {
        let installation = try Installation()
        let token = try await installation.token()
        var kept = ""
        var lost = ""
        try await installation.whileServing { _ in
            kept = try await installation.buy(token)
            _ = try await installation.run("backup", "copy.db")
            lost = try await installation.buy(token)
            let served = try await installation.run("restore", "copy.db", "--replace")
            #expect(served.status == 3 && served.errors.contains("in use by process"), "\(served.errors)")
        }
        try installation.folder.write("other.db", "no database")
        for (arguments, reason) in [
            (["copy.db"], "--replace"), (["none.db", "--replace"], "there is no file none.db"),
            (["other.db", "--replace"], "other.db is no backup of Paydesk"),
        ] {
            let refused = try await installation.command(["restore"] + arguments)
            #expect(refused.status == 2 && refused.errors.contains(reason), "\(refused.errors)")
        }
        let restored = try await installation.run("restore", "copy.db", "--replace")
        #expect(restored.status == 0, "\(restored.errors)")
        let left = try FileManager.default.contentsOfDirectory(atPath: installation.folder.path + "/var")
        #expect(!left.contains { $0.contains("restoring") }, "\(left)")
        let doctor = try await installation.run("doctor", "--offline")
        #expect(doctor.output.contains("paydesk restore of copy.db"), "\(doctor.output)")
        try await installation.whileServing { _ in
            let held = try await installation.status(kept, token)
            let gone = await LoopbackHTTP.send(
                "GET", "/v1/public/orders/\(lost)", port: installation.port,
                headers: ["Authorization": "Bearer \(token)"], body: "")
            #expect(held == "paid" && gone?.status == 404)
        }
    }

    @Test
    func `check finds what was changed behind its back`() async throws {
        let installation = try Installation()
        try await installation.whileServing { _ in
            _ = try await installation.buy(try await installation.token())
        }
        let file = installation.folder.path + "/var/paydesk.db"
        #expect(try await installation.run("check").status == 0)
        let program = try SpawnedProgram(
            ["sqlite3", file, "UPDATE orders SET amount = 1"], in: installation.folder.path, name: "tamper",
            environment: ["PATH": "/usr/bin:/bin"])
        try #require(try await program.wait() == 0, "\(program.errors)")
        let check = try await installation.run("check", "--json")
        #expect(check.status == 1)
        #expect(check.output.contains(#""invariant":8"#) && check.output.contains(#""invariant":17"#))
        #expect(check.errors == "paydesk: 2 violations\n")
    }

    @Test
    func `the catalogue goes out and in unchanged`() async throws {
        let installation = try Installation()
        try await installation.whileServing { _ in
            let out = try await installation.run("catalog", "export")
            #expect(out.status == 0 && out.output.contains("vip_month"))
            try installation.folder.write("out.yaml", out.output)
            let same = try await installation.run("catalog", "import", "out.yaml")
            #expect(same.status == 0 && same.output == "0 added, 0 changed.\n", "\(same.errors)")
            try installation.folder.write("changed.yaml", out.output.replacing("VIP monthly", with: "Renamed"))
            let changed = try await installation.run("catalog", "import", "changed.yaml")
            #expect(changed.output == "0 added, 1 changed.\n")
            #expect(try await installation.run("catalog", "export").output.contains("Renamed"))
        }
    }

    @Test
    func `a stop lets requests finish`() async throws {
        let installation = try Installation()
        let server = try await installation.serve()
        let token = try await installation.token()
        let (order, port) = (try await installation.buy(token), installation.port)
        let replies = await withTaskGroup(of: LoopbackHTTP.Reply?.self) { group in
            for number in 0..<12 {
                group.addTask {
                    await LoopbackHTTP.send(
                        "POST", "/v1/public/checkout", port: port,
                        headers: ["Authorization": "Bearer \(token)", "Idempotency-Key": "stop-\(number)"],
                        body: #"{"sku":"coins","platform":"web","currency":"CNY"}"#)
                }
            }
            var replies: [LoopbackHTTP.Reply] = []
            for await reply in group {
                if replies.isEmpty { server.send(SIGTERM) }
                if let reply { replies.append(reply) }
            }
            return replies
        }
        let status = try await server.wait()
        #expect(status == 0, "\(server.errors)")
        #expect(!replies.isEmpty)
        #expect(replies.allSatisfy { $0.status == 200 || $0.status == 503 }, "\(replies.map(\.status))")
        let answered = replies.filter { $0.status == 200 }.count
        try await installation.whileServing { _ in
            let orders = try await installation.call("GET", "/v1/public/orders", token)
            let items = try #require(orders["items"] as? [[String: Any]])
            #expect(items.count >= answered + 1)
            #expect(items.contains { $0["id"] as? String == order })
        }
    }

    @Test
    func `metrics name routes and no secret is written anywhere`() async throws {
        let installation = try Installation()
        try await installation.whileServing { server in
            let token = try await installation.token()
            _ = try await installation.buy(token)
            _ = await LoopbackHTTP.send(
                "POST", "/v1/notify/\(Installation.notifyToken)", port: installation.port, body: "{}")
            let metrics = try #require(await LoopbackHTTP.send("GET", "/metrics", port: installation.port))
            #expect(metrics.status == 200)
            #expect(metrics.body.contains(#"route="/v1/notify/{token}""#))
            #expect(metrics.body.contains(#"route="/v1/public/checkout",status="200""#))
            #expect(metrics.body.contains(#"paydesk_notifications_refused_total{account="box",reason="signature"} 1"#))
            for secret in [Installation.notifyToken, Installation.sandboxSecret, token] {
                #expect(!metrics.body.contains(secret))
                #expect(!server.errors.contains(secret) && !server.output.contains(secret))
            }
        }
    }

    @Test
    func `a HEAD leaves its connection in step, and is counted as a GET`() async throws {
        let installation = try Installation()
        try await installation.whileServing { _ in
            for (path, status) in [
                ("/healthz", 200), ("/openapi.json", 200), ("/v1/public/orders", 401), ("/nothing", 404),
            ] {
                let request = "\(path) HTTP/1.1\r\nHost: a\r\n"
                let said = try await LoopbackHTTP.untilClosed(
                    "HEAD \(request)\r\nGET \(request)Connection: close\r\n\r\n", port: installation.port)
                let parts = said.components(separatedBy: "\r\n\r\n")
                try #require(parts.count == 3, "\(path): \(said)")
                for head in parts.prefix(2) {
                    let lines = head.lowercased().components(separatedBy: "\r\n")
                    #expect(lines[0].hasPrefix("http/1.1 \(status) "), "\(path): \(said)")
                    #expect(lines.contains("content-length: \(parts[2].utf8.count)"), "\(path): \(said)")
                }
            }
            let metrics = try #require(await LoopbackHTTP.send("GET", "/metrics", port: installation.port))
            #expect(metrics.body.contains(#"route="/healthz""#) && !metrics.body.contains("HEAD"))
        }
    }

    /// HTTP/1.0 has no interim answers.
    @Test(arguments: [("1.1", "100-Continue", true), ("1.1", "something", false), ("1.0", "100-continue", false)])
    func `who waits for it is told to send the body`(_ version: String, _ expects: String, _ isTold: Bool) async throws
    {
        let installation = try Installation()
        try await installation.whileServing { _ in
            let said = try await LoopbackHTTP.untilClosed(
                """
                POST /v1/public/dev-token HTTP/\(version)\r\nHost: a\r\nContent-Type: application/json\r\n\
                Expect: \(expects)\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}
                """, port: installation.port)
            let heads = said.components(separatedBy: "\r\n\r\n").filter { $0.hasPrefix("HTTP/1.1 ") }
            #expect(heads.count == (isTold ? 2 : 1), "\(said)")
            #expect((heads.first == "HTTP/1.1 100 Continue") == isTold, "\(said)")
            #expect(heads.last?.hasPrefix("HTTP/1.1 4") == true, "\(said)")
        }
    }

    @Test
    func `doctor tells what is there`() async throws {
        let installation = try Installation()
        let before = try await installation.run("doctor")
        #expect(before.status == 3)
        try await installation.whileServing { _ in
            let doctor = try await installation.run("doctor")
            #expect(doctor.status == 0, "\(doctor.output)")
            #expect(doctor.output.contains("account box") && !doctor.output.contains(Installation.sandboxSecret))
        }
    }
}
