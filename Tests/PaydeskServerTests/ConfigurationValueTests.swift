import Domain
import Foundation
import Gateway
import PaydeskServer
import Testing

struct ConfigurationValueTests {
    @Test func `a file with nothing but the mode has the documented defaults`() throws {
        let configuration = try ConfigurationFixture.development().load()
        #expect(configuration.http.host == "127.0.0.1" && configuration.http.port == 8_080)
        #expect(configuration.http.publicURL == "http://127.0.0.1:8080")
        #expect(configuration.http.tls == nil && configuration.http.trustedProxies.isEmpty)
        #expect(configuration.databaseURL == "sqlite:var/paydesk.db")
        #expect(configuration.auth.userClaim == "sub" && configuration.auth.maxLifetimeHours == 720)
        #expect(configuration.auth.issuer == nil && configuration.auth.audience == nil)
        #expect(configuration.defaultCurrency.code == "CNY")
        #expect(configuration.orders.expireAfterMinutes == 30)
        #expect(configuration.orders.latePayment == .fulfil && configuration.orders.duplicatePayment == .refund)
        #expect(configuration.purchases.ownership == .keep && configuration.purchases.shareLimit == 5)
        #expect(configuration.purchases.transferCooldownDays == 5)
        #expect(!configuration.webhooks.allowPrivateNetworks)
        #expect(configuration.limits.concurrent == 512 && configuration.limits.userBurst == 300)
        #expect(configuration.retention.rawDays == 90 && configuration.retention.idempotencyDays == 30)
        #expect(configuration.pages == PageSettings() && configuration.pages.accent == "#0a6cff")
        #expect(configuration.accounts.isEmpty && configuration.catalogue.isEmpty && configuration.meters.isEmpty)
    }

