import Foundation
import TestSupport
import Testing

/// Tests an account with a plugin in another process, through the program's own interfaces.
@Suite("A remote plugin", .timeLimit(.minutes(10)))
struct RemotePluginTests {
    private static func installation(_ url: String, secrets: [String] = [ExamplePlugin.secret]) throws -> Installation {
        let installation = try Installation()
        try installation.folder.write(
            "Config/providers/plug.yaml",
            """
            account: plug
            kind: remote
            enabled: true
            notify_token: notify-token-of-the-remote-plugin
            routing: {platforms: [web], priority: 9}
            settings: {url: "\(url)", secrets: [\(secrets.map { "\"\($0)\"" }.joined(separator: ", "))]}
            """)
        return installation
    }

    private static func checkout(_ installation: Installation, _ token: String) async -> LoopbackHTTP.Reply? {
        await LoopbackHTTP.send(
            "POST", "/v1/public/checkout", port: installation.port, headers: ["Authorization": "Bearer \(token)"],
            body: #"{"sku":"vip_month","platform":"web","currency":"CNY","provider":"plug"}"#)
    }

    @Test func `conformance says what holds, by its lines, its JSON and its exit code`() async throws {
        let plugin = try await ExamplePlugin.start(.python)
        defer { plugin.stop() }
        let installation = try Self.installation(plugin.url)
        let good = try await installation.run("conformance", "--account", "plug")
        #expect(good.status == 0, "\(good.output) \(good.errors)")
        #expect(good.output.hasPrefix("plug: green, ") && good.output.contains("passed   the plugin refuses a call"))
        #expect(!good.output.contains(ExamplePlugin.secret))
        let json = try await installation.run("conformance", "--account", "plug", "--json")
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any], "\(json.errors)")
        let checks = try #require(object["checks"] as? [[String: String]])
        #expect(json.status == 0 && object["green"] as? Bool == true && checks.count >= 70)
        #expect(Set(checks.compactMap { $0["outcome"] }) == ["passed", "not_applicable"])
        for account in ["box", "nobody", ""] {
            #expect(try await installation.run("conformance", "--account", account).status == 2)
        }
    }

    @Test func `conformance fails for a plugin with a flaw, out of its rehearsal mode, or not there`() async throws {
        var setup = ExamplePlugin.Setup()
        setup.flaws = [("\"status\": \"waiting\", \"refunds\"", "\"status\": \"succeeded\", \"refunds\"")]
        let flawed = try await ExamplePlugin.start(.python, setup)
        defer { flawed.stop() }
        let red = try await Self.installation(flawed.url).run("conformance", "--account", "plug")
        #expect(red.status == 1 && red.output.contains("FAILED   an unpaid payment is not reported as paid"))
        setup = ExamplePlugin.Setup()
        setup.rehearses = false
        let live = try await ExamplePlugin.start(.python, setup)
        defer { live.stop() }
        let alone = try await Self.installation(live.url).run("conformance", "--account", "plug")
        #expect(alone.status == 1 && alone.errors.contains("is not in its rehearsal mode"))
        let nobody = try await Self.installation("http://127.0.0.1:\(try FreePort.next())")
            .run("conformance", "--account", "plug")
        #expect(nobody.status == 1 && nobody.errors.contains("does not answer"))
    }

    @Test func `a plugin that is down at the start holds nothing up, and sells once it is up`() async throws {
        var setup = ExamplePlugin.Setup()
        setup.rehearses = false
        setup.port = try FreePort.next()
        let installation = try Self.installation("http://127.0.0.1:\(try #require(setup.port))")
        let made = try await installation.run("keys", "create", "--name", "n", "--scopes", "admin", "--json")
        let issued = try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: String]
        let key = try #require(issued?["key"])
        let token = try await installation.token()
        func manifest(_ account: String = "plug") async throws -> [String: Any]? {
            let accounts = try await installation.call("GET", "/v1/admin/accounts", key)["items"] as? [[String: Any]]
            return accounts?.first { $0["id"] as? String == account }?["manifest"] as? [String: Any]
        }
        try await installation.whileServing { _ in
            #expect(try await manifest()?["state"] as? String == "awaited")
            #expect(try await manifest("box")?["state"] as? String == "built_in")
            let early = await Self.checkout(installation, token)
            #expect(early?.status == 409 || early?.status == 422 || early?.status == 503, "\(early?.body ?? "")")
            #expect(early?.body.contains("no_provider_available") == true, "\(early?.body ?? "")")
            let down = try await installation.run("doctor")
            #expect(down.status == 1 && down.output.contains("FAIL account plug, plugin: The plugin opens no payment"))
            let plugin = try await ExamplePlugin.start(.python, setup)
            defer { plugin.stop() }
            for _ in 0..<3_000 {
                if try await manifest()?["state"] as? String == "pinned" { break }
                await SpawnedProgram.pause()
            }
            let shown = try #require(try await manifest())
            #expect(shown["state"] as? String == "pinned" && shown["display_name"] as? String == "Example bank")
            #expect((shown["capabilities"] as? [String: Any])?["refunds"] as? String == "partial")
            #expect(try await installation.run("doctor").status == 0)
            try await pay(installation, token, plugin)
            // The plugin returns with another manifest: the doctor sees it before the server fetches it again.
            plugin.stop()
            var changed = setup
            changed.flaws = [("\"refunds\": \"partial\"", "\"refunds\": \"full\"")]
            let other = try await ExamplePlugin.start(.python, changed)
            defer { other.stop() }
            let doctor = try await installation.run("doctor")
            #expect(doctor.status == 1 && doctor.output.contains("FAIL account plug, manifest: The plugin's refunds"))
        }
    }

    /// Pays a checkout on the plugin's own page, after which the plugin sends a notification.
    private func pay(_ installation: Installation, _ token: String, _ plugin: ExamplePlugin) async throws {
        let reply = try #require(await Self.checkout(installation, token))
        #expect(reply.status == 200, "\(reply.body)")
        let answer = try JSONSerialization.jsonObject(with: Data(reply.body.utf8)) as? [String: Any]
        let contract = try #require(answer?["data"] as? [String: Any])
        let (payment, order) = (try #require(contract["payment_id"]), try #require(contract["order_id"] as? String))
        #expect(contract["checkout_url"] as? String == "\(plugin.url)/pay/\(payment)")
        #expect(await LoopbackHTTP.send("POST", "/pay/\(payment)", port: plugin.port)?.status == 303)
        for _ in 0..<1_500 {
            if try await installation.status(order, token) == "paid" { return }
            await SpawnedProgram.pause()
        }
        Issue.record("the notification paid nothing: \(plugin.program.errors)")
    }

    @Test func `a plugin that answers a gigabyte, redirects or hangs is given up within its limits`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n"
        let piece = String(repeating: "x", count: 65_536)
        let huge = try ScriptedServer([head] + Array(repeating: piece, count: 16_384))
        let elsewhere = try ScriptedServer(["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"])
        let redirect = try ScriptedServer([
            "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:\(elsewhere.port)/manifest\r\nContent-Length: 0\r\n\r\n"
        ])
        let silent = try ScriptedServer([])
        defer { for server in [huge, elsewhere, redirect, silent] { server.stop() } }
        for server in [huge, redirect, silent] {
            let installation = try Self.installation("http://127.0.0.1:\(server.port)")
            let ended = try await installation.run("conformance", "--account", "plug")
            #expect(ended.status == 1 && ended.errors.contains("it does not answer, or not with a manifest"))
            #expect(server.connections == 1)
        }
        #expect(elsewhere.connections == 0)
        // A body beyond the limit is not read to its end.
        #expect(huge.sentBytes < 64 << 20)
    }
}
