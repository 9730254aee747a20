import Domain
import Foundation
import PaydeskServer
import ProviderKit
import Testing

/// The settings from the environment: `PAYDESK_CONFIG_YAML` and `PAYDESK_PROVIDERS_DIR`.
struct ConfigurationEnvironmentTests {
    /// The lines of the file where a test wants to tell it from the environment's.
    private static let file = ConfigurationFixture("mode: development\ndefault_currency: EUR\n")
        .with(account: "own", "kind: silent\n")

    private static func load(
        _ environment: [String: String], _ fixture: ConfigurationFixture = file
    ) throws
        -> Configuration
    {
        try fixture.with(environment: environment).load()
    }

    private static func faults(
        _ environment: [String: String], _ fixture: ConfigurationFixture = file
    ) throws
        -> [String]
    {
        try fixture.with(environment: environment).faults()
    }

    @Test func `the text of the environment takes the place of the whole folder`() throws {
        var fixture = Self.file
        fixture.catalogue = "skus: [{id: x}]"
        let configuration = try Self.load(
            [
                "PAYDESK_CONFIG_YAML": """
                mode: development
                http:
                  port: 9001
                database: {url: "${DATABASE}"}
                """, "DATABASE": "sqlite:/data/books.db",
            ], fixture)
        #expect(configuration.http.port == 9_001 && configuration.databaseURL == "sqlite:/data/books.db")
        #expect(configuration.defaultCurrency == Currency("CNY") && configuration.accounts.isEmpty)
        #expect(configuration.catalogue.isEmpty)
        #expect(configuration.folder == FileManager.default.currentDirectoryPath)
    }

    @Test func `no folder is needed with the text of the environment`() throws {
        let folder = try TemporaryFolder()
        let configuration = try ConfigurationLoader.load(
            folder: folder.path + "/nowhere", environment: ["PAYDESK_CONFIG_YAML": "mode: development\n"],
            manifests: TestKinds.manifests,
            developmentSecrets: DevelopmentSecretsFile(path: folder.path + "/secrets.json", random: .counting))
        #expect(configuration.isDevelopment && configuration.accounts.isEmpty)
    }

    @Test(arguments: [nil, "mode: development\n"] as [String?])
    func `accounts come from the folder that the environment names`(text: String?) throws {
        let accounts = try TemporaryFolder()
        try accounts.write("box.yaml", "kind: sandbox\nsettings: {secret: \"file:\(accounts.path)/secret\"}\n")
        try accounts.write("secret", "of a file\n")
        try accounts.write("notes.txt", "no account")
        var environment = ["PAYDESK_PROVIDERS_DIR": accounts.path]
        environment["PAYDESK_CONFIG_YAML"] = text
        let configuration = try Self.load(environment)
        #expect(configuration.accounts.map(\.id.rawValue) == ["box"])
        #expect(configuration.accounts.first?.settings.text("secret") == "of a file")
        #expect(configuration.accounts.first?.file == accounts.path + "/box.yaml")
        #expect(configuration.defaultCurrency == Currency(text == nil ? "EUR" : "CNY"))
    }

    @Test func `paths are relative to the working directory with the text of the environment`() throws {
        let accounts = try TemporaryFolder()
        let certificates = "PaydeskTestCertificates-that-are-not-here"
        try accounts.write(
            "apple-iap.yaml",
            "kind: apple_iap\nsettings: {apps: [{bundle_id: a}], root_certificates: [\(certificates)/root.pem]}\n")
        let faults = try Self.faults([
            "PAYDESK_CONFIG_YAML": "mode: development\nauth: {jwks_file: \(certificates)/keys.json}\n",
            "PAYDESK_PROVIDERS_DIR": accounts.path,
        ])
        let here = FileManager.default.currentDirectoryPath + "/" + certificates
        #expect(faults.count == 2 && faults.contains { $0.contains(here + "/keys.json") }, "\(faults)")
        #expect(faults.contains { $0.contains(here + "/root.pem") }, "\(faults)")
    }

    @Test func `a variable that is empty is not set`() throws {
        let configuration = try Self.load(["PAYDESK_CONFIG_YAML": "", "PAYDESK_PROVIDERS_DIR": ""])
        #expect(configuration.defaultCurrency == Currency("EUR"))
        #expect(configuration.accounts.map(\.id.rawValue) == ["own"])
    }

