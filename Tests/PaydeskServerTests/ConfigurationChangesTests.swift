import Testing

@testable import PaydeskServer

@Suite("What differs between two configurations")
struct ConfigurationChangesTests {
    static let changes: [(section: String, text: String, names: [String])] = [
        ("http", "{port: 9000, public_url: \"http://127.0.0.1:8080\"}", ["http.port"]),
        ("http", "{cors_origins: [https://app.example]}", ["http.cors_origins"]),
        ("database", "{url: sqlite:var/other.db}", ["database.url"]),
        (
            "orders", "{expire_after_minutes: 5, late_payment: hold}",
            ["orders.expire_after_minutes", "orders.late_payment"]
        ),
        ("limits", "{concurrent: 7}", ["limits"]), ("retention", "{raw_days: 7}", ["retention"]),
        ("secrets", "{keys: [\(ConfigurationFixture.key)]}", ["secrets.keys"]),
        ("default_currency", "USD", ["default_currency"]),
        // A running server takes these.
        ("meters", "[{id: m, period: day, timezone: UTC, limits: {\"\": 3}}]", []),
        ("auth", "{hs256_secret: \"\(ConfigurationFixture.userSecret)\"}", []),
        ("webhooks", "{allow_private_networks: false}", []),
    ]

    @Test(arguments: changes)
    func `what needs a restart is named as in the files`(
        _ change: (section: String, text: String, names: [String])
    ) throws {
        let old = try ConfigurationFixture.development().load()
        let new = try ConfigurationFixture.development([change.section: change.text]).load()
        #expect(ConfigurationChanges.needingRestart(from: old, to: new) == change.names)
        #expect(ConfigurationChanges.needingRestart(from: new, to: new).isEmpty)
    }

    @Test func `accounts are named by their files, whatever of them has changed`() throws {
        let base = ConfigurationFixture.development()
        func account(_ secret: String, _ more: String = "") -> String {
            "kind: sandbox\nnotify_token: t\n\(more)settings: {secret: \(secret)}"
        }
        let old = try base.with(account: "a", account("one")).with(
            account: "b", account("b").replacing("t\n", with: "u\n")
        ).load()
        let changed = try base.with(account: "a", account("two")).load()
        let file = ["providers/a.yaml", "providers/b.yaml"]
        #expect(ConfigurationChanges.needingRestart(from: old, to: changed) == file)
        let disabled = try base.with(account: "a", account("two", "enabled: false\n")).load()
        #expect(ConfigurationChanges.needingRestart(from: changed, to: disabled) == ["providers/a.yaml"])
    }

    @Test func `the same secrets are the same way to verify tokens, and a file of keys may always be another`() throws {
        func load(_ auth: String) throws -> Configuration.Auth {
            try ConfigurationFixture.development(["auth": auth]).with(file: "keys.json", ConfigurationFixture.keySet)
                .load().auth
        }
        let secret = try load("{hs256_secret: \"\(ConfigurationFixture.userSecret)\"}")
        #expect(secret.isSame(as: secret))
        #expect(try !secret.isSame(as: load("{hs256_secret: \"\(ConfigurationFixture.userSecret) and more\"}")))
        #expect(try !secret.isSame(as: load("{hs256_secret: \"\(ConfigurationFixture.userSecret)\", audience: a}")))
        let file = try load("{jwks_file: keys.json}")
        #expect(!file.isSame(as: file) && !file.isSame(as: secret))
        let address = try load("{jwks_url: \"https://login.example/keys\"}")
        #expect(address.isSame(as: address))
    }
}
