import Domain
import PaydeskServer
import Testing

struct ConfigurationModeTests {
    @Test func `a production configuration with everything it needs loads`() throws {
        let configuration = try ConfigurationFixture.production().load()
        #expect(configuration.mode == .production)
        #expect(!configuration.isDevelopment)
        #expect(configuration.secretKeys.map(\.count) == [32])
    }

    @Test(
        arguments: [
            FaultCase("http", "http: {public_url: http://pay.example.com}", "http.public_url", "https"),
            FaultCase("no address", "http: {}", "http.public_url", "missing"),
            FaultCase(
                "no keys", "secrets: {keys: [\"${PAYDESK_SECRET_KEY:-}\"]}", "secrets.keys", "openssl rand -base64 32"),
            FaultCase("no user secret", "auth: {hs256_secret: \"\"}", "auth.hs256_secret", "PAYDESK_USER_SECRET"),
            FaultCase("no issuer", "auth: {jwks_url: https://a.example/jwks, audience: a}", "auth.issuer", "iss"),
            FaultCase("no audience", "auth: {jwks_url: https://a.example/jwks, issuer: a}", "auth.audience", "aud"),
            FaultCase(
                "private webhooks", "webhooks: {allow_private_networks: true}", "webhooks.allow_private_networks"),
            FaultCase(
                "an App Store in a box", "development: {appstore: true}", "development.appstore", "write false"),
            FaultCase(
                "an http key set", "auth: {jwks_url: http://127.0.0.1/jwks, issuer: a, audience: b}", "auth.jwks_url",
                "http"),
        ])
    func `production refuses what is missing or only for tests`(_ fault: FaultCase) throws {
        let parts = fault.text.split(separator: ":", maxSplits: 1).map(String.init)
        let lines = try ConfigurationFixture.production([parts[0]: parts[1]]).faults()
        #expect(lines.count == 1)
        #expect(lines.first?.contains(": \(fault.key): ") == true)
        #expect(lines.first?.contains(fault.says) == true)
    }

    @Test(
        arguments: [
            ([:], false, nil), (["development": "{}"], false, nil), (["development": "{appstore: false}"], false, nil),
            (["development": "{appstore: true, appstore_file: \"\"}"], true, nil),
            (["development": "{appstore: true, appstore_file: shop.storekit}"], true, "shop.storekit"),
            (["development": "{appstore: false, appstore_file: shop.storekit}"], false, nil),
        ] as [([String: String], Bool, String?)])
    func `the App Store in a box runs only where it is asked for`(
        _ sections: [String: String], _ runs: Bool, _ file: String?
    ) throws {
        let configuration = try ConfigurationFixture.development(sections).with(file: "shop.storekit", "{}").load()
        #expect(configuration.development.appStore == runs)
        #expect(configuration.development.appStoreFile?.split(separator: "/").last.map(String.init) == file)
    }

    @Test func `the box's file must be readable`() throws {
        let lines = try ConfigurationFixture.development(["development": "{appstore: true, appstore_file: no.storekit}"]
        )
        .faults()
        #expect(lines.count == 1 && lines.first?.contains("development.appstore_file: ") == true)
    }

    @Test func `a key set alone lacks two things`() throws {
        let lines = try ConfigurationFixture.production(["auth": "{jwks_url: https://a.example/jwks}"]).faults()
        #expect(lines.map { $0.contains("auth.issuer") } == [true, false])
        #expect(lines.map { $0.contains("auth.audience") } == [false, true])
    }