    @Test func `every key is read`() throws {
        let text = """
            mode: development
            http:
              host: localhost
              port: 9000
              public_url: HTTPS://Pay.Example:443/
              trusted_proxies: [10.0.0.0/8, "fd00::/8"]
              cors_origins: [https://App.Example:443, "capacitor://localhost"]
              return_urls: [https://app.example, "myapp:"]
              tls: {certificate: tls/chain.pem, private_key: "file:tls/key.pem"}
            database: {url: postgres://u:p@h/n}
            secrets: {keys: ["file:key.txt", \(ConfigurationFixture.key)]}
            auth: {jwks_file: jwks.json, issuer: me, audience: you, user_claim: uid, max_lifetime_hours: 1}
            default_currency: USD
            orders: {expire_after_minutes: 5, late_payment: hold, duplicate_payment: hold}
            purchases: {ownership: transfer_if_inactive, share_limit: 2, transfer_cooldown_days: 0}
            webhooks: {allow_private_networks: true}
            limits: {user_per_second: 0, concurrent: 1}
            retention: {raw_days: 1, idempotency_days: 2}
            pages:
              {name: Desk & Co, logo: logo.svg, accent: "#0A6CFE", support_url: "mailto:help@app.example",
               terms_url: https://app.example/terms, privacy_url: https://app.example/privacy,
               merchant_lines: [Main Street 1], default_locale: zh-Hans}
            meters: [{id: messages, period: month, timezone: Asia/Shanghai, limits: {"": 10, VIP: null, "Pro": 5}}]
            """
        let configuration = try ConfigurationFixture(text).with(file: "tls/chain.pem", "x")
            .with(file: "tls/key.pem", "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n\n")
            .with(file: "logo.svg", "<svg/>").with(file: "key.txt", ConfigurationFixture.key + "\n").with(
                file: "jwks.json", ConfigurationFixture.keySet
            )
            .load()
        let logo = PageSettings.Logo(mediaType: "image/svg+xml", content: Data("<svg/>".utf8))
        #expect(
            configuration.pages
                == PageSettings(
                    name: "Desk & Co", logo: logo, accent: "#0a6cfe", supportURL: "mailto:help@app.example",
                    termsURL: "https://app.example/terms", privacyURL: "https://app.example/privacy",
                    merchantLines: ["Main Street 1"], defaultLocale: "zh-Hans"))
        #expect(configuration.http.publicURL == "https://pay.example")
        let inside = try #require(IPAddress("10.1.2.3"))
        #expect(configuration.http.trustedProxies.map { $0.contains(inside) } == [true, false])
        #expect(configuration.http.corsOrigins == ["https://app.example", "capacitor://localhost"])
        #expect(configuration.http.returnURLs.allows("myapp://x") && !configuration.http.returnURLs.allows("other://x"))
        #expect(configuration.http.tls?.certificatePath == configuration.folder + "/tls/chain.pem")
        #expect(configuration.http.tls?.privateKeyPEM.hasSuffix("-----END PRIVATE KEY-----") == true)
        #expect(configuration.databaseURL == "postgres://u:p@h/n")
        #expect(configuration.secretKeys == Array(repeating: Data(repeating: 7, count: 32), count: 2))
        guard case .jwksFile(configuration.folder + "/jwks.json") = configuration.auth.keys else {
            Issue.record("not the key set's file")
            return
        }
        #expect(configuration.auth.issuer == "me" && configuration.auth.audience == "you")
        #expect(configuration.auth.userClaim == "uid" && configuration.auth.maxLifetimeHours == 1)
        #expect(configuration.purchases.ownership == .transferIfInactive && configuration.purchases.shareLimit == 2)
        #expect(configuration.purchases.transferCooldownDays == 0)
        #expect(configuration.limits.userPerSecond == 0 && configuration.limits.keyBurst == 1_000)
        let meter = try #require(configuration.meters.first)
        #expect(meter.limit(tier: "") == 10 && meter.limit(tier: "VIP") == nil && meter.limit(tier: "Pro") == 5)
        #expect(meter.limit(tier: "other") == 10)
    }

    @Test(
        arguments: [
            ("\"${PORT}\"", ["PORT": "9001"], 9_001), ("${PORT:-9002}", [:], 9_002),
            ("${PORT:-9002}", ["PORT": ""], 9_002),
            ("${PORT:-}", [:], 8_080), ("9${TAIL}", ["TAIL": "003"], 9_003),
        ] as [(String, [String: String], Int)])
    func `a variable is read as its key's type`(_ text: String, _ environment: [String: String], _ port: Int) throws {
        let fixture = ConfigurationFixture("mode: development\nhttp:\n  port: \(text)\n").with(environment: environment)
        #expect(try fixture.load().http.port == port)
    }

    @Test(
        arguments: [
            ("$${A}", "${A}"), ("a${A}b${A}", "a1b1"), ("${A}{", "1{"), ("$", "$"), ("$A", "$A"), ("${D}${A}", "$1"),
            ("${B:-x:-y}", "x:-y"), ("$$${A}", "$${A}"), ("${A:-z}", "1"), ("${INJECT}", "x\", evil: \"y"),
        ])
    func `variables are filled into parsed texts only`(_ text: String, _ expected: String) throws {
        let environment = ["A": "1", "D": "$", "INJECT": "x\", evil: \"y"]
        let fixture = ConfigurationFixture.development(["auth": "{issuer: \"\(text)\"}"]).with(environment: environment)
        #expect(try fixture.load().auth.issuer == expected)
    }

    @Test func `an empty element of a list is left out`() throws {
        let http = "{cors_origins: [\"${ONE:-}\", https://a.example, \"${TWO}\"]}"
        let fixture = ConfigurationFixture.development(["http": http]).with(environment: ["TWO": ""])
        #expect(try fixture.load().http.corsOrigins == ["https://a.example"])
    }

    @Test func `no description, dump or mirror shows a secret`() throws {
        let text = "kind: sandbox\nnotify_token: hunter2-token\nsettings: {secret: hunter2-setting}"
        let http = "{tls: {certificate: paydesk.yaml, private_key: \"-----BEGIN PRIVATE KEY-----hunter2\"}}"
        let configuration = try ConfigurationFixture.development([
            "database": "{url: postgres://u:hunter2@h/n}",
            "auth": "{hs256_secret: hunter2-0123456789-0123456789-0123456789}",
            "http": http, "secrets": "{keys: [\(ConfigurationFixture.key)]}",
        ]).with(account: "box", text).load()
        #expect(configuration.accounts.first?.notifyToken == "hunter2-token")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in [String(describing: configuration), String(reflecting: configuration), dumped] {
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("32 bytes"))
        }
    }
}
