import Foundation
import TestSupport
import Testing

@Suite("The doctor")
struct DoctorTests {
    @Test
    func `it says that the database is not there yet, and that all is well once it is`() async throws {
        let installation = try Installation()
        let before = try await installation.run("doctor")
        #expect(before.status == 3)
        #expect(before.output.contains("FAIL database"))
        #expect(try await installation.run("migrate").status == 0)
        let after = try await installation.run("doctor", "--json")
        #expect(after.status == 0, "\(after.output) \(after.errors)")
        for check in ["configuration", "database", "migrations", "clock", "keys", "catalogue", "account box"] {
            #expect(after.output.contains("\"check\":\"\(check)\",\"detail\""), "\(check)")
        }
    }

    @Test
    func `it shows what an admin changed, and that nothing sells a SKU any more`() async throws {
        let installation = try Installation()
        let made = try await installation.run("keys", "create", "--name", "n", "--scopes", "admin", "--json")
        let issued = try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: String]
        let key = try #require(issued?["key"])
        try await installation.whileServing { _ in
            let changed = try await installation.call("PATCH", "/v1/admin/accounts/box", key, #"{"enabled":false}"#)
            #expect(changed["overridden"] as? Bool == true)
            let doctor = try await installation.run("doctor")
            #expect(doctor.status == 1)
            #expect(doctor.output.contains("account box: sandbox, disabled, priority 1, changed by an admin"))
            #expect(doctor.output.contains("FAIL catalogue: no enabled account sells"))
            _ = try await installation.call("PATCH", "/v1/admin/accounts/box", key, #"{"reset":true}"#)
            #expect(try await installation.run("doctor").status == 0)
        }
    }

    @Test
    func `it fails for a routing that this release cannot read, and the server warns of it once`() async throws {
        let installation = try Installation()
        #expect(try await installation.run("migrate").status == 0)
        let file = installation.folder.path + "/var/paydesk.db"
        let routing = #"{"priority":"first"}"#
        try await StoredFile.run(
            "INSERT INTO account_overrides (account, routing, updated_at) VALUES ('box', '\(routing)', 0)", in: file)
        let doctor = try await installation.run("doctor")
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("FAIL account box: sandbox, enabled, priority 1, changed by an admin"))
        #expect(doctor.output.contains("cannot be read by this release"))
        try await installation.whileServing { server in
            #expect(server.errors.components(separatedBy: "cannot be read by this release").count == 2)
        }
        try await StoredFile.run("DELETE FROM account_overrides", in: file)
        #expect(try await installation.run("doctor").status == 0)
    }