    @Test(arguments: [true, false])
    func `production refuses a kind that is for development, enabled or not`(_ enabled: Bool) throws {
        let lines = try ConfigurationFixture.production()
            .with(account: "box", "kind: sandbox\nenabled: \(enabled)\nnotify_token: t\nsettings: {secret: s}").faults()
        #expect(
            lines == [
                "providers/box.yaml:1: kind: is sandbox, which is for development only; remove this file in production"
            ])
    }

    @Test(arguments: [nil, "false", "true"] as [String?], [true, false])
    func `production takes accounts in a provider's test mode only where it is told to`(
        _ allows: String?, _ enabled: Bool
    ) throws {
        let fixture = ConfigurationFixture.production(allows.map { ["allow_test_accounts": $0] } ?? [:])
            .with(account: "box", "kind: sandbox\nenabled: \(enabled)\nnotify_token: t\nsettings: {secret: s}")
            .with(account: "played", "kind: silent\nenabled: \(enabled)\nsettings: {webhook_secrets: [test]}")
            .with(account: "live", "kind: silent\nsettings: {webhook_secrets: [live]}")
        let lines = try fixture.faults()
        guard allows != "true" else {
            let configuration = try fixture.load()
            #expect(lines.isEmpty && configuration.allowsTestAccounts && configuration.accounts.count == 3)
            return
        }
        #expect(
            lines == [
                "providers/box.yaml:1: kind: is sandbox, which is for development only; remove this file in production",
                "providers/played.yaml: settings: are those of the provider's test mode; use live ones, or write "
                    + "allow_test_accounts: true in paydesk.yaml",
            ])
    }

    @Test func `development takes them anyway`() throws {
        let fixture = ConfigurationFixture.development()
            .with(account: "played", "kind: silent\nsettings: {webhook_secrets: [test]}")
        #expect(try fixture.load().accounts.count == 1)
        let lines = try ConfigurationFixture.development(["allow_test_accounts": "1"]).faults()
        #expect(lines.count == 1 && lines[0].contains(": allow_test_accounts: "))
    }

    @Test(
        arguments: [
            ("root_certificates: [root.pem]", "settings.root_certificates", "development only"),
            ("environments: [Production, Xcode]", "settings.environments", "Xcode"),
            ("api: {production_url: \"http://127.0.0.1:1\"}", "settings.api.production_url", "https"),
        ])
    func `production refuses test settings of an account`(_ setting: String, _ key: String, _ says: String) throws {
        let text = "kind: apple_iap\nnotify_token: t\nsettings:\n  apps: [{bundle_id: a.b}]\n  \(setting)\n"
        let production = try ConfigurationFixture.production().with(account: "apple", text).with(file: "root.pem", "x")
            .faults()
        #expect(production.count == 1)
        #expect(production.first?.contains(": \(key): ") == true)
        #expect(production.first?.contains(says) == true)
        let development = ConfigurationFixture.development().with(account: "apple", text).with(file: "root.pem", "x")
        #expect(try development.faults() == [])
    }

    @Test func `production asks for a notify token where the kind has notifications`() throws {
        let apple = try ConfigurationFixture.production()
            .with(account: "apple", "kind: apple_iap\nsettings: {apps: [{bundle_id: a.b}]}").faults()
        #expect(apple.map { $0.contains("notify_token") && $0.contains("openssl rand") } == [true])
        let silent = try ConfigurationFixture.production().with(account: "quiet", "kind: silent\nnotify_token: x")
            .load()
        #expect(silent.accounts.map(\.notifyToken) == [nil])
    }

    @Test(
        arguments: [
            ("127.0.0.1", false, true), ("::1", false, true), ("localhost", false, true), ("127.9.9.9", false, true),
            ("0.0.0.0", false, false), ("::", false, false), ("pay.example", false, false), ("0.0.0.0", true, true),
        ])
    func `development listens on loopback unless it is exposed`(_ host: String, _ exposed: Bool, _ good: Bool) throws {
        let lines = try ConfigurationFixture.development(["http": "{host: \"\(host)\", expose_development: \(exposed)}"]
        )
        .faults()
        #expect(lines.isEmpty == good)
        #expect(good || lines.first?.contains("http.host") == true)
    }

    @Test func `production listens anywhere`() throws {
        let http = "{host: 0.0.0.0, public_url: \"https://pay.example.com/shop/\"}"
        #expect(
            try ConfigurationFixture.production(["http": http]).load().http.publicURL == "https://pay.example.com/shop")
    }

    @Test func `the command line wins over the file`() throws {
        let fixture = ConfigurationFixture.development(["http": "{port: 9000, public_url: \"http://127.0.0.1:9000\"}"])
        let moved = try fixture.with(overrides: .init(host: "127.0.0.2", port: 9_001)).load().http
        #expect((moved.host, moved.port) == ("127.0.0.2", 9_001))
        #expect(moved.publicURL == "http://127.0.0.1:9001")
        #expect(try fixture.with(overrides: .init(host: "0.0.0.0")).faults().count == 1)
    }

    @Test func `an empty list of return addresses means all in development and the own origin in production`() throws {
        let development = try ConfigurationFixture.development().load().http.returnURLs
        #expect(development.allows("https://anything.example/") && development.allows("myapp://done"))
        let production = try ConfigurationFixture.production().load().http.returnURLs
        #expect(production.allows("https://pay.example.com/done"))
        #expect(!production.allows("https://anything.example/") && !production.allows("myapp://done"))
    }
}
