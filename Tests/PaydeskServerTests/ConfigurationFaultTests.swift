import PaydeskServer
import Testing

/// A file with one fault: its position, and a word of the message.
struct FaultCase: CustomTestStringConvertible, Sendable {
    let name: String
    let text: String
    let key: String
    let says: String

    init(_ name: String, _ text: String, _ key: String, _ says: String = "") {
        self.name = name
        self.text = text
        self.key = key
        self.says = says
    }

    var testDescription: String { name }
}

struct ConfigurationFaultTests {
    @Test(
        arguments: [
            FaultCase("an unknown key", "http: {prot: 1}", "http.prot", "did you mean port?"),
            FaultCase("an unknown section", "meter: []", "meter", "did you mean meters?"),
            FaultCase("a text for a number", "http: {port: soon}", "http.port", "whole number from 1 to 65535"),
            FaultCase("a number out of range", "http: {port: 70000}", "http.port", "out of range"),
            FaultCase("a list for a number", "http: {port: [1]}", "http.port", "write a whole number"),
            FaultCase("a number without a value", "http: {port: }", "http.port", "has no value"),
            FaultCase("a scalar for a mapping", "http: 8080", "http", "not a mapping"),
            FaultCase(
                "a scalar for a list", "http: {trusted_proxies: 10.0.0.0/8}", "http.trusted_proxies", "not a list"),
            FaultCase(
                "a text for a boolean", "http: {expose_development: perhaps}", "http.expose_development",
                "true or false"),
            FaultCase(
                "an unknown choice", "orders: {late_payment: keep}", "orders.late_payment", "fulfil, refund, hold"),
            FaultCase(
                "an unknown ownership", "purchases: {ownership: mine}", "purchases.ownership", "transfer_if_inactive"),
            FaultCase(
                "a negative cool-down", "purchases: {transfer_cooldown_days: -1}", "purchases.transfer_cooldown_days",
                "out of range"),
            FaultCase("an empty public address", "database: {url: \"\"}", "database.url", "is missing"),
            FaultCase(
                "a relative public address", "http: {public_url: pay.example.com}", "http.public_url", "absolute"),
            FaultCase("a proxy that is no range", "http: {trusted_proxies: [10.0.0.0/33]}", "http.trusted_proxies[0]"),
            FaultCase("a star as origin", "http: {cors_origins: [\"*\"]}", "http.cors_origins[0]", "origin"),
            FaultCase("an origin with a path", "http: {cors_origins: [https://a.example/x]}", "http.cors_origins[0]"),
            FaultCase(
                "a script as return url", "http: {return_urls: [\"javascript:\"]}", "http.return_urls[0]", "never"),
            FaultCase(
                "data as return url", "http: {return_urls: [https://a.example, \"data:\"]}", "http.return_urls[1]"),
            FaultCase(
                "a certificate without its key", "http: {tls: {certificate: c.pem}}", "http.tls.private_key", "both"),
            FaultCase("a key without its certificate", "http: {tls: {private_key: x}}", "http.tls.certificate", "both"),
            FaultCase(
                "a path instead of a key", "http: {tls: {certificate: paydesk.yaml, private_key: key.pem}}",
                "http.tls.private_key", "file:path"),
            FaultCase(
                "an unreadable certificate",
                "http: {tls: {certificate: gone.pem, private_key: -----BEGIN PRIVATE KEY-----}}",
                "http.tls.certificate",
                "/gone.pem; check that it exists"),
            FaultCase("a key that is too short", "secrets: {keys: [c2hvcnQ=]}", "secrets.keys[0]", "32 bytes"),
            FaultCase("a short user secret", "auth: {hs256_secret: short}", "auth.hs256_secret", "32 bytes"),
            FaultCase(
                "two ways to verify tokens",
                "auth: {hs256_secret: 0123456789012345678901234567890123456789, jwks_url: https://a.example/jwks}",
                "auth.jwks_url", "one way only"),
            FaultCase("an unreadable key set", "auth: {jwks_file: gone.json}", "auth.jwks_file", "cannot be read"),
            FaultCase(
                "a key set outside of the folder", "auth: {jwks_file: ../gone.json}", "auth.jwks_file",
                "/gone.json; check"),
            FaultCase("http to a stranger", "auth: {jwks_url: http://a.example/jwks}", "auth.jwks_url", "loopback"),
            FaultCase("a lifetime of nothing", "auth: {max_lifetime_hours: 0}", "auth.max_lifetime_hours", "range"),
            FaultCase("an unknown setting of pages", "pages: {acent: red}", "pages.acent", "did you mean accent?"),
            FaultCase("a name for a colour", "pages: {accent: red}", "pages.accent", "is no colour"),
            FaultCase("a colour with a sign", "pages: {accent: \"#+a6cff\"}", "pages.accent", "is no colour"),
            FaultCase("a colour too light", "pages: {accent: \"#ffee88\"}", "pages.accent", "3:1"),
            FaultCase("a colour too dark", "pages: {accent: \"#221122\"}", "pages.accent", "3:1"),
            FaultCase("a logo that is none", "pages: {logo: paydesk.yaml}", "pages.logo", "no image"),
            FaultCase("a logo that is not there", "pages: {logo: gone.png}", "pages.logo", "cannot be read"),
            FaultCase("terms without https", "pages: {terms_url: http://a.example}", "pages.terms_url", "https"),
            FaultCase("terms by mail", "pages: {terms_url: mailto:a@a.example}", "pages.terms_url", "https"),
            FaultCase("a script for support", "pages: {support_url: \"javascript:1\"}", "pages.support_url", "mailto"),
            FaultCase(
                "seven lines", "pages: {merchant_lines: [a, b, c, d, e, f, g]}", "pages.merchant_lines", "at most 6"),
            FaultCase("a language without texts", "pages: {default_locale: de}", "pages.default_locale", "zh-Hans"),
            FaultCase("an unknown currency", "default_currency: RMB", "default_currency", "ISO 4217"),
            FaultCase(
                "an unknown period", "meters: [{id: a, period: year, timezone: UTC, limits: {\"\": 1}}]",
                "meters[0].period",
                "day, month"),
            FaultCase(
                "an unknown time zone", "meters: [{id: a, period: day, timezone: Mars/Base, limits: {\"\": 1}}]",
                "meters[0].timezone", "IANA"),
            FaultCase(
                "no limit without a tier", "meters: [{id: a, period: day, timezone: UTC, limits: {VIP: 1}}]",
                "meters[0].limits", "null for unlimited"),
            FaultCase(
                "a negative limit", "meters: [{id: a, period: day, timezone: UTC, limits: {\"\": -1}}]",
                "meters[0].limits.\"\"", "range"),
            FaultCase(
                "two meters of one id",
                """
                meters:
                  - {id: a, period: day, timezone: UTC, limits: {"": 1}}
                  - {id: a, period: month, timezone: UTC, limits: {"": 1}}
                """, "meters[1]", "another meter"),
            FaultCase("a variable that is not set", "database: {url: \"${NOWHERE}\"}", "database.url", "NOWHERE"),
            FaultCase("a variable without a name", "database: {url: \"${lower}\"}", "database.url", "${NAME}"),
            FaultCase("a key twice", "http: {port: 1, port: 2}", "", "port twice"),
            FaultCase("bad syntax", "http: {port", "", "not valid YAML"),
            FaultCase("a variable without quotes", "secrets: {keys: [${KEY:-}]}", "", "in quotes"),
        ])
    func `each fault of paydesk.yaml names the file, the key and the remedy`(_ fault: FaultCase) throws {
        let lines = try ConfigurationFixture("mode: development\n" + fault.text).faults()
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.hasPrefix("paydesk.yaml"))
        #expect(line.contains(fault.key.isEmpty ? "paydesk.yaml" : ": \(fault.key): "))
        #expect(line.contains(fault.says))
    }

    @Test(arguments: [
        "", "{}", "[]", "no JSON", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","kid":"x","k":"AAAA"}]}"#,
        #"{"keys":[{"kty":"RSA","kid":"x"}]}"#, #"{"keys":[{"kty":"RSA","kid":"x","n":"AQAB","e":"AQAB"}]}"#,
        #"{"keys":[{"kty":"EC","crv":"P-256","kid":"x","x":"AAAA","y":"AAAA"}]}"#,
        #"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"x","x":"AAAA"}]}"#,
        ConfigurationFixture.keySet.replacing(#""kid""#, with: #""use":"enc","kid""#),
    ])
    func `a key set without a usable key is a fault`(_ set: String) throws {
        let fixture = ConfigurationFixture.development(["auth": "{jwks_file: keys/set.json}"])
        let lines = try fixture.with(file: "keys/set.json", set).faults()
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.hasPrefix("paydesk.yaml:2: auth.jwks_file: names a file without a usable key, /"), "\(line)")
        #expect(line.contains("/keys/set.json; put your issuer's JWK set there"), "\(line)")
        #expect(try fixture.with(file: "keys/set.json", ConfigurationFixture.keySet).faults().isEmpty)
    }

    @Test func `all faults of all files are reported together`() throws {
        let lines = try ConfigurationFixture.development(["http": "{port: x, host: 10.0.0.1}", "wat": "1"])
            .with(account: "a", "kind: nothing\n").with(file: "catalog.yaml", "skus: [{id: x}]").faults()
        #expect(lines.count == 5)
        #expect(lines.contains { $0.hasPrefix("providers/a.yaml:1: kind: ") })
        #expect(lines.contains { $0.hasPrefix("catalog.yaml:1: skus[0].name: ") })
    }

    @Test func `a line says file, line, key, problem and remedy`() throws {
        #expect(
            try ConfigurationFixture("mode: development\nhttp:\n  port: many\n").faults()
                == ["paydesk.yaml:3: http.port: is not a whole number; write a whole number from 1 to 65535"])
    }

    @Test func `the mode is never guessed`() throws {
        #expect(try ConfigurationFixture("http: {}\n").faults().map { $0.contains("mode: is missing") } == [true])
        #expect(
            try ConfigurationFixture("mode: prod\n").faults().map { $0.contains("development, production") } == [true])
        let unset = ConfigurationFixture("mode: ${MODE:-}\n")
        #expect(try unset.faults().map { $0.contains("mode: is empty") } == [true])
    }

    @Test func `a missing folder is one fault`() throws {
        let lines = #expect(throws: ConfigurationError.self) {
            try ConfigurationLoader.load(
                folder: "/nowhere/at/all", environment: [:], manifests: [:],
                developmentSecrets: DevelopmentSecretsFile(random: .counting))
        }
        #expect(lines?.faults.map(\.file) == ["paydesk.yaml"])
    }

    @Test func `a file that is too large or explodes is refused`() throws {
        let large = "mode: development\n#" + String(repeating: "x", count: 1 << 20)
        #expect(try ConfigurationFixture(large).faults().map { $0.contains("1 MiB") } == [true])
        var bomb = "mode: development\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            bomb += "a\(level): &a\(level) [\(aliases)]\n"
        }
        #expect(try ConfigurationFixture(bomb).faults().map { $0.contains("too many values") } == [true])
        let deep = "mode: development\nx: " + String(repeating: "[", count: 300) + String(repeating: "]", count: 300)
        #expect(try ConfigurationFixture(deep).faults().map { $0.contains("nested too deeply") } == [true])
    }

    @Test func `faults never show a value`() throws {
        let lines = try ConfigurationFixture.development([
            "auth": "{hs256_secret: hunter2, max_lifetime_hours: hunter2}", "secrets": "{keys: [hunter2]}",
            "http": "{port: hunter2, public_url: hunter2, tls: {private_key: hunter2}, return_urls: [hunter2]}",
            "orders": "{late_payment: hunter2}", "default_currency": "hunter2",
        ]).with(
            account: "box", "kind: sandbox\nnotify_token: \"hunter2 ?\"\nsettings: {secret: [hunter2], reply: hunter2}"
        )
        .faults()
        #expect(lines.count == 12)
        #expect(!lines.contains { $0.contains("hunter2") })
    }
}
