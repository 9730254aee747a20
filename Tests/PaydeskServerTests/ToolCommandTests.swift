import Crypto
import Foundation
import TestSupport
import Testing

@testable import PaydeskServer

@Suite("A developer's commands")
struct ToolCommandTests {
    private struct Happened: Decodable {
        let event: String
        let order_id: String?
        let payment_id: String?
        let user_id: String
        let seq: Int64?
    }

    @Test
    func `an event is made to happen, listened to, and its calls are shown`() async throws {
        let installation = try Installation(more: "webhooks: {allow_private_networks: true}")
        try await installation.whileServing { _ in
            // No server listens at this port: the events are shown with their failures.
            let target = "http://127.0.0.1:\(try FreePort.next())/hook"
            let listener = try installation.start("listen", "--forward-to", target, name: "listener")
            try await Self.wait { listener.output.contains("whsec_") }
            let made = try await installation.run("trigger", "order.paid", "--user", "tess", "--json")
            #expect(made.status == 0, "\(made.errors)")
            let happened = try JSONDecoder().decode(Happened.self, from: Data(made.output.utf8))
            #expect(happened.event == "order.paid" && happened.user_id == "tess")
            #expect(happened.order_id?.hasPrefix("ord_") == true && happened.payment_id?.hasPrefix("pay_") == true)
            let seq = try #require(happened.seq)
            try await Self.wait { listener.output.contains("order.paid") }
            listener.send(SIGINT)
            #expect(try await listener.wait() == 0)
            let last = try #require(listener.output.split(separator: "\n").last)
            let cursor = try #require(last.split(separator: " ").last.flatMap { Int64($0) })
            #expect(cursor >= seq)

            let shown = try await installation.run("requests", "--route", "/v1/partner/events", "--json")
            #expect(shown.status == 0, "\(shown.errors)")
            #expect(shown.output.contains("/v1/partner/events") && !shown.output.contains("pdk_"))
            let refused = try await installation.run("requests", "--status", "many")
            #expect(refused.status == 2 && refused.errors.contains("status"))
            // The keys that the commands made for themselves are revoked.
            let keys = try await installation.run("keys", "list").output.split(separator: "\n")
            for key in keys where key.contains("paydesk-") { #expect(key.hasSuffix("revoked"), "\(key)") }
            #expect(keys.contains { $0.contains("paydesk-listen") })
        }
    }

    private static func wait(until isSo: () -> Bool) async throws {
        for _ in 0..<1_500 {
            if isSo() { return }
            await SpawnedProgram.pause()
        }
        throw SpawnedProgram.Failure(description: "it did not happen")
    }

    @Test(
        arguments: [
            (["trigger"], "trigger --list"), (["trigger", "order.unheard_of"], "order.unheard_of"),
            (["trigger", "consent.rescinded"], "cannot be made"),
            (["trigger", "subscription.renewal_upcoming"], "--advance"),
            (["trigger", "order.paid", "--user", ""], "--user"),
            (["listen", "--forward-to", "http://example.com/"], "--allow-remote"),
            (["listen", "--forward-to", "http://127.0.0.1:1/", "--types", "order.payed"], "order.payed"),
            (["listen", "--forward-to", "http://127.0.0.1:1/", "--after", "-1"], "--after"),
            (["requests", "--server", "nowhere", "--key", "pdk_x"], "--server"),
            (["init", "elsewhere"], "--production"), (["completions", "csh"], "bash"),
        ])
    func `wrong usage ends with 2 and is named`(_ arguments: [String], _ word: String) async throws {
        let ended = try await Installation().command(arguments)
        #expect(ended.status == 2 && ended.errors.contains(word) && ended.output.isEmpty, "\(ended)")
    }

    @Test
    func `without a server nothing happens`() async throws {
        let ended = try await Installation().run("trigger", "order.paid")
        #expect(ended.status == 1 && ended.errors.contains("paydesk serve"), "\(ended)")
    }

    @Test
    func `every event that can be made to happen is listed`() async throws {
        let ended = try await Installation().run("trigger", "--list")
        let words = Set(ended.output.split(whereSeparator: \.isWhitespace).map(String.init))
        #expect(ended.status == 0)
        for event in ["order.opened", "order.paid", "dispute.closed", "purchase.attached", "subscription.changed"] {
            #expect(words.contains(event))
        }
    }

    @Test
    func `a folder for production is written once, and asks for its secrets`() async throws {
        let installation = try Installation()
        let made = try await installation.run("init", "--production", "Production")
        #expect(made.status == 0 && made.output.contains("paydesk.yaml"), "\(made.errors)")
        let place = installation.folder.path + "/Production/paydesk.yaml"
        let text = try String(contentsOfFile: place, encoding: .utf8)
        #expect(text.contains("mode: production") && !text.contains("development:"))
        let again = try await installation.run("init", "--production", "Production")
        #expect(again.status == 2 && again.errors.contains("empty"))
        #expect(try String(contentsOfFile: place, encoding: .utf8) == text)
        let refused = try await installation.run("serve", "--config", "Production")
        #expect(refused.status == 2 && refused.errors.contains("PAYDESK_SECRET_KEY"), "\(refused.errors)")
        #expect(!refused.errors.contains("not a known key"))
    }

    @Test
    func `with its variables set, the folder for production has no fault`() async throws {
        let installation = try Installation()
        let environment = [
            "PAYDESK_PUBLIC_URL": "https://pay.example.com",
            "PAYDESK_SECRET_KEY": Data(repeating: 7, count: 32).base64EncodedString(),
            // No database listens there, which is found after the configuration.
            "PAYDESK_DATABASE_URL": "postgres://paydesk@127.0.0.1:1/paydesk",
            "PAYDESK_JWKS_URL": "https://login.example.com/jwks.json", "PAYDESK_JWT_ISSUER": "me",
            "PAYDESK_JWT_AUDIENCE": "you", "APPLE_NOTIFY_TOKEN": "a-token-of-apple-0123456789",
            "APPLE_BUNDLE_ID": "com.example.app", "APPLE_APP_ID": "1234567890", "APPLE_KEY_ID": "KEY1234567",
            "APPLE_ISSUER_ID": "57246542-96fe-4a63-8053-0824d011072a",
            "APPLE_PRIVATE_KEY": P256.Signing.PrivateKey().pemRepresentation,
            "STRIPE_NOTIFY_TOKEN": "a-token-of-stripe-0123456789", "STRIPE_SECRET_KEY": "sk_live_x0123456789",
            "STRIPE_PUBLISHABLE_KEY": "pk_live_x0123456789", "STRIPE_WEBHOOK_SECRET": "whsec_x0123456789",
        ]
        let listed = ProductionConfiguration.files.first { $0.key == "environment.example" }?.value ?? ""
        for name in environment.keys { #expect(listed.contains("\n\(name)="), "\(name)") }
        #expect(try await installation.run("init", "--production", "Production").status == 0)
        let ended = try await installation.command(
            ["doctor", "--offline", "--json", "--config", "Production"], environment: environment)
        let configuration = #""check":"configuration","detail":"production, 2 accounts","good":true"#
        #expect(ended.status == 3 && ended.output.contains(configuration), "\(ended)")
    }

    @Test
    func `the manual page and the completions have every command`() async throws {
        let installation = try Installation()
        let page = try await installation.run("man")
        #expect(page.status == 0 && page.output.hasPrefix(".TH PAYDESK 1"), "\(page.errors)")
        let sections = [".SH NAME", ".SH SYNOPSIS", ".SH COMMANDS", ".SH EXIT STATUS", ".SH ENVIRONMENT"]
        for section in sections { #expect(page.output.contains(section + "\n")) }
        for command in ["serve", "keys create", "listen", "trigger", "requests", "init", "restore"] {
            #expect(page.output.contains(".SS \"paydesk \(command)"), "\(command)")
        }
        #expect(page.output.contains(".BI \\-\\-forward\\-to"))
        for shell in ["bash", "zsh", "fish"] {
            let script = try await installation.run("completions", shell)
            #expect(script.status == 0 && script.output.contains("trigger"), "\(shell): \(script.errors)")
            #expect(script.output.contains("order.paid"), "\(shell)")
        }
    }
}