    @Test(
        arguments: [
            ("mode: [\n", ": "),
            ("mode: development\nhttp: {port: soon}\n", ":2: http.port: "),
            ("{}", ": mode: is missing"),
            ("mode: production\n", ": secrets.keys: "),
        ])
    func `faults of the environment's text name its variable`(_ text: String, _ part: String) throws {
        let faults = try Self.faults(["PAYDESK_CONFIG_YAML": text])
        #expect(faults.contains { $0.contains(part) }, "\(faults)")
        #expect(faults.allSatisfy { $0.hasPrefix("PAYDESK_CONFIG_YAML:") }, "\(faults)")
        #expect(!faults.contains { $0.contains("paydesk.yaml") }, "\(faults)")
    }

    @Test func `a folder of accounts that is not there is a fault, and faults of accounts name their files`() throws {
        let missing = try Self.faults(["PAYDESK_PROVIDERS_DIR": "/nowhere/accounts"])
        #expect(missing.count == 1 && missing[0].hasPrefix("/nowhere/accounts: cannot be read"), "\(missing)")
        #expect(missing[0].contains("PAYDESK_PROVIDERS_DIR"))
        let accounts = try TemporaryFolder()
        try accounts.write("one.yaml", "kind: nothing\n")
        try accounts.write("two.yml", "kind: silent\n")
        let faults = try Self.faults(["PAYDESK_PROVIDERS_DIR": accounts.path])
        #expect(faults.count == 2, "\(faults)")
        #expect(faults.contains { $0.hasPrefix(accounts.path + "/one.yaml:1: kind: ") }, "\(faults)")
        #expect(faults.contains { $0.hasPrefix(accounts.path + "/two.yml: would not be read") }, "\(faults)")
    }
}

/// The settings that `deploy/compose.yaml` hands its nodes.
struct ConfigurationComposeTests {
    private static let variables = [
        "POSTGRES_PASSWORD": "a-password", "PAYDESK_SECRET_KEY": ConfigurationFixture.key,
        "PAYDESK_USER_SECRET": ConfigurationFixture.userSecret, "PAYDESK_DOMAIN": "pay.example.com",
    ]

    /// Reads the text of the variable out of the file, and fills in what Compose fills in.
    private static func settings() throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("deploy/compose.yaml")
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex { $0.hasSuffix("PAYDESK_CONFIG_YAML: |") })
        func indent(_ line: String) -> Int { line.prefix { $0 == " " }.count }
        let block = lines[(start + 1)...].prefix { $0.isEmpty || indent($0) > indent(lines[start]) }
        let margin = block.first.map(indent) ?? 0
        return block.map { String($0.dropFirst(margin)) }.joined(separator: "\n").replacing("$$", with: "$")
    }

    @Test func `a node's settings are those of production behind a proxy`() throws {
        var environment = Self.variables
        environment["PAYDESK_CONFIG_YAML"] = try Self.settings()
        environment["PAYDESK_DATABASE_URL"] = "postgres://paydesk:a-password@postgres:5432/paydesk"
        let configuration = try ConfigurationFixture.development().with(environment: environment).load()
        #expect(configuration.mode == .production && configuration.http.host == "0.0.0.0")
        #expect(configuration.http.publicURL == "https://pay.example.com" && configuration.http.port == 8_080)
        #expect(configuration.http.trustedProxies.count == 1)
        #expect(configuration.databaseURL == environment["PAYDESK_DATABASE_URL"])
        #expect(configuration.secretKeys.count == 1)
    }

    @Test(arguments: ["PAYDESK_SECRET_KEY", "PAYDESK_USER_SECRET", "PAYDESK_DATABASE_URL", "PAYDESK_DOMAIN"])
    func `a node that lacks a secret does not start`(_ name: String) throws {
        var environment = Self.variables
        environment["PAYDESK_CONFIG_YAML"] = try Self.settings()
        environment["PAYDESK_DATABASE_URL"] = "postgres://paydesk:a-password@postgres:5432/paydesk"
        environment[name] = nil
        let faults = try ConfigurationFixture.development().with(environment: environment).faults()
        #expect(faults.contains { $0.hasPrefix("PAYDESK_CONFIG_YAML:") && $0.contains(name) }, "\(faults)")
    }
}
