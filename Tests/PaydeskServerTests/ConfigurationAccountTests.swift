import Domain
import PaydeskServer
import ProviderKit
import Testing

struct ConfigurationAccountTests {
    private static let box = "kind: sandbox\nnotify_token: tok\nsettings: {secret: s}\n"

    @Test func `an account has its routing and its settings with defaults`() throws {
        let text = """
            account: box
            kind: sandbox
            enabled: false
            notify_token: tok-1
            routing:
              {platforms: [web, ios], currencies: [CNY], priority: 7, weight: 0, min: 1, max: null, skus: [vip_month]}
            settings: {contract: qr, secret: "file:secret.txt", delay_ms: 5}
            """
        let accounts = try ConfigurationFixture.development().with(account: "box", text)
            .with(file: "secret.txt", "s3\n").load().accounts
        let account = try #require(accounts.first)
        #expect(account.id.rawValue == "box" && account.kind == "sandbox" && !account.enabled)
        #expect(account.notifyToken == "tok-1" && account.file == "providers/box.yaml")
        let cny = try #require(Currency("CNY"))
        #expect(
            account.routing
                == AccountRouting(
                    platforms: [.web, .ios], currencies: [cny], priority: 7, weight: 0, min: 1, max: nil,
                    skus: ["vip_month"]))
        #expect(account.settings.text("contract") == "qr" && account.settings.text("reply") == "normal")
        #expect(account.settings.text("secret") == "s3" && account.settings.integer("delay_ms") == 5)
    }

    @Test func `settings are read by the schema at every depth`() throws {
        let text = """
            kind: apple_iap
            notify_token: t
            settings:
              apps: [{bundle_id: a.b, app_apple_id: "${ID:-12}", shared_secret: "file:s.txt"}, {bundle_id: c.d}]
              root_certificates: ["", roots/one.pem]
              sandbox: {entitles: users, users: [007, yes], max_hours: 0}
              api: {key_id: "", private_key: "file:s.txt", production_url: ""}
              verbose: false
            """
        let account = try #require(
            try ConfigurationFixture.development().with(account: "apple", text).with(file: "s.txt", "secret\n")
                .with(file: "roots/one.pem", "x").load().accounts.first)
        let apps = account.settings.objects("apps")
        #expect(apps.map { $0.text("bundle_id") } == ["a.b", "c.d"])
        #expect(apps.map { $0.integer("app_apple_id") } == [12, 0])
        #expect(apps.map { $0.text("shared_secret") } == ["secret", ""])
        let roots = account.settings.texts("root_certificates")
        #expect(roots.count == 1 && roots[0].hasPrefix("/") && roots[0].hasSuffix("/roots/one.pem"))
        let sandbox = account.settings.object("sandbox")
        #expect(sandbox.text("entitles") == "users" && sandbox.texts("users") == ["007", "yes"])
        #expect(sandbox.integer("max_hours") == 0)
        #expect(account.settings.object("api").text("private_key") == "secret")
        #expect(account.settings.object("api")["production_url"] == nil)
        #expect(account.settings.texts("environments") == ["Production"])
        #expect(account.settings.integer("sync_interval_hours") == 12)
        #expect(account.settings["verbose"] == .boolean(false))
    }

    @Test func `an absent object has the defaults of its fields`() throws {
        let text = "kind: apple_iap\nnotify_token: t\nsettings: {apps: [{bundle_id: a.b}]}"
        let account = try #require(
            try ConfigurationFixture.development().with(account: "apple", text).load().accounts.first)
        #expect(account.settings.object("sandbox").text("entitles") == "all")
        #expect(account.settings.object("sandbox").integer("max_hours") == nil)
        #expect(account.settings["verbose"] == .boolean(true))
    }

    @Test(
        arguments: [
            FaultCase("no kind", "notify_token: t", "kind", "apple_iap, sandbox, silent"),
            FaultCase("an unknown kind", "kind: sandbax", "kind", "did you mean sandbox?"),
            FaultCase("another name than the file's", box + "account: crate", "account", "the file is named box.yaml"),
            FaultCase("a name with capitals", box + "account: Box", "account", "small letters"),
            FaultCase("an unknown key", box + "enable: true", "enable", "did you mean enabled?"),
            FaultCase(
                "a token that no address can hold", "kind: sandbox\nnotify_token: a/b\nsettings: {secret: s}",
                "notify_token"),
            FaultCase(
                "an unknown setting", "kind: sandbox\nsettings: {secret: s, secrets: s}",
                "settings.secrets", "secret?"),
            FaultCase("a missing setting", "kind: sandbox", "settings.secret", "is missing"),
            FaultCase("an empty setting", "kind: sandbox\nsettings: {secret: \"\"}", "settings.secret", "is missing"),
            FaultCase(
                "an unreadable secret", "kind: sandbox\nsettings: {secret: \"file:gone\"}", "settings.secret",
                "cannot be read"),
            FaultCase(
                "a wrong number", "kind: sandbox\nsettings: {secret: s, delay_ms: 60001}",
                "settings.delay_ms", "60000"),
            FaultCase("a wrong choice", "kind: sandbox\nsettings: {secret: s, reply: never}", "settings.reply", "lost"),
            FaultCase(
                "a missing member", "kind: apple_iap\nsettings: {apps: [{app_apple_id: 1}]}",
                "settings.apps[0].bundle_id",
                "is missing"),
            FaultCase("an empty required list", "kind: apple_iap\nsettings: {apps: []}", "settings.apps", "is missing"),
            FaultCase(
                "an unreadable path",
                "kind: apple_iap\nsettings: {apps: [{bundle_id: a}], root_certificates: [gone.pem]}",
                "settings.root_certificates[0]", "cannot be read"),
            FaultCase(
                "a relative address",
                "kind: apple_iap\nsettings: {apps: [{bundle_id: a}], api: {sandbox_url: x.example}}",
                "settings.api.sandbox_url", "absolute"),
            FaultCase(
                "an unknown platform", box + "routing: {platforms: [fridge]}", "routing.platforms[0]", "ios, android"),
            FaultCase("an unknown currency", box + "routing: {currencies: [RMB]}", "routing.currencies[0]", "ISO 4217"),
            FaultCase("a negative weight", box + "routing: {weight: -1}", "routing.weight", "range"),
            FaultCase("bounds the wrong way round", box + "routing: {min: 5, max: 4}", "routing.max", "below min"),
        ])
    func `each fault of an account names its file and key`(_ fault: FaultCase) throws {
        let lines = try ConfigurationFixture.development().with(account: "box", fault.text).faults()
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.hasPrefix("providers/box.yaml"))
        #expect(line.contains(": \(fault.key): ") && line.contains(fault.says))
    }

    @Test func `two accounts with one name or one notify token are refused`() throws {
        let named = try ConfigurationFixture.development().with(account: "a", Self.box)
            .with(account: "b", "account: a\nkind: sandbox\nnotify_token: other\nsettings: {secret: s}").faults()
        #expect(named.count == 1)
        #expect(named.first?.contains("providers/b.yaml: account: is a, as in providers/a.yaml") == true)
        let tokens = try ConfigurationFixture.development().with(account: "a", Self.box).with(account: "b", Self.box)
            .faults()
        #expect(tokens.map { $0.contains("notify_token: is the one of providers/a.yaml") } == [true])
        #expect(!tokens.contains { $0.contains("tok ") })
    }

    @Test func `a file with another ending is not overlooked`() throws {
        let lines = try ConfigurationFixture.development().with(file: "providers/box.yml", Self.box)
            .with(file: "providers/README.md", "x").with(file: "providers/.hidden.yaml", "x").faults()
        #expect(lines == ["providers/box.yml: would not be read; rename it to end in .yaml"])
    }
}