    @Test
    func `it fails where the key is lost that sealed what is there, and a server's start says so`() async throws {
        let installation = try Installation()
        try await installation.whileServing { server in
            _ = try await installation.buy(try await installation.token())
            #expect(try await installation.run("doctor").status == 0)
            #expect(!server.errors.contains("secrets.keys"))
        }
        // In development mode missing secrets are made anew.
        try FileManager.default.removeItem(atPath: installation.folder.path + "/var/development-secrets.json")
        let doctor = try await installation.run("doctor")
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("FAIL keys: secrets.keys lacks the key"))
        try await installation.whileServing { server in
            #expect(server.errors.contains("secrets.keys lacks the key"))
        }
    }

    @Test
    func `it warns of an address with a path, and of more streams than a node opens`() async throws {
        // A node opens at most 10,000 streams, wherever it runs.
        for (path, streams, warns) in [("", 0, false), ("/", 1, false), ("", 10_000, false), ("/shop", 10_001, true)] {
            let installation = try Installation()
            let address = "http://127.0.0.1:\(installation.port)\(path)"
            try installation.folder.write(
                "Config/paydesk.yaml",
                """
                mode: development
                http: {port: \(installation.port), public_url: "\(address)"}
                limits: {streams: \(streams)}
                """)
            #expect(try await installation.run("migrate").status == 0)
            let doctor = try await installation.run("doctor", "--offline")
            // A warning is no failure.
            #expect(doctor.status == 0, "\(doctor.output)")
            for words in [
                "warn public_url: http.public_url has a path, so OpenIAP's clients",
                "warn streams: limits.streams is \(streams), but a node opens at most ",
            ] {
                #expect(doctor.output.contains(words) == warns, "\(doctor.output)")
            }
        }
    }

    @Test
    func `it warns of a price that no account can charge exactly`() async throws {
        let installation = try Installation()
        try FileManager.default.removeItem(atPath: installation.folder.path + "/Config/providers/box.yaml")
        // Stripe charges at least 0.50 USD.
        try installation.folder.write(
            "Config/catalog.yaml",
            """
            skus:
              - {id: cheap, name: Cheap, kind: consumable, units: {coins: 1},
                 prices: [{currency: CNY, value: 3990}, {currency: USD, value: 10}]}
            """)
        try installation.folder.write(
            "Config/providers/stripe.yaml",
            """
            account: stripe
            kind: stripe
            enabled: true
            notify_token: notify-token-of-stripe
            routing: {platforms: [web], priority: 1}
            settings: {secret_key: sk_test_1, publishable_key: pk_test_1, webhook_secrets: [whsec_MTIz]}
            """)
        #expect(try await installation.run("migrate").status == 0)
        #expect(try await installation.run("catalog", "import", "Config/catalog.yaml").status == 0)
        let doctor = try await installation.run("doctor", "--offline")
        #expect(doctor.status == 0, "\(doctor.output) \(doctor.errors)")
        #expect(
            doctor.output.contains("warn sku cheap: no enabled account can charge exactly 0.10 USD; change the price"),
            "\(doctor.output)")
        #expect(!doctor.output.contains("39.90"), "\(doctor.output)")
    }

    /// An answer that fits every request of the doctor.
    private static let appStore =
        #"{"testNotificationToken":"ab-1","signedPayload":"a.b.c","#
        + #""sendAttempts":[{"attemptDate":1,"sendAttemptResult":"SUCCESS"}]}"#

    private static func apple(_ answer: String, _ status: String) throws -> (Installation, ScriptedServer) {
        let head =
            "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(answer.utf8.count)\r\n\r\n"
        let server = try ScriptedServer([head + answer])
        let installation = try Installation()
        let address = "http://127.0.0.1:\(server.port)"
        try installation.folder.write("key.p8", ScriptedAppStore.newKey())
        try installation.folder.write(
            "Config/providers/apple-iap.yaml",
            """
            account: apple-iap
            kind: apple_iap
            enabled: true
            notify_token: notify-token-of-apple
            routing: {platforms: [ios], priority: 2}
            settings:
              apps: [{bundle_id: com.example.app, app_apple_id: 1}]
              environments: [Production]
              api: {key_id: ABC123DEFG, issuer_id: 57246542-96fe-1a63-e053-0824d011072a,
                private_key: "file:\(installation.folder.path)/key.p8", production_url: "\(address)"}
            """)
        return (installation, server)
    }

    @Test
    func `it tries Apple's key and has a test notification sent, unless it is told to stay offline`() async throws {
        let (installation, server) = try Self.apple(Self.appStore, "200 OK")
        defer { server.stop() }
        #expect(try await installation.run("migrate").status == 0)
        let offline = try await installation.run("doctor", "--offline")
        #expect(offline.status == 0 && !offline.output.contains("com.example.app"), "\(offline.output)")
        #expect(server.requests.isEmpty)
        let online = try await installation.run("doctor")
        #expect(online.status == 0, "\(online.output) \(online.errors)")
        #expect(online.output.contains("ok   account apple-iap, com.example.app: Production accepts the key."))
        #expect(online.output.contains("Apple's test notification was delivered."))
        #expect(server.requests.count == 3)
    }

    @Test
    func `it explains a 401 of Apple's and ends with 1`() async throws {
        let (installation, server) = try Self.apple("{}", "401 Unauthorized")
        defer { server.stop() }
        #expect(try await installation.run("migrate").status == 0)
        let doctor = try await installation.run("doctor")
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("FAIL account apple-iap, com.example.app: Production answers 401"))
        #expect(doctor.output.contains("no release in the App Store yet"))
    }
}
